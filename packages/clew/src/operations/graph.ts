import { z } from 'zod'
import { answering } from './operation.ts'
import { runId } from './schemas.ts'
import { taskGraphView } from './view-schemas.ts'

export const graph = answering({
  name: 'graph',
  summary: 'Show the graph of a run: which step led to which, equal steps drawn once',
  scope: 'read',
  surfaces: ['cli', 'rest'],
  rest: { method: 'get', path: '/v1/runs/{runId}/graph' },
  input: z.object({ runId }),
  output: taskGraphView,
  example: { command: 'clew graph demo-3f9a1c --mermaid', input: { runId: 'demo-3f9a1c' } },
  cli: {
    group: 'Look',
    arguments: [
      { word: 'run', field: 'runId', required: true, about: 'id of the run, or its first characters' },
    ],
    flags: { '--mermaid': 'as a Mermaid flowchart' },
  },
  run: (ledger, { runId: id }) => ledger.taskGraph(id),
})

import { z } from 'zod'
import { answering } from './operation.ts'
import { runId } from './schemas.ts'
import { timelineView } from './view-schemas.ts'

export const timeline = answering({
  name: 'timeline',
  summary: 'Show how long each step took, as bars',
  scope: 'read',
  surfaces: ['cli', 'rest'],
  rest: { method: 'get', path: '/v1/runs/{runId}/timeline' },
  input: z.object({ runId }),
  output: timelineView,
  example: { command: 'clew timeline demo-3f9a1c', input: { runId: 'demo-3f9a1c' } },
  cli: {
    group: 'Look',
    arguments: [
      { word: 'run', field: 'runId', required: true, about: 'id of the run, or its first characters' },
    ],
    flags: {
      '--events': 'also events that take no time',
      '--rows <count>': 'how many rows at most; default 100',
    },
  },
  run: (ledger, { runId: id }) => ledger.timeline(id),
})

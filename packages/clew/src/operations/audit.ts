import { z } from 'zod'
import { answering } from './operation.ts'
import { runId } from './schemas.ts'
import { auditView } from './view-schemas.ts'

export const audit = answering({
  name: 'audit',
  summary: 'Show the actions of a run: who did what, with which outcome',
  scope: 'read',
  surfaces: ['cli', 'rest'],
  rest: { method: 'get', path: '/v1/runs/{runId}/audit' },
  input: z.object({ runId }),
  output: auditView,
  example: { command: 'clew audit demo-3f9a1c', input: { runId: 'demo-3f9a1c' } },
  cli: {
    group: 'Prove',
    arguments: [
      { word: 'run', field: 'runId', required: true, about: 'id of the run, or its first characters' },
    ],
  },
  run: (ledger, { runId: id }) => ledger.audit(id),
})

import { z } from 'zod'
import { answering } from './operation.ts'

export const rebuild = answering({
  name: 'rebuild',
  summary: 'Rebuild the stored rows of runs and steps from the events',
  scope: 'admin',
  surfaces: ['cli'],
  input: z.object({}),
  output: z.object({
    version: z.int(),
    runs: z.int().min(0),
    changed: z.int().min(0),
    kept: z.int().min(0),
  }),
  example: { command: 'clew rebuild', input: {} },
  cli: { group: 'Move' },
  run: (ledger, _, { onProgress } = {}) => ledger.rebuild({ onProgress }),
})

import { z } from 'zod'
import { answering } from './operation.ts'

export const reindex = answering({
  name: 'reindex',
  summary: 'Throw the search index away and fill it again from the events',
  scope: 'admin',
  surfaces: ['cli'],
  input: z.object({
    update: z.boolean().optional().describe('keep it and take in only what is missing'),
  }),
  output: z.object({ position: z.int().min(0), lag: z.int().min(0), isCurrent: z.boolean() }),
  example: { command: 'clew reindex --update', input: { update: true } },
  cli: { group: 'Move', options: { update: '--update' } },
  run: (ledger, { update }, { onProgress, signal } = {}) =>
    ledger.index({ rebuild: update !== true, onProgress, signal }),
})

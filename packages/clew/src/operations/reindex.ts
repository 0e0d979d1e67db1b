import { z } from 'zod'
import { answering } from './operation.ts'

export const reindex = answering({
  name: 'reindex',
  summary: 'Delete the search index and rebuild it from the events',
  scope: 'admin',
  surfaces: ['cli'],
  input: z.object({
    update: z.boolean().optional().describe('keep it and add only missing events'),
  }),
  output: z.object({ position: z.int().min(0), lag: z.int().min(0), isCurrent: z.boolean() }),
  example: { command: 'clew reindex --update', input: { update: true } },
  cli: { group: 'Move', options: { update: '--update' } },
  run: (ledger, { update }, { onProgress, signal } = {}) =>
    ledger.index({ rebuild: update !== true, onProgress, signal }),
})

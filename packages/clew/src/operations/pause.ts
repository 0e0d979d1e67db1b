import { z } from 'zod'
import { answering } from './operation.ts'
import { controlOf } from './resume.ts'
import { controlOutcome, runId } from './schemas.ts'

export const pause = answering({
  name: 'pause',
  summary: 'Pause a run until it is resumed, in whichever process it is running',
  scope: 'control',
  surfaces: ['cli', 'rest', 'mcp'],
  rest: { method: 'post', path: '/v1/runs/{runId}/pause' },
  mcp: { tool: 'pause', effect: 'Pauses a run until it is resumed, in whichever process it is running.' },
  input: z.object({
    runId,
    reason: z.string().min(1).max(2000).optional().describe('why, for the record'),
    by: z.string().min(1).max(200).optional().describe('who asks for it'),
    waitMs: z
      .int()
      .min(0)
      .max(600_000)
      .default(10_000)
      .describe('how long to wait for its owner, in milliseconds'),
  }),
  output: controlOutcome,
  example: {
    command: 'clew pause trip-12 --why "prices are wrong" --by ann',
    input: { runId: 'trip-12', reason: 'prices are wrong', by: 'ann' },
  },
  cli: {
    group: 'Control',
    arguments: [
      { word: 'run', field: 'runId', required: true, about: 'id of the run, or its first characters' },
    ],
    options: { reason: '--why <text>', by: '--by <who>', waitMs: '--wait <ms>' },
  },
  run: async (ledger, { runId: id, ...request }, context = {}) =>
    (await controlOf(ledger, context)).pause(id, request),
})

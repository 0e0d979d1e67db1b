import { z } from 'zod'
import { answering } from './operation.ts'
import { runId } from './schemas.ts'

export const demo = answering({
  name: 'demo',
  summary: 'Record a scripted agent into the ledger and watch it happen',
  scope: 'write',
  surfaces: ['cli'],
  input: z.object({
    fast: z.boolean().optional().describe('without pauses and without asking'),
    runId: runId.optional().describe('id for the run; default a new one'),
  }),
  output: z.object({
    runId: z.string(),
    childRunId: z.string(),
    status: z.enum(['completed', 'stopped']),
    answer: z.string().nullable(),
  }),
  example: { command: 'clew demo', input: {} },
  cli: { group: 'Begin', options: { fast: '--fast' } },
  async run(ledger, { fast, runId: wanted }, context = {}) {
    const { newRunId, playResearch } = await import('../demo/research.ts')
    return playResearch(ledger, wanted ?? newRunId(), { fast: fast === true, ...context })
  },
})

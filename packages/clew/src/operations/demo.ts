import { z } from 'zod'
import { answering } from './operation.ts'
import { runId } from './schemas.ts'

export const demo = answering({
  name: 'demo',
  summary: 'Start a chat with agents in the browser, or record one scripted run in the terminal',
  scope: 'write',
  surfaces: ['cli'],
  input: z.object({
    fast: z.boolean().optional().describe('the scripted run, without pauses and without asking'),
    big: z.int().min(1).max(10_000_000).optional().describe('record a run with this many steps instead'),
    runId: runId.optional().describe('id for the run; default a new one'),
  }),
  output: z.object({
    runId: z.string(),
    childRunId: z.string().nullable(),
    status: z.enum(['completed', 'stopped']),
    answer: z.string().nullable(),
  }),
  example: { command: 'clew demo', input: {} },
  cli: {
    group: 'Begin',
    options: { fast: '--fast', big: '--big <steps>' },
    flags: {
      '--terminal': 'record a scripted run in the terminal, without a page',
      '--port <port>': 'port of the page; default 2539, or a free one if that is in use',
    },
  },
  async run(ledger, { fast, big, runId: wanted }, context = {}) {
    if (big !== undefined) {
      const [{ recordBigRun }, { newRunId }] = await Promise.all([
        import('../demo/big-run.ts'),
        import('../demo/research.ts'),
      ])
      const id = wanted ?? newRunId()
      await recordBigRun(ledger, { runId: id, steps: big, onProgress: context.onProgress })
      return { runId: id, childRunId: null, status: 'completed' as const, answer: null }
    }
    const { newRunId, playResearch } = await import('../demo/research.ts')
    return playResearch(ledger, wanted ?? newRunId(), { fast: fast === true, ...context })
  },
})

import type { Ledger, RunSummary } from '@clew/ledger'
import { z } from 'zod'
import { answering } from './operation.ts'
import { runId, runSummary } from './schemas.ts'

export const runOutcome = z.object({
  run: runSummary,
  output: z.unknown().describe('its output, once it has completed'),
})
export type RunOutcome = z.output<typeof runOutcome>

export const result = answering({
  name: 'result',
  summary: 'Show the result of a run, and wait for it if asked to',
  scope: 'read',
  surfaces: ['cli', 'rest'],
  rest: { method: 'get', path: '/v1/runs/{runId}/result' },
  input: z.object({
    runId,
    waitMs: z
      .int()
      .min(0)
      .max(600_000)
      .default(0)
      .describe('how long to wait until it ends, asks something or is blocked, in milliseconds'),
  }),
  output: runOutcome,
  example: {
    command: 'clew result summary-1 --wait 60000',
    input: { runId: 'summary-1', waitMs: 60_000 },
  },
  cli: {
    group: 'Look',
    arguments: [
      { word: 'run', field: 'runId', required: true, about: 'id of the run, or its first characters' },
    ],
    options: { waitMs: '--wait <ms>' },
  },
  run: (ledger, { runId: id, waitMs }, { signal } = {}) => readOutcome(ledger, id, waitMs, signal),
})

export async function readOutcome(
  ledger: Ledger,
  id: string,
  waitMs: number,
  signal: AbortSignal | undefined,
): Promise<RunOutcome> {
  const { openRunHandle } = await import('@clew/runtime')
  const { output } = await openRunHandle(ledger, id).result({ waitMs, signal })
  return { run: (await ledger.getRun(id)) as RunSummary, output: output ?? null }
}

import type { Ledger, StepSkeleton } from '@clew/ledger'
import { short } from './text.ts'

const MAX_STEPS = 40
const CHARS = 60

/** Of each step one line of what went in and what came out; two events are read for it. */
export async function previewLines(ledger: Ledger, steps: readonly StepSkeleton[]): Promise<string[]> {
  return Promise.all(
    steps.slice(0, MAX_STEPS).map(async ({ runId, startedSeq, endedSeq }) => {
      const [input, output] = await Promise.all([
        fieldAt(ledger, runId, startedSeq, 'input'),
        endedSeq === null ? undefined : fieldAt(ledger, runId, endedSeq, 'output'),
      ])
      return [
        input === undefined || input === null ? '' : `  in ${short(input, CHARS)}`,
        output === undefined || output === null ? '' : `  out ${short(output, CHARS)}`,
      ].join('')
    }),
  )
}

async function fieldAt(
  ledger: Ledger,
  runId: string,
  seq: number,
  field: 'input' | 'output',
): Promise<unknown> {
  for await (const event of ledger.read(runId, { afterSeq: seq - 1, limit: 1 })) return event.payload[field]
  return undefined
}

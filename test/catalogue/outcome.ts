import { canonicalText, type JsonValue } from '@clew/ledger'
import { type Outcome, StepError } from './record.ts'

export async function settle(work: () => Promise<JsonValue>): Promise<Outcome> {
  try {
    return { output: (await work()) ?? null }
  } catch (error) {
    return { error: StepError.from(error) }
  }
}

export function sameOutcome(a: Outcome, b: Outcome): boolean {
  if ('output' in a) return 'output' in b && same(a.output, b.output)
  return 'error' in b && same(a.error.toJSON(), b.error.toJSON())
}

const same = (a: JsonValue, b: JsonValue): boolean => canonicalText(a) === canonicalText(b)

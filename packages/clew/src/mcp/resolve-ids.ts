import type { Ledger } from '@clew/ledger'
import { resolveRun } from '../cli/resolve-run.ts'

/** Runs by their first characters; whatever is not there is an error that names what is near. */
export async function resolveIds(
  ledger: Ledger,
  input: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const whole = { ...input }
  for (const field of ['runId', 'otherRunId'])
    if (typeof input[field] === 'string') whole[field] = await resolveRun(ledger, input[field])
  return whole
}

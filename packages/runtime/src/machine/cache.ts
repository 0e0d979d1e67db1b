import { deriveId, type Ledger } from '@clew/ledger'
import { type Draft, type Journal, sha256 } from './journal.ts'
import { own } from './own.ts'
import { placeholderIn } from './placeholders.ts'
import type { Step } from './step.ts'

/**
 * Results by agent, step name and input digest. A kept result is an event of the run that made it, whose cause is an id
 * derived from those three: asking for the effects of that id finds it, without an index of its own.
 */
const keyOf = (agent: string, name: string, digest: string): string =>
  deriveId(sha256, `cache ${agent}`, name, digest)

export async function findCached(
  ledger: Ledger,
  agent: string,
  name: string,
  digest: string,
  nowMs: number,
): Promise<{ output: unknown } | undefined> {
  const kept = await ledger.effects(keyOf(agent, name, digest), { restored: true })
  const fresh = kept.findLast(({ eventType, payload }) => {
    const expires = payload['expiresAt']
    const isFresh = typeof expires !== 'string' || Date.parse(expires) > nowMs
    // A result that was redacted is of no use to anybody (P2).
    return eventType === TYPE && isFresh && placeholderIn(payload['output']) === undefined
  })
  return fresh && { output: own(fresh.payload['output'] ?? null) }
}

const TYPE = 'execution.result_cached'

/** Written together with the end of the step whose result it is. */
export function keepCached(
  journal: Journal,
  agent: string,
  { stepId, attempt, spec: { name }, digest }: Step,
  output: unknown,
  expiresMs: number,
): Draft {
  return journal.draft(TYPE, [stepId, attempt], keyOf(agent, name, digest), {
    stepId,
    name,
    inputDigest: digest,
    output,
    ...(Number.isFinite(expiresMs) && { expiresAt: new Date(expiresMs).toISOString() }),
  })
}

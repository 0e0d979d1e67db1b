import { deriveId, findPlaceholderPlaces, foreignType, type Ledger } from '@clew/ledger'
import { type EventDraft, type RunAppender, sha256 } from './run-appender.ts'
import { mutableCopy } from './mutable-copy.ts'
import type { Step } from './step.ts'

/**
 * Results by agent, step name and keyed digest of the input. A kept result is an event of the run that made it, whose cause
 * is an id derived from those three: asking for the effects of that id finds it, without an index of its own.
 */
const idOf = (agent: string, name: string, cacheKey: string): string =>
  deriveId(sha256, `cache ${agent}`, name, cacheKey)

export async function findCached(
  ledger: Ledger,
  agent: string,
  name: string,
  cacheKey: string,
  nowMs: number,
): Promise<{ output: unknown } | undefined> {
  const kept = await ledger.effects(idOf(agent, name, cacheKey), { restored: true })
  const fresh = kept.findLast(({ eventType, payload }) => {
    const { expiresAt: expires, output } = payload
    const isFresh = typeof expires !== 'string' || Date.parse(expires) > nowMs
    // The call itself gives the whole result, so one that was redacted is not given in its place (P2).
    return eventType === TYPE && isFresh && findPlaceholderPlaces(output).length === 0
  })
  return fresh && { output: mutableCopy(fresh.payload.output ?? null) }
}

const TYPE = foreignType('execution.result_cached')

/** Written together with the end of the step whose result it is. */
export function keepCached(
  journal: RunAppender,
  agent: string,
  { stepId, attempt, spec: { name }, digest, cacheKey }: Step,
  output: unknown,
  expiresMs: number,
): EventDraft {
  return journal.draft(TYPE, [stepId, attempt], idOf(agent, name, cacheKey), {
    stepId,
    name,
    inputDigest: digest,
    output,
    ...(Number.isFinite(expiresMs) && { expiresAt: new Date(expiresMs).toISOString() }),
  })
}

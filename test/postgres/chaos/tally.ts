import type { Acknowledged } from './notes.ts'

/** An event as the ledger has it in the end. */
export interface Found extends Acknowledged {
  /** What the writer meant, whatever id it has. */
  readonly key: string | null
  /** Of the lease it was written under. */
  readonly epoch: number | null
}

export interface EndedErrand {
  readonly runId: string
  readonly status: string
  readonly ends: number
  /** Attempt that completed, by part. */
  readonly completed: ReadonlyMap<string, number>
  readonly flaws: readonly string[]
}

export interface Evidence {
  /** By position. */
  readonly found: readonly Found[]
  readonly acknowledged: readonly Acknowledged[]
  /** What was sent and must be there in the end, answered or not. */
  readonly sent: readonly { readonly eventId: string; readonly runId: string }[]
  /** Positions in the order in which each follower was given them. */
  readonly followed: readonly (readonly number[])[]
  readonly errands: readonly EndedErrand[]
  readonly outside: readonly { readonly outside: string; readonly attempt: number }[]
  /** What `verify` says, projections included. */
  readonly problems: readonly string[]
  /** Processes that ended by themselves, and why. */
  readonly failures: readonly string[]
}

export const CHECKS = [
  'lost',
  'doubled',
  'moved',
  'broken',
  'follower gap',
  'stale owner',
  'errand',
  'failure',
] as const
export type Check = (typeof CHECKS)[number]

/** One sentence for each thing that must never be, by what it is. */
export function findViolations(evidence: Evidence): Record<Check, string[]> {
  return {
    ...judgePlaces(evidence),
    broken: [...evidence.problems],
    'follower gap': evidence.followed.flatMap((positions, who) => judgeFollower(evidence, positions, who)),
    'stale owner': judgeEpochs(evidence),
    errand: judgeErrands(evidence),
    failure: [...evidence.failures],
  }
}

function judgePlaces({
  found,
  acknowledged,
  sent,
}: Evidence): Record<'lost' | 'doubled' | 'moved', string[]> {
  const lost: string[] = []
  const doubled: string[] = []
  const moved: string[] = []
  const places = new Map<string, Found>()
  const keys = new Map<string, string>()
  for (const each of found) {
    const name = `${each.runId} ${each.eventId}`
    if (places.has(name)) doubled.push(`event ${each.eventId} of run ${each.runId} is there twice`)
    places.set(name, each)
    if (each.key === null) continue
    const other = keys.get(each.key)
    if (other !== undefined) doubled.push(`${each.key} is in event ${other} and in ${each.eventId}`)
    keys.set(each.key, each.eventId)
  }
  for (const { eventId, runId, seq, position, hash } of acknowledged) {
    const place = places.get(`${runId} ${eventId}`)
    if (!place) lost.push(`event ${eventId}, acknowledged as seq ${seq} of run ${runId}`)
    else if (place.seq !== seq || place.position !== position || place.hash !== hash)
      moved.push(`event ${eventId} of run ${runId} is not where and what was acknowledged`)
  }
  for (const { eventId, runId } of sent)
    if (!places.has(`${runId} ${eventId}`))
      lost.push(`event ${eventId} of run ${runId}, sent until it was answered`)
  return { lost, doubled, moved }
}

/** It must have been given every event once and in order, however often it or its connection died. */
function judgeFollower({ found }: Evidence, positions: readonly number[], who: number): string[] {
  const at = positions.findIndex((position, n) => position !== found[n]?.position)
  if (at < 0 && positions.length === found.length) return []
  const n = at < 0 ? positions.length : at
  return [
    `follower ${who} was given ${positions[n] ?? 'nothing'} where ${found[n]?.position ?? 'nothing'} comes (event ${n} of ${found.length})`,
  ]
}

/** Who had lost a run wrote nothing any more: within a run epochs never go back. */
function judgeEpochs({ found }: Evidence): string[] {
  const newest = new Map<string, number>()
  return found
    .toSorted((a, b) => a.seq - b.seq)
    .flatMap(({ runId, seq, epoch }) => {
      if (epoch === null) return []
      const before = newest.get(runId) ?? 0
      newest.set(runId, Math.max(before, epoch))
      return epoch < before
        ? [`seq ${seq} of run ${runId} was written under epoch ${epoch} after ${before}`]
        : []
    })
}

function judgeErrands({ errands, outside }: Evidence): string[] {
  const violations: string[] = []
  const completed = new Map<string, number>()
  for (const { runId, status, ends, completed: parts, flaws } of errands) {
    if (status !== 'completed' || ends !== 1)
      violations.push(`run ${runId} is ${status} and has ${ends} ends`)
    violations.push(...flaws.map((flaw) => `run ${runId}: ${flaw}`))
    for (const [part, attempt] of parts) completed.set(`${runId} ${part}`, attempt)
  }
  for (const { outside: what, attempt } of outside)
    if (attempt > (completed.get(what) ?? Number.POSITIVE_INFINITY))
      violations.push(`${what} was carried out again as attempt ${attempt} after it was completed`)
  return violations
}

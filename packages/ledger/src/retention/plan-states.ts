import { ClewError } from '../errors.ts'
import type { EventPlace } from './facts.ts'

/** Which states of a thread stay readable (R10): all (default), the newest, or the last `window`. */
export interface StatePolicy {
  readonly keep?: 'full' | 'latest' | 'windowed' | undefined
  readonly window?: number | undefined
  /** States older than this are pruned even if another setting keeps them, except those that an unfinished run needs. */
  readonly ttlMs?: number | undefined
}

/** A checkpoint of a thread whose payload is still there. */
export interface StateEntry extends EventPlace {
  readonly position: number
  readonly hash: string
  readonly createdMs: number
  /** Folding from here on, in the line of the run, gives the state. */
  readonly baseSeq: number
  /** Event from which the state that begins here continues. */
  readonly from: EventPlace | undefined
  /** Its own event, and the ends of the steps that its superstep was made of. */
  readonly events: readonly { readonly seq: number; readonly position: number; readonly hash: string }[]
  /** No longer kept, but others are folded from it. */
  readonly pruned: boolean
}

/** Everything that the plan is made from: nothing else is looked at. */
export interface StateFacts {
  readonly nowMs: number
  /** Oldest first. */
  readonly entries: readonly StateEntry[]
  /** Per run: whether it has ended, and the event it was forked at. */
  readonly runs: ReadonlyMap<string, { readonly isOver: boolean; readonly forkOf: EventPlace | null }>
  /** Events at which these runs were forked. */
  readonly forks: readonly EventPlace[]
  /** Runs that a hold covers. */
  readonly held: ReadonlySet<string>
  /** Up to this position all consumers have seen what there is. */
  readonly seenPosition: number
}

export interface StatePlan {
  /** No longer to be read. */
  readonly marked: readonly StateEntry[]
  /** No longer needed either: their payloads go. */
  readonly blank: readonly StateEntry[]
}

export const keepsAll = ({ keep = 'full', ttlMs }: StatePolicy): boolean =>
  keep === 'full' && ttlMs === undefined

export function checkStatePolicy({ keep = 'full', window: most, ttlMs }: StatePolicy): void {
  const refuse = (message: string, hint: string): never => {
    throw new ClewError('bad_option', message, hint)
  }
  if (!['full', 'latest', 'windowed'].includes(keep))
    refuse(
      'The retention keeps neither full, latest nor windowed',
      "Use keep: 'full', 'latest' or 'windowed'.",
    )
  const isCount = most !== undefined && Number.isInteger(most) && most >= 1
  if (keep === 'windowed' && !isCount)
    refuse('A windowed retention has no window', 'Give a window of 1 or more checkpoints.')
  if (keep !== 'windowed' && most !== undefined)
    refuse(`A retention that keeps ${keep} has no window`, "Use keep: 'windowed', or leave the window out.")
  if (ttlMs !== undefined && !(ttlMs > 0))
    refuse('The ttlMs of the retention is not above 0', 'Give milliseconds.')
}

/** Rule name that the audit run records for pruned states. */
export const nameOfPolicy = ({ keep = 'full', window: most, ttlMs }: StatePolicy): string =>
  [
    keep === 'full' ? undefined : most === undefined ? keep : `${keep} ${most}`,
    ttlMs === undefined ? undefined : `ttl ${ttlMs} ms`,
  ]
    .filter((part) => part !== undefined)
    .join(', ')

/** R10: which states go. Pure. The newest of a thread, what unfinished runs and forks stand on, and what is held stay. */
export function planStates(policy: StatePolicy, facts: StateFacts): StatePlan {
  const { entries, runs, forks, held, nowMs, seenPosition } = facts
  const { keep = 'full', ttlMs } = policy
  const most = keep === 'full' ? Number.POSITIVE_INFINITY : (policy.window ?? 1)
  const newest = new Map(entries.map((entry) => [entry.runId, entry]))
  const forked = new Set(forks.map(({ runId, seq }) => lastUpTo(entries, runId, seq)))
  const kept = entries.filter((entry, at) => {
    const { runId, createdMs, position, pruned } = entry
    if (pruned) return false
    const isOld = ttlMs !== undefined && nowMs - createdMs > ttlMs
    const isNeeded = newest.get(runId) === entry && runs.get(runId)?.isOver !== true
    const isKept = entries.length - at <= most && !isOld
    return (
      isKept ||
      isNeeded ||
      at === entries.length - 1 ||
      forked.has(entry) ||
      held.has(runId) ||
      position > seenPosition
    )
  })

  const needed = new Set<StateEntry>()
  // Newest first: what a later state is folded from holds most of the earlier ones.
  for (const entry of kept.toReversed()) if (!needed.has(entry)) need(entry.runId, entry.baseSeq, entry.seq)
  /** All that the state at `toSeq` of a run is folded from. */
  function need(runId: string, fromSeq: number, toSeq: number): void {
    for (const entry of entries) {
      if (entry.runId !== runId || entry.seq < fromSeq || entry.seq > toSeq || needed.has(entry)) continue
      needed.add(entry)
      const { from, baseSeq, seq } = entry
      const before = from && lastUpTo(entries, from.runId, from.seq)
      if (before) need(before.runId, before.baseSeq, before.seq)
      if (baseSeq < fromSeq) need(runId, baseSeq, seq)
    }
    const forkOf = runs.get(runId)?.forkOf
    if (forkOf && fromSeq <= forkOf.seq) need(forkOf.runId, fromSeq, Math.min(toSeq, forkOf.seq))
  }

  const stays = new Set(kept)
  return {
    marked: entries.filter((entry) => !entry.pruned && !stays.has(entry)),
    blank: entries.filter((entry) => !stays.has(entry) && !needed.has(entry)),
  }
}

const lastUpTo = (entries: readonly StateEntry[], runId: string, seq: number): StateEntry | undefined =>
  entries.findLast((entry) => entry.runId === runId && entry.seq <= seq)

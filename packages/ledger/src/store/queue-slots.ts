import { DEFAULT_QUEUE, type RunSummary } from '../fold/run-summary.ts'

/** Limits of one queue, over all workers (W4). */
export interface QueueLimits {
  readonly queue: string
  /** Leased runs of the queue at a time. */
  readonly concurrency?: number | undefined
  /** Leased runs of one key at a time. */
  readonly concurrencyPerKey?: number | undefined
  /** Claims of runs that have not begun, in any interval of this length. */
  readonly rate?: { readonly count: number; readonly perMs: number } | undefined
}

export interface QueueCount {
  readonly queue: string
  readonly agent: string
  readonly waiting: number
  /** Waiting for their time. */
  readonly delayed: number
  readonly running: number
}

/** What a store keeps beside the lease of a submitted run. */
export interface QueueEntry {
  readonly agent: string
  readonly queue: string
  /** The submission's key, else its thread, else empty. */
  readonly key: string
  readonly priority: number
  /** Null if it can be claimed at once. */
  readonly notBeforeMs: number | null
}

export function queueEntryOf(summary: RunSummary): QueueEntry {
  const { agent, queue = DEFAULT_QUEUE, key, threadId, priority = 0, dueAt } = summary
  return {
    agent: agent ?? '',
    queue,
    key: key ?? threadId ?? '',
    priority,
    notBeforeMs: dueAt === null ? null : Date.parse(dueAt),
  }
}

/** A submitted run that could be claimed. */
export interface WaitingRun {
  readonly runId: string
  readonly queue: string
  readonly key: string
  readonly priority: number
  readonly turn: number
  /** An earlier run of its thread has not ended, or a run of its thread is leased. */
  readonly isBlocked: boolean
}

/** Leases and claims of a limited queue at the moment of a claim. */
export interface QueueUse {
  readonly queue: string
  /** Held leases by key. */
  readonly held: ReadonlyMap<string, number>
  /** Times of the claims in the last interval of its rate, oldest first. */
  readonly claimedMs: readonly number[]
}

export interface QueueSlots {
  /** Takes a slot if one is free. A run that goes on again needs one too, but does not count for the rate. */
  take(run: { readonly queue: string; readonly key: string }, isNew: boolean): boolean
  /** False if no run of the queue would get a slot that has not begun. */
  hasRoom(queue: string): boolean
  /** A thread is busy. */
  postpone(): void
  /** When what was in the way may be gone; null if nothing was. */
  readonly retryMs: number | null
}

/** A lease is released without an event in the ledger, so a worker that a lease was in the way of asks again after this time. */
export const CLAIM_RETRY_MS = 1000

/** Decides who gets a slot. Shared by all stores, which read `uses` and write the result in one transaction. */
export function createQueueSlots(
  limits: readonly QueueLimits[],
  uses: readonly QueueUse[],
  nowMs: number,
): QueueSlots {
  const queues = new Map(
    limits.map((limit) => {
      const use = uses.find(({ queue }) => queue === limit.queue)
      const held = new Map(use?.held)
      const total = [...held.values()].reduce((sum, count) => sum + count, 0)
      return [limit.queue, { limit, held, total, claimedMs: [...(use?.claimedMs ?? [])] }]
    }),
  )
  let retryMs: number | null = null

  const refuse = (untilMs: number): false => {
    retryMs = Math.min(retryMs ?? Number.POSITIVE_INFINITY, untilMs)
    return false
  }

  function hasRoom(queue: string, isNew: boolean): boolean {
    const state = queues.get(queue)
    if (!state) return true
    const { concurrency = Number.POSITIVE_INFINITY, rate } = state.limit
    if (state.total >= concurrency) return refuse(nowMs + CLAIM_RETRY_MS)
    if (isNew && rate && state.claimedMs.length >= rate.count)
      return refuse((state.claimedMs[state.claimedMs.length - rate.count] as number) + rate.perMs)
    return true
  }

  return {
    get retryMs() {
      return retryMs
    },
    hasRoom: (queue) => hasRoom(queue, true),
    postpone: () => void refuse(nowMs + CLAIM_RETRY_MS),
    take({ queue, key }, isNew) {
      const state = queues.get(queue)
      if (!state) return true
      if (!hasRoom(queue, isNew)) return false
      const { concurrencyPerKey } = state.limit
      const ofKey = state.held.get(key) ?? 0
      if (key !== '' && concurrencyPerKey !== undefined && ofKey >= concurrencyPerKey)
        return refuse(nowMs + CLAIM_RETRY_MS)
      state.total++
      state.held.set(key, ofKey + 1)
      if (isNew) state.claimedMs.push(nowMs)
      return true
    },
  }
}

/** Order of claims: priority first, then turns. */
const byTurn = (a: WaitingRun, b: WaitingRun): number => b.priority - a.priority || a.turn - b.turn

/** Those of the rows that get a slot, at most `limit`, in order. */
export function pickWaiting(
  rows: readonly WaitingRun[],
  slots: QueueSlots,
  limit: number,
): readonly WaitingRun[] {
  const picked: WaitingRun[] = []
  for (const row of rows.toSorted(byTurn)) {
    if (picked.length >= limit) break
    if (row.isBlocked) slots.postpone()
    else if (slots.take(row, true)) picked.push(row)
  }
  return picked
}

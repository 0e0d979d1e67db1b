import type { RunStatus } from '@clew/ledger'

/** A child run of an earlier take of the map. */
export interface StoredItem {
  /** Digest of the input it was given. */
  readonly signature: string
  readonly runId: string
  readonly status: RunStatus
}

/** What to do with one item: give back, go on with, or run. */
export type MatchedItem =
  | { readonly action: 'restore' | 'resume'; readonly runId: string }
  /** `retryOf` is the child that failed or was stopped with this input. */
  | { readonly action: 'run'; readonly retryOf: string | null }

/** The best claim first: what is done, what can go on, what has to be done again. */
const RANK: Readonly<Record<RunStatus, number | null>> = {
  completed: 0,
  paused: 1,
  pending: 1,
  running: 1,
  interrupted: 1,
  blocked: 1,
  partial: 2,
  failed: 2,
  stopped: 2,
  // Another run stands in its place, or its record is gone.
  superseded: null,
  deleted: null,
}

/**
 * R8: finds the child of each item by the signature of its input, wherever the item stands now. Each child is
 * claimed once, so equal inputs get their children one for one; a child that failed is never given back.
 */
export function matchItems(stored: readonly StoredItem[], signatures: readonly string[]): MatchedItem[] {
  const free = new Map<string, StoredItem[]>()
  for (const item of stored) {
    if (RANK[item.status] === null) continue
    const same = free.get(item.signature)
    if (same) same.push(item)
    else free.set(item.signature, [item])
  }
  // Sorting is stable: of equal rank the earlier child goes to the earlier item. The next claim is the last one.
  for (const same of free.values())
    same.sort((a, b) => (RANK[a.status] ?? 0) - (RANK[b.status] ?? 0)).reverse()
  return signatures.map((signature) => toMatch(free.get(signature)?.pop()))
}

function toMatch(claimed: StoredItem | undefined): MatchedItem {
  if (!claimed) return { action: 'run', retryOf: null }
  const { runId, status } = claimed
  if (status === 'completed') return { action: 'restore', runId }
  return RANK[status] === 1 ? { action: 'resume', runId } : { action: 'run', retryOf: runId }
}

import type { RunStatus } from '@clew/ledger'

/** `unstarted`: the map was stopped before this item's turn came. */
export type ItemStatus = RunStatus | 'unstarted'

/** The first of these that any item has is what the whole map is, when none of the rules before it decides. */
const ORDER: readonly RunStatus[] = [
  'failed',
  'blocked',
  'paused',
  'interrupted',
  'running',
  'pending',
  'stopped',
]

/** R8: unstarted → stopped, mixed → partial, failed, paused, stopped, completed. */
export function aggregateStatus(statuses: Iterable<ItemStatus>): RunStatus {
  const seen = new Set(statuses)
  if (seen.has('unstarted')) return 'stopped'
  // A map inside this one that came out mixed makes it mixed too.
  if (seen.has('partial') || (seen.has('completed') && seen.has('failed'))) return 'partial'
  return ORDER.find((status) => seen.has(status)) ?? 'completed'
}

import type { RunSummary } from '../fold/run-summary.ts'

/**
 * Time since which, or from which on, a run waits for a worker that has its agent: pending (a fork, an answered
 * pause, a sleep), interrupted, or paused with a time at which it continues. Null if it waits for none. A child
 * continues inside its parent. `recordedAt` is the store's own time of the event that caused it: the producer's clock
 * orders nothing (E2).
 */
export function dueMsOf(
  { status, parentRunId, dueAt }: Pick<RunSummary, 'status' | 'parentRunId' | 'dueAt'>,
  recordedAt: string,
): number | null {
  if (parentRunId !== null) return null
  if (dueAt !== null && (status === 'pending' || status === 'paused')) return Date.parse(dueAt)
  return status === 'pending' || status === 'interrupted' ? Date.parse(recordedAt) : null
}

import type { RunSummary } from '../fold/run-summary.ts'

/**
 * Since when, or from when on, a run waits for somebody who has its agent: pending (a fork, an answered pause, a sleep), interrupted, or
 * paused with a time at which it goes on by itself. Null when it waits for nobody. A child goes on inside its parent.
 * `recordedAt` is the store's own time of the event that made it so: the producer's clock orders nothing (E2).
 */
export function dueMsOf(
  { status, parentRunId, dueAt }: Pick<RunSummary, 'status' | 'parentRunId' | 'dueAt'>,
  recordedAt: string,
): number | null {
  if (parentRunId !== null) return null
  if (dueAt !== null && (status === 'pending' || status === 'paused')) return Date.parse(dueAt)
  return status === 'pending' || status === 'interrupted' ? Date.parse(recordedAt) : null
}

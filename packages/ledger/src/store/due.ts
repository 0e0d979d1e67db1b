import { isTerminal, type RunSummary } from '../fold/run-summary.ts'

/**
 * Time since which, or from which on, a run waits for a worker that has its agent: pending (a fork, an answered
 * pause, a sleep), interrupted, paused with a time at which it continues, or any of these at its deadline. Null if it waits
 * for none. A submitted run waits in its queue and is due at its deadline only. A child continues inside its parent.
 * `recordedAt` is the store's own time of the event that caused it: the producer's clock orders nothing (E2).
 */
export function dueMsOf(
  run: Pick<RunSummary, 'status' | 'parentRunId' | 'dueAt' | 'waiting' | 'deadlineAt'>,
  recordedAt: string,
): number | null {
  const { status, parentRunId, deadlineAt } = run
  if (parentRunId !== null || isTerminal(status) || status === 'running') return null
  const dueMs = ownDueMs(run, recordedAt)
  if (deadlineAt === undefined) return dueMs
  return Math.min(Date.parse(deadlineAt), dueMs ?? Number.POSITIVE_INFINITY)
}

function ownDueMs(
  { status, dueAt, waiting }: Pick<RunSummary, 'status' | 'dueAt' | 'waiting'>,
  recordedAt: string,
): number | null {
  if (waiting) return null
  if (dueAt !== null && (status === 'pending' || status === 'paused')) return Date.parse(dueAt)
  return status === 'pending' || status === 'interrupted' ? Date.parse(recordedAt) : null
}

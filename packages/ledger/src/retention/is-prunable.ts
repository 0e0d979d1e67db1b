import { isTerminal, type RunSummary } from '../fold/run-summary.ts'

/**
 * True for a run that no process began and none can resume: events were recorded under its id, and that is all. Such
 * a run has no end, so only its age shows that no more events will come.
 */
export const isOnlyRecorded = (run: RunSummary): boolean =>
  run.status === 'pending' &&
  run.agent === null &&
  run.parentRunId === null &&
  run.forkedFrom === null &&
  run.checkpoint === null &&
  run.session === null &&
  run.dueAt === null &&
  run.steps === 0

/** A run that retention may take: it is over, or was only recorded. */
export const isPrunable = (run: RunSummary): boolean => isTerminal(run.status) || isOnlyRecorded(run)

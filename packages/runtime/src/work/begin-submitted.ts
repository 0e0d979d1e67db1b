import { type ClewEvent, supersedeRun } from '@clew/ledger'
import type { ActiveRun } from '../run/acquire-run.ts'
import { recordedInput } from '../run/recorded-input.ts'
import type { RunResult } from '../run/result.ts'
import type { SessionOptions } from '../run/run-options.ts'
import { recordStart } from '../run/record-start.ts'

/** The first claim of a submitted run (W1): its start is recorded, with what only the process that has the code knows. */
export async function beginSubmitted(take: ActiveRun, events: readonly ClewEvent[]): Promise<RunResult> {
  const submission = events[0] as ClewEvent<'system.workflow_submitted'>
  const { session, budget, deadlineAt } = submission.payload as {
    readonly session?: SessionOptions
    readonly deadlineAt?: string
    readonly budget?: ActiveRun['options']['budget']
  }
  if (session?.supersedes !== undefined) await supersedeRun(take.ledger, session.supersedes, take.runId)
  return recordStart(take, recordedInput(events), {
    cause: submission.eventId,
    budget,
    deadlineAt,
    submission: events,
  })
}

import { ClewError, type ClewEvent, supersedeRun } from '@clew/ledger'
import type { ActiveRun } from '../run/acquire-run.ts'
import { recordedInput } from '../run/recorded-input.ts'
import type { RunResult } from '../run/result.ts'
import type { SessionOptions } from '../run/run-options.ts'
import { recordStart } from '../run/record-start.ts'

/** The first claim of a submitted run (W1): its start is recorded, with what only the process that has the code knows. */
export async function beginSubmitted(take: ActiveRun, given: readonly ClewEvent[]): Promise<RunResult> {
  for (let events = given; ; )
    try {
      return await begin(take, events)
    } catch (error) {
      if (!(error instanceof ClewError && error.code === 'wrong_seq')) throw error
      // A signal came between the claim and the start. It stands before the start then.
      const now = await take.program.load(take.ledger, take.runId)
      if (now.length <= events.length || now.some(isStart)) throw error
      events = now
    }
}

const isStart = ({ eventType }: ClewEvent): boolean => eventType === 'system.workflow_started'

async function begin(take: ActiveRun, events: readonly ClewEvent[]): Promise<RunResult> {
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

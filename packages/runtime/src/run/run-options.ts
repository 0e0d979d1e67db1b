import type { ClewEvent, Lease } from '@clew/ledger'
import type { Budget } from '../machine/budget.ts'
import type { RunLogBuilder } from '../log/run-log.ts'
import type { RunListener } from './result.ts'

/**
 * Graceful shutdown of a process: no new steps begin, steps in flight get `graceMs` to end, and the run is then recorded
 * as *interrupted*, which any process can resume immediately.
 */
export interface Shutdown {
  readonly signal: AbortSignal
  readonly graceMs: number
}

export interface RunOptions {
  /** Ends the run as stopped. */
  readonly signal?: AbortSignal | undefined
  /** Recorded with the start, and counted over all resumes; the budget of a resume can only tighten it. */
  readonly budget?: Budget | undefined
  /** When the thread is busy: an error (default), or wait for its turn. */
  readonly onBusy?: 'reject' | 'wait' | undefined
  readonly listener?: RunListener | undefined
  /** When it is asked for, the run is left to others: see `Shutdown`. */
  readonly shutdown?: Shutdown | undefined
  /** Gives the run up whenever a step has ended and takes it up again from the record: finds what only lives in memory. */
  readonly suspendAlways?: boolean | undefined
}

/** T1: the run answers in a stream, and its steps are the session's. */
export interface SessionOptions {
  /** Is the run's thread. */
  readonly streamId: string
  readonly persona?:
    | { readonly id: string; readonly name?: string; readonly avatarUrl?: string | null }
    | undefined
  /** The message that it answers. */
  readonly triggerMessageId?: string | undefined
  /** The session whose place it takes; one that is still at work loses its lease. */
  readonly supersedes?: string | undefined
}

export interface StartOptions extends RunOptions {
  readonly runId?: string | undefined
  readonly threadId?: string | undefined
  readonly session?: SessionOptions | undefined
  /** Ids of the people this run is about, for erasure. */
  readonly subjects?: readonly string[] | undefined
  /** The event that led to this run; default: the message that its session answers, else what the code around says (L9). */
  readonly causedBy?: ClewEvent | string | undefined
  /** Tags that the run has from its start (V11). */
  readonly tags?: Readonly<Record<string, string>> | undefined
}

export interface ResumeOptions extends RunOptions {
  /** Answer to an open question; `pauseId` says which when there is more than one. */
  readonly answer?: unknown
  readonly pauseId?: string | undefined
  /** Several answers at once, by the id of the pause. */
  readonly answers?: Readonly<Record<string, unknown>> | undefined
  /** Person who answers. */
  readonly by?: string | undefined
  /** Replaces the run's budget, also by a larger one; recorded. */
  readonly replaceBudget?: Budget | undefined
  /**
   * When the code asks for something else than the record has, the run is blocked (default), and can be forked before that
   * step; or the difference is accepted, on record: what the code asks for otherwise is done anew, as the next attempt, and
   * what it does not ask for any more is passed over. Of child runs, too.
   */
  readonly onDivergence?: 'block' | 'accept' | undefined
  /**
   * Original texts of secrets that redaction took out of the record (P2): they are put back before the code is given
   * anything. Each must fit a placeholder of this run or of one below it, or nothing is done. None of them is stored.
   */
  readonly secrets?: readonly string[] | undefined
  /** The lease under which a worker has claimed the run. A sleep then ends the call; the worker that finds the run due resumes it. */
  readonly claimed?: Lease | undefined
}

/** State that a run in this process keeps while it sleeps. */
export interface Carried {
  /** Input with its secrets, which the record may lack (P2). */
  readonly input?: unknown
  readonly log: RunLogBuilder
  readonly isWoken?: boolean | undefined
  /** A run that was paused in the meantime stays so. */
  readonly unlessPaused?: boolean | undefined
  /** The answers come from the record of its parent, which took them in time. */
  readonly areInTime?: boolean | undefined
}

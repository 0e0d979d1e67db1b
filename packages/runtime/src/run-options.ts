import type { Budget } from './machine/budget.ts'
import type { RunLogBuilder } from './log/run-log.ts'
import type { Tidings } from './result.ts'

export interface RunOptions {
  /** Ends the run as stopped. */
  readonly signal?: AbortSignal | undefined
  readonly budget?: Budget | undefined
  /** When the thread is busy: an error (default), or wait for its turn. */
  readonly onBusy?: 'reject' | 'wait' | undefined
  readonly tidings?: Tidings | undefined
  /** Gives the run up whenever a step has ended and takes it up again from the record: finds what only lives in memory. */
  readonly suspendAlways?: boolean | undefined
}

export interface StartOptions extends RunOptions {
  readonly runId?: string | undefined
  readonly threadId?: string | undefined
  /** Ids of the people this run is about, for erasure. */
  readonly subjects?: readonly string[] | undefined
}

export interface ResumeOptions extends RunOptions {
  /** Answer to an open question; `pauseId` says which when there is more than one. */
  readonly answer?: unknown
  readonly pauseId?: string | undefined
  /** Several answers at once, by the id of the pause. */
  readonly answers?: Readonly<Record<string, unknown>> | undefined
  /** Who answers. */
  readonly by?: string | undefined
}

/** What one life of a run in this process hands on to the next one, when it has slept in between. */
export interface Carried {
  /** Known here, though the record may have it without its secrets (P2). */
  readonly input?: unknown
  readonly log: RunLogBuilder
  readonly isWoken?: boolean | undefined
}

import type { ClewEvent, Pause, RunStatus, SignalWait } from '@clew/ledger'
import type { Fidelity } from './fidelity.ts'
import type { KeptMessage } from '../graph/message.ts'
import type { RunLog } from '../log/run-log.ts'
import type { Question, StepError } from './run.ts'

/** First difference between code and record on resume (D2). */
export interface ResumeDivergence {
  readonly kind: 'order' | 'kind' | 'input' | 'output' | 'missing' | 'extra' | 'redacted'
  readonly stepId: string | null
  readonly expected: unknown
  /** For a missing step: the id of the call that the code made instead, if known. */
  readonly received: unknown
  /** Child run in which it was found. */
  readonly childRunId?: string | undefined
  /** For `redacted`: kind of the secret that is not stored. */
  readonly secretKind?: string | undefined
  /** For other kinds: steps whose redacted text the code received and may have cut or parsed. */
  readonly redactedFrom?: readonly string[] | undefined
}

/** An open question of a run. */
export interface RunPause extends Pause {
  readonly question: Question
}

/** Outcome of a run, or the reason why it waits. */
export type RunResult<Output = unknown> = RunFacts & RunEnd<Output>

/** `status === 'completed'` has an output; a blocked run's error has code `diverged` and says what to do. */
export type RunEnd<Output> =
  | { readonly status: 'completed'; readonly output: Output; readonly error: null }
  | { readonly status: 'failed' | 'blocked'; readonly output: undefined; readonly error: StepError }
  | {
      readonly status: Exclude<RunStatus, 'completed' | 'failed' | 'blocked'>
      readonly output: undefined
      /** Reason why the run was stopped. */
      readonly error: StepError | null
    }

export interface RunFacts {
  readonly runId: string
  readonly threadId: string | null
  /** The first open question, when the run is paused. */
  readonly pause: RunPause | null
  readonly pauses: readonly RunPause[]
  /** When it goes on by itself: it sleeps, or its question has a default answer. */
  readonly dueAt: string | null
  /** Signals that it waits for, when it is paused. */
  readonly awaits: readonly SignalWait[]
  readonly divergence: ResumeDivergence | null
  readonly log: RunLog
  /** False when async durability left gaps: the run's end stands, what `checkpointErrors` name may not. */
  readonly checkpointOk: boolean
  readonly checkpointErrors: readonly Error[]
  /** Possible problems of a later resume: a secret in the input, or redacted text that the code received. */
  readonly warnings: readonly string[]
  /** Versions of code and models at recording and now, for a run that was resumed or forked (D7). */
  readonly fidelity: Fidelity | null
}

/** Callbacks of a working run; streams are built on them (R12). */
export interface RunListener {
  event?(event: ClewEvent): void
  /** A step began or ended. */
  step?(step: StepChange): void
  /** Write of a node. Called before its end is recorded, and not for restored ends. */
  update?(update: NodeUpdate): void
  /** Whole state after a superstep; 0 is the input. May be called more than once for one superstep, also on resume. */
  values?(state: Readonly<Record<string, unknown>>, superstep: number): void
  token?(stepId: string | null, text: string): void
  custom?(stepId: string | null, data: unknown): void
  /** Listener of a child run; without it, the child has none. */
  child?(link: { readonly runId: string; readonly parentStepId: string }): RunListener
}

export interface NodeUpdate {
  readonly stepId: string
  readonly node: string
  readonly superstep: number
  readonly write: Readonly<Record<string, unknown>> | null
  readonly messages: readonly KeptMessage[]
}

export interface StepChange {
  readonly stepId: string
  readonly name: string
  readonly kind: string
  readonly attempt: number
  readonly status: 'running' | 'completed' | 'failed' | 'stopped' | 'paused'
  readonly output?: unknown
  readonly error?: StepError | undefined
}

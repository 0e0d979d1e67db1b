import type { ClewEvent, Pause, RunStatus } from '@clew/ledger'
import type { Fidelity } from './fidelity.ts'
import type { KeptMessage } from './graph/message.ts'
import type { RunLog } from './log/run-log.ts'
import type { Question, StepError } from './run.ts'

/** Where code and record part on resume (D2). */
export interface ResumeDivergence {
  readonly kind: 'order' | 'kind' | 'input' | 'output' | 'missing' | 'extra' | 'redacted'
  readonly stepId: string | null
  readonly expected: unknown
  /** Of a missing step: the id of what the code asked for instead, as far as that is known. */
  readonly received: unknown
  /** The run in which it was found, when that is a child of the step. */
  readonly childRunId?: string | undefined
  /** Of a redacted one: the kind of the secret that is not stored. */
  readonly secretKind?: string | undefined
  /** Of the others: steps whose redacted text the code was given, which it may have cut or parsed. */
  readonly redactedFrom?: readonly string[] | undefined
}

/** An open question of a run. */
export interface RunPause extends Pause {
  readonly question: Question
}

/** How a run came out, or where it waits. */
export type RunResult<Output = unknown> = RunFacts & RunEnd<Output>

/** `status === 'completed'` has an output; a blocked run's error has code `diverged` and says what to do. */
export type RunEnd<Output> =
  | { readonly status: 'completed'; readonly output: Output; readonly error: null }
  | { readonly status: 'failed' | 'blocked'; readonly output: undefined; readonly error: StepError }
  | {
      readonly status: Exclude<RunStatus, 'completed' | 'failed' | 'blocked'>
      readonly output: undefined
      /** Of a stopped run: why. */
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
  readonly divergence: ResumeDivergence | null
  readonly log: RunLog
  /** False when async durability left gaps: the run's end stands, what `checkpointErrors` name may not. */
  readonly checkpointOk: boolean
  readonly checkpointErrors: readonly Error[]
  /** What does no harm yet: a secret in the input that a resume needs again, redacted text that the code was given. */
  readonly warnings: readonly string[]
  /** Of a run that was resumed or forked here: what its record was made with, and what it goes on with (D7). */
  readonly fidelity: Fidelity | null
}

/** What a run tells while it works; streams are made of these (R12). */
export interface RunListener {
  event?(event: ClewEvent): void
  /** A step began or ended. */
  step?(step: StepChange): void
  /** What a node wrote; told before its end is recorded, and not for ends that the record had already. */
  update?(update: NodeUpdate): void
  /** The whole state after a superstep, 0 being the input; may be told more than once, and when a run is taken up. */
  values?(state: Readonly<Record<string, unknown>>, superstep: number): void
  token?(stepId: string | null, text: string): void
  custom?(stepId: string | null, data: unknown): void
  /** Where a child run tells; without it the child tells nothing. */
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

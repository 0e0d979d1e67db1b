import type { Change, RunDiff } from '@clew/ledger'
import type { Fidelity } from '../run/fidelity.ts'
import type { StepError } from '../run/run.ts'

/** D1. *reconstruct*: views only, nothing executes; *re-execute*: the code runs again on recorded results; *what-if*: so up to a step, then live. */
export type ReplayMode = 'reconstruct' | 're-execute' | 'what-if'

/** D2: how code and record part. */
export type DivergenceKind =
  /** The same steps, asked for in another order or for another reason. */
  | 'order'
  /** Another step stands where a recorded one was expected. */
  | 'name'
  /** The same step, but another kind of work. */
  | 'kind'
  | 'input'
  /** Code that ran again gave something else: a body, a node, the run itself. */
  | 'output'
  /** A node chose other targets. */
  | 'decision'
  /** A recorded step that the code did not ask for, although it came past it. */
  | 'missing'
  /** A step that the record does not have. */
  | 'extra'
  /** Recorded steps left over when the code ended. */
  | 'unconsumed'
  /** The record lacks what the code would be given: it was redacted or erased. */
  | 'redacted'

export interface ReplayDivergence {
  readonly kind: DivergenceKind
  /** Name of the step, as people know it; null for the run itself. */
  readonly step: string | null
  readonly stepId: string | null
  /** Seq of the recorded event that was compared; null if there is none. */
  readonly seq: number | null
  readonly expected: unknown
  readonly received: unknown
  /** Differences between the two, if they are values. */
  readonly changes: readonly Change[]
  /** The run in which it was found, when that is a child. */
  readonly childRunId?: string | undefined
}

/** One place of the two paths, aligned: what the record did and what the code did. */
export interface PathStep {
  readonly step: string
  readonly stepId: string
  readonly kind: string
  readonly decision: string | readonly string[] | null
  /** `same`: asked for as recorded; `changed`: with another input, kind or outcome; `missing`: only in the record; `new`: only in the code. */
  readonly match: 'same' | 'changed' | 'missing' | 'new'
  /** Seq of the recorded start; null for a new step. */
  readonly seq: number | null
}

export interface ReplayOutcome {
  readonly status: 'completed' | 'failed' | 'paused' | 'unfinished'
  readonly output?: unknown
  readonly error?: ReturnType<StepError['toJSON']> | undefined
}

export interface ReplayReport {
  readonly mode: ReplayMode
  readonly verdict: 'identical' | 'diverged'
  readonly sourceRunId: string
  /** The run under which this report was kept, or the fork of a what-if; null when nothing was written. */
  readonly runId: string | null
  /** The first one first; the rest are what could still be compared after it. */
  readonly divergences: readonly ReplayDivergence[]
  readonly path: readonly PathStep[]
  /** Outcome of the code in this replay. */
  readonly outcome: ReplayOutcome
  /** Recorded outcome. */
  readonly recorded: ReplayOutcome
  /** Comparison of source and fork of a what-if: steps, tokens, cost, time, output and state. */
  readonly comparison?: RunDiff | undefined
  /** Versions with which the run was recorded and with which it was replayed (D7). */
  readonly fidelity: Fidelity
  readonly steps: number
  readonly durationMs: number
}

import type { BranchSource } from './branch.ts'
import type { Durability, Ledger, PartialOutputs, PromotionRule, SignalWait } from '@clew/ledger'
import type { ResumeDivergence, RunListener } from '../run/result.ts'
import type { Run, StepError } from '../run/run.ts'
import type { Shutdown } from '../run/run-options.ts'
import type { Budget, UsageTotals } from './budget.ts'
import type { EventDraft, RunAppender } from './run-appender.ts'
import type { Program } from './program.ts'
import type { Inbox } from '../signal/inbox.ts'
import type { SignalSchemas } from '../signal/signal-schemas.ts'
import type { RedactedText } from './placeholders.ts'
import type { RunRecord } from './record.ts'
import type { Scope } from './scope.ts'
import type {
  CallSpec,
  ChildEnd,
  ChildLink,
  Completed,
  EarlierWrites,
  Outcome,
  WaitingPause,
} from './step.ts'
import type { Writes } from './writes.ts'

export type { Durability }

export interface MachineOptions {
  readonly runId: string
  readonly threadId: string | null
  readonly agent: string
  /** Rules of `run.memory.promote`; default those of the ledger. */
  readonly promote?: readonly PromotionRule[] | undefined
  /** Schemas of signals that the agent declares. */
  readonly signals?: SignalSchemas | undefined
  readonly seed: string
  /** Appender of the run's events; without one nothing is recorded and nothing can be resumed. */
  readonly journal?: RunAppender | undefined
  /** Ledger of a machine without a journal that has a record: a replay. */
  readonly ledger?: Ledger | undefined
  /** Signals of the run; a replay has them from its record alone. */
  readonly inbox?: Inbox | undefined
  /** Record of the run's earlier events. */
  readonly record?: RunRecord | undefined
  /** Attempts that were begun before: what the numbering continues from. */
  readonly startsBefore?: number | undefined
  /** Answers as they were given, by pause: the record has them without what was redacted. */
  readonly answers?: ReadonlyMap<string, unknown> | undefined
  readonly durability: Durability
  readonly budget?: Budget | undefined
  /** Remaining time budget if some of it was used before; default all. */
  readonly timeLeftMs?: number | undefined
  /** Usage of the run before. */
  readonly used?: UsageTotals | undefined
  /** Ends the run as stopped. */
  readonly signal: AbortSignal
  /** Leaves the run to others when it is asked for. */
  readonly shutdown?: Shutdown | undefined
  readonly listener: RunListener
  /** Told what does no harm yet, for the result and the record (P2). */
  readonly warn?: ((message: string) => void) | undefined
  /** Text with placeholders that the code begins with. */
  readonly redactedTexts?: readonly RedactedText[] | undefined
  /** Of a child run that is tried again. */
  readonly earlierWrites?: EarlierWrites | undefined
  /** Source of a branch that asks before it reaches outside. */
  readonly branch?: BranchSource | undefined
  /** What an open step of this process has streamed. */
  readonly textOf?: ((stepId: string) => string) | undefined
  /** What a step that was in flight when its process died had streamed. */
  readonly partialOf?: PartialOutputs | undefined
  readonly onStepEnd: (step: EndedStep) => void
  /** The code waits for its calls and for nothing of its own, as that of a graph does. */
  readonly awaitsCallsOnly: boolean
  /** Gives the run up whenever a step has ended, as if the process had died: for tests. */
  readonly suspendAlways: boolean
  readonly now: () => number
  readonly openChild: (program: Program, link: ChildLink) => Promise<ChildEnd>
  readonly detach?: Detach | undefined
  /** Stops a waiting child run that no code awaits any more; rejects if that failed. */
  readonly stopChild?: ((runId: string, reason?: string) => Promise<unknown>) | undefined
  /** Reads the usage of a child run and its children; needed if there is a budget. */
  readonly usedBy?: ((childRunId: string) => Promise<UsageTotals>) | undefined
}

export interface EndedStep {
  readonly name: string
  readonly superstep: number
  readonly durationMs: number
  readonly status: 'completed' | 'failed' | 'stopped'
  readonly error: StepError | null
  readonly cached: boolean
  readonly restored: boolean
  readonly decision: string | readonly string[] | null
}

export type Detach = (
  program: Program,
  child: { readonly runId: string; readonly input: unknown },
) => Promise<string>

/** Why the machine stands still. */
export type IdleReason =
  | { readonly type: 'ended'; readonly outcome: Outcome; readonly stops: readonly EventDraft[] }
  | {
      readonly type: 'waiting'
      readonly asked: readonly EventDraft[]
      readonly pauses: readonly WaitingPause[]
      readonly dueAt: number | undefined
      readonly awaits: readonly SignalWait[]
      /** Seq of the newest signal that the machine has seen. */
      readonly seenSeq: number
    }
  | { readonly type: 'blocked'; readonly divergence: ResumeDivergence }
  | { readonly type: 'stopped'; readonly reason: string; readonly stops: readonly EventDraft[] }
  | { readonly type: 'suspended' }
  /** Handed over: others go on from the record. */
  | { readonly type: 'left' }

/** Interface of the machine to the code of a run, live or in a replay. */
export interface Caller {
  readonly root: Scope
  readonly run: Run
  call(scope: Scope, spec: CallSpec): Promise<Completed>
  readonly openChild: (program: Program, link: ChildLink) => Promise<ChildEnd>
  /** The event that woke the code last: the cause of what it does next. */
  readonly cause: string | null
}

export interface Machine<Rest = IdleReason> extends Caller {
  /** Goes through the record, then on, until the code has ended or waits for the outside. */
  go(code: () => Promise<unknown>): Promise<Rest>
}

/** A machine that writes. */
export interface LiveMachine extends Machine {
  readonly writeErrors: readonly Error[]
  /** Ends the run from inside, cleanly. */
  stop(reason: string): void
  /** A signal came for the run or for a child run. */
  signalled(): void
  readonly draft: Writes['draft']
}

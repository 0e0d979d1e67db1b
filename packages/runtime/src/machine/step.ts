import type { Pause, PayloadOf, PlaceholderPlace, Safety, SignalWait } from '@clew/ledger'
import type { ResumeDivergence } from '../run/result.ts'
import type { CallUsage, EffectCall, Question, RetryPolicy, Run, StepError } from '../run/run.ts'
import type { ReplayedCall } from '../replay/replay-state.ts'
import type { AnswerEvent, RecordedCall } from './record.ts'
import type { ResponseChunk } from './response-chunks.ts'
import type { Scope } from './scope.ts'

/** How a call came out. `fields` is what its last event carries beside the output: decisions, sends. */
export type Outcome =
  | {
      readonly output: unknown
      readonly fields?: EndFields | undefined
      /** Seq of the event that carries a checkpoint. */
      readonly seq?: number | undefined
    }
  | { readonly error: StepError }

export type Completed = Extract<Outcome, { readonly output: unknown }>

export interface EndFields {
  readonly decision?: string | readonly string[] | null | undefined
  readonly sends?: unknown
  /** The decision is where a command goes, in place of the edges. */
  readonly goto?: unknown
  /** A command ended the run. */
  readonly ends?: unknown
  readonly checkpoint?: PayloadOf<'execution.step_completed'>['checkpoint']
}

/** Work of a call. */
export type Work =
  | {
      readonly kind: 'compute' | 'node' | 'gate'
      readonly fn: (input: unknown, run: Run) => unknown
      /** Told before the end is recorded; what it gives back is recorded with it, what it throws fails the step. */
      readonly conclude?: ((output: unknown) => { output: unknown; fields: EndFields }) | undefined
    }
  | {
      readonly kind: 'effect'
      readonly fn: (input: unknown, call: EffectCall) => unknown
      readonly safety: Safety
      /** Safety as declared by the caller; an undeclared effect is handled as a read (R10). */
      readonly declared: Safety | undefined
      /** A write that may be repeated under its key (R10). */
      readonly idempotent?: boolean | undefined
      readonly refresh: boolean
      /** A person allowed it with this input. */
      readonly isApproved?: boolean | undefined
      /** Value that the function works with, if it is not the input: the state of a node. */
      readonly worksWith?: unknown
      /**
       * Chunks received while the effect was running, read from its recorded output: passed to the code in the order in which they
       * came, before the end of the call.
       */
      readonly pieces?: ((output: unknown) => readonly ResponseChunk[]) | undefined
      /** Converts the recorded output to the value for the code, if the output itself does not show which values were redacted (P2). */
      readonly asGiven?: ((output: unknown) => unknown) | undefined
      /** Whether the next attempt of the body around may be given what this one gave; default always. */
      readonly mayGiveAgain?: ((output: unknown) => boolean) | undefined
    }
  | { readonly kind: 'interrupt'; readonly question: Question }
  | { readonly kind: 'sleep'; readonly ms: number }
  | { readonly kind: 'receive'; readonly signal: string; readonly timeoutMs: number | undefined }
  | {
      readonly kind: 'child'
      readonly open: (link: ChildLink) => Promise<ChildEnd>
      readonly conclude?: ((output: unknown) => { output: unknown; fields: EndFields }) | undefined
    }

/** Link of a child run to its parent. */
export interface ChildLink {
  readonly runId: string
  readonly parentRunId: string
  readonly parentStepId: string
  readonly cause: string
  readonly signal: AbortSignal
  readonly input: unknown
  /** The run of the attempt before, if there was one. */
  readonly earlierRunId?: string | undefined
  /** How it fails when its time is over; its message is then the reason for which the child is stopped. */
  readonly timeout?: StepError | undefined
  /** Answers that the parent has received, by the id of the pause. */
  readonly answers: ReadonlyMap<string, AnswerEvent>
}

/** What the runs of earlier attempts of a child have written (R10). */
export interface EarlierWrites {
  /** That of the first attempt, from which idempotency keys are made. */
  readonly firstRunId: string
  /** `unknown`: a write that was begun and has no outcome. */
  find(step: Pick<Step, 'stepId' | 'digest'>): Outcome | 'unknown' | undefined
  /** The child run that a step of theirs began. */
  childOf(stepId: string): string | undefined
}

export type ChildEnd =
  | { readonly status: 'completed'; readonly output: unknown; readonly restored: boolean }
  | { readonly status: 'failed'; readonly error: StepError }
  | { readonly status: 'blocked'; readonly divergence: ResumeDivergence }
  /** The child run was released for another process, like its parent. */
  | { readonly status: 'left' }
  /** Waits for answers, for signals, or for a time. */
  | {
      readonly status: 'paused'
      readonly pauses: readonly WaitingPause[]
      readonly dueAt: number | undefined
      readonly awaits: readonly SignalWait[]
    }

/** An open question with what its answer needs beside it. */
export interface WaitingPause extends Pause {
  /** When its time is over. */
  readonly dueAt?: number | undefined
  /** The run that asks, when it is a child. */
  readonly childRunId?: string | undefined
}

export interface CallSpec {
  readonly name: string
  readonly key?: string | undefined
  /** When the caller has made it of its name and key already. */
  readonly stepId?: string | undefined
  /** Left out where the record has it elsewhere, as a node's state. */
  readonly input?: unknown
  readonly isInputKept: boolean
  /** The same call with another input, where more than the input says what is performed. */
  readonly withInput?: ((input: unknown) => CallSpec) | undefined
  /** When the caller knows it better than by reading the input. */
  readonly digest?: (() => string) | undefined
  /** Recorded input, if the start event does not hold it. */
  readonly recordedInput?: (() => unknown) | undefined
  /** Whether a recorded input is that of the same call; default: the two are compared (D2). */
  readonly isSameInput?: ((recorded: unknown) => boolean) | undefined
  readonly work: Work
  readonly retry?: RetryPolicy | undefined
  readonly timeoutMs?: number | undefined
  readonly cacheTtlMs?: number | undefined
  /** More for `execution.step_started`, of a graph's own calls. */
  readonly startFields?: StartFields | undefined
}

export interface StartFields {
  readonly superstep: number
  readonly index?: number | undefined
  readonly inputVersions?: Readonly<Record<string, number>> | undefined
}

export interface Step {
  readonly stepId: string
  /** Arguments of the call. A replay drops them at the end of the call: otherwise a long run would keep them all in memory. */
  spec: CallSpec
  readonly ordinal: number
  readonly scope: Scope
  readonly digest: string
  /** Key of the cached result; empty if the result is not cached. */
  readonly cacheKey: string
  resolve: (end: Completed) => void
  reject: (error: Error) => void
  /** Why its input cannot be stored: nothing of it is run. */
  readonly refused: StepError | undefined
  attempt: number
  superstep: number
  failures: number
  startId: string
  /** Recorded wall-clock time of the start; time-outs of questions count from here, in any process. */
  startedAt: number
  /** Start on this process's monotonic clock. */
  beganAt: number
  /** Started, and its end not yet handed to the ledger. */
  open: boolean
  /** Waits for the outside: with questions, or until a time. */
  pauses: readonly WaitingPause[]
  dueAt: number | undefined
  /** Signals that it waits for. */
  awaits: readonly SignalWait[]
  body: Scope | undefined
  /** An effect that is under way. */
  isDispatched: boolean
  /** A write without a recorded outcome in an earlier attempt of the body: it may have happened. */
  isDoubtful: boolean
  /** Those who wait for its end to be on record. */
  onOver: (() => void)[] | undefined
  abort: AbortController | undefined
  signal: AbortSignal | undefined
  timer: ReturnType<typeof setTimeout> | undefined
  usage: CallUsage | undefined
  /** The effect of a branch that waits for an answer. */
  heldInBranch: boolean
  /** Placeholder in the input of a write that waits for an answer. */
  redactedInput: PlaceholderPlace | undefined
  /** The event that had woken the code when it made the call. */
  readonly askedCause: string | null
  /** Recorded call; undefined if the record has none. */
  recorded: RecordedCall | undefined
  /** Asked for as recorded, or with something else than the record has. */
  isSame: boolean
  /** Which of the recorded attempts is under way. */
  at: number
  /** How often the code had been woken when the body was entered. */
  enteredAt: number
  /** The code has its end, or never gets one. */
  isOver: boolean
  /** State of the call in a replay. */
  replayed: ReplayedCall | undefined
}

/** Tells those who wait for the end of a step that they wait no longer. */
export function releaseWaiting({ onOver }: Step): void {
  for (const over of onOver?.splice(0) ?? []) over()
}

export const hasBody = (work: Work): work is Work & { kind: 'compute' | 'node' | 'gate' } =>
  work.kind === 'compute' || work.kind === 'node' || work.kind === 'gate'

/** Whether the next attempt of the enclosing body may be given the result of an earlier attempt. */
export const mayGiveAgain = (work: Work, outcome: Outcome): boolean =>
  work.kind !== 'effect' || !work.mayGiveAgain || !('output' in outcome) || work.mayGiveAgain(outcome.output)

export const isWrite = (work: Work): boolean => work.kind === 'effect' && work.safety !== 'read'

/** An attempt without an outcome is not repeated before somebody says what became of it (R10). */
export const isOnceOnly = (work: Work): boolean =>
  work.kind === 'effect' && work.safety !== 'read' && work.idempotent !== true

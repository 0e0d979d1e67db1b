import { type Ledger, type PartialFields, partialText } from '@clew/ledger'
import { childRunIdOf } from '../run/child-run-id.ts'
import type { ResumeDivergence } from '../run/result.ts'
import { createBudget, type BudgetCount } from './budget.ts'
import type { Cursor } from './cursor.ts'
import { idempotencyKeyOf } from './digest.ts'
import type { UnfinishedWork } from './ends.ts'
import type { Machine, MachineOptions } from './machine-types.ts'
import { type RedactedText, warningOfText } from './placeholders.ts'
import { createResponseChunks, type ResponseChunks } from './response-chunks.ts'
import type { AnswerEvent, RecordedAttempt, RunRecord, StepEvent } from './record.ts'
import type { RunAppender } from './run-appender.ts'
import { openRoot, type Scope } from './scope.ts'
import type { Outcome, Step } from './step.ts'
import { createStatements, type Statements } from './statements.ts'
import { createUnwinding, type Unwinding } from './unwinding.ts'
import { createWaits, type Waits } from './waits.ts'
import { createWrites, type Writes } from './writes.ts'

/** An end on its way to the code. Ends are handed over in the order in which they were written, whichever is due first. */
export interface Delivery {
  readonly step: Step
  readonly eventId: string | null
  outcome: Outcome
  isDue: boolean
  /** The end is in the prefix that a fork shares with its source. */
  readonly isShared?: boolean
}

/** All that one machine knows: what it has in hand, and where it stands. Its parts share it and keep nothing of their own. */
export interface MachineState {
  readonly options: MachineOptions
  /** Appender of events; undefined in a replay, which writes none. */
  readonly journal: RunAppender | undefined
  /** Ledger that digests, redacts and copies values; undefined if nothing is recorded. */
  readonly ledger: Ledger | undefined
  readonly root: Scope
  readonly unwinding: Unwinding
  /** The place in the record; undefined where there is none. */
  cursor: Cursor | undefined
  /** Recorded answers by pause, with what was redacted in them as long as it is known here. */
  readonly answers: ReadonlyMap<string, AnswerEvent>
  /** Readings of the clock since the event before. */
  readonly readings: [string, number][]
  readonly writes: Writes
  readonly waits: Waits
  readonly budget: BudgetCount
  /** In bodies that may be entered again: the last attempt of each step, and what was completed. */
  readonly tried: Map<string, number>
  readonly earlier: Map<string, { parentAttempt: number; digest: string; outcome: Outcome }>
  /** Writes that a body left behind without an outcome: their input digests, by step id. */
  readonly doubtful: Map<string, string>
  /** Work on recorded calls without a last word, done when the record is used up. */
  readonly deferred: (() => void)[]
  /** Results that the record has only in part (P2), for calls that are made out of their turn in it. */
  readonly refreshes: (() => Promise<void>)[]
  /** The code has not yet asked for all that the record has: calls that it lacks are held back. */
  isReading: boolean
  readonly children: Map<Step, Promise<unknown>>
  /** Steps whose end waits for child runs to stop, with what they leave: all around them may end before that. */
  readonly closing: Map<Step, UnfinishedWork>
  readonly ready: Delivery[]
  /** Chunks of recorded responses that the code has asked for and not been given. */
  readonly chunks: ResponseChunks
  starts: number
  /** The event that woke the code last; while a body is being entered, its start. */
  cause: string | null
  /** Effects, child runs and look-ups under way. */
  working: number
  /** Failed steps that wait for their next attempt. */
  delayed: number
  ended: Outcome | undefined
  divergence: ResumeDivergence | undefined
  stopReason: string | undefined
  /** Code waits for ends that come before the next recorded one: those of a fork's source, or where the record has a gap. */
  mayOvertake: boolean
  isOver: boolean
  /** How often something happened. */
  ticks: number
  /** Something happened: what waits looks again. */
  notify(): void
  /** Called at the next notification. */
  onNotify: () => void
  /** Statements of the code: recorded, or compared with the record. */
  statements: Statements
  call: Machine['call']
  /** Bodies that asked for more while the run is handed over: they wait for nothing that happens here. */
  readonly heldBack: Set<Scope>
  /** The run is handed over. */
  readonly isLeaving: boolean
  readonly isBusy: boolean
  readonly isStuck: boolean
  /** The run is stopped, or its code has ended: what is in flight is told, and what fails of that is stopped. */
  readonly isEnding: boolean
  diverge(found: ResumeDivergence): void
  /** A divergence with what gave the code text that lacks its secrets: code that cuts or parses it goes other ways. */
  withTexts(found: ResumeDivergence): ResumeDivergence
  warn(message: string): void
  /** Records that the code was given these texts: warned of, and named if the run is blocked later. */
  noteTexts(texts: readonly RedactedText[]): void
  stop(reason: string): void
  /** Detaches from an effect. One that ignores its AbortSignal may keep running. */
  leave(step: Step): void
  /** Fields of the end of an attempt that is cut off: what it had streamed, here or in the process that died. */
  partialOf(stepId: string, attempt: number): PartialFields
  /** Handed to effects: the same for each attempt. */
  keyOf(step: Step): string
  childIdOf(step: Pick<Step, 'stepId' | 'attempt'>): string
}

const nothing = (): void => {}

export function createMachineState(options: MachineOptions): MachineState {
  const { runId, journal, record } = options
  const root = openRoot()
  const readings: [string, number][] = []
  const texts = new Set<string>()
  const writes = createWrites(journal, readings, () => core.notify())
  const core: MachineState = {
    options,
    journal,
    ledger: journal?.ledger ?? options.ledger,
    root,
    unwinding: createUnwinding(runId, root, options.signal),
    cursor: undefined,
    answers: withGiven(record?.answers ?? new Map(), options.answers),
    readings,
    writes,
    waits: createWaits(),
    budget: createBudget(options.budget, options.used),
    tried: new Map(),
    earlier: new Map(),
    doubtful: new Map(),
    deferred: [],
    refreshes: [],
    // If starts may be missing from the record, missing calls are performed.
    isReading:
      options.durability !== 'async' &&
      record !== undefined &&
      record.calls.some(({ attempts }) => !record.isShared((attempts.at(-1) as RecordedAttempt).start)),
    children: new Map(),
    closing: new Map(),
    ready: [],
    chunks: createResponseChunks(),
    starts: options.startsBefore ?? 0,
    cause: record?.started.eventId ?? null,
    working: 0,
    delayed: 0,
    ended: undefined,
    divergence: undefined,
    stopReason: undefined,
    mayOvertake: false,
    isOver: false,
    ticks: 0,
    notify() {
      core.ticks++
      core.onNotify()
    },
    onNotify: nothing,
    statements: createStatements(() => core),
    call: () => new Promise(nothing),
    heldBack: new Set(),
    get isLeaving() {
      return options.shutdown?.signal.aborted === true
    },
    get isBusy() {
      return core.working + core.delayed + writes.inFlight > 0
    },
    get isStuck() {
      return core.isOver || core.isLeaving || core.divergence !== undefined || core.stopReason !== undefined
    },
    get isEnding() {
      return core.stopReason !== undefined || root.isEnding
    },
    diverge(found) {
      core.divergence ??= core.withTexts(found)
      core.notify()
    },
    withTexts: (found) =>
      texts.size === 0 || found.kind === 'redacted' || found.redactedFrom
        ? found
        : { ...found, redactedFrom: [...texts] },
    warn: (message) => options.warn?.(message),
    noteTexts(given) {
      for (const text of given) {
        texts.add(`${text.from} (${text.path})`)
        core.warn(warningOfText(text))
      }
    },
    stop(reason) {
      core.stopReason ??= reason
      core.notify()
    },
    leave(step) {
      if (step.isDispatched) core.working--
      step.isDispatched = false
    },
    partialOf(stepId, attempt) {
      const text = options.textOf?.(stepId) ?? ''
      if (text !== '' && core.ledger) return partialText(core.ledger, text)
      return options.partialOf?.({ stepId, attempt }) ?? {}
    },
    keyOf: (step) => idempotencyKeyOf(journal, options, step),
    childIdOf({ stepId, attempt }) {
      const recorded = recordedStart(record, stepId, attempt)
      const known = recorded?.payload.childRunId
      if (recorded?.correlationId === runId && known !== undefined) return known
      return childRunIdOf(runId, attempt === 1 ? stepId : `${stepId}~${attempt}`)
    },
  }
  core.noteTexts(options.redactedTexts ?? [])
  return core
}

/** Resolves when the code has come to rest. */
export const quiet = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

function withGiven(
  recorded: ReadonlyMap<string, AnswerEvent>,
  given: ReadonlyMap<string, unknown> = new Map(),
): ReadonlyMap<string, AnswerEvent> {
  if (given.size === 0) return recorded
  const answers = new Map(recorded)
  for (const [pauseId, answer] of given) {
    const event = recorded.get(pauseId)
    if (event) answers.set(pauseId, { ...event, payload: { ...event.payload, answer } })
  }
  return answers
}

function recordedStart(
  record: RunRecord | undefined,
  stepId: string,
  attempt: number,
): StepEvent | undefined {
  for (const tried of record?.attemptsOf(stepId) ?? []) if (tried.attempt === attempt) return tried.start
  return undefined
}

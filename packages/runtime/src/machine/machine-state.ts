import { childRunIdOf } from '../child-run-id.ts'
import { createComparison } from '../replay/same-value.ts'
import type { ResumeDivergence } from '../result.ts'
import { createBudget, type BudgetCount } from './budget.ts'
import { idempotencyKeyOf } from './digest.ts'
import type { UnfinishedWork } from './ends.ts'
import type { RunAppender } from './run-appender.ts'
import type { Machine, MachineOptions } from './machine-types.ts'
import { createReading, type RecordReader } from './record-reader.ts'
import { type RedactedText, warningOfText } from './placeholders.ts'
import { parentOf } from './record.ts'
import { createPieces, type ResponseChunks } from './response-chunks.ts'
import { openScope, type Scope } from './scope.ts'
import type { Outcome, Step } from './step.ts'
import { createWaits, type Waits } from './waits.ts'
import { createWrites, type Writes } from './writes.ts'

/** An end on its way to the code. They are handed over in the order in which they were written, whoever is due first. */
export interface Delivery {
  readonly step: Step
  readonly eventId: string | null
  outcome: Outcome
  isDue: boolean
  /** It stands in what a fork shares with its source. */
  readonly isShared?: boolean
}

/** What the parts of one machine have in common: what it has in hand, and where it stands. */
export interface MachineState {
  readonly options: MachineOptions
  readonly journal: RunAppender | undefined
  readonly root: Scope
  readonly reading: RecordReader | undefined
  /** Of the clock, since the event before. */
  readonly readings: [string, number][]
  readonly writes: Writes
  readonly waits: Waits
  readonly budget: BudgetCount
  /** In bodies that may be entered again: the last attempt of each step, and what was completed. */
  readonly tried: Map<string, number>
  readonly earlier: Map<string, { parentAttempt: number; digest: string; outcome: Outcome }>
  /** Writes that a body left behind without an outcome: their input digests, by step id. */
  readonly doubtful: Map<string, string>
  /** What waits until the record is used up. */
  readonly deferred: (() => void)[]
  /** Results that the record has only in part (P2), for calls that are made out of their turn in it. */
  readonly refreshes: (() => Promise<void>)[]
  /** Calls that the record does not have: begun when it is used up, so that changed code is blocked before it acts. */
  readonly unrecorded: { readonly step: Step; readonly attempt: number; readonly cause: string | null }[]
  /** The code has not yet asked for all that the record has. */
  isReading: boolean
  readonly children: Map<Step, Promise<unknown>>
  /** Steps whose end waits for child runs to stop, with what they leave: all around them may end before that. */
  readonly closing: Map<Step, UnfinishedWork>
  readonly ready: Delivery[]
  /** Of what the record has, before its end. */
  readonly pieces: ResponseChunks
  starts: number
  /** The event that woke the code last. */
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
  notify: () => void
  call: Machine['call']
  /** Bodies that asked for more while the run is handed over: they wait for nothing that happens here. */
  readonly heldBack: Set<Scope>
  /** The run is handed over. */
  readonly isLeaving: boolean
  readonly isBusy: boolean
  readonly isStuck: boolean
  diverge(found: ResumeDivergence): void
  /** A divergence with what gave the code text that lacks its secrets: code that cuts or parses it goes other ways. */
  withTexts(found: ResumeDivergence): ResumeDivergence
  warn(message: string): void
  /** Code was given these: warned of, and named if the run is blocked later. */
  noteTexts(texts: readonly RedactedText[]): void
  /** The record has a step that the code did not ask for. */
  missing(stepId: string): ResumeDivergence
  stop(reason: string): void
  /** Nobody waits for the effect any more: one that does not heed its signal may go on after its time, or for ever. */
  leave(step: Step): void
  /** Handed to effects: the same for each attempt. */
  keyOf(step: Step): string
  childIdOf(step: Step): string
}

export function createCore(options: MachineOptions): MachineState {
  const { runId, journal, record } = options
  const readings: [string, number][] = []
  const texts = new Set<string>()
  const writes = createWrites(journal, readings, () => core.notify())
  const core: MachineState = {
    options,
    journal,
    root: openScope('', null, 1, false),
    reading: record && createReading(record, options, journal && createComparison(journal.ledger)),
    readings,
    writes,
    waits: createWaits(),
    budget: createBudget(options.budget, options.used),
    tried: new Map(),
    earlier: new Map(),
    doubtful: new Map(),
    deferred: [],
    refreshes: [],
    unrecorded: [],
    // Where ends may be missing from the record, or need not fit it, what is not there is simply done.
    isReading:
      (record?.attempts.size ?? 0) > 0 && options.durability !== 'async' && options.onMismatch !== 'rerun',
    children: new Map(),
    closing: new Map(),
    ready: [],
    pieces: createPieces(),
    starts: record?.starts ?? 0,
    cause: record?.started.eventId ?? null,
    working: 0,
    delayed: 0,
    ended: undefined,
    divergence: undefined,
    stopReason: undefined,
    mayOvertake: false,
    isOver: false,
    notify: () => {},
    call: () => new Promise(() => {}),
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
    missing(stepId) {
      const start = core.reading?.attemptsOf(stepId)?.[0]?.start
      const parent = (start && parentOf(start)) ?? ''
      const instead = core.unrecorded.find(({ step }) => step.scope.path === parent)
      return { kind: 'missing', stepId, expected: stepId, received: instead?.step.stepId ?? null }
    },
    stop(reason) {
      core.stopReason ??= reason
      core.notify()
    },
    leave(step) {
      if (step.isDispatched) core.working--
      step.isDispatched = false
    },
    keyOf: (step) => idempotencyKeyOf(journal, options.seed, step),
    childIdOf({ stepId, attempt }) {
      const recorded = core.reading?.attemptsOf(stepId)?.find((each) => each.attempt === attempt)?.start
      const known = recorded?.payload['childRunId']
      if (recorded?.correlationId === runId && typeof known === 'string') return known
      return childRunIdOf(runId, attempt === 1 ? stepId : `${stepId}~${attempt}`)
    },
  }
  core.noteTexts(options.redactedTexts ?? [])
  return core
}

/** Resolves when the code has come to rest. */
export const quiet = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

import { countUsage, type StepsOfRun } from '../billing/count-usage.ts'
import type { OwnEvent } from '../catalogue/catalogue.ts'
import type { ClewEvent } from '../event/envelope.ts'
import { isoMs, isoText } from '../event/iso-text.ts'
import { parseStepId } from '../event/step-id.ts'
import { beganMs, beginsStep, kindOfStep } from './begins-step.ts'
import { isErased } from './fields.ts'
import { exportedStart, isExported, sortExportedSteps } from './happened-order.ts'
import { type Pause, type RunError, toRunError } from './run-summary.ts'

export type StepStatus = 'running' | 'completed' | 'failed' | 'paused' | 'stopped' | 'interrupted'

/** V2 / R2: one attempt of one step. */
export interface StepRecord {
  readonly runId: string
  readonly stepId: string
  readonly parentStepId: string | null
  readonly nodeName: string
  readonly kind: string
  readonly attempt: number
  readonly superstep: number
  readonly index: number
  readonly status: StepStatus
  readonly inputDigest: string | null
  readonly inputVersions: Readonly<Record<string, number>> | null
  /** Result of the step. */
  readonly values: unknown
  readonly decision: string | readonly string[] | null
  readonly error: RunError | null
  readonly pause: Pause | null
  readonly partial: boolean
  readonly cached: boolean
  readonly restored: boolean
  readonly childRunId: string | null
  readonly usage: unknown
  /** On the first attempt: which usage was counted, the step's own or that of something inside it (V7). */
  readonly billing: 'step' | 'inside' | null
  readonly spanId: string
  readonly createdAt: string
  readonly completedAt: string | null
  readonly durationMs: number | null
  /** Seqs of the step's start and end, for time travel and the skeleton. */
  readonly startedSeq: number
  readonly endedSeq: number | null
}

type MutableStep = { -readonly [K in keyof StepRecord]: StepRecord[K] }

/** A step without what it gave back: all that is stored of it beside its events. */
export type StepSkeleton = Omit<StepRecord, 'values'>

/** Written out, for taking one key out of an object by a rest pattern costs more than all else of folding a step. */
export function toSkeleton(step: StepRecord): StepSkeleton {
  return {
    runId: step.runId,
    stepId: step.stepId,
    parentStepId: step.parentStepId,
    nodeName: step.nodeName,
    kind: step.kind,
    attempt: step.attempt,
    superstep: step.superstep,
    index: step.index,
    status: step.status,
    inputDigest: step.inputDigest,
    inputVersions: step.inputVersions,
    decision: step.decision,
    error: step.error,
    pause: step.pause,
    partial: step.partial,
    cached: step.cached,
    restored: step.restored,
    childRunId: step.childRunId,
    usage: step.usage,
    billing: step.billing,
    spanId: step.spanId,
    createdAt: step.createdAt,
    completedAt: step.completedAt,
    durationMs: step.durationMs,
    startedSeq: step.startedSeq,
    endedSeq: step.endedSeq,
  }
}

/** Types that speak of an attempt of a step. */
type StepEventType =
  | 'execution.step_started'
  | 'execution.step_completed'
  | 'execution.step_failed'
  | 'execution.step_stopped'
  | 'execution.step_interrupted'
  | 'ui.input_requested'
  | 'ui.input_received'

const STEP_EVENTS: ReadonlySet<string> = new Set<StepEventType>([
  'execution.step_started',
  'execution.step_completed',
  'execution.step_failed',
  'execution.step_stopped',
  'execution.step_interrupted',
  'ui.input_requested',
  'ui.input_received',
])

const asStepEvent = (event: ClewEvent): OwnEvent<StepEventType> | undefined =>
  STEP_EVENTS.has(event.eventType) && !isErased(event) ? (event as OwnEvent<StepEventType>) : undefined

/** Which step attempt an event speaks of, if any. */
export function stepKey(event: ClewEvent): { stepId: string; attempt: number } | undefined {
  const { stepId, attempt = 1 } = asStepEvent(event)?.payload ?? {}
  return stepId === undefined ? undefined : { stepId, attempt }
}

/** One event applied to the step it speaks of; `ordinal` is the number of steps that the run has begun so far. */
export function foldStep(
  step: StepSkeleton | undefined,
  event: ClewEvent,
  ordinal: number,
): StepRecord | undefined {
  const own = asStepEvent(event)
  if (!own) return step && { values: null, ...step }
  if (beginsStep(own, step !== undefined)) {
    // An attempt starts once (R2): a second start neither turns it back nor moves it in the list.
    if (step) return undefined
    if (own.eventType === 'execution.step_started') return beginStep(own, ordinal)
    if (own.eventType === 'execution.step_completed') return complete(beginStep(own, ordinal), own)
  }
  if (!step) return undefined
  switch (own.eventType) {
    case 'execution.step_completed':
      return complete({ values: null, ...step }, own)
    case 'execution.step_failed':
      return { ...endStep(step, own, 'failed'), error: toRunError(own.payload.error) }
    case 'execution.step_stopped':
      return cutOff(endStep(step, own, 'stopped'), own)
    case 'execution.step_interrupted':
      return cutOff(endStep(step, own, 'interrupted'), own)
    case 'ui.input_requested':
      return {
        values: null,
        ...step,
        status: 'paused',
        pause: {
          pauseId: own.payload.pauseId ?? own.eventId,
          stepId: step.stepId,
          question: own.payload.question ?? null,
        },
      }
    case 'ui.input_received':
      return step.status === 'paused'
        ? { values: null, ...step, status: 'running', pause: null }
        : { values: null, ...step }
    default:
      return { values: null, ...step }
  }
}

/** Most steps have none, and the rest of the id is not asked for. */
const parentOf = (stepId: string): string | null =>
  stepId.includes('/') ? (parseStepId(stepId)?.parentStepId ?? null) : null

type Ending = OwnEvent<Exclude<StepEventType, `ui.${string}` | 'execution.step_started'>>
type Beginning = OwnEvent<'execution.step_started' | 'execution.step_completed'>

function beginStep(event: Beginning, ordinal: number): MutableStep {
  const { payload } = event
  const { stepId } = payload
  const isStart = event.eventType === 'execution.step_started'
  const checkpoint = isStart ? undefined : event.payload.checkpoint
  return {
    runId: event.correlationId,
    stepId,
    parentStepId: payload.parentStepId ?? parentOf(stepId),
    nodeName: payload.name ?? stepId,
    kind: kindOfStep(payload) ?? 'step',
    attempt: payload.attempt ?? 1,
    // In a function run each step is its own superstep (R7).
    superstep: payload.superstep ?? checkpoint?.superstep ?? ordinal,
    index: payload.index ?? 0,
    status: 'running',
    inputDigest: payload.inputDigest ?? null,
    inputVersions: payload.inputVersions ?? null,
    values: null,
    decision: null,
    error: null,
    pause: null,
    partial: false,
    cached: false,
    restored: false,
    childRunId: payload.childRunId ?? null,
    usage: null,
    billing: null,
    spanId: event.eventId,
    createdAt: beganAt(event),
    completedAt: null,
    durationMs: null,
    startedSeq: event.ledger.seq,
    endedSeq: null,
  }
}

/** As it was written, where nothing has to be taken from it: also a time that is no date is kept. */
function beganAt(event: Beginning): string {
  if (isExported(event)) return exportedStart(event)
  const at = isoMs(event.timestamp)
  const ms = beganMs(event, at)
  return Math.abs(ms) <= LAST_MS && ms !== at ? isoText(ms) : event.timestamp
}

const LAST_MS = 8.64e15

/** In place: a loop begins and completes a step with each of its turns, and a copy of it is not needed. */
function complete(step: MutableStep, event: OwnEvent<'execution.step_completed'>): StepRecord {
  const { payload } = event
  step.values = payload.output ?? null
  step.status = 'completed'
  step.completedAt = event.timestamp
  step.durationMs = durationOf(step, event)
  step.endedSeq = event.ledger.seq
  step.decision = payload.decision ?? null
  step.usage = payload.usage ?? null
  step.childRunId = payload.childRunId ?? step.childRunId
  step.cached = payload.cached === true
  step.restored = payload.restored === true
  step.partial = payload.partial === true
  step.pause = null
  return step
}

function endStep(step: StepSkeleton, event: Ending, status: StepStatus): StepRecord {
  return {
    values: null,
    ...step,
    status,
    completedAt: event.timestamp,
    durationMs: durationOf(step, event),
    endedSeq: event.ledger.seq,
  }
}

/** Keeps what the step had streamed. */
const cutOff = (
  step: StepRecord,
  { payload }: OwnEvent<'execution.step_stopped' | 'execution.step_interrupted'>,
): StepRecord =>
  payload.partial === true ? { ...step, partial: true, values: payload.output ?? null } : step

const durationOf = ({ createdAt }: StepSkeleton, { payload, timestamp }: Ending): number =>
  payload.durationMs ?? Math.max(0, Date.parse(timestamp) - Date.parse(createdAt))

/** All steps of a run from its events, in order of their start: as recorded, or of an exported run by its clocks. */
export function foldSteps(events: Iterable<ClewEvent>): StepRecord[] {
  const steps = new Map<string, StepRecord>()
  const marks: StepsOfRun<StepRecord> = {
    find: (stepId) => steps.get(`1 ${stepId}`),
    put: (step) => void steps.set(`${step.attempt} ${step.stepId}`, step),
    awaited: new Set(),
  }
  let begun = 0
  let exported: boolean | undefined
  for (const event of events) {
    exported ??= isExported(event)
    const key = stepKey(event)
    let begins = false
    if (key) {
      const id = `${key.attempt} ${key.stepId}`
      const before = steps.get(id)
      begins = beginsStep(event, before !== undefined)
      const next = foldStep(before, event, begun)
      if (next) steps.set(id, next)
      if (begins) begun++
    }
    countUsage(event, marks, 0, begins)
  }
  return exported ? sortExportedSteps([...steps.values()]) : [...steps.values()]
}

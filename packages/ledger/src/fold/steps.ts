import { countUsage, type StepsOfRun } from '../billing/count-usage.ts'
import type { ClewEvent } from '../envelope.ts'
import { parseStepId } from '../step-id.ts'
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
  /** What the step gave back. */
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
  /** Where it started and ended in the run: what time travel and the skeleton of a run need. */
  readonly startedSeq: number
  readonly endedSeq: number | null
}

/** A step without what it gave back: all that is stored of it beside its events. */
export type StepSkeleton = Omit<StepRecord, 'values'>

export function toSkeleton({ values: _, ...skeleton }: StepRecord): StepSkeleton {
  return skeleton
}

const text = (value: unknown): string | null => (typeof value === 'string' ? value : null)
const number = (value: unknown, otherwise: number): number => (typeof value === 'number' ? value : otherwise)

/** Which step attempt an event speaks of, if any. */
export function stepKey(event: ClewEvent): { stepId: string; attempt: number } | undefined {
  const stepId = event.payload['stepId']
  if (typeof stepId !== 'string' || !TOUCHES.has(event.eventType)) return undefined
  return { stepId, attempt: number(event.payload['attempt'], 1) }
}

const TOUCHES: ReadonlySet<string> = new Set([
  'execution.step_started',
  'execution.step_completed',
  'execution.step_failed',
  'execution.step_stopped',
  'execution.step_interrupted',
  'ui.input_requested',
  'ui.input_received',
])

/** One event applied to the step it speaks of; `ordinal` is the number of starts the run has so far. */
export function foldStep(
  step: StepSkeleton | undefined,
  event: ClewEvent,
  ordinal: number,
): StepRecord | undefined {
  const { payload } = event
  // An attempt starts once (R2): a second start neither turns it back nor moves it in the list.
  if (event.eventType === 'execution.step_started') return step ? undefined : beginStep(event, ordinal)
  if (!step) return undefined
  const open: StepRecord = { values: null, ...step }
  switch (event.eventType) {
    case 'execution.step_completed':
      return {
        ...endStep(open, event, 'completed'),
        values: payload['output'] ?? null,
        decision: (payload['decision'] as StepRecord['decision'] | undefined) ?? null,
        usage: payload['usage'] ?? null,
        childRunId: text(payload['childRunId']) ?? open.childRunId,
        cached: payload['cached'] === true,
        restored: payload['restored'] === true,
        partial: payload['partial'] === true,
        pause: null,
      }
    case 'execution.step_failed':
      return { ...endStep(open, event, 'failed'), error: toRunError(payload['error']) }
    case 'execution.step_stopped':
      return endStep(open, event, 'stopped')
    case 'execution.step_interrupted':
      return endStep(open, event, 'interrupted')
    case 'ui.input_requested':
      return {
        ...open,
        status: 'paused',
        pause: {
          pauseId: text(payload['pauseId']) ?? event.eventId,
          stepId: open.stepId,
          question: payload['question'] ?? null,
        },
      }
    case 'ui.input_received':
      return open.status === 'paused' ? { ...open, status: 'running', pause: null } : open
    default:
      return open
  }
}

function beginStep(event: ClewEvent, ordinal: number): StepRecord {
  const { payload } = event
  const stepId = payload['stepId'] as string
  return {
    runId: event.correlationId,
    stepId,
    parentStepId: text(payload['parentStepId']) ?? parseStepId(stepId)?.parentStepId ?? null,
    nodeName: text(payload['name']) ?? stepId,
    kind: text(payload['kind']) ?? 'step',
    attempt: number(payload['attempt'], 1),
    // In a function run each step is its own superstep (R7).
    superstep: number(payload['superstep'], ordinal),
    index: number(payload['index'], 0),
    status: 'running',
    inputDigest: text(payload['inputDigest']),
    inputVersions: (payload['inputVersions'] as Record<string, number> | undefined) ?? null,
    values: null,
    decision: null,
    error: null,
    pause: null,
    partial: false,
    cached: false,
    restored: false,
    childRunId: text(payload['childRunId']),
    usage: null,
    billing: null,
    spanId: event.eventId,
    createdAt: event.timestamp,
    completedAt: null,
    durationMs: null,
    startedSeq: event.ledger.seq,
    endedSeq: null,
  }
}

function endStep(step: StepRecord, event: ClewEvent, status: StepStatus): StepRecord {
  return {
    ...step,
    status,
    completedAt: event.timestamp,
    durationMs: number(
      event.payload['durationMs'],
      Math.max(0, Date.parse(event.timestamp) - Date.parse(step.createdAt)),
    ),
    endedSeq: event.ledger.seq,
  }
}

/** All steps of a run from its events, in order of their start. */
export function foldSteps(events: Iterable<ClewEvent>): StepRecord[] {
  const steps = new Map<string, StepRecord>()
  const marks: StepsOfRun<StepRecord> = {
    find: (stepId) => steps.get(`1 ${stepId}`),
    put: (step) => void steps.set(`${step.attempt} ${step.stepId}`, step),
  }
  let starts = 0
  for (const event of events) {
    const key = stepKey(event)
    if (key) {
      const id = `${key.attempt} ${key.stepId}`
      const next = foldStep(steps.get(id), event, starts)
      if (next) steps.set(id, next)
      if (event.eventType === 'execution.step_started') starts++
    }
    countUsage(event, marks, 0)
  }
  return [...steps.values()]
}

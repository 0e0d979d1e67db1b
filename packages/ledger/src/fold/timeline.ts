import { asErasable, type ErasableEvent } from '../catalogue/catalogue.ts'
import type { ClewEvent } from '../event/envelope.ts'
import { isErased, stepOf, textOf } from './fields.ts'
import { beganMs, beginsStep, kindOfStep } from './begins-step.ts'
import type { Fold } from './fold.ts'
import { createHappenedOrder, type HappenedOrder, isExported, type Moment } from './happened-order.ts'
import { createPairing, type Pairing } from './pairing.ts'
import { applyProgress, beginProgress, type RunProgress } from './run-progress.ts'
import { type RunError, type RunStatus, toRunError } from './run-summary.ts'
import { parseStepId } from '../event/step-id.ts'
import type { StepStatus } from './steps.ts'
import { callTie } from './pair-keys.ts'
import { layOut } from './timeline-layout.ts'

/** One bar or one instant. */
export interface TimelineItem {
  /** `step`: an attempt of a step; `call`: a call with its result; `event`: an instant. */
  readonly kind: 'step' | 'call' | 'event'
  readonly name: string
  readonly eventId: string
  readonly eventType: string
  readonly causationId: string | null
  readonly seq: number
  readonly endSeq: number | null
  readonly stepId: string | null
  readonly attempt: number | null
  /** Kind of the step, as it was recorded. */
  readonly stepKind: string | null
  readonly status: StepStatus | null
  /** Milliseconds since the run began, by the producers' clocks, so they may be below 0. */
  readonly startMs: number
  /** Null while it runs. */
  readonly endMs: number | null
  readonly durationMs: number | null
  /** Among its siblings; those that overlap have different lanes. */
  readonly lane: number
  readonly depth: number
  /** Index of the item it lies in; null at the top, also for one whose parent was not recorded. */
  readonly parent: number | null
  readonly childRunId: string | null
  readonly error: RunError | null
  /** False for a step or call of which only the end was recorded. */
  readonly started: boolean
  readonly erased: boolean
}

/** V4: items depth first, each after the one it lies in. A list, since runs nest deeper than JSON can. */
export interface Timeline {
  readonly runId: string | null
  readonly agent: string | null
  readonly status: RunStatus | null
  readonly startedAt: string | null
  /** From the start of the run to the latest moment in its record. */
  readonly durationMs: number
  readonly lanes: number
  readonly items: readonly TimelineItem[]
}

/** An item while it grows, with times of the clock. */
export interface Mark extends Omit<TimelineItem, 'startMs' | 'endMs' | 'lane' | 'depth' | 'parent'> {
  kind: TimelineItem['kind']
  attempt: number | null
  name: string
  seq: number
  endSeq: number | null
  stepKind: string | null
  status: StepStatus | null
  startAt: number
  endAt: number | null
  durationMs: number | null
  parentStepId: string | null
  childRunId: string | null
  error: RunError | null
  started: boolean
  /** Time of occurrence in an exported run. */
  moment: Moment | undefined
  /** Notes of the last view: what lies in it, and its index among the items. */
  below: Mark[] | null
  index: number
}

/** Changed in place by `apply`; each view is a new object and never changes. */
export interface TimelineState {
  readonly progress: RunProgress
  readonly marks: Mark[]
  readonly steps: Map<string, Mark>
  readonly calls: Pairing<Mark, Mark>
  /** Marks of outcomes that found their call. */
  readonly joined: Set<Mark>
  /** Which mark an event belongs to: what the cause of another event points at. */
  readonly owners: Map<string, Mark>
  /** Sorts the items of an exported run by the time at which they happened; undefined before its first event. */
  happened: HappenedOrder | null | undefined
  lastAt: number
}

const ENDS = {
  'execution.step_completed': 'completed',
  'execution.step_failed': 'failed',
  'execution.step_stopped': 'stopped',
  'execution.step_interrupted': 'interrupted',
} as const satisfies Readonly<Record<string, StepStatus>>
type StepEvent = ErasableEvent<
  | 'execution.step_started'
  | 'execution.step_completed'
  | 'execution.step_failed'
  | 'execution.step_stopped'
  | 'execution.step_interrupted'
>

export const timelineFold: Fold<TimelineState, Timeline> = {
  name: 'timeline',
  version: 2,
  begin: () => ({
    progress: beginProgress(),
    marks: [],
    steps: new Map(),
    calls: createPairing(),
    joined: new Set(),
    owners: new Map(),
    happened: undefined,
    lastAt: Number.NEGATIVE_INFINITY,
  }),
  apply(state, event) {
    applyProgress(state.progress, event)
    state.lastAt = Math.max(state.lastAt, Date.parse(event.timestamp))
    if (state.happened === undefined) state.happened = isExported(event) ? createHappenedOrder() : null
    const moment = state.happened?.note(event)
    addMark(state, event, moment)
    return state
  },
  view({ progress, marks, joined, owners, happened, lastAt }) {
    const { runId, agent, status, startedAt } = progress
    const originMs = startedAt === null ? 0 : Date.parse(startedAt)
    const shown = marks.filter((mark) => !joined.has(mark))
    const { items, lanes } = layOut(happened ? byMoment(shown, happened) : bySeq(shown), owners, originMs)
    const durationMs = marks.length === 0 ? 0 : Math.max(0, lastAt - originMs)
    return { runId, agent, status, startedAt, durationMs, lanes, items }
  },
}

const bySeq = (marks: readonly Mark[]): Mark[] => marks.toSorted((a, b) => a.seq - b.seq)

function byMoment(marks: readonly Mark[], happened: HappenedOrder): Mark[] {
  const compare = happened.compare()
  return marks.toSorted((a, b) => (a.moment && b.moment ? compare(a.moment, b.moment) : a.seq - b.seq))
}

function addMark(state: TimelineState, event: ClewEvent, moment: Moment | undefined): void {
  const { eventType, eventId } = event
  const own = asErasable(event)
  switch (own?.eventType) {
    case 'execution.step_started':
    case 'execution.step_completed':
    case 'execution.step_failed':
    case 'execution.step_stopped':
    case 'execution.step_interrupted':
      if (own.payload.stepId === undefined) break
      state.owners.set(eventId, stepMark(state, own, own.payload.stepId, moment))
      return
    default:
  }
  const { name, role } = event.payload
  const mark = markOf(event, 'event', textOf(name) ?? textOf(role) ?? shortType(eventType))
  mark.moment = moment
  state.owners.set(eventId, mark)
  state.marks.push(mark)
  pauseStep(state, event)
  switch (own?.eventType) {
    case 'execution.tool_call':
    case 'integration.call': {
      mark.kind = 'call'
      mark.status = 'running'
      mark.name = callName(own)
      mark.endAt = null
      const early = state.calls.ask(callTie(own, true), mark)
      if (early) endCall(state, mark, early)
      break
    }
    case 'execution.tool_result':
    case 'execution.tool_error':
    case 'integration.response': {
      const { error } = own.payload
      mark.kind = 'call'
      mark.status = own.eventType === 'execution.tool_error' ? 'failed' : 'completed'
      mark.name = callName(own)
      mark.started = false
      mark.error = error === undefined ? null : toRunError(error)
      const call = state.calls.answer(callTie(own, false), mark)
      if (call) endCall(state, call, mark)
      break
    }
    default:
  }
}

function endCall(state: TimelineState, call: Mark, outcome: Mark): void {
  state.joined.add(outcome)
  call.endSeq = outcome.seq
  call.endAt = Math.max(call.startAt, outcome.startAt)
  call.durationMs = call.endAt - call.startAt
  call.status = outcome.status
  call.error = outcome.error
  state.owners.set(outcome.eventId, call)
}

function callName({ payload, eventType }: ClewEvent<string, object>): string {
  const { name, service, operation }: { name?: unknown; service?: unknown; operation?: unknown } = payload
  const called = [service, operation].map(textOf).filter((part) => part !== null)
  return textOf(name) ?? (called.length > 0 ? called.join(' ') : shortType(eventType))
}

const shortType = (eventType: string): string => eventType.slice(eventType.lastIndexOf('.') + 1)

function markOf(event: ClewEvent<string, object>, kind: Mark['kind'], name: string): Mark {
  const { eventId, eventType, causationId, payload, timestamp, ledger } = event
  const { attempt }: { readonly attempt?: unknown } = payload
  const at = Date.parse(timestamp)
  return {
    kind,
    name,
    eventId,
    eventType,
    seq: ledger.seq,
    endSeq: null,
    stepId: stepOf(event).stepId,
    parentStepId: null,
    causationId,
    attempt: typeof attempt === 'number' ? attempt : null,
    stepKind: null,
    status: null,
    startAt: at,
    endAt: at,
    durationMs: null,
    childRunId: null,
    error: null,
    started: true,
    erased: isErased(event),
    moment: undefined,
    below: null,
    index: -1,
  }
}

/** Starts and ends of one attempt meet here, whichever was recorded first. */
function stepMark(state: TimelineState, event: StepEvent, stepId: string, moment: Moment | undefined): Mark {
  const { attempt = 1 } = event.payload
  const key = `${attempt} ${stepId}`
  let mark = state.steps.get(key)
  if (!mark) {
    const identity = parseStepId(stepId)
    mark = markOf(event, 'step', identity?.name ?? stepId)
    mark.attempt = attempt
    mark.endAt = null
    mark.status = 'running'
    mark.started = false
    mark.moment = moment
    mark.parentStepId = identity?.parentStepId ?? null
    state.steps.set(key, mark)
    state.marks.push(mark)
  }
  const at = Date.parse(event.timestamp)
  if (event.eventType === 'execution.step_started' || event.eventType === 'execution.step_completed') {
    const { name, parentStepId, childRunId } = event.payload
    if (!mark.started && beginsStep(event)) {
      mark.started = true
      mark.moment = moment
      mark.startAt = beganMs(event)
      mark.seq = event.ledger.seq
      mark.name = name ?? mark.name
      mark.stepKind = kindOfStep(event.payload)
      mark.parentStepId = parentStepId ?? mark.parentStepId
      mark.childRunId = childRunId ?? mark.childRunId
    } else if (event.eventType === 'execution.step_completed') mark.childRunId = childRunId ?? mark.childRunId
  }
  if (event.eventType !== 'execution.step_started') {
    mark.status = ENDS[event.eventType]
    mark.endAt = at
    mark.endSeq = event.ledger.seq
    mark.durationMs = event.payload.durationMs ?? null
    mark.error = event.eventType === 'execution.step_failed' ? toRunError(event.payload.error) : null
    if (!mark.started) mark.startAt = at - (mark.durationMs ?? 0)
  }
  if (mark.endAt !== null && mark.started) {
    mark.endAt = Math.max(mark.startAt, mark.endAt)
    mark.durationMs ??= mark.endAt - mark.startAt
  }
  return mark
}

function pauseStep(state: TimelineState, event: ClewEvent): void {
  const { eventType } = event
  if (eventType !== 'ui.input_requested' && eventType !== 'ui.input_received') return
  const { stepId, attempt } = stepOf(event)
  const mark = state.steps.get(`${attempt} ${stepId}`)
  if (eventType === 'ui.input_requested' && mark?.status === 'running') mark.status = 'paused'
  else if (eventType === 'ui.input_received' && mark?.status === 'paused') mark.status = 'running'
}

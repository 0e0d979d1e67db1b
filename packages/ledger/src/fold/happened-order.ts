import { asOwn } from '../catalogue/catalogue.ts'
import type { ClewEvent } from '../event/envelope.ts'
import { isoText } from '../event/iso-text.ts'
import { beginsStep } from './begins-step.ts'
import { stepOf } from './fields.ts'

/** Runtime of events that were mapped from OpenTelemetry. */
const EXPORTED_RUNTIME = 'otel'

/** True for the events of an exporter, which sends a span after it has ended, hence children before their parents. */
export const isExported = ({ source }: Pick<ClewEvent, 'source'>): boolean =>
  source.runtime === EXPORTED_RUNTIME

interface Instant {
  readonly ms: number
  /** Nanoseconds above the millisecond. */
  readonly ns: number
}

/** When an event happened, and whether it belongs to the beginning (0) or the end (1) of its step. */
export interface Moment extends Instant {
  readonly stepId: string | null
  readonly phase: 0 | 1
  readonly seq: number
}

interface TimedStep extends Instant {
  /** Undefined while it runs. */
  readonly end: Instant | undefined
  readonly parentStepId: string | null
  readonly seq: number
}

/**
 * Order in which the events of an exported run happened: by millisecond; within one, a step before its children, steps by
 * their start and their end, each step's end after those of its children, and else as recorded. Not by nanosecond: OpenTelemetry for
 * JavaScript starts spans by a clock of milliseconds and ends them by a finer one, so a tool would begin before the
 * answer that calls it has ended. The first start of the run comes first, its last end last, whatever the clocks of
 * several machines say.
 */
export interface HappenedOrder {
  /** Takes every event of the run once, by seq. */
  note(event: ClewEvent): Moment
  /** A comparison that holds until the next `note`. */
  compare(): (a: Moment, b: Moment) => number
  nameOf(stepId: string): string | undefined
}

/** Beginnings that others follow. All other events with a step belong to its end. */
const BEGINNINGS: ReadonlySet<string> = new Set([
  'execution.tool_call',
  'integration.call',
  'ui.input_requested',
])

const STEP_ENDS: ReadonlySet<string> = new Set(['execution.step_completed', 'execution.step_failed'])

const ENDINGS: ReadonlySet<string> = new Set([
  'system.workflow_completed',
  'system.workflow_failed',
  'system.workflow_stopped',
])

export function createHappenedOrder(): HappenedOrder {
  const steps = new Map<string, TimedStep>()
  const names = new Map<string, string>()
  let firstStart: Moment | undefined
  let lastEnd: Moment | undefined
  let before: Moment | undefined

  /** An event without a step is placed by the event recorded before it, if both happened in the same millisecond. */
  function momentOf(event: ClewEvent): Moment {
    const { stepId } = stepOf(event)
    const { seq } = event.ledger
    if (stepId !== null && beginsStep(event) && !steps.has(stepId)) {
      const began = instantOfBeginning(event)
      const { name, parentStepId } = event.payload
      if (typeof name === 'string') names.set(stepId, name)
      const parent = typeof parentStepId === 'string' ? parentStepId : null
      const isEnd = event.eventType === 'execution.step_completed'
      const end = isEnd ? parseInstant(event.timestamp) : undefined
      steps.set(stepId, { ...began, end, parentStepId: parent, seq })
      return { ...began, stepId, phase: 0, seq }
    }
    const at = parseInstant(event.timestamp)
    const begun = stepId === null ? undefined : steps.get(stepId)
    if (stepId !== null && begun && STEP_ENDS.has(event.eventType)) steps.set(stepId, { ...begun, end: at })
    if (stepId !== null) return { ...at, stepId, phase: BEGINNINGS.has(event.eventType) ? 0 : 1, seq }
    const near = before?.ms === at.ms ? before : undefined
    return { ...at, stepId: near?.stepId ?? null, phase: near?.phase ?? 0, seq }
  }

  return {
    note(event) {
      const moment = momentOf(event)
      if (stepOf(event).stepId !== null) before = moment
      const isFirst = !firstStart || compareInstants(moment, firstStart) < 0
      if (event.eventType === 'system.workflow_started' && isFirst) firstStart = moment
      const isLast = !lastEnd || compareInstants(moment, lastEnd) >= 0
      if (ENDINGS.has(event.eventType) && isLast) lastEnd = moment
      return moment
    },
    compare() {
      const tour = tourSteps(steps)
      const edge = (moment: Moment): number => (moment === firstStart ? -1 : moment === lastEnd ? 1 : 0)
      const turn = ({ stepId, phase }: Moment): number => {
        const visit = stepId === null ? undefined : tour.get(stepId)
        return visit === undefined ? -1 : phase === 0 ? visit.enter : visit.leave
      }
      return (a, b) => edge(a) - edge(b) || a.ms - b.ms || turn(a) - turn(b) || a.ns - b.ns || a.seq - b.seq
    },
    nameOf: (stepId) => names.get(stepId),
  }
}

/** Events in the order in which they happened, if their run was exported; else as they are. */
export function inHappenedOrder(events: readonly ClewEvent[]): readonly ClewEvent[] {
  const [first] = events
  if (!first || !isExported(first)) return events
  const order = createHappenedOrder()
  const timed = events.map((event) => ({ event, moment: order.note(event) }))
  const compare = order.compare()
  return timed.sort((a, b) => compare(a.moment, b.moment)).map(({ event }) => event)
}

interface StepPlace {
  readonly stepId: string
  readonly parentStepId: string | null
  readonly createdAt: string
  readonly completedAt: string | null
  readonly startedSeq: number
}

/** Steps of an exported run by their start, a parent before its children. */
export function sortExportedSteps<Step extends StepPlace>(steps: readonly Step[]): Step[] {
  const timed = steps.map((step) => ({
    step,
    seq: step.startedSeq,
    parentStepId: step.parentStepId,
    end: step.completedAt === null ? undefined : parseInstant(step.completedAt),
    ...parseInstant(step.createdAt),
  }))
  const first = new Map<string, TimedStep>()
  for (const each of timed) if (!first.has(each.step.stepId)) first.set(each.step.stepId, each)
  const tour = tourSteps(first)
  const turn = ({ step }: { step: Step }): number => tour.get(step.stepId)?.enter ?? 0
  return timed.sort((a, b) => a.ms - b.ms || turn(a) - turn(b) || a.seq - b.seq).map(({ step }) => step)
}

/** When a walk through the tree of steps comes to each step, and when it leaves it. */
export type StepVisits = ReadonlyMap<string, { readonly enter: number; readonly leave: number }>

/**
 * Numbers the visits of a walk through the tree of steps, siblings by start, end and seq. Without recursion, since depth is
 * data; steps that name each other as parents are walked as roots.
 */
export function tourSteps(steps: ReadonlyMap<string, TimedStep>): StepVisits {
  const below = new Map<string | null, string[]>()
  const sorted = [...steps].sort(
    ([, a], [, b]) => compareInstants(a, b) || compareEnds(a, b) || a.seq - b.seq,
  )
  for (const [stepId, { parentStepId }] of sorted) {
    const parent = parentStepId !== null && steps.has(parentStepId) ? parentStepId : null
    const siblings = below.get(parent)
    if (siblings) siblings.push(stepId)
    else below.set(parent, [stepId])
  }
  const visits = new Map<string, { enter: number; leave: number }>()
  let count = 0
  const walk = (root: string): void => {
    const stack = [{ stepId: root, next: 0 }]
    for (let top = stack.at(-1); top; top = stack.at(-1)) {
      if (top.next === 0 && !visits.has(top.stepId)) visits.set(top.stepId, { enter: count++, leave: 0 })
      const child = below.get(top.stepId)?.[top.next++]
      if (child === undefined) {
        const visit = visits.get(top.stepId)
        if (visit) visit.leave = count++
        stack.pop()
      } else if (!visits.has(child)) stack.push({ stepId: child, next: 0 })
    }
  }
  for (const root of below.get(null) ?? []) walk(root)
  for (const [stepId] of sorted) if (!visits.has(stepId)) walk(stepId)
  return visits
}

export const compareInstants = (a: Instant, b: Instant): number => a.ms - b.ms || a.ns - b.ns

/** If clocks are equal, the span that ended first counts as begun first: exporters group spans by instrumentation. */
const compareEnds = (a: TimedStep, b: TimedStep): number =>
  a.end && b.end ? compareInstants(a.end, b.end) : Number(!a.end) - Number(!b.end)

const BELOW_MS = /\.\d{3}(\d{1,6})/

function parseInstant(text: string): Instant {
  const digits = BELOW_MS.exec(text)?.[1]
  return { ms: Date.parse(text), ns: digits === undefined ? 0 : Number(digits.padEnd(6, '0')) }
}

/** Start of the step that an event begins: of a completion, its end less its duration. */
function instantOfBeginning(event: ClewEvent): Instant {
  const end = parseInstant(event.timestamp)
  const own = asOwn(event)
  const { durationMs = 0 } = own?.eventType === 'execution.step_completed' ? own.payload : {}
  const whole = Math.floor(durationMs)
  const ns = end.ns - Math.round((durationMs - whole) * 1e6)
  return ns < 0 ? { ms: end.ms - whole - 1, ns: ns + 1_000_000 } : { ms: end.ms - whole, ns }
}

/** Start of the step that an event of an exporter begins, to the nanosecond. */
export function exportedStart(event: ClewEvent): string {
  const { ms, ns } = instantOfBeginning(event)
  if (!Number.isFinite(ms) || Math.abs(ms) > MAX_DATE_MS) return event.timestamp
  const text = isoText(ms)
  if (ns === 0) return text
  const digits = String(ns).padStart(6, '0')
  return `${text.slice(0, -1)}${digits.endsWith('000') ? digits.slice(0, 3) : digits}Z`
}

const MAX_DATE_MS = 8.64e15

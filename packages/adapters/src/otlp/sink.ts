import { hash } from 'node:crypto'
import {
  createDeriver,
  type EventInput,
  type Origin,
  type Payload,
  type StepVisits,
  tourSteps,
} from '@clew/ledger'

const RUNTIME = 'otel'

export const sha256 = (text: string): string => hash('sha256', text)

/**
 * Order of the events of one span within one instant. Its step comes before all else, because a run takes its agent and
 * thread from its first event. From `result` on they belong to the end of the span.
 */
export const RANK = {
  runStart: 0,
  begin: 1,
  said: 2,
  call: 3,
  source: 4,
  note: 5,
  result: 6,
  answer: 7,
  end: 8,
  runEnd: 9,
} as const

export interface SinkDraft {
  readonly type: string
  /** Parts of the event id, with the run: the same parts give the same event again (L4). */
  readonly key: readonly (string | number)[]
  /** Nanoseconds since 1970; 0 if unknown. */
  readonly time: bigint
  /** Time by which it is sorted, if that is not `time`: a completion that is a start as well stands at the start. */
  readonly place?: bigint | undefined
  readonly rank: number
  /** Among events of one span with the same time and rank. */
  readonly order?: number | undefined
  readonly origin: Origin
  readonly cause: string | null
  readonly payload: Payload
}

/** Collects the events of one run. */
export interface RunSink {
  readonly runId: string
  /** Id of the event that begins the step of a span, also of a span that has not arrived. */
  stepEventId(spanId: string): string
  derive(...key: readonly (string | number)[]): string
  /** Ids of events that several spans lead to, such as the source they come from. */
  readonly once: Map<string, { readonly eventId: string; readonly time: bigint }>
  /** The span that the events added from here on come from. */
  begin(span: SinkSpan): void
  /** Returns the id. Of an event that is added twice, the earlier one stays. */
  add(draft: SinkDraft): string
  /**
   * Events by millisecond; within one, a span before its children, each span's end after those of its children, and else
   * in the order of arrival.
   */
  take(): { readonly firstTime: bigint; readonly events: EventInput[] }
}

interface SinkSpan {
  readonly spanId: string
  readonly parentSpanId: string
  readonly start: bigint
  /** Undefined while it runs. */
  readonly end: bigint | undefined
}

interface Entry {
  readonly place: bigint
  readonly placeMs: number
  readonly time: bigint
  readonly rank: number
  readonly order: number
  readonly spanId: string | undefined
  /** In the order of arrival. */
  readonly nth: number
  readonly event: EventInput
}

export function createRunSink(runId: string): RunSink {
  const deriver = createDeriver(sha256, runId)
  const derive = (...key: readonly (string | number)[]): string => deriver(RUNTIME, ...key)
  const stepIds = new Map<string, string>()
  const entries = new Map<string, Entry>()
  const spans = new Map<string, SinkSpan>()
  let spanId: string | undefined
  function stepEventId(spanId: string): string {
    let id = stepIds.get(spanId)
    if (id === undefined) stepIds.set(spanId, (id = derive(spanId, 'step')))
    return id
  }

  return {
    runId,
    derive,
    once: new Map(),
    stepEventId,
    begin(span) {
      spanId = span.spanId
      spans.set(spanId, span)
    },
    add({ type, key, time, place = time, rank, order = 0, origin, cause, payload }) {
      const eventId = key.length === 2 && key[1] === 'step' ? stepEventId(String(key[0])) : derive(...key)
      const before = entries.get(eventId)
      if (before && !isEarlier(place, order, time, before)) return eventId
      const event: EventInput = {
        eventId,
        eventType: type,
        ...(time > 0n && { timestamp: formatNano(time) }),
        source: { origin, runtime: RUNTIME },
        correlationId: runId,
        causationId: cause,
        payload,
      }
      const placeMs = Number(place / NANOS_PER_MS)
      entries.set(eventId, { place, placeMs, time, rank, order, spanId, nth: entries.size, event })
      return eventId
    },
    take() {
      const sorted = [...entries.values()].sort(createCompare(spans))
      return { firstTime: sorted[0]?.place ?? 0n, events: sorted.map((entry) => entry.event) }
    },
  }
}

const isEarlier = (place: bigint, order: number, time: bigint, before: Entry): boolean =>
  place !== before.place
    ? place < before.place
    : time !== before.time
      ? time < before.time
      : order < before.order

function createCompare(spans: ReadonlyMap<string, SinkSpan>): (a: Entry, b: Entry) => number {
  let visits: StepVisits | undefined
  const turn = ({ spanId, rank }: Entry): number => {
    const visit = spanId === undefined ? undefined : (visits ??= tourSpans(spans)).get(spanId)
    return visit === undefined ? -1 : rank < RANK.result ? visit.enter : visit.leave
  }
  return (a, b) => {
    if (a.placeMs !== b.placeMs) return a.placeMs - b.placeMs
    if (a.spanId !== b.spanId) return turn(a) - turn(b) || compareBigInts(a.place, b.place) || a.nth - b.nth
    return compareBigInts(a.place, b.place) || a.rank - b.rank || a.order - b.order || a.nth - b.nth
  }
}

const NANOS_PER_MS = 1_000_000n
const compareBigInts = (a: bigint, b: bigint): number => (a === b ? 0 : a < b ? -1 : 1)

const toInstant = (nano: bigint) => ({ ms: Number(nano / NANOS_PER_MS), ns: Number(nano % NANOS_PER_MS) })

function tourSpans(spans: ReadonlyMap<string, SinkSpan>): StepVisits {
  const steps = [...spans.values()].map(({ spanId, parentSpanId, start, end }, seq) => {
    const times = { ...toInstant(start), end: end === undefined ? undefined : toInstant(end) }
    return [spanId, { ...times, parentStepId: parentSpanId === '' ? null : parentSpanId, seq }] as const
  })
  return tourSteps(new Map(steps))
}

/** RFC 3339 with 3, 6 or 9 digits below the second, as many as are not zero. */
function formatNano(nano: bigint): string {
  const whole = nano / NANOS_PER_MS
  const text = isoOf(Number(whole))
  const below = Number(nano - whole * NANOS_PER_MS)
  if (below === 0) return text
  const digits = String(below).padStart(6, '0')
  return `${text.slice(0, -1)}${digits.endsWith('000') ? digits.slice(0, 3) : digits}Z`
}

let lastMs = Number.NaN
let lastText = ''

/** Caches the last text: several events in turn have the time of one span. */
function isoOf(ms: number): string {
  if (ms !== lastMs) {
    lastText = new Date(ms).toISOString()
    lastMs = ms
  }
  return lastText
}

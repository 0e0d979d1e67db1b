import { hash } from 'node:crypto'
import { createDeriver, type EventInput, type Origin, type Payload } from '@clew/ledger'

const RUNTIME = 'otel'

export const sha256 = (text: string): string => hash('sha256', text)

/**
 * What comes first of all that happened in one instant. The step of a span stands before all else that the span tells,
 * since a run takes its agent and thread from its first event.
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
  /** What makes the id, with the run: told again, it is the same event (L4). */
  readonly key: readonly (string | number)[]
  /** Nanoseconds; 0 where nobody knows. */
  readonly time: bigint
  /** Where it stands, when that is not its own time. */
  readonly place?: bigint | undefined
  readonly rank: number
  /** Among what one span tells of one instant. */
  readonly order?: number | undefined
  readonly origin: Origin
  readonly cause: string | null
  readonly payload: Payload
}

/** The events of one run, in whatever order they are found out. */
export interface RunSink {
  readonly runId: string
  /** Id of the event that begins the step of a span: known before the span has come. */
  stepEventId(spanId: string): string
  derive(...key: readonly (string | number)[]): string
  /** Where the ids of what is told once in a run are kept. */
  readonly once: Map<string, { readonly eventId: string; readonly time: bigint }>
  /** Answers with the id; an event that is there already is not added again. */
  add(draft: SinkDraft): string
  /** What happened first stands first; the order of the input does not matter. */
  take(): { readonly firstTime: bigint; readonly events: EventInput[] }
}

interface Entry {
  readonly place: bigint
  readonly time: bigint
  readonly rank: number
  readonly order: number
  readonly tie: string
  readonly event: EventInput
}

export function createRunSink(runId: string): RunSink {
  const deriver = createDeriver(sha256, runId)
  const derive = (...key: readonly (string | number)[]): string => deriver(RUNTIME, ...key)
  const stepIds = new Map<string, string>()
  const entries = new Map<string, Entry>()
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
    add({ type, key, time, place = time, rank, order = 0, origin, cause, payload }) {
      const eventId = key.length === 2 && key[1] === 'step' ? stepEventId(String(key[0])) : derive(...key)
      const before = entries.get(eventId)
      // What several spans tell is told when the first of them did.
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
      entries.set(eventId, { place, time, rank, order, tie: key.join(' '), event })
      return eventId
    },
    take() {
      const sorted = [...entries.values()].sort(compare)
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

function compare(a: Entry, b: Entry): number {
  if (a.place !== b.place) return a.place < b.place ? -1 : 1
  if (a.rank !== b.rank) return a.rank - b.rank
  if (a.order !== b.order) return a.order - b.order
  return a.tie < b.tie ? -1 : a.tie === b.tie ? 0 : 1
}

/** RFC 3339 with all the digits that are not zero, in steps of three, as clocks give them. */
function formatNano(nano: bigint): string {
  const whole = nano / 1_000_000n
  const text = isoOf(Number(whole))
  const below = Number(nano - whole * 1_000_000n)
  if (below === 0) return text
  const digits = String(below).padStart(6, '0')
  return `${text.slice(0, -1)}${digits.endsWith('000') ? digits.slice(0, 3) : digits}Z`
}

let lastMs = Number.NaN
let lastText = ''

/** Several events in turn have the time of one span. */
function isoOf(ms: number): string {
  if (ms !== lastMs) {
    lastText = new Date(ms).toISOString()
    lastMs = ms
  }
  return lastText
}

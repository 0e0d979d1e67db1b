import { ClewError, type ClewEvent, type ForeignType, type OwnEventType } from '@clew/ledger'
import { type DraftPayload, type EventDraft, isUnstorable, type RunAppender } from './run-appender.ts'

export interface WriteOptions {
  /** Told when the value is to blame; without it such an error ends the run here. */
  readonly onUnstorable?: ((error: ClewError) => void) | undefined
  /** The code goes on without the commit (async durability): a failure is a gap, not the end of the run. */
  readonly mayMiss?: boolean | undefined
}

/** A start that is kept back: most are never written, so what it says is only made when it has to be. */
export interface HeldStart {
  /** With readings of the clock for a payload, if there are any. */
  readonly event: EventDraft
  readonly payload: () => Record<string, unknown>
}

/** Writes of a machine, in order; `errors` are the gaps that async durability left. */
export interface Writes {
  readonly inFlight: number
  readonly errors: readonly Error[]
  /** Error with which the store rejected a write for good: the machine stops. */
  readonly fatal: unknown
  fail(error: unknown): void
  draft<T extends OwnEventType | ForeignType>(
    eventType: T,
    ids: readonly (string | number)[],
    causationId: string | null,
    payload: DraftPayload<T>,
  ): EventDraft
  /** The event that takes the place of a start, under its id and with its cause. */
  retell(start: HeldStart, eventType: string, payload: Record<string, unknown>): EventDraft
  send(
    events: readonly EventDraft[],
    then: (stored: readonly ClewEvent[]) => void,
    options?: WriteOptions,
  ): void
  /** Keeps a start back: its step may be over before anything else has to be written. */
  hold(start: HeldStart): void
  /** Gives a start up for an end that says all of it; undefined when it was sent already. */
  take(startId: string): HeldStart | undefined
  /** Sends the starts that are still held; what is sent goes after them anyway. */
  flush(options?: WriteOptions): void
}

/** Readings of the clock that a draft carries. */
export const clockIn = ({ clock = [] }: { readonly clock?: unknown }): [string, number][] =>
  clock as [string, number][]

/** `readings` of the clock ride on the next event: whatever depends on one is written after it (D3). */
export function createWrites(
  journal: RunAppender | undefined,
  readings: [string, number][],
  onSettled: () => void,
): Writes {
  const errors: Error[] = []
  let held: HeldStart[] = []
  let inFlight = 0
  let fatal: unknown

  function fail(error: unknown): void {
    fatal ??= error
    onSettled()
  }

  function refused(
    error: unknown,
    events: readonly EventDraft[],
    { onUnstorable, mayMiss = false }: WriteOptions,
  ): void {
    inFlight--
    if (onUnstorable && isUnstorable(error)) {
      // They were not written either, and the event that takes the place of these has to carry them.
      for (const { payload } of events.toReversed()) readings.unshift(...clockIn(payload))
      onUnstorable(error)
    } else if (mayMiss && error instanceof Error && !isStale(error)) errors.push(error)
    else fatal ??= error
    onSettled()
  }

  function withClock<P extends object>(payload: P): P {
    return readings.length > 0 ? { ...payload, clock: readings.splice(0) } : payload
  }

  /** The starts that are held, as they are written. */
  function release(): EventDraft[] {
    const starts = held
    held = []
    return starts.map(({ event, payload }) => ({ ...event, payload: { ...payload(), ...event.payload } }))
  }

  function write(
    events: readonly EventDraft[],
    then: (stored: readonly ClewEvent[]) => void,
    options: WriteOptions,
  ): void {
    const written = (stored: readonly ClewEvent[]): void => {
      inFlight--
      then(stored)
      onSettled()
    }
    inFlight++
    ;(journal as RunAppender).write(events, written, (error) => refused(error, events, options))
  }

  return {
    get inFlight() {
      return inFlight
    },
    errors,
    get fatal() {
      return fatal
    },
    fail,
    draft(eventType, ids, causationId, payload) {
      return (journal as RunAppender).draft(eventType, ids, causationId, withClock(payload))
    },
    retell: ({ event }, eventType, payload) => ({ ...event, eventType, payload: withClock(payload) }),
    send(events, then, options = {}) {
      if (held.length === 0) return write(events, then, options)
      const before = release()
      write([...before, ...events], (stored) => then(stored.slice(before.length)), options)
    },
    hold: (start) => void held.push(start),
    take(startId) {
      const at = held.findIndex(({ event }) => event.eventId === startId)
      if (at < 0) return undefined
      const [start] = held.splice(at, 1) as [HeldStart]
      // They ride on the event that takes its place.
      readings.unshift(...clockIn(start.event.payload))
      const { clock: _moved, ...payload } = start.event.payload
      return { ...start, event: { ...start.event, payload } }
    },
    flush(options = {}) {
      if (held.length > 0) write(release(), () => {}, options)
    },
  }
}

const isStale = (error: unknown): boolean => error instanceof ClewError && error.code === 'stale_epoch'

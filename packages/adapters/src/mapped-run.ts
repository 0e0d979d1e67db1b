import { deriveId, type EventInput, type Origin, type Payload, type Ports } from '@clew/ledger'

export interface MapOptions {
  readonly sha256: Ports['sha256']
  readonly runId: string
  /** Agent of the run, which foreign records seldom name. */
  readonly agent?: string | undefined
  /** Stands in for times that the record lacks: ISO 8601. Left out, the ledger's clock does. */
  readonly at?: string | undefined
}

export interface MappedEvent {
  readonly type: string
  /** Parts of the event's id: the same parts give the same id, so that a repeated import changes nothing (L4). */
  readonly key: readonly (string | number)[]
  readonly origin: Origin
  readonly cause: string | null
  readonly payload: Payload
}

/** The events of one run as they are found out, in their order. */
export interface MappedRun {
  /** From here on events have this time; an undefined one leaves the clock where it is. */
  setTime(time: string | undefined): void
  /** Answers with the id of the event. */
  add(event: MappedEvent): string
  /** Returns the events added since the last call. */
  take(): EventInput[]
}

export function createDraft({ sha256, runId, at }: MapOptions, runtime: string): MappedRun {
  let events: EventInput[] = []
  let timestamp = at
  return {
    setTime(time) {
      timestamp = time ?? timestamp
    },
    add({ type, key, origin, cause, payload }) {
      const eventId = deriveId(sha256, runId, runtime, ...key)
      events.push({
        eventId,
        eventType: type,
        timestamp,
        source: { origin, runtime },
        correlationId: runId,
        causationId: cause,
        payload,
      })
      return eventId
    },
    take() {
      const taken = events
      events = []
      return taken
    },
  }
}

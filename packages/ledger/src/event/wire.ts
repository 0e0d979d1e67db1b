import type { ClewEvent, Envelope, LedgerFields, Source } from './envelope.ts'

/** The envelope as JSON (E1): stored, exported, streamed and accepted over HTTP with exactly these names. */
export interface WireEnvelope {
  event_id: string
  event_type: string
  timestamp: string
  source: Source
  correlation_id: string
  causation_id: string | null
  payload: unknown
}

export interface WireLedgerFields {
  workspace: string
  seq: number
  position: number
  recorded_at: string
  hash: string
  schema_version: number
  erased?: true
  pruned?: true
}

export interface WireEvent extends WireEnvelope {
  ledger: WireLedgerFields
}

/** Only envelope keys are respelled; payloads pass through untouched (E2). */
function toWireEnvelope(event: Envelope): WireEnvelope {
  return {
    event_id: event.eventId,
    event_type: event.eventType,
    timestamp: event.timestamp,
    source: { origin: event.source.origin, runtime: event.source.runtime },
    correlation_id: event.correlationId,
    causation_id: event.causationId,
    payload: event.payload,
  }
}

export function toWirePlace(place: LedgerFields): WireLedgerFields {
  return {
    workspace: place.workspace,
    seq: place.seq,
    position: place.position,
    recorded_at: place.recordedAt,
    hash: place.hash,
    schema_version: place.schemaVersion,
    ...(place.erased && { erased: place.erased }),
    ...(place.pruned && { pruned: place.pruned }),
  }
}

export const toWire = (event: ClewEvent): WireEvent => ({
  ...toWireEnvelope(event),
  ledger: toWirePlace(event.ledger),
})

export function fromWire(wire: WireEvent): ClewEvent {
  const { ledger } = wire
  return {
    eventId: wire.event_id,
    eventType: wire.event_type,
    timestamp: wire.timestamp,
    source: { origin: wire.source.origin, runtime: wire.source.runtime },
    correlationId: wire.correlation_id,
    causationId: wire.causation_id,
    payload: wire.payload as Envelope['payload'],
    ledger: {
      workspace: ledger.workspace,
      seq: ledger.seq,
      position: ledger.position,
      recordedAt: ledger.recorded_at,
      hash: ledger.hash,
      schemaVersion: ledger.schema_version,
      ...(ledger.erased && { erased: ledger.erased }),
      ...(ledger.pruned && { pruned: ledger.pruned }),
    },
  }
}

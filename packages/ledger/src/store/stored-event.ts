import type { ClewEvent, Origin, Payload } from '../event/envelope.ts'
import type { RunKey, StoredEvent } from './store.ts'
import type { PreparedEvent } from './change.ts'
import type { EventPlace } from './transaction.ts'

/** An event as a store that keeps no rows of its own has it. */
export const storedEvent = (
  run: RunKey,
  event: PreparedEvent,
  place: EventPlace,
  body: string | null,
): StoredEvent => ({
  ...place,
  workspace: run.workspace,
  correlationId: run.runId,
  eventId: event.eventId,
  eventType: event.eventType,
  timestamp: event.timestamp,
  origin: event.origin,
  runtime: event.runtime,
  causationId: event.causationId,
  payloadHash: event.payloadHash,
  body,
  salt: body === null ? null : event.salt,
  erased: body === null,
  pruned: event.sealed?.pruned === true,
})

/** An event from a row of a database; `hex` reads its bytes. */
export const eventOfRow = (row: Record<string, unknown>, hex: (bytes: unknown) => string): StoredEvent => ({
  position: row['position'] as number,
  workspace: row['workspace'] as string,
  correlationId: row['run_id'] as string,
  seq: row['seq'] as number,
  eventId: row['event_id'] as string,
  eventType: row['event_type'] as string,
  timestamp: row['timestamp'] as string,
  origin: row['origin'] as Origin,
  runtime: row['runtime'] as string,
  causationId: row['causation_id'] as string | null,
  recordedAt: row['recorded_at'] as string,
  schemaVersion: row['schema_version'] as number,
  payloadHash: hex(row['payload_hash']),
  hash: hex(row['hash']),
  body: row['body'] as string | null,
  salt: row['salt'] === null ? null : hex(row['salt']),
  // SQLite has numbers in the place of truth values.
  erased: Boolean(row['erased']),
  pruned: Boolean(row['pruned']),
})

/** As it is read back, with its payload put together. */
export function withPayload(stored: StoredEvent, payload: Payload): ClewEvent {
  return {
    eventId: stored.eventId,
    eventType: stored.eventType,
    timestamp: stored.timestamp,
    source: { origin: stored.origin, runtime: stored.runtime },
    correlationId: stored.correlationId,
    causationId: stored.causationId,
    payload,
    ledger: {
      workspace: stored.workspace,
      seq: stored.seq,
      position: stored.position,
      recordedAt: stored.recordedAt,
      hash: stored.hash,
      schemaVersion: stored.schemaVersion,
      ...(stored.erased && { erased: true as const }),
      ...(stored.pruned && { pruned: true as const }),
    },
  }
}

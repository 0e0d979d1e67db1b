import { eventOfRow, type EventPlace, type PreparedEvent, type StoredEvent } from '@clew/ledger'
import type { RunRow } from './run-row.ts'
import type { Row } from './sql.ts'
import { bytesOf, type Column } from './unnest.ts'

/** Columns of an event and its payload as they are read. */
export const EVENT_COLUMNS = `e.position, r.workspace, r.run_id, e.seq, e.event_id, e.event_type, e.timestamp, e.origin,
  e.runtime, e.causation_id, e.recorded_at, e.schema_version, e.payload_hash, e.hash, p.body, p.salt,
  p.body IS NULL AND (EXISTS (SELECT FROM erasures x WHERE x.position = e.position)
    OR EXISTS (SELECT FROM pruned_states s WHERE s.position = e.position)) AS erased,
  e.event_type IN ('execution.step_completed', 'execution.checkpoint')
    AND EXISTS (SELECT FROM pruned_states s WHERE s.position = e.position) AS pruned
  FROM events e JOIN runs r ON r.id = e.run LEFT JOIN payloads p ON p.position = e.position`

/**
 * Positions below it are final (L3): no transaction that still runs can commit one there. Events above it are committed
 * but not read yet, for an event with a lower position may still be committed.
 */
export const HORIZON = `(SELECT base + pg_snapshot_xmin(pg_current_snapshot())::text::bigint * 1024 FROM meta)`

export const hexOf = (bytes: unknown): string => (bytes as Buffer).toString('hex')

export const toStoredEvent = (row: Row): StoredEvent => eventOfRow(row, hexOf)

/** An event to be inserted. */
export interface NewEvent {
  readonly run: RunRow
  readonly event: PreparedEvent
  readonly place: EventPlace
  readonly body: string | null
  readonly follows: boolean
}

const POSITION: Column<NewEvent> = ['position', 'bigint', ({ place }) => place.position]

export const NEW_EVENT: readonly Column<NewEvent>[] = [
  POSITION,
  ['run', 'bigint', ({ run }) => run.id],
  ['seq', 'bigint', ({ place }) => place.seq],
  ['schema_version', 'int', ({ place }) => place.schemaVersion],
  ['follows', 'boolean', ({ follows }) => follows],
  ['event_id', 'text', ({ event }) => event.eventId],
  ['event_type', 'text', ({ event }) => event.eventType],
  ['timestamp', 'text', ({ event }) => event.timestamp],
  ['origin', 'text', ({ event }) => event.origin],
  ['runtime', 'text', ({ event }) => event.runtime],
  ['causation_id', 'text', ({ event }) => event.causationId],
  ['recorded_at', 'text', ({ place }) => place.recordedAt],
  ['payload_hash', 'bytea', ({ event }) => bytesOf(event.payloadHash)],
  ['hash', 'bytea', ({ place }) => bytesOf(place.hash)],
]

export const NEW_PAYLOAD: readonly Column<NewEvent>[] = [
  POSITION,
  ['salt', 'bytea', ({ event }) => bytesOf(event.salt)],
  ['mac', 'bytea', ({ event }) => bytesOf(event.mac)],
  ['body', 'text', ({ body }) => body],
]

export const NEW_VAULT_ROW: readonly Column<NewEvent>[] = [
  POSITION,
  ['key_id', 'text', ({ event }) => event.vault?.keyId],
  ['data', 'bytea', ({ event }) => bytesOf(event.vault?.data ?? null)],
]

/** An imported event whose payload was erased where it comes from. */
export const NEW_ERASURE: readonly Column<NewEvent>[] = [
  POSITION,
  ['erased_at', 'text', ({ place }) => place.recordedAt],
]

/** An imported event whose state was pruned where it comes from. */
export const NEW_PRUNED_STATE: readonly Column<NewEvent>[] = [
  POSITION,
  ['pruned_at', 'text', ({ place }) => place.recordedAt],
]

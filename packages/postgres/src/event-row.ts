import type { Origin, StoredEvent } from '@clew/ledger'
import type { Row } from './sql.ts'

/** Columns of an event and its payload. */
export const EVENT_COLUMNS = `e.position, r.workspace, r.run_id, e.seq, e.event_id, e.event_type, e.timestamp, e.origin,
  e.runtime, e.causation_id, e.recorded_at, e.schema_version, e.payload_hash, e.hash, p.body, p.salt,
  p.body IS NULL AND EXISTS (SELECT FROM erasures x WHERE x.position = e.position) AS erased
  FROM events e JOIN runs r ON r.id = e.run LEFT JOIN payloads p ON p.position = e.position`

/** Bytes of the database as the hex that the ledger speaks; the driver gives a buffer, JSON gives `\\x…`. */
export const hexOf = (bytes: unknown): string =>
  typeof bytes === 'string' ? bytes.slice(2) : (bytes as Buffer).toString('hex')

export function toStoredEvent(row: Row): StoredEvent {
  return {
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
    payloadHash: hexOf(row['payload_hash']),
    hash: hexOf(row['hash']),
    body: row['body'] as string | null,
    salt: row['salt'] === null ? null : hexOf(row['salt']),
    erased: row['erased'] as boolean,
  }
}

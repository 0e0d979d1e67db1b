import type { Origin, StoredEvent } from '@clew/ledger'

/**
 * Columns of an event and its payload. CROSS keeps events on the outside: left to itself, SQLite may start from
 * the runs of a workspace and sort all their events for every page.
 */
export const EVENT_COLUMNS = `e.position, r.workspace, r.run_id, e.seq, e.event_id, e.event_type, e.timestamp, e.origin,
  e.runtime, e.causation_id, e.recorded_at, e.schema_version, e.payload_hash, e.hash, p.body, p.salt,
  p.body IS NULL AND EXISTS (SELECT 1 FROM erasures x WHERE x.position = e.position) AS erased
  FROM events e CROSS JOIN runs r ON r.id = e.run LEFT JOIN payloads p ON p.position = e.position`

const hex = (blob: unknown): string => {
  const { buffer, byteOffset, byteLength } = blob as Uint8Array
  return Buffer.from(buffer, byteOffset, byteLength).toString('hex')
}

export function toStoredEvent(row: Record<string, unknown>): StoredEvent {
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
    payloadHash: hex(row['payload_hash']),
    hash: hex(row['hash']),
    body: row['body'] as string | null,
    salt: row['salt'] === null ? null : hex(row['salt']),
    erased: row['erased'] === 1,
  }
}

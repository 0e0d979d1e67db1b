import { eventOfRow, type StoredEvent } from '@clew/ledger'
import type { Row } from './sql.ts'

/** Columns of an event and its payload. */
export const EVENT_COLUMNS = `e.position, r.workspace, r.run_id, e.seq, e.event_id, e.event_type, e.timestamp, e.origin,
  e.runtime, e.causation_id, e.recorded_at, e.schema_version, e.payload_hash, e.hash, p.body, p.salt,
  p.body IS NULL AND (EXISTS (SELECT FROM erasures x WHERE x.position = e.position)
    OR EXISTS (SELECT FROM pruned_states s WHERE s.position = e.position)) AS erased,
  e.event_type IN ('execution.step_completed', 'execution.checkpoint')
    AND EXISTS (SELECT FROM pruned_states s WHERE s.position = e.position) AS pruned
  FROM events e JOIN runs r ON r.id = e.run LEFT JOIN payloads p ON p.position = e.position`

/** Bytes of the database as the hex that the ledger speaks; the driver gives a buffer, JSON gives `\\x…`. */
export const hexOf = (bytes: unknown): string =>
  typeof bytes === 'string' ? bytes.slice(2) : (bytes as Buffer).toString('hex')

export const toStoredEvent = (row: Row): StoredEvent => eventOfRow(row, hexOf)

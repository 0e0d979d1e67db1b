import { eventOfRow, type StoredEvent } from '@clew/ledger'
import { toHex } from './hex.ts'

/**
 * Columns of an event and its payload. CROSS JOIN keeps events outside: SQLite might otherwise start from the runs of a
 * workspace and sort all their events for every page.
 */
export const EVENT_COLUMNS = `e.position, r.workspace, r.run_id, e.seq, e.event_id, e.event_type, e.timestamp, e.origin,
  e.runtime, e.causation_id, e.recorded_at, e.schema_version, e.payload_hash, e.hash, p.body, p.salt,
  p.body IS NULL AND (EXISTS (SELECT 1 FROM erasures x WHERE x.position = e.position)
    OR EXISTS (SELECT 1 FROM pruned_states s WHERE s.position = e.position)) AS erased,
  e.event_type IN ('execution.step_completed', 'execution.checkpoint')
    AND EXISTS (SELECT 1 FROM pruned_states s WHERE s.position = e.position) AS pruned
  FROM events e CROSS JOIN runs r ON r.id = e.run LEFT JOIN payloads p ON p.position = e.position`

/** Position of the newest event, null without one. */
export const LAST_POSITION = 'SELECT max(position) AS position FROM events'

export const toStoredEvent = (row: Record<string, unknown>): StoredEvent => eventOfRow(row, toHex)

import { eventOfRow, type StoredEvent } from '@clew/ledger'

/**
 * Columns of an event and its payload. CROSS keeps events on the outside: left to itself, SQLite may start from
 * the runs of a workspace and sort all their events for every page.
 */
const columnsFrom = (
  source: string,
): string => `e.position, r.workspace, r.run_id, e.seq, e.event_id, e.event_type, e.timestamp, e.origin,
  e.runtime, e.causation_id, e.recorded_at, e.schema_version, e.payload_hash, e.hash, e.body, e.salt,
  e.body IS NULL AND (EXISTS (SELECT 1 FROM erasures x WHERE x.position = e.position)
    OR EXISTS (SELECT 1 FROM pruned_states s WHERE s.position = e.position)) AS erased,
  e.event_type IN ('execution.step_completed', 'execution.checkpoint')
    AND EXISTS (SELECT 1 FROM pruned_states s WHERE s.position = e.position) AS pruned
  FROM ${source} e CROSS JOIN runs r ON r.id = e.run`

export const EVENT_COLUMNS = columnsFrom('entries')
/** The same where nothing lies in the inbox: looking into it, too, takes a tenth longer. */
export const SETTLED_COLUMNS = columnsFrom(
  '(SELECT x.*, p.body, p.salt FROM events x LEFT JOIN payloads p ON p.position = x.position)',
)

/** Whatever lies in the inbox is newer than all else. */
export const LAST_POSITION =
  'SELECT coalesce((SELECT max(position) FROM inbox), (SELECT max(position) FROM events)) AS position'

const hex = (blob: unknown): string => {
  const { buffer, byteOffset, byteLength } = blob as Uint8Array
  return Buffer.from(buffer, byteOffset, byteLength).toString('hex')
}

export const toStoredEvent = (row: Record<string, unknown>): StoredEvent => eventOfRow(row, hex)

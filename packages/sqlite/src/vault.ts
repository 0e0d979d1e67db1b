import type { DatabaseSync } from 'node:sqlite'
import type { VaultQuery, VaultRow } from '@clew/ledger'
import { toHex } from './hex.ts'

const ROWS = `SELECT v.position, v.key_id, v.data, r.workspace, r.run_id, e.seq, e.event_id, e.payload_hash,
    p.position IS NOT NULL AS has_payload
  FROM vault v LEFT JOIN events e ON e.position = v.position LEFT JOIN runs r ON r.id = e.run
    LEFT JOIN payloads p ON p.position = v.position`

/** Reads rows of the vault; `write` adds, replaces and deletes them. */
export function createVaultReader(db: DatabaseSync): (query: VaultQuery) => VaultRow[] {
  const sql = {
    at: db.prepare(`${ROWS} WHERE v.position IN (SELECT value FROM json_each(?)) ORDER BY v.position`),
    list: db.prepare(`${ROWS} WHERE v.position > ?1 AND v.key_id = coalesce(?2, v.key_id) AND v.key_id IS NOT ?3
      ORDER BY v.position LIMIT ?4`),
  }
  return (query) => {
    if ('positions' in query) return sql.at.all(JSON.stringify(query.positions)).map(toRow)
    const { afterPosition, limit, keyId = null, exceptKeyId = null } = query
    return sql.list.all(afterPosition, keyId, exceptKeyId, limit).map(toRow)
  }
}

const toRow = (row: Record<string, unknown>): VaultRow => ({
  position: row['position'] as number,
  keyId: row['key_id'] as string,
  data: toHex(row['data']),
  event:
    row['event_id'] === null
      ? null
      : {
          workspace: row['workspace'] as string,
          runId: row['run_id'] as string,
          seq: row['seq'] as number,
          eventId: row['event_id'] as string,
          payloadHash: toHex(row['payload_hash']),
          hasPayload: row['has_payload'] === 1,
        },
})

import type { VaultRow, VaultRows } from '@clew/ledger'
import { hexOf } from './event-row.ts'
import type { Row, Sql } from './sql.ts'
import { arraysOf, bytesOf, type Column, unnest } from './unnest.ts'

const ROWS = `SELECT v.position, v.key_id, v.data, r.workspace, r.run_id, e.seq, e.event_id, e.payload_hash,
    p.position IS NOT NULL AS has_payload
  FROM vault v LEFT JOIN events e ON e.position = v.position LEFT JOIN runs r ON r.id = e.run
    LEFT JOIN payloads p ON p.position = v.position`
const READ = `${ROWS} WHERE v.position = ANY ($1::bigint[]) ORDER BY v.position`
const LIST = `${ROWS} WHERE v.position > $1 AND v.key_id = coalesce($2::text, v.key_id)
  AND v.key_id IS DISTINCT FROM $3::text ORDER BY v.position LIMIT $4`
const KEY_IDS = 'SELECT DISTINCT key_id FROM vault ORDER BY key_id'
type Change = Parameters<VaultRows['replace']>[0][number]
const CHANGE: readonly Column<Change>[] = [
  ['position', 'bigint', ({ position }) => position],
  ['old_id', 'text', ({ before }) => before.keyId],
  ['old_data', 'bytea', ({ before }) => bytesOf(before.data)],
  ['new_id', 'text', ({ after }) => after.keyId],
  ['new_data', 'bytea', ({ after }) => bytesOf(after.data)],
]
const REPLACE = `UPDATE vault v SET key_id = c.new_id, data = c.new_data FROM ${unnest(CHANGE, 'c')}
  WHERE v.position = c.position AND v.key_id = c.old_id AND v.data = c.old_data`

export function createVault(sql: Sql, reading: Sql): VaultRows {
  return {
    async read(positions) {
      const { rows } = await reading.query({ name: 'vault read', text: READ, values: [positions] })
      return rows.map(toRow)
    },
    async list({ afterPosition, limit, keyId = null, exceptKeyId = null }) {
      const values = [afterPosition, keyId, exceptKeyId, limit]
      return (await reading.query({ text: LIST, values })).rows.map(toRow)
    },
    async keyIds() {
      return (await reading.query({ text: KEY_IDS })).rows.map((row) => row['key_id'] as string)
    },
    async replace(changes) {
      return (await sql.query({ text: REPLACE, values: arraysOf(CHANGE, changes) })).rowCount ?? 0
    },
  }
}

const toRow = (row: Row): VaultRow => ({
  position: Number(row['position']),
  keyId: row['key_id'] as string,
  data: hexOf(row['data']),
  event:
    row['event_id'] === null
      ? null
      : {
          workspace: row['workspace'] as string,
          runId: row['run_id'] as string,
          seq: Number(row['seq']),
          eventId: row['event_id'] as string,
          payloadHash: hexOf(row['payload_hash']),
          hasPayload: row['has_payload'] as boolean,
        },
})

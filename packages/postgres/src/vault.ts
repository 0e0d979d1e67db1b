import type { VaultRow, VaultRows } from '@clew/ledger'
import { hexes, int8s, texts } from './binary-array.ts'
import { hexOf } from './event-row.ts'
import type { Row, Sql } from './sql.ts'

const ROWS = `SELECT v.position, v.key_id, v.data, r.workspace, r.run_id, e.seq, e.event_id, e.payload_hash,
    p.position IS NOT NULL AS has_payload
  FROM vault v LEFT JOIN events e ON e.position = v.position LEFT JOIN runs r ON r.id = e.run
    LEFT JOIN payloads p ON p.position = v.position`
const READ = `${ROWS} WHERE v.position = ANY ($1::bigint[]) ORDER BY v.position`
const LIST = `${ROWS} WHERE v.position > $1 AND v.key_id = coalesce($2::text, v.key_id)
  AND v.key_id IS DISTINCT FROM $3::text ORDER BY v.position LIMIT $4`
const KEY_IDS = 'SELECT DISTINCT key_id FROM vault ORDER BY key_id'
const REPLACE = `UPDATE vault v SET key_id = c.new_id, data = c.new_data
  FROM unnest($1::bigint[], $2::text[], $3::bytea[], $4::text[], $5::bytea[]) c (position, old_id, old_data, new_id, new_data)
  WHERE v.position = c.position AND v.key_id = c.old_id AND v.data = c.old_data`

export function createVault(sql: Sql, reading: Sql): VaultRows {
  return {
    async read(positions) {
      const { rows } = await reading.query({ name: 'vault read', text: READ, values: [int8s(positions)] })
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
      const values = [
        int8s(changes.map(({ position }) => position)),
        texts(changes.map(({ before }) => before.keyId)),
        hexes(changes.map(({ before }) => before.data)),
        texts(changes.map(({ after }) => after.keyId)),
        hexes(changes.map(({ after }) => after.data)),
      ]
      return (await sql.query({ text: REPLACE, values })).rowCount ?? 0
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

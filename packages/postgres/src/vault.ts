import type { VaultChange, VaultQuery, VaultRow } from '@clew/ledger'
import { hexOf } from './event-row.ts'
import type { Row, Sql, Statement } from './sql.ts'
import { arraysOf, bytesOf, type Column, unnest } from './unnest.ts'

const ROWS = `SELECT v.position, v.key_id, v.data, r.workspace, r.run_id, e.seq, e.event_id, e.payload_hash,
    p.position IS NOT NULL AS has_payload
  FROM vault v LEFT JOIN events e ON e.position = v.position LEFT JOIN runs r ON r.id = e.run
    LEFT JOIN payloads p ON p.position = v.position`
const AT = `${ROWS} WHERE v.position = ANY ($1::bigint[]) ORDER BY v.position`
const LIST = `${ROWS} WHERE v.position > $1 AND v.key_id = coalesce($2::text, v.key_id)
  AND v.key_id IS DISTINCT FROM $3::text ORDER BY v.position LIMIT $4`

/** Reads rows of the vault; `write` adds, replaces and deletes them. */
export function createVaultReader(sql: Sql): (query: VaultQuery) => Promise<VaultRow[]> {
  const read = async (text: string, values: unknown[]): Promise<VaultRow[]> =>
    (await sql.query({ text, values })).rows.map(toRow)
  return async (query) => {
    if ('positions' in query) return read(AT, [query.positions])
    const { afterPosition, limit, keyId = null, exceptKeyId = null } = query
    return read(LIST, [afterPosition, keyId, exceptKeyId, limit])
  }
}

const CHANGE: readonly Column<VaultChange>[] = [
  ['position', 'bigint', ({ position }) => position],
  ['old_id', 'text', ({ before }) => before.keyId],
  ['old_data', 'bytea', ({ before }) => bytesOf(before.data)],
  ['new_id', 'text', ({ after }) => after.keyId],
  ['new_data', 'bytea', ({ after }) => bytesOf(after.data)],
]
const REPLACE = `UPDATE vault v SET key_id = c.new_id, data = c.new_data FROM ${unnest(CHANGE, 'c')}
  WHERE v.position = c.position AND v.key_id = c.old_id AND v.data = c.old_data`

/** Replaces rows that are still as given. */
export const replaceVault = (changes: readonly VaultChange[]): Statement[] =>
  changes.length === 0 ? [] : [{ text: REPLACE, values: arraysOf(CHANGE, changes) }]

const toRow = (row: Row): VaultRow => ({
  position: row['position'] as number,
  keyId: row['key_id'] as string,
  data: hexOf(row['data']),
  event:
    row['event_id'] === null
      ? null
      : {
          workspace: row['workspace'] as string,
          runId: row['run_id'] as string,
          seq: row['seq'] as number,
          eventId: row['event_id'] as string,
          payloadHash: hexOf(row['payload_hash']),
          hasPayload: row['has_payload'] as boolean,
        },
})

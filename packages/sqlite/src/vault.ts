import type { VaultRow, VaultRows } from '@clew/ledger'
import type { Connection } from './connection.ts'
import { fromHex, toHex } from './hex.ts'

const ROWS = `SELECT v.position, v.key_id, v.data, r.workspace, r.run_id, e.seq, e.event_id, e.payload_hash,
    p.position IS NOT NULL AS has_payload
  FROM vault v LEFT JOIN events e ON e.position = v.position LEFT JOIN runs r ON r.id = e.run
    LEFT JOIN payloads p ON p.position = v.position`

export function createVault({ db, read, write }: Connection): VaultRows {
  const sql = {
    read: db.prepare(`${ROWS} WHERE v.position IN (SELECT value FROM json_each(?)) ORDER BY v.position`),
    list: db.prepare(`${ROWS} WHERE v.position > ?1 AND v.key_id = coalesce(?2, v.key_id) AND v.key_id IS NOT ?3
      ORDER BY v.position LIMIT ?4`),
    keyIds: db.prepare('SELECT DISTINCT key_id FROM vault ORDER BY key_id'),
    replace: db.prepare(
      'UPDATE vault SET key_id = ?1, data = ?2 WHERE position = ?3 AND key_id = ?4 AND data = ?5',
    ),
  }
  return {
    read: (positions) => read(() => sql.read.all(JSON.stringify(positions)).map(toRow)),
    list: ({ afterPosition, limit, keyId = null, exceptKeyId = null }) =>
      read(() => sql.list.all(afterPosition, keyId, exceptKeyId, limit).map(toRow)),
    keyIds: () => read(() => sql.keyIds.all().map((row) => row['key_id'] as string)),
    replace: (changes) =>
      write(() => {
        let replaced = 0
        for (const { position, before, after } of changes)
          replaced += Number(
            sql.replace.run(after.keyId, fromHex(after.data), position, before.keyId, fromHex(before.data))
              .changes,
          )
        return replaced
      }),
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

import type { Values } from '@clew/ledger'
import { hexOf } from './event-row.ts'
import type { Database, Row, Sql } from './sql.ts'

const READ = 'SELECT id, hash, body FROM nodes WHERE id = ANY ($1::bigint[])'
const PENDING = 'SELECT scope, mark FROM sweeps ORDER BY scope'
const REFERENCES = `SELECT e.position, p.body FROM runs r JOIN events e ON e.run = r.id JOIN payloads p ON p.position = e.position
  WHERE r.scope = $1 AND e.position > $2 AND left(p.body, 1) <> '{' ORDER BY e.position LIMIT $3`
const LIST = 'SELECT id, body FROM nodes WHERE scope = $1 AND id > $2 ORDER BY id LIMIT $3'
const LOCK_SCOPE = 'SELECT pg_advisory_xact_lock(scope_lock($1))'
const DROP = 'DELETE FROM nodes WHERE scope = $1 AND id = ANY ($2::bigint[])'
const END_SWEEP = 'DELETE FROM sweeps WHERE scope = $1 AND mark = $2'

/** Values that payloads of one scope share (L8). */
export function createValues(db: Database, reading: Sql): Values {
  const read = async (text: string, values: unknown[] = []): Promise<Row[]> =>
    (await reading.query({ text, values })).rows
  return {
    async read(ids) {
      const { rows } = await reading.query({ name: 'read values', text: READ, values: [ids] })
      return new Map(
        rows.map((row) => [row['id'] as number, { hash: hexOf(row['hash']), body: row['body'] as string }]),
      )
    },
    pending: async () => (await read(PENDING)) as { scope: number; mark: number }[],
    references: async (scope, afterPosition, limit) =>
      (await read(REFERENCES, [scope, afterPosition, limit])) as { position: number; body: string }[],
    list: async (scope, afterId, limit) =>
      (await read(LIST, [scope, afterId, limit])) as { id: number; body: string }[],
    /** Writers hold the lock shared while they refer to values, so none of these gets a new reference in the meantime. */
    drop: ({ scope, ids, upToPosition, mark }) =>
      db.transact(async (sql) => {
        await sql.query({ text: LOCK_SCOPE, values: [scope] })
        const { rows } = await sql.query({ text: REFERENCES, values: [scope, upToPosition, 1] })
        if (rows.length > 0) return false
        await sql.query({ text: DROP, values: [scope, ids] })
        if (mark !== undefined) await sql.query({ text: END_SWEEP, values: [scope, mark] })
        return true
      }),
  }
}

import type { StoreRetention } from '@clew/ledger'
import type { Database, Row, Sql } from './sql.ts'

const PENDING = 'SELECT scope, mark FROM sweeps ORDER BY scope'
const BODIES = `SELECT e.position, p.body FROM runs r JOIN events e ON e.run = r.id JOIN payloads p ON p.position = e.position
  WHERE r.scope = $1 AND e.position > $2 AND left(p.body, 1) <> '{' ORDER BY e.position LIMIT $3`
const NODES = 'SELECT id, body FROM nodes WHERE scope = $1 AND id > $2 ORDER BY id LIMIT $3'
const LOCK_SCOPE = 'SELECT pg_advisory_xact_lock(scope_lock($1))'
const DROP_NODES = 'DELETE FROM nodes WHERE scope = $1 AND id = ANY ($2::bigint[])'
const END_SWEEP = 'DELETE FROM sweeps WHERE scope = $1 AND mark = $2'

/** Shared values (L8) of scopes that lost payloads, to find and delete those that nothing refers to any more. */
export function createValues(db: Database, reading: Sql): StoreRetention['values'] {
  const read = async (text: string, values: unknown[] = []): Promise<Row[]> =>
    (await reading.query({ text, values })).rows
  return {
    async pending() {
      return (await read(PENDING)).map((row) => ({ scope: Number(row['scope']), mark: Number(row['mark']) }))
    },
    async bodies(scope, after, limit) {
      const rows = await read(BODIES, [scope, after, limit])
      return rows.map((row) => ({ position: Number(row['position']), body: row['body'] as string }))
    },
    async nodes(scope, after, limit) {
      const rows = await read(NODES, [scope, after, limit])
      return rows.map((row) => ({ id: Number(row['id']), body: row['body'] as string }))
    },
    /** Writers hold the lock shared while they refer to values, so none of these gets a new reference meanwhile. */
    drop: (scope, ids, position) =>
      db.transact(async (sql) => {
        await sql.query({ text: LOCK_SCOPE, values: [scope] })
        const { rows } = await sql.query({ text: BODIES, values: [scope, position, 1] })
        if (rows.length > 0) return false
        await sql.query({ text: DROP_NODES, values: [scope, ids] })
        return true
      }),
    async end(scope, mark) {
      await db.query({ text: END_SWEEP, values: [scope, mark] })
    },
  }
}

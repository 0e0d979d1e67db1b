import type { Values } from '@clew/ledger'
import type { Connection } from './connection.ts'
import { toHex } from './hex.ts'

/** Marks scopes whose shared values must be swept, because events or payloads of them were deleted. */
export const ADD_SWEEPS = (scopes: string): string =>
  `INSERT INTO sweeps (scope, mark) SELECT s.scope, 1 FROM (${scopes}) s WHERE EXISTS (SELECT 1 FROM nodes n WHERE n.scope = s.scope)
   ON CONFLICT (scope) DO UPDATE SET mark = mark + 1`

/** Values that payloads of one scope share (L8). */
export function createValues({ db, read, write }: Connection): Values {
  const sql = {
    read: db.prepare('SELECT id, hash, body FROM nodes WHERE id IN (SELECT value FROM json_each(?))'),
    pending: db.prepare('SELECT scope, mark FROM sweeps ORDER BY scope'),
    end: db.prepare('DELETE FROM sweeps WHERE scope = ? AND mark = ?'),
    references: db.prepare(
      `SELECT e.position, p.body FROM runs r CROSS JOIN events e ON e.run = r.id CROSS JOIN payloads p ON p.position = e.position
       WHERE r.scope = ? AND e.position > ? AND substr(p.body, 1, 1) <> '{' ORDER BY e.position LIMIT ?`,
    ),
    list: db.prepare('SELECT id, body FROM nodes WHERE scope = ? AND id > ? ORDER BY id LIMIT ?'),
    drop: db.prepare('DELETE FROM nodes WHERE id = ? AND scope = ?'),
    hasSeal: db.prepare('SELECT 1 FROM runs r CROSS JOIN seals s ON s.run = r.id WHERE r.scope = ? LIMIT 1'),
    addErasure: db.prepare('INSERT INTO node_erasures (node, erased_at) VALUES (?, ?)'),
    // Readers cache values by id, so an id is never given twice: a node in no scope keeps the highest one taken.
    keepId: db.prepare(
      `INSERT INTO nodes (id, scope, hash, body) SELECT ?1 + 1, 0, randomblob(32), '""'
         WHERE ?1 > (SELECT coalesce(max(id), 0) FROM nodes)`,
    ),
  }

  function dropAll(scope: number, ids: readonly number[]): void {
    if (ids.length === 0) return
    // If only payloads were deleted, no seal covers the scope: then an erasure covers each value.
    const isSealed = sql.hasSeal.get(scope) !== undefined
    const erasedAt = new Date().toISOString()
    for (const id of ids) {
      if (!isSealed) sql.addErasure.run(id, erasedAt)
      sql.drop.run(id, scope)
    }
    sql.keepId.run(Math.max(...ids))
  }

  return {
    read: (ids) =>
      read(() => {
        const rows = sql.read.all(JSON.stringify(ids))
        return new Map(
          rows.map((row) => [row['id'] as number, { hash: toHex(row['hash']), body: row['body'] as string }]),
        )
      }),
    pending: () => read(() => sql.pending.all() as { scope: number; mark: number }[]),
    references: (scope, after, limit) =>
      read(() => sql.references.all(scope, after, limit) as { position: number; body: string }[]),
    list: (scope, after, limit) =>
      read(() => sql.list.all(scope, after, limit) as { id: number; body: string }[]),
    drop: ({ scope, ids, upToPosition, mark }) =>
      write(() => {
        if (sql.references.get(scope, upToPosition, 1)) return false
        dropAll(scope, ids)
        if (mark !== undefined) sql.end.run(scope, mark)
        return true
      }),
  }
}

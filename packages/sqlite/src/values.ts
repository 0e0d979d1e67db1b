import type { StoreRetention } from '@clew/ledger'
import type { Connection } from './connection.ts'

/** Marks a scope whose shared values must be looked through, because events or payloads of it were deleted. */
export const ADD_SWEEP = `INSERT INTO sweeps (scope, mark) SELECT ?1, 1 WHERE EXISTS (SELECT 1 FROM nodes WHERE scope = ?1)
  ON CONFLICT (scope) DO UPDATE SET mark = mark + 1`

/** Deletes shared values (L8) to which no payload refers any more. */
export function createValues({ db, read, write }: Connection): StoreRetention['values'] {
  const sql = {
    pending: db.prepare('SELECT scope, mark FROM sweeps ORDER BY scope'),
    end: db.prepare('DELETE FROM sweeps WHERE scope = ? AND mark = ?'),
    bodies: db.prepare(
      `SELECT e.position, p.body FROM runs r CROSS JOIN events e ON e.run = r.id CROSS JOIN payloads p ON p.position = e.position
       WHERE r.scope = ? AND e.position > ? AND substr(p.body, 1, 1) <> '{' ORDER BY e.position LIMIT ?`,
    ),
    nodes: db.prepare('SELECT id, body FROM nodes WHERE scope = ? AND id > ? ORDER BY id LIMIT ?'),
    drop: db.prepare('DELETE FROM nodes WHERE id = ? AND scope = ?'),
    hasSeal: db.prepare('SELECT 1 FROM runs r CROSS JOIN seals s ON s.run = r.id WHERE r.scope = ? LIMIT 1'),
    addErasure: db.prepare('INSERT INTO node_erasures (node, erased_at) VALUES (?, ?)'),
    // Readers cache values by id, so an id is never given twice: a node in no scope keeps the highest one taken.
    keepId: db.prepare(
      `INSERT INTO nodes (id, scope, hash, body) SELECT ?1 + 1, 0, randomblob(32), '""'
         WHERE ?1 > (SELECT coalesce(max(id), 0) FROM nodes)`,
    ),
  }
  return {
    pending: () => read(() => sql.pending.all() as { scope: number; mark: number }[]),
    bodies: (scope, after, limit) =>
      read(() => sql.bodies.all(scope, after, limit) as { position: number; body: string }[]),
    nodes: (scope, after, limit) =>
      read(() => sql.nodes.all(scope, after, limit) as { id: number; body: string }[]),
    drop: (scope, ids, position) =>
      write(() => {
        if (sql.bodies.get(scope, position, 1)) return false
        if (ids.length === 0) return true
        // If only payloads were deleted, no seal covers the scope: then an erasure covers each value.
        const isSealed = sql.hasSeal.get(scope) !== undefined
        const erasedAt = new Date().toISOString()
        for (const id of ids) {
          if (!isSealed) sql.addErasure.run(id, erasedAt)
          sql.drop.run(id, scope)
        }
        sql.keepId.run(Math.max(...ids))
        return true
      }),
    end: (scope, mark) => write(() => void sql.end.run(scope, mark)),
  }
}

import type { Cursors, StoredCursor } from '@clew/ledger'
import type { Connection } from './connection.ts'

/** V9: where consumers stand, with compare-and-set on the version of the row. */
export function createCursors({ db, read, write }: Connection): Cursors {
  const list = db.prepare('SELECT * FROM consumers WHERE workspace = ? ORDER BY name')
  const insert = db.prepare(
    `INSERT INTO consumers (workspace, name, position, version, failures, error, moved_ms)
     VALUES (?, ?, ?, 1, ?, ?, ?) ON CONFLICT DO NOTHING`,
  )
  const update = db.prepare(
    `UPDATE consumers SET position = ?, version = version + 1, failures = ?, error = ?, moved_ms = ?
     WHERE workspace = ? AND name = ? AND version = ?`,
  )

  const toCursor = (row: Record<string, unknown>): StoredCursor => ({
    workspace: row['workspace'] as string,
    name: row['name'] as string,
    position: row['position'] as number,
    failures: row['failures'] as number,
    error: row['error'] as string | null,
    movedAt: new Date(row['moved_ms'] as number).toISOString(),
    version: row['version'] as number,
  })

  return {
    list: (workspace) => read(() => list.all(workspace).map(toCursor)),
    async put(cursor, version) {
      const { workspace, name, position, failures, error } = cursor
      const movedMs = Date.parse(cursor.movedAt)
      const { changes } = await write(() =>
        version === 0
          ? insert.run(workspace, name, position, failures, error, movedMs)
          : update.run(position, failures, error, movedMs, workspace, name, version),
      )
      return Number(changes) === 0 ? null : { ...cursor, version: version + 1 }
    },
  }
}

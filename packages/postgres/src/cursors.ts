import type { Cursors, StoredCursor } from '@clew/ledger'
import type { Row, Sql } from './sql.ts'

const LIST = 'SELECT * FROM consumers WHERE workspace = $1 ORDER BY name'
const INSERT = `INSERT INTO consumers (workspace, name, position, failures, error, moved_ms, version)
  VALUES ($1, $2, $3, $4, $5, $6, $7::bigint + 1) ON CONFLICT DO NOTHING`
const UPDATE = `UPDATE consumers SET position = $3, failures = $4, error = $5, moved_ms = $6, version = version + 1
  WHERE workspace = $1 AND name = $2 AND version = $7`

/** V9: where consumers stand, with compare-and-set on the version of the row. */
export function createCursors(sql: Sql): Cursors {
  return {
    async list(workspace) {
      const { rows } = await sql.query({ name: 'cursor list', text: LIST, values: [workspace] })
      return rows.map(toCursor)
    },
    async put(cursor, version) {
      const { workspace, name, position, failures, error } = cursor
      const values = [workspace, name, position, failures, error, Date.parse(cursor.movedAt), version]
      const { rowCount } = await sql.query(
        version === 0
          ? { name: 'cursor insert', text: INSERT, values }
          : { name: 'cursor update', text: UPDATE, values },
      )
      return rowCount === 0 ? null : { ...cursor, version: version + 1 }
    },
  }
}

const toCursor = (row: Row): StoredCursor => ({
  workspace: row['workspace'] as string,
  name: row['name'] as string,
  position: Number(row['position']),
  failures: row['failures'] as number,
  error: row['error'] as string | null,
  movedAt: new Date(Number(row['moved_ms'])).toISOString(),
  version: Number(row['version']),
})

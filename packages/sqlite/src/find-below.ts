import type { DatabaseSync } from 'node:sqlite'
import type { StoredRun } from '@clew/ledger'
import { type FoldTail, RUN_COLUMNS, toStoredRun } from './list-runs.ts'

/**
 * A fork hangs on the run that owns the event before its first one: that may be the run it was forked from, or one
 * which that one shares its beginning with.
 */
const FORKS = `WITH RECURSIVE owners (id) AS (
    SELECT id FROM runs WHERE workspace = ?1 AND run_id IN (SELECT value FROM json_each(?2))
    UNION SELECT r.fork_of FROM runs r JOIN owners o ON r.id = o.id WHERE r.fork_of IS NOT NULL
  )
  SELECT ${RUN_COLUMNS} WHERE r.fork_of IN (SELECT id FROM owners)
    AND json_extract(r.summary, '$.forkedFrom.runId') IN (SELECT value FROM json_each(?2))`

export function findBelow(
  db: DatabaseSync,
  foldTail: FoldTail,
): (workspace: string, runIds: readonly string[]) => StoredRun[] {
  const children = db.prepare(
    `SELECT ${RUN_COLUMNS} WHERE r.workspace = ? AND r.parent_run_id IN (SELECT value FROM json_each(?))`,
  )
  const forks = db.prepare(FORKS)
  return (workspace, runIds) => {
    const given = JSON.stringify(runIds)
    const rows = [...children.all(workspace, given), ...forks.all(workspace, given)]
    const byId = new Map(rows.map((row) => [row['id'] as number, row]))
    return [...byId].sort(([a], [b]) => a - b).map(([, row]) => toStoredRun(row, foldTail))
  }
}

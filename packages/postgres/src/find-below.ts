import type { StoredRun } from '@clew/ledger'
import { indexText } from './index-text.ts'
import { RUN_COLUMNS, toStoredRun } from './list-runs.ts'
import type { Sql } from './sql.ts'

/**
 * A fork hangs on the run that owns the event before its first one: that may be the run it was forked from, or one
 * which that one shares its beginning with. What an index cannot hold whole is compared here once more.
 */
const BELOW = `WITH RECURSIVE owners (id) AS (
    SELECT id FROM runs WHERE workspace = $1 AND run_id = ANY ($2::text[])
    UNION SELECT r.fork_of FROM runs r JOIN owners o ON r.id = o.id WHERE r.fork_of IS NOT NULL
  )
  SELECT ${RUN_COLUMNS} WHERE r.id IN (
    SELECT c.id FROM runs c WHERE c.workspace = $1 AND c.parent_run_id = ANY ($3::text[])
    UNION SELECT k.id FROM runs k WHERE k.fork_of IN (SELECT id FROM owners)
  ) ORDER BY r.id`

export async function findBelow(
  sql: Sql,
  workspace: string,
  runIds: readonly string[],
): Promise<StoredRun[]> {
  const values = [workspace, [...runIds], runIds.map(indexText)]
  const { rows } = await sql.query({ name: 'runs below', text: BELOW, values })
  const wanted = new Set(runIds)
  return rows
    .map(toStoredRun)
    .filter(
      ({ summary: { parentRunId, forkedFrom } }) =>
        wanted.has(parentRunId ?? '') || wanted.has(forkedFrom?.runId ?? ''),
    )
}

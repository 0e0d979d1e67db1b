import { type ProjectionChange, type Projections, type RunKey } from '@clew/ledger'
import { indexText } from './index-text.ts'
import { replaceSummary, RUN_COLUMNS, toStoredRun } from './run-row.ts'
import type { Database, Sql } from './sql.ts'
import { PUT_STEPS, STEP } from './step-row.ts'
import { arraysOf } from './unnest.ts'

interface ProjectionParts {
  readonly db: Database
  /** What the appender remembers of the run is no longer so. Writers elsewhere find out by the row's revision. */
  readonly forget: (key: RunKey) => void
}

const RUNS = `SELECT ${RUN_COLUMNS} WHERE r.id > $1 ORDER BY r.id LIMIT $2`
const FIND = 'SELECT id, recorded_at FROM runs WHERE workspace = $1 AND run_id = $2 AND seq = $3 FOR UPDATE'
const DROP_STEPS = `DELETE FROM steps s USING unnest($2::text[], $3::int[]) g (step_id, attempt)
  WHERE s.run = $1 AND s.step_id = g.step_id AND s.attempt = g.attempt`
const TOUCH = 'UPDATE runs SET revision = revision + 1 WHERE id = $1'

/** Rows of runs and steps, replaced by what their events fold to. */
export function createProjections({ db, forget }: ProjectionParts): Projections {
  return {
    async state() {
      const { rows } = await db.query({ text: 'SELECT version, target, after_run FROM projections' })
      const { version, target, after_run: after } = rows[0] as Record<string, number | null>
      const rebuilding =
        target === null || target === undefined ? null : { version: target, afterRun: Number(after) }
      return { version: Number(version), rebuilding }
    },
    async mark({ version, rebuilding }) {
      const text = 'UPDATE projections SET version = $1, target = $2, after_run = $3'
      await db.query({ text, values: [version, rebuilding?.version ?? null, rebuilding?.afterRun ?? 0] })
    },
    async runs(after, limit) {
      const { rows } = await db.query({ name: 'projection runs', text: RUNS, values: [after, limit] })
      return rows.map((row) => ({ key: Number(row['id']), run: toStoredRun(row) }))
    },
    async replace(key, change) {
      const isReplaced = await db.transact((sql) => replace(sql, key, change))
      forget(key)
      return isReplaced
    },
  }
}

async function replace(
  sql: Sql,
  { workspace, runId }: RunKey,
  { seq, summary, steps, gone }: ProjectionChange,
): Promise<boolean> {
  const { rows } = await sql.query({ text: FIND, values: [workspace, runId, seq] })
  if (!rows[0]) return false
  const id = Number(rows[0]['id'])
  if (gone.length > 0) {
    const names = gone.map(({ stepId }) => indexText(stepId))
    await sql.query({ text: DROP_STEPS, values: [id, names, gone.map(({ attempt }) => attempt)] })
  }
  if (steps.length > 0) {
    const changed = steps.map((step) => ({ run: id, step }))
    await sql.query({ text: PUT_STEPS, values: arraysOf(STEP, changed) })
  }
  if (summary) await replaceSummary(sql, { id, summary }, rows[0]['recorded_at'] as string)
  else await sql.query({ text: TOUCH, values: [id] })
  return true
}

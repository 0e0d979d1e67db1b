import {
  dueMsOf,
  type ProjectionChange,
  type Projections,
  type RunKey,
  type RunSummary,
  type StoredRows,
  type StrayRows,
} from '@clew/ledger'
import { indexText, indexTextOrNull } from './index-text.ts'
import { RUN_COLUMNS, toStoredRun } from './list-runs.ts'
import type { Database, Sql } from './sql.ts'
import { stepRows, stepValues } from './step-row.ts'

interface ProjectionParts {
  readonly db: Database
  /** What the appender remembers of the run is no longer so. Writers elsewhere find out by the row's revision. */
  readonly forget: (key: RunKey) => void
}

const RUNS = `SELECT ${RUN_COLUMNS} WHERE r.id > $1 ORDER BY r.id LIMIT $2`
const FIND = 'SELECT id, recorded_at FROM runs WHERE workspace = $1 AND run_id = $2 AND seq = $3 FOR UPDATE'
const DROP_STEPS = `DELETE FROM steps s USING unnest($2::text[], $3::int[]) g (step_id, attempt)
  WHERE s.run = $1 AND s.step_id = g.step_id AND s.attempt = g.attempt`
const PUT_STEPS = `INSERT INTO steps (run, step_id, step_text, attempt, started_seq, record, span, digest)
  SELECT * FROM ${stepRows(1)}
  ON CONFLICT (run, step_id, attempt) DO UPDATE SET step_text = excluded.step_text,
    started_seq = excluded.started_seq, record = excluded.record, span = excluded.span, digest = excluded.digest`
const UPDATE_RUN = `UPDATE runs SET status = $2, due_ms = $3, thread_id = $4, agent = $5, agent_version = $6,
  started_ms = $7, parent_run_id = $8, summary = $9 WHERE id = $1`
const DROP_SUBJECTS = 'DELETE FROM subjects WHERE run = $1'
const PUT_SUBJECTS = `INSERT INTO subjects (run, subject) SELECT $1, s FROM unnest($2::text[]) s ON CONFLICT DO NOTHING`
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
    rows: (key) => readRows(db, key),
    strays: () => readStrays(db),
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
  if (steps.length > 0)
    await sql.query({ text: PUT_STEPS, values: stepValues(steps.map((step) => ({ run: id, step }))) })
  if (summary) {
    const { status, threadId, agent, agentVersion, startedAt, parentRunId, subjects } = summary
    const dueMs = dueMsOf(summary, rows[0]['recorded_at'] as string)
    const texts = [threadId, agent, agentVersion].map(indexTextOrNull)
    const values = [id, status, dueMs, ...texts, Date.parse(startedAt), indexTextOrNull(parentRunId)]
    await sql.query({ text: UPDATE_RUN, values: [...values, JSON.stringify(summary)] })
    await sql.query({ text: DROP_SUBJECTS, values: [id] })
    await sql.query({ text: PUT_SUBJECTS, values: [id, subjects.map(indexText)] })
  }
  await sql.query({ text: TOUCH, values: [id] })
  return true
}

const ROWS = `SELECT r.status, r.thread_id, r.agent, r.agent_version, r.parent_run_id, r.started_ms, r.due_ms, r.summary,
    r.scope, s.name, ARRAY(SELECT subject FROM subjects WHERE run = r.id) AS subjects,
    (SELECT m.seq FROM memory_scopes m WHERE m.workspace = r.workspace AND m.book = r.run_id) AS memory_seq
  FROM runs r LEFT JOIN scopes s ON s.id = r.scope WHERE r.workspace = $1 AND r.run_id = $2`

/** The rows of a run as they stand. A text that the columns hold shortened is given as the summary has it. */
async function readRows(sql: Sql, { workspace, runId }: RunKey): Promise<StoredRows | null> {
  const { rows } = await sql.query({ text: ROWS, values: [workspace, runId] })
  const [row] = rows
  if (!row) return null
  const summary = JSON.parse(row['summary'] as string) as RunSummary
  const { threadId, agent, agentVersion, parentRunId, subjects } = summary
  const long = new Map(
    [threadId, agent, agentVersion, parentRunId, ...subjects, `thread ${threadId}`, `run ${runId}`].flatMap(
      (text) => (text === null ? [] : [[indexText(text), text] as const]),
    ),
  )
  const text = (column: string): string | null => {
    const value = row[column] as string | null
    return value === null ? null : (long.get(value) ?? value)
  }
  const number = (column: string): number | null => (row[column] === null ? null : Number(row[column]))
  return {
    columns: {
      status: row['status'] as string,
      threadId: text('thread_id'),
      agent: text('agent'),
      agentVersion: text('agent_version'),
      parentRunId: text('parent_run_id'),
      startedMs: Number(row['started_ms']),
      dueMs: number('due_ms'),
    },
    subjects: (row['subjects'] as string[]).map((subject) => long.get(subject) ?? subject),
    scope: { id: Number(row['scope']), name: text('name') },
    memorySeq: number('memory_seq'),
  }
}

/** Tables and the condition under which a row `t` of them belongs to nothing. */
const STRAYS: readonly (readonly [table: string, condition: string])[] = [
  ['payloads', 'NOT EXISTS (SELECT FROM events e WHERE e.position = t.position)'],
  ['nodes', 'NOT EXISTS (SELECT FROM runs r WHERE r.scope = t.scope)'],
  ['steps', 'NOT EXISTS (SELECT FROM runs r WHERE r.id = t.run)'],
  ['subjects', 'NOT EXISTS (SELECT FROM runs r WHERE r.id = t.run)'],
  ['seals', 'NOT EXISTS (SELECT FROM runs r WHERE r.id = t.run)'],
  ['memory_items', 'NOT EXISTS (SELECT FROM memory_scopes s WHERE s.id = t.scope)'],
]

async function readStrays(sql: Sql): Promise<StrayRows[]> {
  const strays: StrayRows[] = []
  for (const [table, condition] of STRAYS) {
    const text = `SELECT count(*) AS rows FROM ${table} t WHERE ${condition}`
    const rows = Number((await sql.query({ text })).rows[0]?.['rows'])
    if (rows > 0) strays.push({ table, rows })
  }
  return strays
}

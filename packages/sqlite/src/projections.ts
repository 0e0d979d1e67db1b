import type { DatabaseSync } from 'node:sqlite'
import { dueMsOf, type Projections, type RunKey, type StoredRows, type StrayRows } from '@clew/ledger'
import { type FoldTail, RUN_COLUMNS, toStoredRun } from './list-runs.ts'
import { PUT_STEP, stepValues } from './step-row.ts'

interface ProjectionParts {
  readonly db: DatabaseSync
  readonly transact: <T>(work: () => T) => Promise<T>
  readonly reading: <T>(work: () => T) => Promise<T>
  readonly foldTail: FoldTail
  /** Writes the rows of a run that are behind its events. */
  readonly settle: (key: RunKey) => void
  /** What the appender remembers of rows is no longer so. */
  readonly forget: () => void
}

/** Rows of runs and steps, replaced by what their events fold to. */
export function createProjections(parts: ProjectionParts): Projections {
  const { db, transact, reading, foldTail, settle, forget } = parts
  const { rows, strays } = createRowReader(db)
  const state = db.prepare('SELECT version, target, after_run FROM projections')
  const mark = db.prepare('UPDATE projections SET version = ?, target = ?, after_run = ?')
  const runs = db.prepare(`SELECT ${RUN_COLUMNS} WHERE r.id > ? ORDER BY r.id LIMIT ?`)
  const find = db.prepare('SELECT id, seq, recorded_at FROM runs WHERE workspace = ? AND run_id = ?')
  const updateRun = db.prepare(
    `UPDATE runs SET status = ?, due_ms = ?, thread_id = ?, agent = ?, agent_version = ?, parent_run_id = ?, started_ms = ?, summary = ? WHERE id = ?`,
  )
  const dropSubjects = db.prepare('DELETE FROM subjects WHERE run = ?')
  const insertSubject = db.prepare('INSERT OR IGNORE INTO subjects (run, subject) VALUES (?, ?)')
  const putStep = db.prepare(PUT_STEP)
  const dropStep = db.prepare('DELETE FROM steps WHERE run = ? AND step_id = ? AND attempt = ?')

  return {
    state: () =>
      reading(() => {
        const row = state.get() as { version: number; target: number | null; after_run: number }
        const rebuilding = row.target === null ? null : { version: row.target, afterRun: row.after_run }
        return { version: row.version, rebuilding }
      }),
    async mark({ version, rebuilding }) {
      await transact(() => mark.run(version, rebuilding?.version ?? null, rebuilding?.afterRun ?? 0))
    },
    runs: (after, limit) =>
      reading(() =>
        runs.all(after, limit).map((row) => ({ key: row['id'] as number, run: toStoredRun(row, foldTail) })),
      ),
    rows: (key) => reading(() => rows(key)),
    strays: () => reading(strays),
    replace: ({ workspace, runId }, { seq, summary, steps, gone }) =>
      transact(() => {
        const row = find.get(workspace, runId)
        if (row?.['seq'] !== seq) return false
        const id = row['id'] as number
        settle({ workspace, runId })
        for (const { stepId, attempt } of gone) dropStep.run(id, stepId, attempt)
        for (const step of steps) putStep.run(...stepValues(id, step))
        if (summary) {
          const { status, threadId, agent, agentVersion, parentRunId, startedAt, subjects } = summary
          const startedMs = Date.parse(startedAt)
          const dueMs = dueMsOf(summary, row['recorded_at'] as string)
          const text = JSON.stringify(summary)
          updateRun.run(status, dueMs, threadId, agent, agentVersion, parentRunId, startedMs, text, id)
          dropSubjects.run(id)
          for (const subject of subjects) insertSubject.run(id, subject)
        }
        forget()
        return true
      }),
  }
}

/** Tables and the condition under which a row `t` of them belongs to nothing. Node rows of scope 0 only keep an id taken. */
const STRAYS: readonly (readonly [table: string, condition: string])[] = [
  ['payloads', 'NOT EXISTS (SELECT 1 FROM events e WHERE e.position = t.position)'],
  ['nodes', 't.scope <> 0 AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.scope = t.scope)'],
  ['steps', 'NOT EXISTS (SELECT 1 FROM runs r WHERE r.id = t.run)'],
  ['subjects', 'NOT EXISTS (SELECT 1 FROM runs r WHERE r.id = t.run)'],
  ['seals', 'NOT EXISTS (SELECT 1 FROM runs r WHERE r.id = t.run)'],
  ['memory_items', 'NOT EXISTS (SELECT 1 FROM memory_scopes s WHERE s.id = t.scope)'],
]

/** Rows as they stand, for `verify`. */
function createRowReader(db: DatabaseSync): {
  rows(key: RunKey): StoredRows | null
  strays(): StrayRows[]
} {
  const run = db.prepare(
    `SELECT r.id, r.status, r.thread_id AS threadId, r.agent, r.agent_version AS agentVersion, r.parent_run_id AS parentRunId,
       r.started_ms AS startedMs, r.due_ms AS dueMs, r.scope, s.name,
       (SELECT m.seq FROM memory_scopes m WHERE m.workspace = r.workspace AND m.book = r.run_id) AS memorySeq
     FROM runs r LEFT JOIN scopes s ON s.id = r.scope WHERE r.workspace = ? AND r.run_id = ?`,
  )
  const subjects = db.prepare('SELECT subject FROM subjects WHERE run = ?')
  return {
    rows({ workspace, runId }) {
      const row = run.get(workspace, runId)
      if (!row) return null
      const { id, scope, name, memorySeq, ...columns } = row
      return {
        columns: columns as unknown as StoredRows['columns'],
        subjects: subjects.all(id as number).map(({ subject }) => subject as string),
        scope: { id: scope as number, name: name as string | null },
        memorySeq: memorySeq as number | null,
      }
    },
    strays: () =>
      STRAYS.map(([table, condition]) => {
        const row = db.prepare(`SELECT count(*) AS rows FROM ${table} t WHERE ${condition}`).get()
        return { table, rows: Number(row?.['rows']) }
      }).filter(({ rows }) => rows > 0),
  }
}

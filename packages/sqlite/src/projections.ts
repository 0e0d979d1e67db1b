import type { DatabaseSync } from 'node:sqlite'
import { dueMsOf, type Projections, type RunKey } from '@clew/ledger'
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

import type { DatabaseSync } from 'node:sqlite'
import {
  dueMsOf,
  hasSameIdentity,
  type NewRun,
  type MutableRun,
  type RunKey,
  type RunSummary,
  type StepSkeleton,
  type StoredRun,
} from '@clew/ledger'
import { fromHex, toHex } from './hex.ts'
import { PUT_STEP, STEP_COLUMNS, stepValues, toStep } from './step-row.ts'

/** Runs whose rows are kept in memory between transactions. */
const MAX_CACHED_RUNS = 5000

/** Columns of a `StoredRun`. */
export const RUN_COLUMNS =
  'r.id, r.workspace, r.run_id, r.seq, r.hash, r.recorded_at, r.summary, r.fork_seq, f.run_id AS fork_run'
export const RUN_TABLES = 'runs r LEFT JOIN runs f ON f.id = r.fork_of'

export const toStoredRun = (row: Record<string, unknown>): StoredRun => ({
  summary: JSON.parse(row['summary'] as string) as RunSummary,
  workspace: row['workspace'] as string,
  seq: row['seq'] as number,
  hash: toHex(row['hash']),
  forkOf:
    row['fork_run'] === null ? null : { runId: row['fork_run'] as string, seq: row['fork_seq'] as number },
  recordedAt: row['recorded_at'] as string,
})

/** A run inside a write transaction: changed in memory, then written by `save`. */
export interface SqliteRun extends MutableRun {
  /** The summary as the row has it; undefined for a new row. */
  stored: RunSummary | undefined
  /** Id of its newest event, once one was appended through this object. */
  lastEventId?: string
  /** Steps to be written, by `stepKey`. */
  readonly steps: Map<string, StepSkeleton>
}

/** Rows of runs and of their steps. Everything here happens inside write transactions. */
export interface RunRows {
  find(key: RunKey): SqliteRun | undefined
  byId(id: number): SqliteRun
  insert(run: NewRun): SqliteRun
  findStep(run: SqliteRun, stepId: string, attempt: number): StepSkeleton | undefined
  putStep(run: SqliteRun, step: StepSkeleton): void
  dropStep(run: SqliteRun, stepId: string, attempt: number): void
  /** Writes head, summary and steps; of columns and index rows that repeat the summary, what changed, or all. */
  save(run: SqliteRun, isRewritten: boolean): void
  /** Empties the cache: another process wrote, or a transaction was rolled back. */
  forget(): void
  /** Keeps the cache small. Only between transactions: a run that is not yet saved must stay the same object. */
  trim(): void
}

const runKey = ({ workspace, runId }: RunKey): string => `${workspace}\n${runId}`
const stepKey = (stepId: string, attempt: number): string => `${attempt} ${stepId}`

export function createRunRows(db: DatabaseSync): RunRows {
  const sql = {
    find: db.prepare('SELECT * FROM runs WHERE workspace = ? AND run_id = ?'),
    byId: db.prepare('SELECT * FROM runs WHERE id = ?'),
    scope: db.prepare('SELECT id FROM scopes WHERE workspace = ? AND name = ?'),
    addScope: db.prepare('INSERT INTO scopes (workspace, name) VALUES (?, ?)'),
    insert: db.prepare(
      `INSERT OR ROLLBACK INTO runs (workspace, run_id, scope, fork_of, fork_seq, seq, hash, recorded_at, summary, status, started_ms)
       VALUES (?, ?, ?, ?, ?, 0, x'', '', '{}', '', 0)`,
    ),
    save: db.prepare('UPDATE runs SET seq = ?, hash = ?, recorded_at = ?, summary = ? WHERE id = ?'),
    // Three statements: SQLite rewrites the indexes of every column that an UPDATE names, also if its value stays.
    saveStatus: db.prepare('UPDATE runs SET status = ?, due_ms = ? WHERE id = ?'),
    saveIdentity: db.prepare(
      'UPDATE runs SET thread_id = ?, agent = ?, agent_version = ?, parent_run_id = ?, started_ms = ? WHERE id = ?',
    ),
    dropSubjects: db.prepare('DELETE FROM subjects WHERE run = ?'),
    addSubject: db.prepare('INSERT OR IGNORE INTO subjects (run, subject) VALUES (?, ?)'),
    dropTags: db.prepare('DELETE FROM tags WHERE run = ?'),
    addTag: db.prepare('INSERT INTO tags (run, name, value) VALUES (?, ?, ?)'),
    dropScores: db.prepare('DELETE FROM scores WHERE run = ?'),
    addScore: db.prepare('INSERT INTO scores (run, seq, name, value, number) VALUES (?, ?, ?, ?, ?)'),
    step: db.prepare(`SELECT ${STEP_COLUMNS} FROM steps WHERE run = ? AND step_id = ? AND attempt = ?`),
    putStep: db.prepare(PUT_STEP),
    dropStep: db.prepare('DELETE FROM steps WHERE run = ? AND step_id = ? AND attempt = ?'),
    // The name of a thread may be the name of a person.
    forgetThread: db.prepare(
      'UPDATE leases SET thread_id = NULL WHERE workspace = ? AND run_id = ? AND held = 0',
    ),
    forgetScope: db.prepare(
      `UPDATE scopes SET name = 'erased ' || id WHERE id = ?1 AND name LIKE 'thread %'
         AND NOT EXISTS (SELECT 1 FROM runs WHERE scope = ?1 AND thread_id IS NOT NULL)`,
    ),
  }
  const runs = new Map<string, SqliteRun>()

  function remember(run: SqliteRun): SqliteRun {
    runs.set(runKey(run), run)
    return run
  }

  function toRun(row: Record<string, unknown>): SqliteRun {
    const key = { workspace: row['workspace'] as string, runId: row['run_id'] as string }
    const known = runs.get(runKey(key))
    if (known) return known
    const summary = JSON.parse(row['summary'] as string) as RunSummary
    return remember({
      ...key,
      id: row['id'] as number,
      scope: row['scope'] as number,
      forkOf:
        row['fork_of'] === null ? null : { id: row['fork_of'] as number, seq: row['fork_seq'] as number },
      seq: row['seq'] as number,
      hash: toHex(row['hash']),
      recordedAt: row['recorded_at'] as string,
      summary,
      stored: summary,
      steps: new Map(),
    })
  }

  function scopeOf({ workspace, runId }: RunKey, threadId: string | null): number {
    const name = threadId === null ? `run ${runId}` : `thread ${threadId}`
    const found = sql.scope.get(workspace, name)
    return found ? (found['id'] as number) : Number(sql.addScope.run(workspace, name).lastInsertRowid)
  }

  function save(run: SqliteRun, isRewritten: boolean): void {
    const { id, seq, hash, recordedAt, summary, steps } = run
    const stored = isRewritten ? undefined : run.stored
    sql.save.run(seq, fromHex(hash), recordedAt, JSON.stringify(summary), id)
    if (!stored || summary.status !== stored.status || summary.dueAt !== stored.dueAt)
      sql.saveStatus.run(summary.status, dueMsOf(summary, recordedAt), id)
    if (!stored || !hasSameIdentity(stored, summary)) {
      const { threadId, agent, agentVersion, parentRunId, startedAt, subjects } = summary
      sql.saveIdentity.run(threadId, agent, agentVersion, parentRunId, Date.parse(startedAt), id)
      sql.dropSubjects.run(id)
      for (const subject of subjects) sql.addSubject.run(id, subject)
    }
    if (run.stored && run.stored.threadId !== null && summary.threadId === null) {
      sql.forgetThread.run(run.workspace, run.runId)
      sql.forgetScope.run(run.scope)
    }
    if (summary.tags !== stored?.tags) {
      sql.dropTags.run(id)
      for (const [name, value] of Object.entries(summary.tags)) sql.addTag.run(id, name, value)
    }
    if (summary.scores !== stored?.scores) {
      sql.dropScores.run(id)
      for (const { seq: scoredSeq, name, value } of summary.scores)
        sql.addScore.run(id, scoredSeq, name, JSON.stringify(value), typeof value === 'number' ? value : null)
    }
    for (const step of steps.values()) sql.putStep.run(...stepValues(id, step))
    run.stored = summary
    steps.clear()
  }

  return {
    find(key) {
      const known = runs.get(runKey(key))
      if (known) return known
      const row = sql.find.get(key.workspace, key.runId)
      return row && toRun(row)
    },
    byId: (id) => toRun(sql.byId.get(id) as Record<string, unknown>),
    insert({ workspace, runId, summary, forkOf }) {
      const scope = scopeOf({ workspace, runId }, summary.threadId)
      const values = [workspace, runId, scope, forkOf?.id ?? null, forkOf?.seq ?? null]
      const id = Number(sql.insert.run(...values).lastInsertRowid)
      return remember({
        workspace,
        runId,
        id,
        scope,
        forkOf,
        seq: 0,
        hash: '',
        recordedAt: '',
        summary,
        stored: undefined,
        steps: new Map(),
      })
    },
    findStep(run, stepId, attempt) {
      const changed = run.steps.get(stepKey(stepId, attempt))
      if (changed) return changed
      const row = sql.step.get(run.id, stepId, attempt)
      return row && toStep(run.runId, row)
    },
    putStep: (run, step) => void run.steps.set(stepKey(step.stepId, step.attempt), step),
    dropStep(run, stepId, attempt) {
      run.steps.delete(stepKey(stepId, attempt))
      sql.dropStep.run(run.id, stepId, attempt)
    },
    save,
    forget: () => runs.clear(),
    trim() {
      if (runs.size > MAX_CACHED_RUNS) runs.clear()
    },
  }
}

import type { DatabaseSync } from 'node:sqlite'
import type { RunKey, RunSummary } from '@clew/ledger'

interface NewRun {
  readonly summary: RunSummary
  /** The row of the run that it was forked from, if that one is here. */
  readonly forkOf: { readonly id: number | null; readonly seq: number } | null
}

export interface RunInserter {
  /** Without events yet, and with a summary that is still to be written. */
  insert(key: RunKey, run: NewRun): { readonly id: number; readonly scope: number }
  addSubjects(id: number, subjects: readonly string[]): void
}

/** The row of a new run, with the scope of its values and its subjects. */
export function createRunInserter(db: DatabaseSync): RunInserter {
  const sql = {
    scope: db.prepare('SELECT id FROM scopes WHERE workspace = ? AND name = ?'),
    addScope: db.prepare('INSERT INTO scopes (workspace, name) VALUES (?, ?)'),
    addRun: db.prepare(
      `INSERT INTO runs (workspace, run_id, scope, fork_of, fork_seq, seq, hash, recorded_at, status, thread_id, agent,
        agent_version, parent_run_id, started_ms, summary) VALUES (?, ?, ?, ?, ?, 0, x'', '', ?, ?, ?, ?, ?, ?, '{}')`,
    ),
    addSubject: db.prepare('INSERT OR IGNORE INTO subjects (run, subject) VALUES (?, ?)'),
  }

  function scopeOf({ workspace, runId }: RunKey, threadId: string | null): number {
    const name = threadId === null ? `run ${runId}` : `thread ${threadId}`
    const found = sql.scope.get(workspace, name)
    return found ? (found['id'] as number) : Number(sql.addScope.run(workspace, name).lastInsertRowid)
  }

  function addSubjects(id: number, subjects: readonly string[]): void {
    for (const subject of subjects) sql.addSubject.run(id, subject)
  }

  return {
    insert(key, { summary, forkOf }) {
      const { threadId, agent, agentVersion, parentRunId, startedAt, status, subjects } = summary
      const scope = scopeOf(key, threadId)
      const { lastInsertRowid } = sql.addRun.run(
        key.workspace,
        key.runId,
        scope,
        forkOf?.id ?? null,
        forkOf?.seq ?? null,
        status,
        threadId,
        agent,
        agentVersion,
        parentRunId,
        Date.parse(startedAt),
      )
      const id = Number(lastInsertRowid)
      addSubjects(id, subjects)
      return { id, scope }
    },
    addSubjects,
  }
}

import type { Projections } from '@clew/ledger'
import type { Connection } from './connection.ts'
import { RUN_COLUMNS, toStoredRun } from './run-row.ts'

/** Replaces rows of runs and steps by what their events fold to (L1). */
export function createProjections({ db, runs, read, write }: Connection): Projections {
  const sql = {
    state: db.prepare('SELECT version, target, after_run FROM projections'),
    mark: db.prepare('UPDATE projections SET version = ?, target = ?, after_run = ?'),
    runs: db.prepare(`SELECT ${RUN_COLUMNS} WHERE r.id > ? ORDER BY r.id LIMIT ?`),
    dropStep: db.prepare('DELETE FROM steps WHERE run = ? AND step_id = ? AND attempt = ?'),
  }
  return {
    state: () =>
      read(() => {
        const row = sql.state.get() as { version: number; target: number | null; after_run: number }
        const rebuilding = row.target === null ? null : { version: row.target, afterRun: row.after_run }
        return { version: row.version, rebuilding }
      }),
    async mark({ version, rebuilding }) {
      await write(() => sql.mark.run(version, rebuilding?.version ?? null, rebuilding?.afterRun ?? 0))
    },
    runs: (after, limit) =>
      read(() =>
        sql.runs.all(after, limit).map((row) => ({ key: row['id'] as number, run: toStoredRun(row) })),
      ),
    replace: (key, { seq, summary, steps, gone }) =>
      write(() => {
        const run = runs.find(key)
        if (run?.seq !== seq) return false
        for (const { stepId, attempt } of gone) sql.dropStep.run(run.id, stepId, attempt)
        for (const step of steps) runs.putStep(run, step)
        runs.replace(run, summary ?? run.summary)
        return true
      }),
  }
}

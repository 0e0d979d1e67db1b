import type { DatabaseSync } from 'node:sqlite'
import type { RunKey, StoreRetention } from '@clew/ledger'
import { audited, type AuditedParts } from './audited.ts'

interface StateParts extends AuditedParts {
  readonly db: DatabaseSync
  /** Writes the rows of a run that are behind its events, for what they are folded from goes. */
  readonly settle: (key: RunKey) => void
}

/** Takes the payloads of checkpoints away whose states are no longer kept (R10); their events stay. */
export function createStatePruning(parts: StateParts): StoreRetention['pruneStates'] {
  const { db, settle } = parts
  const sql = {
    run: db.prepare('SELECT id, scope FROM runs WHERE workspace = ? AND run_id = ?'),
    forks: db.prepare('SELECT count(*) AS n FROM runs WHERE fork_of = ?'),
    mark: db.prepare(
      `INSERT INTO pruned_states (position, pruned_at) SELECT e.position, ?3 FROM events e
         WHERE e.run = ?1 AND e.seq IN (SELECT value FROM json_each(?2))
         AND NOT EXISTS (SELECT 1 FROM pruned_states s WHERE s.position = e.position)`,
    ),
    drop: db.prepare(
      `DELETE FROM payloads WHERE position IN (SELECT position FROM events
         WHERE run = ?1 AND seq IN (SELECT value FROM json_each(?2)))`,
    ),
    addSweep: db.prepare(
      `INSERT INTO sweeps (scope, mark) SELECT ?1, 1 WHERE EXISTS (SELECT 1 FROM nodes WHERE scope = ?1)
         ON CONFLICT (scope) DO UPDATE SET mark = mark + 1`,
    ),
  }
  return (batch) => {
    const { workspace } = batch
    const at = new Date().toISOString()
    return audited(
      parts,
      batch,
      ({ runId, forks }) => {
        settle({ workspace, runId })
        const row = sql.run.get(workspace, runId)
        return row && sql.forks.get(row['id'] as number)?.['n'] === forks ? row : null
      },
      (row, { marks, blanks }) => {
        const id = row['id'] as number
        sql.mark.run(id, JSON.stringify([...marks, ...blanks]), at)
        if (blanks.length === 0) return 0
        const { changes } = sql.drop.run(id, JSON.stringify(blanks))
        sql.addSweep.run(row['scope'] as number)
        return Number(changes)
      },
    )
  }
}

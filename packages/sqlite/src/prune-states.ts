import type { StoreRetention } from '@clew/ledger'
import type { Append } from './append.ts'
import { pruneAudited } from './audited.ts'
import type { Connection } from './connection.ts'
import { ADD_SWEEP } from './values.ts'

/** Deletes payloads of checkpoints whose states are no longer kept (R10); their events stay. */
export function createStatePruning(connection: Connection, append: Append): StoreRetention['pruneStates'] {
  const { db, runs } = connection
  const sql = {
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
    addSweep: db.prepare(ADD_SWEEP),
  }
  return (batch) => {
    const prunedAt = new Date().toISOString()
    return pruneAudited(connection, append, batch, {
      find({ runId, forks }) {
        const run = runs.find({ workspace: batch.workspace, runId })
        return run && sql.forks.get(run.id)?.['n'] === forks ? run : null
      },
      apply({ id, scope }, { marks, blanks }) {
        sql.mark.run(id, JSON.stringify([...marks, ...blanks]), prunedAt)
        if (blanks.length === 0) return 0
        const { changes } = sql.drop.run(id, JSON.stringify(blanks))
        sql.addSweep.run(scope)
        return Number(changes)
      },
    })
  }
}

import {
  deletedSummary,
  isBook,
  mayGo,
  parseMemoryBook,
  type PruneItem,
  type RunKey,
  type Seal,
  type StoreRetention,
} from '@clew/ledger'
import type { Append } from './append.ts'
import { pruneAudited } from './audited.ts'
import type { Connection } from './connection.ts'
import { fromHex, toHex } from './hex.ts'
import { createStatePruning } from './prune-states.ts'
import { createReclaim } from './reclaim.ts'
import { RUN_COLUMNS, type SqliteRun, toStoredRun } from './run-row.ts'
import { createStorage } from './storage.ts'
import { ADD_SWEEP, createValues } from './values.ts'

type AdoptedRun = Parameters<StoreRetention['adopt']>[2]

export function createRetention(connection: Connection, append: Append): StoreRetention {
  const { db, file, runs, read, write } = connection
  const reclaim = createReclaim(db, write)
  const storage = createStorage(db, file)
  const sql = {
    isHeld: db.prepare(
      'SELECT 1 FROM leases WHERE workspace = ?1 AND held = 1 AND (run_id = ?2 OR thread_id = ?3)',
    ),
    hasFork: db.prepare(
      `SELECT 1 FROM runs f WHERE f.fork_of = ? AND f.fork_seq >= ?
         AND (f.status <> 'deleted' OR EXISTS (SELECT 1 FROM events e WHERE e.run = f.id))`,
    ),
    count: db.prepare('SELECT count(*) AS n FROM events WHERE run = ? AND seq BETWEEN ? AND ?'),
    hashAt: db.prepare('SELECT hash FROM events WHERE run = ? AND seq = ?'),
    addSeal: db.prepare('INSERT INTO seals (run, from_seq, to_seq, head_hash) VALUES (?, ?, ?, ?)'),
    dropPayloads: db.prepare(
      'DELETE FROM payloads WHERE position IN (SELECT position FROM events WHERE run = ? AND seq BETWEEN ? AND ?)',
    ),
    dropEvents: db.prepare('DELETE FROM events WHERE run = ? AND seq BETWEEN ? AND ?'),
    // A trigger deletes their words.
    dropMemory: db.prepare(
      'DELETE FROM memory_items WHERE position IN (SELECT position FROM events WHERE run = ? AND seq BETWEEN ? AND ?)',
    ),
    dropSteps: db.prepare('DELETE FROM steps WHERE run = ? AND started_seq BETWEEN ? AND ?'),
    hasEvents: db.prepare('SELECT 1 FROM events WHERE run = ? LIMIT 1'),
    dropSubjects: db.prepare('DELETE FROM subjects WHERE run = ?'),
    addSweep: db.prepare(ADD_SWEEP),
    seals: db.prepare(
      `SELECT r.run_id, s.from_seq, s.to_seq, s.head_hash FROM json_each(?2) w
         CROSS JOIN runs r ON r.workspace = ?1 AND r.run_id = w.value CROSS JOIN seals s ON s.run = r.id
       ORDER BY w.key, s.from_seq`,
    ),
    sealed: db.prepare(
      'SELECT coalesce(sum(s.to_seq - s.from_seq + 1), 0) AS n FROM seals s CROSS JOIN runs r ON r.id = s.run',
    ),
    leftovers: db.prepare(
      `SELECT ${RUN_COLUMNS} WHERE r.workspace = ? AND r.status = 'deleted' AND r.id > ?
         AND EXISTS (SELECT 1 FROM events e WHERE e.run = r.id) ORDER BY r.id LIMIT ?`,
    ),
    sizes: db.prepare(
      `SELECT r.run_id,
         (SELECT coalesce(sum(length(CAST(p.body AS BLOB))), 0) FROM events e CROSS JOIN payloads p ON p.position = e.position
          WHERE e.run = r.id)
         + (SELECT coalesce(sum(length(CAST(n.body AS BLOB))), 0) FROM nodes n WHERE n.scope = r.scope)
           / max(1, (SELECT count(*) FROM runs o WHERE o.scope = r.scope AND o.status <> 'deleted')) AS bytes
       FROM json_each(?2) j CROSS JOIN runs r ON r.workspace = ?1 AND r.run_id = j.value`,
    ),
  }

  function find(workspace: string, item: PruneItem): SqliteRun | null {
    const run = runs.find({ workspace, runId: item.runId })
    if (run?.seq !== item.seq) return null
    if (!mayGo(run.summary) && !isBook(item.runId)) return null
    if (sql.isHeld.get(workspace, item.runId, run.summary.threadId)) return null
    if (sql.hasFork.get(run.id, item.fromSeq)) return null
    if (sql.count.get(run.id, item.fromSeq, item.toSeq)?.['n'] !== item.toSeq - item.fromSeq + 1) return null
    if (toHex(sql.hashAt.get(run.id, item.toSeq)?.['hash']) !== item.headHash) return null
    return run
  }

  function apply(run: SqliteRun, item: PruneItem): number {
    const range = [run.id, item.fromSeq, item.toSeq] as const
    sql.addSeal.run(...range, fromHex(item.headHash))
    sql.dropPayloads.run(...range)
    if (parseMemoryBook(run.runId)) sql.dropMemory.run(...range)
    const { changes } = sql.dropEvents.run(...range)
    sql.dropSteps.run(...range)
    if (item.deletes || run.summary.status === 'deleted') markDeleted(run)
    sql.addSweep.run(run.scope)
    return Number(changes)
  }

  function markDeleted(run: SqliteRun): void {
    const hasEvents = sql.hasEvents.get(run.id) !== undefined
    run.summary = deletedSummary(run.summary, hasEvents)
    runs.save(run)
    if (!hasEvents) sql.dropSubjects.run(run.id)
  }

  function adopt(key: RunKey, seal: Seal, adopted: AdoptedRun): boolean {
    const known = runs.find(key)
    const before = known?.seq ?? adopted.forkOf?.seq ?? 0
    if (before !== seal.fromSeq - 1) return false
    const run = known ?? insert(key, adopted)
    sql.addSeal.run(run.id, seal.fromSeq, seal.toSeq, fromHex(seal.headHash))
    run.seq = seal.toSeq
    run.hash = seal.headHash
    run.recordedAt = adopted.recordedAt
    if (adopted.summary.status === 'deleted') markDeleted(run)
    else runs.save(run)
    return true
  }

  function insert(key: RunKey, { summary, forkOf }: AdoptedRun): SqliteRun {
    const source = forkOf && runs.find({ workspace: key.workspace, runId: forkOf.runId })
    return runs.insert({ ...key, summary, forkOf: forkOf && { id: source?.id ?? null, seq: forkOf.seq } })
  }

  return {
    pace: { batchMs: 0.8, rest: 7 },
    seals: (workspace, runIds) =>
      read(() =>
        sql.seals.all(workspace, JSON.stringify(runIds)).map((row) => ({
          runId: row['run_id'] as string,
          fromSeq: row['from_seq'] as number,
          toSeq: row['to_seq'] as number,
          headHash: toHex(row['head_hash']),
        })),
      ),
    sealedEvents: () => read(() => Number(sql.sealed.get()?.['n'])),
    async prune(batch) {
      const { workspace } = batch
      const outcome = await pruneAudited(connection, append, batch, {
        find: (item) => find(workspace, item),
        apply,
      })
      if ('events' in outcome) reclaim.checkpoint()
      return outcome
    },
    pruneStates: createStatePruning(connection, append),
    storage: () => read(storage),
    leftovers: (workspace, after, limit) =>
      read(() =>
        sql.leftovers
          .all(workspace, after, limit)
          .map((row) => ({ key: row['id'] as number, run: toStoredRun(row) })),
      ),
    sizes: (workspace, runIds) =>
      read(() => {
        const rows = sql.sizes.all(workspace, JSON.stringify(runIds))
        return new Map(rows.map((row) => [row['run_id'] as string, row['bytes'] as number]))
      }),
    adopt: (key, seal, run) => write(() => adopt(key, seal, run)),
    values: createValues(connection),
    writeBack: reclaim.checkpoint,
    reclaim: reclaim.step,
  }
}

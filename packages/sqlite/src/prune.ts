import type { DatabaseSync } from 'node:sqlite'
import {
  deletedSummary,
  dueMsOf,
  isBook,
  mayGo,
  parseMemoryBook,
  type PruneItem,
  type RunKey,
  type RunSummary,
  type Seal,
  type StoragePart,
  type StoreRetention,
} from '@clew/ledger'
import { audited, type AuditedParts } from './audited.ts'
import { createRunInserter } from './insert-run.ts'
import { type FoldTail, RUN_COLUMNS, toStoredRun } from './list-runs.ts'
import { createStatePruning } from './prune-states.ts'
import type { Reclaim } from './reclaim.ts'

interface PruneParts extends AuditedParts {
  readonly db: DatabaseSync
  readonly reading: <T>(work: () => T) => Promise<T>
  readonly foldTail: FoldTail
  /** Writes the rows of a run that are behind its events, for the events go. */
  readonly settle: (key: RunKey) => void
  /** What is remembered of the run, or of the values of its scope, is no longer so. */
  readonly forgetRun: (key: RunKey) => void
  readonly forgetNodes: () => void
  readonly reclaim: Reclaim
  readonly storage: () => StoragePart[]
}

interface Found {
  readonly id: number
  readonly scope: number
  readonly summary: RunSummary
  readonly key: RunKey
}

const hex = (blob: unknown): string => Buffer.from(blob as Uint8Array).toString('hex')

export function createRetention(parts: PruneParts): StoreRetention {
  const { db, transact, reading, foldTail, settle, forgetRun, forgetNodes, reclaim } = parts
  const inserter = createRunInserter(db)
  const sql = {
    run: db.prepare('SELECT id, scope, seq, folded_seq FROM runs WHERE workspace = ? AND run_id = ?'),
    summary: db.prepare('SELECT summary FROM runs WHERE id = ?'),
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
    // With their words, by a trigger.
    dropMemory: db.prepare(
      'DELETE FROM memory_items WHERE position IN (SELECT position FROM events WHERE run = ? AND seq BETWEEN ? AND ?)',
    ),
    dropSteps: db.prepare('DELETE FROM steps WHERE run = ? AND started_seq BETWEEN ? AND ?'),
    hasEvents: db.prepare('SELECT 1 FROM events WHERE run = ? LIMIT 1'),
    updateRun: db.prepare('UPDATE runs SET status = ?, due_ms = ?, summary = ? WHERE id = ?'),
    dropSubjects: db.prepare('DELETE FROM subjects WHERE run = ?'),
    addSweep: db.prepare(
      `INSERT INTO sweeps (scope, mark) SELECT ?1, 1 WHERE EXISTS (SELECT 1 FROM nodes WHERE scope = ?1)
         ON CONFLICT (scope) DO UPDATE SET mark = mark + 1`,
    ),
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
         + (SELECT coalesce(sum(length(CAST(i.body AS BLOB))), 0) FROM inbox i WHERE i.run = r.id)
         + (SELECT coalesce(sum(length(CAST(n.body AS BLOB))), 0) FROM nodes n WHERE n.scope = r.scope)
           / max(1, (SELECT count(*) FROM runs o WHERE o.scope = r.scope AND o.status <> 'deleted')) AS bytes
       FROM json_each(?2) j CROSS JOIN runs r ON r.workspace = ?1 AND r.run_id = j.value`,
    ),
    moveHead: db.prepare(
      'UPDATE runs SET seq = ?1, hash = ?2, recorded_at = ?3, folded_seq = ?1 WHERE id = ?4',
    ),
    sweeps: db.prepare('SELECT scope, mark FROM sweeps ORDER BY scope'),
    endSweep: db.prepare('DELETE FROM sweeps WHERE scope = ? AND mark = ?'),
    bodies: db.prepare(
      `SELECT e.position, p.body FROM runs r CROSS JOIN events e ON e.run = r.id CROSS JOIN payloads p ON p.position = e.position
       WHERE r.scope = ? AND e.position > ? AND substr(p.body, 1, 1) <> '{' ORDER BY e.position LIMIT ?`,
    ),
    nodes: db.prepare('SELECT id, body FROM nodes WHERE scope = ? AND id > ? ORDER BY id LIMIT ?'),
    dropNode: db.prepare('DELETE FROM nodes WHERE id = ? AND scope = ?'),
    hasSeal: db.prepare('SELECT 1 FROM runs r CROSS JOIN seals s ON s.run = r.id WHERE r.scope = ? LIMIT 1'),
    addNodeErasure: db.prepare('INSERT INTO node_erasures (node, erased_at) VALUES (?, ?)'),
    // Whoever remembers a value by its id must never get another: the highest one stays taken, in no scope.
    keepId: db.prepare(
      `INSERT INTO nodes (id, scope, hash, body) SELECT ?1 + 1, 0, randomblob(32), '""'
         WHERE ?1 > (SELECT coalesce(max(id), 0) FROM nodes)`,
    ),
  }

  function find(workspace: string, item: PruneItem): Found | null {
    const key = { workspace, runId: item.runId }
    const row = sql.run.get(workspace, item.runId)
    if (row?.['seq'] !== item.seq) return null
    if (row['folded_seq'] !== item.seq) settle(key)
    const id = row['id'] as number
    const summary = JSON.parse(sql.summary.get(id)?.['summary'] as string) as RunSummary
    if (!mayGo(summary) && !isBook(item.runId)) return null
    if (sql.isHeld.get(workspace, item.runId, summary.threadId)) return null
    if (sql.hasFork.get(id, item.fromSeq)) return null
    if (sql.count.get(id, item.fromSeq, item.toSeq)?.['n'] !== item.toSeq - item.fromSeq + 1) return null
    if (hex(sql.hashAt.get(id, item.toSeq)?.['hash']) !== item.headHash) return null
    return { id, scope: row['scope'] as number, summary, key }
  }

  function markDeleted(id: number): void {
    const summary = JSON.parse(sql.summary.get(id)?.['summary'] as string) as RunSummary
    const hasEvents = sql.hasEvents.get(id) !== undefined
    sql.updateRun.run('deleted', null, JSON.stringify(deletedSummary(summary, hasEvents)), id)
    if (!hasEvents) sql.dropSubjects.run(id)
  }

  function apply({ id, scope, summary, key }: Found, item: PruneItem): number {
    const range = [id, item.fromSeq, item.toSeq] as const
    sql.addSeal.run(...range, Buffer.from(item.headHash, 'hex'))
    sql.dropPayloads.run(...range)
    if (parseMemoryBook(key.runId)) sql.dropMemory.run(...range)
    const { changes } = sql.dropEvents.run(...range)
    sql.dropSteps.run(...range)
    if (item.deletes || summary.status === 'deleted') markDeleted(id)
    sql.addSweep.run(scope)
    forgetRun(key)
    return Number(changes)
  }

  function adopt(key: RunKey, seal: Seal, run: Parameters<StoreRetention['adopt']>[2]): boolean {
    settle(key)
    const known = sql.run.get(key.workspace, key.runId)
    const before = known ? (known['seq'] as number) : (run.forkOf?.seq ?? 0)
    if (before !== seal.fromSeq - 1) return false
    const id = known ? (known['id'] as number) : insert(key, run)
    sql.addSeal.run(id, seal.fromSeq, seal.toSeq, Buffer.from(seal.headHash, 'hex'))
    sql.moveHead.run(seal.toSeq, Buffer.from(seal.headHash, 'hex'), run.recordedAt, id)
    if (run.summary.status === 'deleted') markDeleted(id)
    forgetRun(key)
    return true
  }

  function insert(
    key: RunKey,
    { summary, forkOf, recordedAt }: Parameters<StoreRetention['adopt']>[2],
  ): number {
    const source = forkOf && sql.run.get(key.workspace, forkOf.runId)
    const { id } = inserter.insert(key, {
      summary,
      forkOf: forkOf && { id: (source?.['id'] as number | undefined) ?? null, seq: forkOf.seq },
    })
    sql.updateRun.run(summary.status, dueMsOf(summary, recordedAt), JSON.stringify(summary), id)
    return id
  }

  return {
    pace: { batchMs: 0.8, rest: 7 },
    seals: (workspace, runIds) =>
      reading(() =>
        sql.seals.all(workspace, JSON.stringify(runIds)).map((row) => ({
          runId: row['run_id'] as string,
          fromSeq: row['from_seq'] as number,
          toSeq: row['to_seq'] as number,
          headHash: hex(row['head_hash']),
        })),
      ),
    sealedEvents: () => reading(() => Number(sql.sealed.get()?.['n'])),
    async prune(batch) {
      const outcome = await audited(parts, batch, (item) => find(batch.workspace, item), apply)
      if ('events' in outcome) reclaim.checkpoint()
      return outcome
    },
    pruneStates: createStatePruning(parts),
    storage: () => reading(parts.storage),
    leftovers: (workspace, after, limit) =>
      reading(() =>
        sql.leftovers
          .all(workspace, after, limit)
          .map((row) => ({ key: row['id'] as number, run: toStoredRun(row, foldTail) })),
      ),
    sizes: (workspace, runIds) =>
      reading(
        () =>
          new Map(
            sql.sizes
              .all(workspace, JSON.stringify(runIds))
              .map((row) => [row['run_id'] as string, row['bytes'] as number]),
          ),
      ),
    adopt: (key, seal, run) => transact(() => adopt(key, seal, run)),
    values: {
      pending: () => reading(() => sql.sweeps.all() as { scope: number; mark: number }[]),
      bodies: (scope, after, limit) =>
        reading(() => sql.bodies.all(scope, after, limit) as { position: number; body: string }[]),
      nodes: (scope, after, limit) =>
        reading(() => sql.nodes.all(scope, after, limit) as { id: number; body: string }[]),
      drop: (scope, ids, position) =>
        transact(() => {
          if (sql.bodies.get(scope, position, 1)) return false
          if (ids.length === 0) return true
          // Where only payloads went, no seal covers the scope: then an erasure covers each value.
          const isSealed = sql.hasSeal.get(scope) !== undefined
          const [at, last] = [new Date().toISOString(), Math.max(...ids)]
          for (const id of ids) {
            if (!isSealed) sql.addNodeErasure.run(id, at)
            sql.dropNode.run(id, scope)
          }
          sql.keepId.run(last)
          forgetNodes()
          return true
        }),
      end: (scope, mark) => transact(() => void sql.endSweep.run(scope, mark)),
    },
    writeBack: reclaim.checkpoint,
    reclaim: reclaim.step,
  }
}

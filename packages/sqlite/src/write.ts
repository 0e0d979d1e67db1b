import {
  type Applied,
  applyChange,
  type Blank,
  type Ports,
  type PruneMarker,
  type StoreChange,
  type Transaction,
} from '@clew/ledger'
import type { Connection } from './connection.ts'
import { EVENT_COLUMNS, LAST_POSITION, toStoredEvent } from './event-row.ts'
import { fromHex, toHex } from './hex.ts'
import type { SqliteRun } from './run-row.ts'
import { ADD_SWEEPS } from './values.ts'
import { NEXT_TURN } from './waiting-runs.ts'

/** Applies a change inside the write transaction that the caller has begun. */
export type Write = (change: StoreChange) => Applied

/** Events of a run in a range of seqs, by position. */
const RANGE = '(SELECT position FROM events WHERE run = ? AND seq BETWEEN ? AND ?)'
/** A list of positions. */
const LISTED = '(SELECT value FROM json_each(?))'

/**
 * The write side: rows are inserted and deleted as `applyChange` asks for it; the rows of the runs and steps that it
 * changed are written once, at the end of the same transaction. `isIndexed` says whether a search index exists, which
 * must then drop the words of deleted payloads.
 */
export function createWrite(
  { db, runs }: Connection,
  ports: Pick<Ports, 'sha256' | 'now'>,
  isIndexed: () => boolean,
): Write {
  /** Deletes payloads at some positions, and all that is derived from them. Triggers delete vault rows and words of memory. */
  const dropPayloads = (positions: string) => ({
    unindex: db.prepare(
      `INSERT OR IGNORE INTO search_removals (position) SELECT position FROM payloads WHERE position IN ${positions}`,
    ),
    memory: db.prepare(`DELETE FROM memory_items WHERE position IN ${positions}`),
    payloads: db.prepare(`DELETE FROM payloads WHERE position IN ${positions}`),
  })
  const sql = {
    lastPosition: db.prepare(LAST_POSITION),
    // Most ids are new, which the index alone can show.
    isKnown: db.prepare('SELECT 1 FROM events WHERE event_id = ? AND run = ?'),
    event: db.prepare(`SELECT ${EVENT_COLUMNS} WHERE e.event_id = ? AND e.run = ?`),
    eventAt: db.prepare(`SELECT ${EVENT_COLUMNS} WHERE e.run = ? AND e.seq = ?`),
    mac: db.prepare('SELECT mac FROM payloads WHERE position = ?'),
    insertEvent: db.prepare(
      `INSERT OR ROLLBACK INTO events (position, run, seq, event_id, event_type, timestamp, origin, runtime, causation_id,
         recorded_at, schema_version, payload_hash, hash, follows) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    insertPayload: db.prepare(
      'INSERT OR ROLLBACK INTO payloads (position, salt, mac, body) VALUES (?, ?, ?, ?)',
    ),
    insertVault: db.prepare('INSERT INTO vault (position, key_id, data) VALUES (?, ?, ?)'),
    replaceVault: db.prepare(
      'UPDATE vault SET key_id = ?1, data = ?2 WHERE position = ?3 AND key_id = ?4 AND data = ?5',
    ),
    insertErasure: db.prepare('INSERT INTO erasures (position, erased_at) VALUES (?, ?)'),
    insertPruned: db.prepare('INSERT INTO pruned_states (position, pruned_at) VALUES (?, ?)'),
    node: db.prepare('SELECT id FROM nodes WHERE scope = ? AND hash = ?'),
    nodeHash: db.prepare('SELECT hash FROM nodes WHERE id = ?'),
    insertNode: db.prepare('INSERT OR ROLLBACK INTO nodes (scope, hash, body) VALUES (?, ?, ?)'),
    lease: db.prepare('SELECT epoch, held FROM leases WHERE workspace = ? AND run_id = ?'),
    enqueue: db.prepare(
      `INSERT INTO leases (workspace, run_id, owner, epoch, held, beat_ms, agent, queue, key, priority, not_before, turn)
       VALUES (?1, ?2, '', 0, 0, 0, ?3, ?4, ?5, ?6, ?7, CASE WHEN ?7 IS NULL THEN ${NEXT_TURN} END)
       ON CONFLICT (workspace, run_id) DO UPDATE SET agent = excluded.agent, queue = excluded.queue, key = excluded.key,
         priority = excluded.priority, not_before = excluded.not_before, turn = excluded.turn`,
    ),
    dequeue: db.prepare(
      'UPDATE leases SET turn = NULL, not_before = NULL WHERE workspace = ? AND run_id = ?',
    ),
    isLeased: db.prepare(
      'SELECT 1 FROM leases WHERE workspace = ?1 AND held = 1 AND (run_id = ?2 OR thread_id = ?3)',
    ),
    forks: db.prepare(
      `SELECT fork_seq, status <> 'deleted' OR EXISTS (SELECT 1 FROM events e WHERE e.run = f.id) AS needy
         FROM runs f WHERE fork_of = ?`,
    ),
    count: db.prepare('SELECT count(*) AS n FROM events WHERE run = ? AND seq BETWEEN ? AND ?'),
    hasEvents: db.prepare('SELECT 1 FROM events WHERE run = ? LIMIT 1'),
    markErased: db.prepare('INSERT INTO erasures (position, erased_at) SELECT value, ? FROM json_each(?)'),
    markPruned: db.prepare(
      `INSERT INTO pruned_states (position, pruned_at) SELECT value, ? FROM json_each(?)
         WHERE value NOT IN (SELECT position FROM pruned_states)`,
    ),
    listed: dropPayloads(LISTED),
    range: dropPayloads(RANGE),
    addSeal: db.prepare('INSERT INTO seals (run, from_seq, to_seq, head_hash) VALUES (?, ?, ?, ?)'),
    dropEvents: db.prepare('DELETE FROM events WHERE run = ? AND seq BETWEEN ? AND ?'),
    dropSteps: db.prepare('DELETE FROM steps WHERE run = ? AND started_seq BETWEEN ? AND ?'),
    addSweeps: db.prepare(
      ADD_SWEEPS(
        `SELECT DISTINCT r.scope FROM events e JOIN runs r ON r.id = e.run WHERE e.position IN ${LISTED}`,
      ),
    ),
    addSweep: db.prepare(ADD_SWEEPS('SELECT ? AS scope')),
  }

  function blank({ positions, as, keepPayloads = false }: Blank, at: string): void {
    const listed = JSON.stringify(positions)
    ;(as === 'erased' ? sql.markErased : sql.markPruned).run(at, listed)
    if (keepPayloads) return
    if (isIndexed()) sql.listed.unindex.run(listed)
    sql.listed.memory.run(listed)
    sql.listed.payloads.run(listed)
    sql.addSweeps.run(listed)
  }

  function prune(run: SqliteRun, { fromSeq, toSeq, headHash }: PruneMarker): void {
    const range = [run.id, fromSeq, toSeq] as const
    sql.addSeal.run(...range, fromHex(headHash))
    if (isIndexed()) sql.range.unindex.run(...range)
    sql.range.memory.run(...range)
    sql.range.payloads.run(...range)
    sql.dropEvents.run(...range)
    sql.dropSteps.run(...range)
    sql.addSweep.run(run.scope)
  }

  function begin(): { readonly tx: Transaction; save(): void } {
    const changed = new Set<SqliteRun>()
    const rewritten = new Set<SqliteRun>()
    let position = (sql.lastPosition.get()?.['position'] as number | null) ?? 0
    const tx: Transaction = {
      findRun: runs.find,
      runById: runs.byId,
      insertRun: runs.insert,
      findStep: (run, stepId, attempt) => runs.findStep(run as SqliteRun, stepId, attempt),
      putStep: (run, step) => runs.putStep(run as SqliteRun, step),
      dropStep: (run, stepId, attempt) => runs.dropStep(run as SqliteRun, stepId, attempt),
      touch(run, isRewritten = false) {
        changed.add(run as SqliteRun)
        if (isRewritten) rewritten.add(run as SqliteRun)
      },
      findEvent(run, eventId) {
        if (!sql.isKnown.get(eventId, run.id)) return undefined
        const row = sql.event.get(eventId, run.id)
        return row && toStoredEvent(row)
      },
      eventAt(run, seq) {
        const row = sql.eventAt.get(run.id, seq)
        return row && toStoredEvent(row)
      },
      macOf(at) {
        const mac = sql.mac.get(at)?.['mac']
        return mac ? toHex(mac) : null
      },
      nextPosition: () => ++position,
      insertEvent(run, event, place, body) {
        const own = run as SqliteRun
        sql.insertEvent.run(
          place.position,
          run.id,
          place.seq,
          event.eventId,
          event.eventType,
          event.timestamp,
          event.origin,
          event.runtime,
          event.causationId,
          place.recordedAt,
          place.schemaVersion,
          fromHex(event.payloadHash),
          fromHex(place.hash),
          event.causationId !== null && event.causationId === own.lastEventId ? 1 : 0,
        )
        own.lastEventId = event.eventId
        const mac = event.mac === null ? null : fromHex(event.mac)
        if (body !== null) sql.insertPayload.run(place.position, fromHex(event.salt), mac, body)
        if (event.vault) sql.insertVault.run(place.position, event.vault.keyId, fromHex(event.vault.data))
        if (event.sealed?.pruned) sql.insertPruned.run(place.position, place.recordedAt)
        else if (body === null) sql.insertErasure.run(place.position, place.recordedAt)
      },
      findNode: (scope, hash) => sql.node.get(scope, fromHex(hash))?.['id'] as number | undefined,
      insertNode: (scope, hash, body) =>
        Number(sql.insertNode.run(scope, fromHex(hash), body).lastInsertRowid),
      nodeHash: (id) => toHex(sql.nodeHash.get(id)?.['hash']),
      lease({ workspace, runId }) {
        const row = sql.lease.get(workspace, runId)
        return row && { epoch: row['epoch'] as number, held: row['held'] === 1 }
      },
      enqueue({ workspace, runId }, { agent, queue, key, priority, notBeforeMs }) {
        sql.enqueue.run(workspace, runId, agent, queue, key, priority, notBeforeMs)
      },
      dequeue: ({ workspace, runId }) => void sql.dequeue.run(workspace, runId),
      isLeased: ({ workspace, runId, summary }) =>
        sql.isLeased.get(workspace, runId, summary.threadId) !== undefined,
      forksOf: (run) =>
        sql.forks.all(run.id).map((row) => ({ seq: row['fork_seq'] as number, isNeedy: row['needy'] === 1 })),
      countEvents: (run, fromSeq, toSeq) => Number(sql.count.get(run.id, fromSeq, toSeq)?.['n']),
      hasEvents: (run) => sql.hasEvents.get(run.id) !== undefined,
      blank,
      prune: (run, seal) => prune(run as SqliteRun, seal),
      replaceVault: ({ position: at, before, after }) =>
        void sql.replaceVault.run(after.keyId, fromHex(after.data), at, before.keyId, fromHex(before.data)),
    }
    return {
      tx,
      save() {
        for (const run of changed) runs.save(run, rewritten.has(run))
      },
    }
  }

  return (change) => {
    const { tx, save } = begin()
    const applied = applyChange(tx, ports, change)
    save()
    return applied
  }
}

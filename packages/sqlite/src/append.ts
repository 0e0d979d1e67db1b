import { type AppendCall, type AppendOutcome, commitCalls, type Ports, type Transaction } from '@clew/ledger'
import type { Connection } from './connection.ts'
import { EVENT_COLUMNS, LAST_POSITION, toStoredEvent } from './event-row.ts'
import { fromHex, toHex } from './hex.ts'
import type { SqliteRun } from './run-row.ts'

/** Applies calls inside the write transaction that the caller has begun. */
export type Append = (calls: readonly AppendCall[]) => AppendOutcome[]

/**
 * The write side: events, payloads and nodes are inserted as `commitCalls` asks for them; the rows of the runs and steps
 * that they changed are written once, at the end of the same transaction.
 */
export function createAppend({ db, runs }: Connection, ports: Pick<Ports, 'sha256' | 'now'>): Append {
  const sql = {
    lastPosition: db.prepare(LAST_POSITION),
    // Most ids are new, which the index alone can tell.
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
    insertErasure: db.prepare('INSERT INTO erasures (position, erased_at) VALUES (?, ?)'),
    insertPruned: db.prepare('INSERT INTO pruned_states (position, pruned_at) VALUES (?, ?)'),
    node: db.prepare('SELECT id FROM nodes WHERE scope = ? AND hash = ?'),
    nodeHash: db.prepare('SELECT hash FROM nodes WHERE id = ?'),
    insertNode: db.prepare('INSERT OR ROLLBACK INTO nodes (scope, hash, body) VALUES (?, ?, ?)'),
    lease: db.prepare('SELECT epoch, held FROM leases WHERE workspace = ? AND run_id = ?'),
  }

  function begin(): { readonly tx: Transaction; readonly changed: ReadonlySet<SqliteRun> } {
    const changed = new Set<SqliteRun>()
    let position = (sql.lastPosition.get()?.['position'] as number | null) ?? 0
    const tx: Transaction = {
      findRun: runs.find,
      runById: runs.byId,
      insertRun: runs.insert,
      findStep: (run, stepId, attempt) => runs.findStep(run as SqliteRun, stepId, attempt),
      putStep: (run, step) => runs.putStep(run as SqliteRun, step),
      touch: (run) => void changed.add(run as SqliteRun),
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
    }
    return { tx, changed }
  }

  return (calls) => {
    const { tx, changed } = begin()
    const outcomes = commitCalls(tx, ports, calls)
    for (const run of changed) runs.save(run)
    return outcomes
  }
}

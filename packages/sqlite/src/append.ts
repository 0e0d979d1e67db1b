import type { DatabaseSync } from 'node:sqlite'
import {
  type AppendCall,
  type AppendOutcome,
  commitCalls,
  type Ports,
  type RunKey,
  type Transaction,
} from '@clew/ledger'
import { EVENT_COLUMNS, LAST_POSITION, toStoredEvent } from './event-row.ts'
import { createTailFold, stepKeyOf } from './fold-tail.ts'
import { createInbox, EVENT_FIELDS } from './inbox.ts'
import { createRunInserter } from './insert-run.ts'
import { createRunRows, type SqliteRun } from './run-rows.ts'
import { scratch } from './scratch.ts'
import { STEP_COLUMNS, toStep } from './step-row.ts'

const RUN_CACHE = 5000
const NODE_CACHE = 200_000
const BEGUN_CACHE = 50_000
/** A commit of more events than this, or of larger ones, gains nothing by the inbox. */
const INBOX_EVENTS = 4
const INBOX_BODY = 2000

const bytes = (hex: string): Buffer => Buffer.from(hex, 'hex')

const payloadHashBytes = scratch(32)
const hashBytes = scratch(32)
const saltBytes = scratch(16)
const macBytes = scratch(16)

const hex = (blob: unknown): string => Buffer.from(blob as Uint8Array).toString('hex')
const keyOf = (key: RunKey): string => `${key.workspace}\n${key.runId}`

export interface Appender {
  /**
   * Applies the calls inside the write transaction that the caller has begun. With `ids` *trusted* it throws if an id
   * stands already (`isRepeated`); then the transaction is rolled back and tried again with all ids looked up.
   */
  apply(calls: readonly AppendCall[], ids: 'trusted' | 'looked up'): AppendOutcome[]
  /** Writes the rows of the run, or of all runs, that are behind their events; inside a write transaction. */
  settle(key?: RunKey): void
  /** Moves events out of the inbox, so that all of them stand in `events`; inside a write transaction. */
  moveOn(): void
  readonly isBehind: boolean
  /** This process changed a lease itself. */
  forgetLeases(): void
  /** The rows of a run were changed, or events of it are gone. */
  forgetRun(key: RunKey): void
  /** Shared values are gone. */
  forgetNodes(): void
  /** What is remembered may be wrong: another process wrote, or a transaction was rolled back. */
  forget(): void
}

/**
 * The write side. Heads of runs, open steps and ids of shared values are remembered between transactions, which
 * is what keeps an append at a handful of inserts; `forget` is called whenever somebody else may have written.
 *
 * An event and the head of its run are written with every commit. Summary and steps follow when the status changes, when
 * an event cannot be folded from its row alone, and after some events; whoever needs them before folds the rest
 * (`fold-tail.ts`). Where several processes write they follow at once, or each would fold the other's rest with every commit.
 */
export function createAppender(db: DatabaseSync, ports: Pick<Ports, 'sha256' | 'now'>): Appender {
  const sql = {
    lastPosition: db.prepare(LAST_POSITION),
    run: db.prepare('SELECT * FROM runs WHERE workspace = ? AND run_id = ?'),
    runById: db.prepare('SELECT * FROM runs WHERE id = ?'),
    // Most ids are not there, and that the index alone can tell.
    isKnown: db.prepare('SELECT 1 FROM entries WHERE event_id = ? AND run = ?'),
    event: db.prepare(`SELECT ${EVENT_COLUMNS} WHERE e.event_id = ? AND e.run = ?`),
    eventAt: db.prepare(`SELECT ${EVENT_COLUMNS} WHERE e.run = ? AND e.seq = ?`),
    mac: db.prepare('SELECT mac FROM entries WHERE position = ?'),
    insertEvent: db.prepare(
      `INSERT OR ROLLBACK INTO events (${EVENT_FIELDS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    insertPayload: db.prepare('INSERT INTO payloads (position, salt, mac, body) VALUES (?, ?, ?, ?)'),
    insertVault: db.prepare('INSERT INTO vault (position, key_id, data) VALUES (?, ?, ?)'),
    insertErasure: db.prepare('INSERT INTO erasures (position, erased_at) VALUES (?, ?)'),
    insertPruned: db.prepare('INSERT INTO pruned_states (position, pruned_at) VALUES (?, ?)'),
    node: db.prepare('SELECT id FROM nodes WHERE scope = ? AND hash = ?'),
    nodeHash: db.prepare('SELECT hash FROM nodes WHERE id = ?'),
    insertNode: db.prepare('INSERT OR ROLLBACK INTO nodes (scope, hash, body) VALUES (?, ?, ?)'),
    step: db.prepare(`SELECT ${STEP_COLUMNS} FROM steps WHERE run = ? AND step_id = ? AND attempt = ?`),
    lease: db.prepare('SELECT epoch, held, beat_ms FROM leases WHERE workspace = ? AND run_id = ?'),
  }
  const inbox = createInbox(db)
  const inserter = createRunInserter(db)
  const rows = createRunRows(db, inserter)
  const foldTail = createTailFold(db)
  const runs = new Map<string, SqliteRun>()
  const nodes = new Map<string, number>()
  const changedRuns = new Set<SqliteRun>()
  let begunSteps = 0
  const leases = new Map<string, { epoch: number; held: boolean } | null>()
  /** Most events follow one of the same run. */
  let latest: SqliteRun | undefined
  let latestLease: (RunKey & { lease: { epoch: number; held: boolean } | null }) | undefined
  let position: number | undefined
  let isSmallCommit = false

  function toDraft(row: Record<string, unknown>): SqliteRun {
    const { summary, steps } = foldTail(row)
    return {
      id: row['id'] as number,
      workspace: row['workspace'] as string,
      runId: row['run_id'] as string,
      scope: row['scope'] as number,
      forkOf:
        row['fork_of'] === null ? null : { id: row['fork_of'] as number, seq: row['fork_seq'] as number },
      seq: row['seq'] as number,
      hash: hex(row['hash']),
      recordedAt: row['recorded_at'] as string,
      summary,
      stored: summary,
      foldedSeq: row['folded_seq'] as number,
      steps,
      begun: undefined,
      isPlain: true,
      isHeadBehind: false,
    }
  }

  function remember(draft: SqliteRun): SqliteRun {
    if (runs.size >= RUN_CACHE)
      for (const [key, old] of runs)
        if (!changedRuns.has(old) && runs.delete(key)) {
          if (old.foldedSeq < old.seq) rows.settle(old)
          break
        }
    runs.set(keyOf(draft), draft)
    return draft
  }

  const tx: Transaction = {
    findRun(key) {
      if (latest?.runId === key.runId && latest.workspace === key.workspace) return latest
      const known = runs.get(keyOf(key))
      if (known) {
        latest = known
        return known
      }
      const row = sql.run.get(key.workspace, key.runId)
      return row && remember(toDraft(row))
    },
    insertRun({ workspace, runId, summary, forkOf }) {
      const { id, scope } = inserter.insert({ workspace, runId }, { summary, forkOf })
      return remember({
        id,
        workspace,
        runId,
        scope,
        forkOf,
        seq: 0,
        hash: '',
        recordedAt: '',
        summary,
        stored: summary,
        foldedSeq: 0,
        steps: new Map(),
        begun: new Set(),
        isPlain: false,
        isHeadBehind: false,
      })
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
    runById(id) {
      const row = sql.runById.get(id) as Record<string, unknown>
      return (
        runs.get(keyOf({ workspace: row['workspace'] as string, runId: row['run_id'] as string })) ??
        toDraft(row)
      )
    },
    macOf(at) {
      const row = sql.mac.get(at)
      return row?.['mac'] ? hex(row['mac']) : null
    },
    nodeHash: (id) => hex(sql.nodeHash.get(id)?.['hash']),
    nextPosition() {
      position ??= (sql.lastPosition.get()?.['position'] as number | null) ?? 0
      return ++position
    },
    insertEvent(run, event, place, body) {
      const own = run as SqliteRun
      const values = [
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
        payloadHashBytes(event.payloadHash),
        hashBytes(place.hash),
        event.causationId !== null && event.causationId === own.lastEventId ? 1 : 0,
      ]
      own.lastEventId = event.eventId
      const salt = saltBytes(event.salt)
      const mac = event.mac === null ? null : macBytes(event.mac)
      if (event.tree || body === null) own.isPlain = false
      if (event.vault) sql.insertVault.run(place.position, event.vault.keyId, bytes(event.vault.data))
      const isPruned = event.sealed?.pruned === true
      if (isSmallCommit && !event.tree && !isPruned && body !== null && body.length <= INBOX_BODY) {
        inbox.add(...values, salt, mac, body)
        return
      }
      inbox.empty()
      sql.insertEvent.run(...values)
      own.isHeadBehind = true
      if (isPruned) sql.insertPruned.run(place.position, place.recordedAt)
      if (body !== null) sql.insertPayload.run(place.position, salt, mac, body)
      else if (!isPruned) sql.insertErasure.run(place.position, place.recordedAt)
    },
    findNode(scope, hash) {
      const key = `${scope} ${hash}`
      const known = nodes.get(key)
      if (known !== undefined) return known
      const id = sql.node.get(scope, bytes(hash))?.['id'] as number | undefined
      if (id !== undefined) rememberNode(key, id)
      return id
    },
    insertNode(scope, hash, body) {
      const id = Number(sql.insertNode.run(scope, bytes(hash), body).lastInsertRowid)
      rememberNode(`${scope} ${hash}`, id)
      return id
    },
    findStep(run, stepId, attempt) {
      const { steps, begun } = run as SqliteRun
      const key = stepKeyOf(stepId, attempt)
      const known = steps.get(key)
      if (known || (begun && !begun.has(key))) return known
      const open = rows.openStep(run as SqliteRun, key)
      if (open) return open
      const row = sql.step.get(run.id, stepId, attempt)
      return row && toStep(run.runId, row)
    },
    putStep(run, step) {
      const { steps, begun } = run as SqliteRun
      const key = stepKeyOf(step.stepId, step.attempt)
      steps.set(key, step)
      if (!begun || begun.has(key)) return
      begun.add(key)
      if (++begunSteps > BEGUN_CACHE) forgetBegun()
    },
    lease(key) {
      if (latestLease?.runId === key.runId && latestLease.workspace === key.workspace)
        return latestLease.lease ?? undefined
      const name = keyOf(key)
      let lease = leases.get(name)
      if (lease === undefined) {
        const row = sql.lease.get(key.workspace, key.runId)
        lease = row ? { epoch: row['epoch'] as number, held: row['held'] === 1 } : null
        if (leases.size >= RUN_CACHE) leases.clear()
        leases.set(name, lease)
      }
      latestLease = { workspace: key.workspace, runId: key.runId, lease }
      return lease ?? undefined
    },
    touch: (run) => void changedRuns.add(run as SqliteRun),
  }

  function forgetBegun(): void {
    for (const run of runs.values()) run.begun = undefined
    begunSteps = 0
  }

  function rememberNode(key: string, id: number): void {
    if (nodes.size >= NODE_CACHE) nodes.clear()
    nodes.set(key, id)
  }

  return {
    apply(calls, ids) {
      isSmallCommit =
        rows.isAlone && calls.reduce((events, call) => events + call.events.length, 0) <= INBOX_EVENTS
      const outcomes = commitCalls(tx, ports, calls, ids)
      rows.flush(changedRuns)
      changedRuns.clear()
      return outcomes
    },
    settle(key) {
      if (key) {
        const run = tx.findRun(key) as SqliteRun | undefined
        if (run && run.foldedSeq < run.seq) rows.settle(run)
      } else rows.settleAll()
    },
    moveOn: inbox.empty,
    get isBehind() {
      return rows.isBehind || !inbox.isEmpty
    },
    forgetLeases() {
      leases.clear()
      latestLease = undefined
    },
    forgetRun(key) {
      const run = runs.get(keyOf(key))
      if (!run) return
      runs.delete(keyOf(key))
      rows.forgetRun(run)
      if (latest === run) latest = undefined
    },
    forgetNodes: () => nodes.clear(),
    forget() {
      inbox.forget()
      rows.forget()
      runs.clear()
      nodes.clear()
      leases.clear()
      latest = undefined
      latestLease = undefined
      changedRuns.clear()
      begunSteps = 0
      position = undefined
    },
  }
}

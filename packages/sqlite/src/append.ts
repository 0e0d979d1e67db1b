import type { DatabaseSync } from 'node:sqlite'
import {
  type AppendCall,
  type AppendOutcome,
  commitCalls,
  dueMsOf,
  hasSameIdentity,
  type Ports,
  type RunDraft,
  type RunKey,
  type RunSummary,
  type StepSkeleton,
  type Transaction,
} from '@clew/ledger'
import { EVENT_COLUMNS, toStoredEvent } from './event-row.ts'
import { createTailFold, stepKeyOf } from './fold-tail.ts'
import { createRunInserter } from './insert-run.ts'
import { PUT_STEP, STEP_COLUMNS, stepValues, toStep } from './step-row.ts'

const RUN_CACHE = 5000
const NODE_CACHE = 200_000
const BEGUN_CACHE = 50_000
/** So many events of a run may pass before its summary and steps are written. */
const MOST_BEHIND = 64
const RUNS_BEHIND = 256
/** Rows are written with every commit until so many have passed in which nobody else wrote. */
const QUIET_COMMITS = 8

const bytes = (hex: string): Buffer => Buffer.from(hex, 'hex')

/** Bytes of a hex text in a place that is used again and again: a bound blob is copied, and this is four per event. */
function scratch(size: number): (hex: string) => Buffer {
  const place = Buffer.alloc(size)
  return (text) => {
    place.write(text, 'hex')
    return place
  }
}
const payloadHashBytes = scratch(32)
const hashBytes = scratch(32)
const saltBytes = scratch(16)
const macBytes = scratch(16)

const hex = (blob: unknown): string => Buffer.from(blob as Uint8Array).toString('hex')
const keyOf = (key: RunKey): string => `${key.workspace}\n${key.runId}`

interface SqliteRun extends RunDraft {
  /** As the rows have it: what is searched for in them is never behind. */
  stored: RunSummary
  /** Up to where the rows of the run and of its steps are folded. */
  foldedSeq: number
  /** What has changed since: the steps, by `stepKeyOf`. */
  readonly steps: Map<string, StepSkeleton>
  /** All steps that the run ever had, by `stepKeyOf`, where that is known: nearly every step is new, and need not be looked for. */
  begun: Set<string> | undefined
  /** All events since can be folded from their rows alone. */
  isPlain: boolean
  /** Unknown until something was appended here. */
  lastEventId?: string
}

export interface Appender {
  /**
   * Applies the calls inside the write transaction that the caller has begun. With `ids` *trusted* it throws if an id
   * stands already (`isRepeated`); then the transaction is rolled back and tried again with all ids looked up.
   */
  apply(calls: readonly AppendCall[], ids: 'trusted' | 'looked up'): AppendOutcome[]
  /** Writes the rows of the run, or of all runs, that are behind their events; inside a write transaction. */
  settle(key?: RunKey): void
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
    lastPosition: db.prepare('SELECT max(position) AS position FROM events'),
    run: db.prepare('SELECT * FROM runs WHERE workspace = ? AND run_id = ?'),
    runById: db.prepare('SELECT * FROM runs WHERE id = ?'),
    moveHead: db.prepare('UPDATE runs SET seq = ?, hash = ?, recorded_at = ? WHERE id = ?'),
    updateRun: db.prepare('UPDATE runs SET summary = ?, folded_seq = ? WHERE id = ?'),
    // Apart, because naming an indexed column writes its index even when the value stays.
    updateStatus: db.prepare('UPDATE runs SET status = ?, due_ms = ? WHERE id = ?'),
    updateIdentity: db.prepare(
      'UPDATE runs SET thread_id = ?, agent = ?, agent_version = ?, parent_run_id = ?, started_ms = ? WHERE id = ?',
    ),
    // Most ids are not there, and that the index alone can tell.
    isKnown: db.prepare('SELECT 1 FROM events WHERE event_id = ? AND run = ?'),
    event: db.prepare(`SELECT ${EVENT_COLUMNS} WHERE e.event_id = ? AND e.run = ?`),
    eventAt: db.prepare(`SELECT ${EVENT_COLUMNS} WHERE e.run = ? AND e.seq = ?`),
    mac: db.prepare('SELECT mac FROM payloads WHERE position = ?'),
    insertEvent: db.prepare(
      `INSERT INTO events (position, run, seq, event_id, event_type, timestamp, origin, runtime, causation_id, recorded_at,
        schema_version, payload_hash, hash, follows) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    insertPayload: db.prepare('INSERT INTO payloads (position, salt, mac, body) VALUES (?, ?, ?, ?)'),
    insertErasure: db.prepare('INSERT INTO erasures (position, erased_at) VALUES (?, ?)'),
    insertPruned: db.prepare('INSERT INTO pruned_states (position, pruned_at) VALUES (?, ?)'),
    node: db.prepare('SELECT id FROM nodes WHERE scope = ? AND hash = ?'),
    nodeHash: db.prepare('SELECT hash FROM nodes WHERE id = ?'),
    insertNode: db.prepare('INSERT INTO nodes (scope, hash, body) VALUES (?, ?, ?)'),
    step: db.prepare(`SELECT ${STEP_COLUMNS} FROM steps WHERE run = ? AND step_id = ? AND attempt = ?`),
    putStep: db.prepare(PUT_STEP),
    lease: db.prepare('SELECT epoch, held, beat_ms FROM leases WHERE workspace = ? AND run_id = ?'),
  }
  const inserter = createRunInserter(db)
  const foldTail = createTailFold(db)
  const runs = new Map<string, SqliteRun>()
  const nodes = new Map<string, number>()
  const openSteps = new Map<string, StepSkeleton>()
  const changedRuns = new Set<SqliteRun>()
  const behind = new Set<SqliteRun>()
  let begunSteps = 0
  let quietCommits = 0
  const leases = new Map<string, { epoch: number; held: boolean } | null>()
  /** Most events follow one of the same run. */
  let latest: SqliteRun | undefined
  let latestLease: (RunKey & { lease: { epoch: number; held: boolean } | null }) | undefined
  let position: number | undefined

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
    }
  }

  function remember(draft: SqliteRun): SqliteRun {
    if (runs.size >= RUN_CACHE)
      for (const [key, old] of runs)
        if (!changedRuns.has(old) && runs.delete(key)) {
          if (behind.delete(old)) writeRows(old)
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
        payloadHashBytes(event.payloadHash),
        hashBytes(place.hash),
        event.causationId !== null && event.causationId === own.lastEventId ? 1 : 0,
      )
      own.lastEventId = event.eventId
      const isPruned = event.sealed?.pruned === true
      if (isPruned) sql.insertPruned.run(place.position, place.recordedAt)
      if (body === null) {
        if (!isPruned) sql.insertErasure.run(place.position, place.recordedAt)
      } else
        sql.insertPayload.run(
          place.position,
          saltBytes(event.salt),
          event.mac === null ? null : macBytes(event.mac),
          body,
        )
      if (event.tree || body === null) own.isPlain = false
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
      const open = openSteps.get(`${run.id} ${key}`)
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

  function writeRows(run: SqliteRun): void {
    const { summary, recordedAt } = run
    sql.updateRun.run(JSON.stringify(summary), run.seq, run.id)
    if (summary.status !== run.stored.status || summary.dueAt !== run.stored.dueAt)
      sql.updateStatus.run(summary.status, dueMsOf(summary, recordedAt), run.id)
    if (!hasSameIdentity(run.stored, summary)) {
      const { threadId, agent, agentVersion, parentRunId, startedAt } = summary
      sql.updateIdentity.run(threadId, agent, agentVersion, parentRunId, Date.parse(startedAt), run.id)
      inserter.addSubjects(run.id, summary.subjects)
    }
    run.stored = summary
    for (const [key, step] of run.steps) {
      sql.putStep.run(...stepValues(run.id, step))
      if (step.endedSeq === null && openSteps.size < RUN_CACHE) openSteps.set(`${run.id} ${key}`, step)
      else openSteps.delete(`${run.id} ${key}`)
    }
    run.steps.clear()
    run.foldedSeq = run.seq
    run.isPlain = true
  }

  function settle(run: SqliteRun): void {
    behind.delete(run)
    writeRows(run)
  }

  const isLate = (run: SqliteRun): boolean =>
    !run.isPlain ||
    run.summary.status !== run.stored.status ||
    run.summary.dueAt !== run.stored.dueAt ||
    run.summary.cost !== run.stored.cost ||
    !hasSameIdentity(run.stored, run.summary) ||
    quietCommits < QUIET_COMMITS ||
    run.seq - run.foldedSeq >= MOST_BEHIND

  /** Heads and rows, once per transaction whatever the number of events. */
  function flush(): void {
    quietCommits++
    for (const run of changedRuns) {
      sql.moveHead.run(run.seq, hashBytes(run.hash), run.recordedAt, run.id)
      if (isLate(run)) settle(run)
      else behind.add(run)
    }
    changedRuns.clear()
    if (behind.size > RUNS_BEHIND)
      for (const run of behind) {
        if (behind.size <= RUNS_BEHIND) break
        settle(run)
      }
  }

  return {
    apply(calls, ids) {
      const outcomes = commitCalls(tx, ports, calls, ids)
      flush()
      return outcomes
    },
    settle(key) {
      if (key) {
        const run = tx.findRun(key) as SqliteRun | undefined
        if (run && run.foldedSeq < run.seq) settle(run)
      } else for (const run of behind) settle(run)
    },
    get isBehind() {
      return behind.size > 0
    },
    forgetLeases() {
      leases.clear()
      latestLease = undefined
    },
    forgetRun(key) {
      const run = runs.get(keyOf(key))
      if (!run) return
      runs.delete(keyOf(key))
      behind.delete(run)
      if (latest === run) latest = undefined
      for (const name of openSteps.keys()) if (name.startsWith(`${run.id} `)) openSteps.delete(name)
    },
    forgetNodes: () => nodes.clear(),
    forget() {
      runs.clear()
      nodes.clear()
      openSteps.clear()
      leases.clear()
      latest = undefined
      latestLease = undefined
      changedRuns.clear()
      behind.clear()
      begunSteps = 0
      quietCommits = 0
      position = undefined
    },
  }
}

import {
  busyLease,
  type ClaimOptions,
  createQueueSlots,
  LEASE_STALE_MS,
  type Lease,
  type Leases,
  lostLease,
  type OwnerState,
  pickWaiting,
  type Ports,
} from '@clew/ledger'
import { createDueRuns } from './claim-runs.ts'
import type { Connection } from './connection.ts'
import type { OwnerLocks } from './owner-lock.ts'
import { createWaitingRuns } from './waiting-runs.ts'

/** Leases of runs (R9): the file is the only coordinator. */
export function createLeases(
  { db, read, write }: Connection,
  ports: Pick<Ports, 'now'>,
  owner: string,
  locks: OwnerLocks,
): Leases {
  const find = db.prepare('SELECT * FROM leases WHERE workspace = ? AND run_id = ?')
  const byThread = db.prepare(
    'SELECT * FROM leases WHERE workspace = ? AND thread_id = ? AND held = 1 AND run_id <> ?',
  )
  const put = db.prepare(
    `INSERT INTO leases (workspace, run_id, owner, epoch, thread_id, held, beat_ms) VALUES (?, ?, ?, ?, ?, 1, ?)
     ON CONFLICT (workspace, run_id) DO UPDATE SET owner = excluded.owner, epoch = excluded.epoch,
       thread_id = excluded.thread_id, held = 1, beat_ms = excluded.beat_ms`,
  )
  const free = db.prepare('UPDATE leases SET held = 0 WHERE workspace = ? AND run_id = ?')
  const beat = db.prepare(
    'UPDATE leases SET beat_ms = ? WHERE workspace = ? AND run_id = ? AND owner = ? AND epoch = ? AND held = 1',
  )
  const drop = db.prepare(
    'UPDATE leases SET held = 0 WHERE workspace = ? AND run_id = ? AND owner = ? AND epoch = ? AND held = 1',
  )
  const dueRuns = createDueRuns(db)
  const waitingRuns = createWaitingRuns(db)
  const threadOf = db.prepare('SELECT thread_id FROM runs WHERE workspace = ? AND run_id = ?')
  const held = db.prepare('SELECT * FROM leases WHERE held = 1 ORDER BY beat_ms')

  function stateOf(row: Record<string, unknown>): OwnerState {
    if (locks.isDead(row['owner'] as string)) return 'dead'
    return ports.now() - (row['beat_ms'] as number) >= LEASE_STALE_MS ? 'stale' : 'alive'
  }

  const toLease = (row: Record<string, unknown>): Lease => ({
    workspace: row['workspace'] as string,
    runId: row['run_id'] as string,
    owner: row['owner'] as string,
    epoch: row['epoch'] as number,
    threadId: row['thread_id'] as string | null,
    heartbeatAt: new Date(row['beat_ms'] as number).toISOString(),
  })

  function proveAlive(): void {
    if (locks.hold()) locks.sweep(new Set(held.all().map((row) => row['owner'] as string)))
  }

  function take(workspace: string, runId: string, threadId: string | null, epoch: number, by = owner): Lease {
    const now = ports.now()
    put.run(workspace, runId, by, epoch, threadId, now)
    return { workspace, runId, owner: by, epoch, threadId, heartbeatAt: new Date(now).toISOString() }
  }

  /** Runs to be claimed, in order. */
  function choose(options: ClaimOptions) {
    const { workspace, nowMs, limit, limits = [] } = options
    const uses = limits.map(({ queue, rate }) =>
      waitingRuns.useOf(workspace, queue, nowMs - (rate?.perMs ?? 0)),
    )
    const slots = createQueueSlots(limits, uses, nowMs)
    const due = dueRuns.find(
      options,
      ({ queue, key }) => queue === null || slots.take({ queue, key: key ?? '' }, false),
    )
    const left = limit - due.length
    const rows = left === 0 ? [] : waitingRuns.find(options, slots.hasRoom)
    const picked = [...pickWaiting(rows, slots, left)]
    // The first rows may all be of keys at their limit, or of busy threads.
    if (picked.length < left && rows.length > left) {
      const known = new Set(rows.map(({ runId }) => runId))
      const others = waitingRuns.find(options, slots.hasRoom, true).filter(({ runId }) => !known.has(runId))
      picked.push(...pickWaiting(others, slots, left - picked.length))
    }
    return { runIds: [...due, ...picked].map(({ runId }) => runId), picked, retryMs: slots.retryMs }
  }

  function takeChosen(options: ClaimOptions) {
    const { workspace, nowMs, limits = [] } = options
    waitingRuns.promote(options)
    const { runIds, picked, retryMs } = choose(options)
    for (const { queue } of picked) {
      const rate = limits.find((limit) => limit.queue === queue)?.rate
      if (rate) waitingRuns.recordClaim(workspace, queue, nowMs, rate.perMs)
    }
    const leases = runIds.map((runId) => {
      const epoch = (find.get(workspace, runId)?.['epoch'] as number) + 1
      return take(workspace, runId, threadOf.get(workspace, runId)?.['thread_id'] as string | null, epoch)
    })
    return { leases, retryMs }
  }

  return {
    async acquire({ workspace, runId }, threadId = null, options = {}) {
      await read(proveAlive)
      return write(() => {
        const before = find.get(workspace, runId)
        if (before?.['held'] === 1 && stateOf(before) === 'alive')
          throw busyLease(runId, 'another owner is working on it')
        const threads = threadId === null ? [] : [threadId, ...(options.alsoThreads ?? [])]
        for (const thread of threads) {
          const rival = byThread.get(workspace, thread, runId)
          if (!rival) continue
          if (stateOf(rival) === 'alive')
            throw busyLease(runId, `run ${String(rival['run_id'])} is working on thread ${threadId}`)
          free.run(workspace, rival['run_id'] as string)
        }
        const epoch = ((before?.['epoch'] as number | undefined) ?? 0) + 1
        return take(workspace, runId, threadId, epoch, options.owner)
      })
    },
    async claim(options) {
      // Without the write lock first: a worker that finds nothing must not hold up writers.
      const first = await read(() => choose(options))
      const isAny = first.runIds.length > 0 || (await read(() => waitingRuns.isDelayedDue(options)))
      if (isAny) await read(proveAlive)
      const { leases, retryMs } = isAny ? await write(() => takeChosen(options)) : { ...first, leases: [] }
      const times = [
        ...(await read(() => [dueRuns.nextDueMs(options), waitingRuns.nextDelayedMs(options)])),
        retryMs,
      ].filter((ms) => ms !== null)
      return { leases, nextDueMs: times.length === 0 ? null : Math.min(...times) }
    },
    queues: (workspace) => read(() => waitingRuns.count(workspace)),
    async renew(lease) {
      const { changes } = await write(() =>
        beat.run(ports.now(), lease.workspace, lease.runId, lease.owner, lease.epoch),
      )
      if (Number(changes) === 0) throw lostLease(lease)
    },
    async release(lease) {
      const { changes } = await write(() => drop.run(lease.workspace, lease.runId, lease.owner, lease.epoch))
      if (Number(changes) === 0) throw lostLease(lease)
    },
    list: () => read(() => held.all().map((row) => ({ ...toLease(row), state: stateOf(row) }))),
  }
}

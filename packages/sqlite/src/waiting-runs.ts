import type { DatabaseSync } from 'node:sqlite'
import type { ClaimOptions, QueueCount, QueueUse, WaitingRun } from '@clew/ledger'

/** Parameters: workspace 1, agent 3, queue 4, key 5, priority 6. Behind those of its key, and not before those who wait now. */
export const NEXT_TURN = `max(
  coalesce((SELECT min(turn) FROM leases WHERE workspace = ?1 AND agent = ?3 AND queue = ?4 AND priority = ?6
    AND turn IS NOT NULL AND held = 0), 0),
  coalesce((SELECT max(turn) FROM leases WHERE workspace = ?1 AND agent = ?3 AND queue = ?4 AND priority = ?6
    AND key = ?5 AND turn IS NOT NULL AND held = 0), -1) + 1)`

/** Waiting rows that are read beyond those that can be taken. */
const SPARE = 64
/** Keys, and runs of each, that are read where the first rows of a queue are all held back. */
const MAX_KEYS = 1000
const MAX_PER_KEY = 8
/** Delayed runs that get their turn in one claim. */
const MAX_PROMOTED = 500

const WAITS = 'l.turn IS NOT NULL AND l.held = 0'
const ENDED = `('completed', 'failed', 'stopped', 'partial', 'superseded', 'deleted')`
/** A run of the thread is leased, or an earlier one has not ended. One that is delayed does not count before its time. */
const BLOCKED = `r.thread_id IS NOT NULL AND (EXISTS (SELECT 1 FROM leases h
    WHERE h.workspace = l.workspace AND h.thread_id = r.thread_id AND h.held = 1)
  OR EXISTS (SELECT 1 FROM runs e JOIN leases o ON o.workspace = e.workspace AND o.run_id = e.run_id
    WHERE e.workspace = l.workspace AND e.thread_id = r.thread_id AND e.id < r.id
      AND e.status NOT IN ${ENDED} AND o.not_before IS NULL))`
const ROW = `SELECT l.run_id AS runId, l.queue, l.key, l.priority, l.turn, ${BLOCKED} AS isBlocked
  FROM leases l JOIN runs r ON r.workspace = l.workspace AND r.run_id = l.run_id`

/** Submitted runs that have not started (W4). */
export interface WaitingRuns {
  /** Gives delayed runs whose time has come their turn. */
  promote(options: ClaimOptions): void
  /** When the next delayed run can be claimed. */
  nextDelayedMs(options: ClaimOptions): number | null
  /** Whether `promote` has something to do. */
  isDelayedDue(options: ClaimOptions): boolean
  /** First rows of each queue that has room, by turn. With `byKey` the first rows of each key instead. */
  find(options: ClaimOptions, hasRoom: (queue: string) => boolean, byKey?: boolean): WaitingRun[]
  count(workspace: string): QueueCount[]
  useOf(workspace: string, queue: string, sinceMs: number): QueueUse
  recordClaim(workspace: string, queue: string, nowMs: number, keepMs: number): void
}

export function createWaitingRuns(db: DatabaseSync): WaitingRuns {
  const nextQueue = db.prepare(
    `SELECT min(l.queue) AS queue FROM leases l WHERE l.workspace = ? AND l.agent = ? AND l.queue > ? AND ${WAITS}`,
  )
  const page = db.prepare(
    `${ROW} WHERE l.workspace = ? AND l.agent = ? AND l.queue = ? AND ${WAITS} ORDER BY l.priority DESC, l.turn LIMIT ?`,
  )
  const nextPriority = db.prepare(
    `SELECT max(l.priority) AS priority FROM leases l
     WHERE l.workspace = ? AND l.agent = ? AND l.queue = ? AND l.priority < ? AND ${WAITS}`,
  )
  const nextKey = db.prepare(
    `SELECT min(l.key) AS key FROM leases l
     WHERE l.workspace = ? AND l.agent = ? AND l.queue = ? AND l.priority = ? AND l.key > ? AND ${WAITS}`,
  )
  const firstKey = db.prepare(
    `SELECT min(l.key) AS key FROM leases l
     WHERE l.workspace = ? AND l.agent = ? AND l.queue = ? AND l.priority = ? AND ${WAITS}`,
  )
  const ofKey = db.prepare(
    `${ROW} WHERE l.workspace = ? AND l.agent = ? AND l.queue = ? AND l.priority = ? AND l.key = ? AND ${WAITS}
     ORDER BY l.turn LIMIT ${MAX_PER_KEY}`,
  )
  const delayed = db.prepare(
    `SELECT run_id, queue, key, priority, not_before FROM leases
     WHERE workspace = ? AND agent = ? AND not_before <= ? AND held = 0 ORDER BY not_before LIMIT ${MAX_PROMOTED}`,
  )
  const nextDelayed = db.prepare(
    'SELECT min(not_before) AS at FROM leases WHERE workspace = ? AND agent = ? AND not_before > ? AND held = 0',
  )
  const promoted = db.prepare(
    `UPDATE leases SET not_before = NULL, turn = ${NEXT_TURN} WHERE workspace = ?1 AND run_id = ?2`,
  )
  const held = db.prepare(
    'SELECT key, count(*) AS n FROM leases WHERE workspace = ? AND queue = ? AND held = 1 GROUP BY key',
  )
  const counts = db.prepare(
    `SELECT queue, agent, sum(held = 0 AND turn IS NOT NULL) AS waiting, sum(held = 0 AND not_before IS NOT NULL) AS delayed,
       sum(held = 1) AS running
     FROM leases WHERE workspace = ? AND queue IS NOT NULL AND (held = 1 OR turn IS NOT NULL OR not_before IS NOT NULL)
     GROUP BY queue, agent`,
  )
  const claims = db.prepare(
    'SELECT at_ms FROM queue_claims WHERE workspace = ? AND queue = ? AND at_ms > ? ORDER BY at_ms',
  )
  const addClaim = db.prepare('INSERT INTO queue_claims (workspace, queue, at_ms) VALUES (?, ?, ?)')
  const dropClaims = db.prepare('DELETE FROM queue_claims WHERE workspace = ? AND queue = ? AND at_ms <= ?')

  function* queuesOf(workspace: string, agent: string): Generator<string> {
    for (let queue = ''; ; ) {
      const next = nextQueue.get(workspace, agent, queue)?.['queue']
      if (typeof next !== 'string') return
      yield next
      queue = next
    }
  }

  function* keysOf(workspace: string, agent: string, queue: string): Generator<[number, string]> {
    for (let priority = Number.MAX_SAFE_INTEGER; ; ) {
      const next = nextPriority.get(workspace, agent, queue, priority)?.['priority']
      if (typeof next !== 'number') return
      priority = next
      let key = firstKey.get(workspace, agent, queue, priority)?.['key']
      while (typeof key === 'string') {
        yield [priority, key]
        key = nextKey.get(workspace, agent, queue, priority, key)?.['key']
      }
    }
  }

  const toRow = (row: Record<string, unknown>): WaitingRun =>
    ({ ...row, isBlocked: row['isBlocked'] === 1 }) as unknown as WaitingRun

  return {
    isDelayedDue: ({ workspace, agents, nowMs }) =>
      agents.some((agent) => delayed.get(workspace, agent, nowMs) !== undefined),
    promote({ workspace, agents, nowMs }) {
      for (const agent of new Set(agents))
        for (const { run_id: runId, queue, key, priority } of delayed.all(workspace, agent, nowMs))
          promoted.run(workspace, runId as string, agent, queue as string, key as string, priority as number)
    },
    nextDelayedMs({ workspace, agents, nowMs }) {
      const times = agents.flatMap((agent) => {
        const at = nextDelayed.get(workspace, agent, nowMs)?.['at']
        return typeof at === 'number' ? [at] : []
      })
      return times.length === 0 ? null : Math.min(...times)
    },
    find({ workspace, agents, limit, except = [] }, hasRoom, byKey = false) {
      const left = new Set(except)
      const found: WaitingRun[] = []
      for (const agent of new Set(agents))
        for (const queue of queuesOf(workspace, agent)) {
          if (!hasRoom(queue)) continue
          if (!byKey) {
            found.push(...page.all(workspace, agent, queue, limit + left.size + SPARE).map(toRow))
            continue
          }
          let keys = 0
          for (const [priority, key] of keysOf(workspace, agent, queue)) {
            if (keys++ === MAX_KEYS) break
            found.push(...ofKey.all(workspace, agent, queue, priority, key).map(toRow))
          }
        }
      return found.filter(({ runId }) => !left.has(runId))
    },
    count: (workspace) => counts.all(workspace).map((row) => ({ ...row }) as unknown as QueueCount),
    useOf: (workspace, queue, sinceMs) => ({
      queue,
      held: new Map(held.all(workspace, queue).map(({ key, n }) => [key as string, n as number])),
      claimedMs: claims.all(workspace, queue, sinceMs).map(({ at_ms: at }) => at as number),
    }),
    recordClaim(workspace, queue, nowMs, keepMs) {
      dropClaims.run(workspace, queue, nowMs - keepMs)
      addClaim.run(workspace, queue, nowMs)
    },
  }
}

import type { DatabaseSync } from 'node:sqlite'
import type { Claimed, ClaimOptions } from '@clew/ledger'

/** A run that is due and not leased. */
export interface DueRun {
  readonly runId: string
  readonly threadId: string | null
  readonly dueMs: number
  /** Of a submitted run that has started: it needs a slot of its queue. */
  readonly queue: string | null
  readonly key: string | null
}

export interface DueRuns {
  /** Longest waiting first, at most `limit`, each thread once. `hasSlot` is asked once for each that would be taken. */
  find(options: ClaimOptions, hasSlot: (run: DueRun) => boolean): DueRun[]
  nextDueMs(options: ClaimOptions): Claimed['nextDueMs']
}

/** Only what was leased before: an imported run, or one that others recorded, is not run from here. */
const LEFT = `l.workspace = r.workspace AND l.run_id = r.run_id AND l.held = 0
  AND (r.thread_id IS NULL OR NOT EXISTS
    (SELECT 1 FROM leases h WHERE h.workspace = r.workspace AND h.thread_id = r.thread_id AND h.held = 1))`
/** A waiting run is here because of its deadline, and needs no slot to fail. */
const COLUMNS = `r.run_id, r.thread_id,
  CASE WHEN l.turn IS NULL AND l.not_before IS NULL THEN l.queue END AS queue, l.key`

/** Due runs that are read beyond those that can be taken: their queues may be full. */
const SPARE = 64

export function createDueRuns(db: DatabaseSync): DueRuns {
  // One agent at a time, so that the index gives the order and no more is read than is taken.
  const due = db.prepare(
    `SELECT ${COLUMNS}, r.due_ms AS due_ms FROM runs r, leases l
     WHERE r.workspace = ? AND r.agent = ? AND r.due_ms <= ? AND ${LEFT} ORDER BY r.due_ms`,
  )
  const orphaned = db.prepare(
    `SELECT ${COLUMNS}, r.started_ms AS due_ms FROM runs r, leases l
     WHERE r.workspace = ? AND r.status = 'running' AND r.agent = ?
       AND r.parent_run_id IS NULL AND ${LEFT} ORDER BY r.id`,
  )
  const next = db.prepare(
    'SELECT min(due_ms) AS due_ms FROM runs WHERE workspace = ? AND agent = ? AND due_ms > ?',
  )

  return {
    find({ workspace, agents, nowMs, limit, except = [], orphans = false }, hasSlot) {
      const left = new Set(except)
      const found: DueRun[] = []
      for (const agent of new Set(agents)) {
        const rows = due.iterate(workspace, agent, nowMs)
        collect(rows, left, limit + SPARE, found)
        if (orphans) collect(orphaned.iterate(workspace, agent), left, limit + SPARE, found)
      }
      found.sort((a, b) => a.dueMs - b.dueMs)
      const threads = new Set<string>()
      const ofOwnThread = ({ threadId }: DueRun): boolean => {
        if (threadId === null) return true
        const isFirst = !threads.has(threadId)
        threads.add(threadId)
        return isFirst
      }
      const taken: DueRun[] = []
      for (const run of found) {
        if (taken.length === limit) break
        if (ofOwnThread(run) && hasSlot(run)) taken.push(run)
      }
      return taken
    },
    nextDueMs({ workspace, agents, nowMs }) {
      const times = agents.flatMap((agent) => {
        const dueMs = next.get(workspace, agent, nowMs)?.['due_ms']
        return typeof dueMs === 'number' ? [dueMs] : []
      })
      return times.length === 0 ? null : Math.min(...times)
    },
  }
}

/** Up to `limit` more; runs of one thread count once, or those of a busy one would keep the others out. */
function collect(
  rows: Iterable<Record<string, unknown>>,
  except: ReadonlySet<string>,
  limit: number,
  found: DueRun[],
): void {
  const threads = new Set<string>()
  let taken = 0
  for (const row of rows) {
    const runId = row['run_id'] as string
    const threadId = row['thread_id'] as string | null
    if (except.has(runId) || (threadId !== null && threads.has(threadId))) continue
    if (threadId !== null) threads.add(threadId)
    const queue = row['queue'] as string | null
    found.push({ runId, threadId, dueMs: row['due_ms'] as number, queue, key: row['key'] as string | null })
    if (++taken === limit) return
  }
}

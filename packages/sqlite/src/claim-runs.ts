import type { DatabaseSync } from 'node:sqlite'
import type { Claimed, ClaimOptions } from '@clew/ledger'

/** A run that waits and is not leased. */
export interface WaitingRun {
  readonly runId: string
  readonly threadId: string | null
  readonly dueMs: number
}

export interface WaitingRuns {
  /** Longest waiting first, at most `limit`, each thread once. */
  find(options: ClaimOptions): WaitingRun[]
  nextDueMs(options: ClaimOptions): Claimed['nextDueMs']
}

/** Only what was leased before: an imported run, or one that others recorded, is not run from here. */
const LEFT = `EXISTS (SELECT 1 FROM leases l WHERE l.workspace = r.workspace AND l.run_id = r.run_id AND l.held = 0)
  AND (r.thread_id IS NULL OR NOT EXISTS
    (SELECT 1 FROM leases l WHERE l.workspace = r.workspace AND l.thread_id = r.thread_id AND l.held = 1))`
const COLUMNS = 'r.run_id, r.thread_id'

export function createWaitingRuns(db: DatabaseSync): WaitingRuns {
  // One agent at a time, so that the index gives the order and no more is read than is taken.
  const due = db.prepare(
    `SELECT ${COLUMNS}, r.due_ms AS due_ms FROM runs r
     WHERE r.workspace = ? AND r.agent = ? AND r.due_ms <= ? AND ${LEFT} ORDER BY r.due_ms`,
  )
  const orphaned = db.prepare(
    `SELECT ${COLUMNS}, r.started_ms AS due_ms FROM runs r
     WHERE r.workspace = ? AND r.status = 'running' AND r.agent = ?
       AND r.parent_run_id IS NULL AND ${LEFT} ORDER BY r.id`,
  )
  const next = db.prepare(
    'SELECT min(due_ms) AS due_ms FROM runs WHERE workspace = ? AND agent = ? AND due_ms > ?',
  )

  return {
    find({ workspace, agents, nowMs, limit, except = [], orphans = false }) {
      const left = new Set(except)
      const found: WaitingRun[] = []
      for (const agent of new Set(agents)) {
        const rows = due.iterate(workspace, agent, nowMs)
        collect(rows, left, limit, found)
        if (orphans) collect(orphaned.iterate(workspace, agent), left, limit, found)
      }
      found.sort((a, b) => a.dueMs - b.dueMs)
      const threads = new Set<string>()
      const ofOwnThread = ({ threadId }: WaitingRun): boolean => {
        if (threadId === null) return true
        const isFirst = !threads.has(threadId)
        threads.add(threadId)
        return isFirst
      }
      return found.filter(ofOwnThread).slice(0, limit)
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
  found: WaitingRun[],
): void {
  const threads = new Set<string>()
  let taken = 0
  for (const row of rows) {
    const runId = row['run_id'] as string
    const threadId = row['thread_id'] as string | null
    if (except.has(runId) || (threadId !== null && threads.has(threadId))) continue
    if (threadId !== null) threads.add(threadId)
    found.push({ runId, threadId, dueMs: row['due_ms'] as number })
    if (++taken === limit) return
  }
}

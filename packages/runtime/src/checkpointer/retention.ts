import { ClewError, isTerminal, type RunStatus, type RunSummary } from '@clew/ledger'
import type { Checkpoint, Checkpointer, Retention } from './checkpoint.ts'

interface KnownCheckpoint {
  readonly id: string
  readonly runId: string
  readonly createdAt: string
}

interface KnownThread {
  known: KnownCheckpoint[]
  readonly statuses: Map<string, RunStatus>
}

const MOST_THREADS = 100

export const isFull = ({ keep = 'full', ttlMs }: Retention): boolean => keep === 'full' && ttlMs === undefined

export function assertRetention({ keep = 'full', window, ttlMs }: Retention): void {
  const refuse = (message: string, hint: string): never => {
    throw new ClewError('bad_option', message, hint)
  }
  if (!['full', 'latest', 'windowed'].includes(keep))
    refuse(
      'The retention keeps neither full, latest nor windowed',
      "Use keep: 'full', 'latest' or 'windowed'.",
    )
  const isCount = window !== undefined && Number.isInteger(window) && window >= 1
  if (keep === 'windowed' && !isCount)
    refuse('A windowed retention has no window', 'Give a window of 1 or more checkpoints.')
  if (keep !== 'windowed' && window !== undefined)
    refuse(`A retention that keeps ${keep} has no window`, "Use keep: 'windowed', or leave the window out.")
  if (ttlMs !== undefined && !(ttlMs > 0))
    refuse('The ttlMs of the retention is not above 0', 'Give milliseconds.')
}

/** Which of a thread's checkpoints may go, oldest first; what a run that has not ended stands on stays. */
export function surplus(
  known: readonly KnownCheckpoint[],
  statuses: ReadonlyMap<string, RunStatus>,
  { keep = 'full', window = 1, ttlMs }: Retention,
  nowMs: number,
): KnownCheckpoint[] {
  const kept = keep === 'full' ? Number.POSITIVE_INFINITY : keep === 'latest' ? 1 : window
  const newest = new Map(known.map((each) => [each.runId, each.id]))
  const last = known.at(-1)?.id
  return known.filter(({ id, runId, createdAt }, index) => {
    const isOld = ttlMs !== undefined && nowMs - Date.parse(createdAt) > ttlMs
    if (known.length - index <= kept && !isOld) return false
    const isNeeded = newest.get(runId) === id && !isTerminal(statuses.get(runId) ?? 'running')
    return id !== last && !isNeeded
  })
}

/** Told of each put: deletes what the policy no longer keeps. Forks need nothing of it: they begin with a whole state. */
export function createPruner(
  checkpointer: Checkpointer,
  retention: Retention,
): (checkpoint: Checkpoint, isNew: boolean, run: RunSummary) => Promise<void> {
  const threads = new Map<string, KnownThread>()

  async function read(threadId: string): Promise<KnownThread> {
    const found = threads.get(threadId)
    if (found) return found
    const known: KnownCheckpoint[] = []
    const statuses = new Map<string, RunStatus>()
    for await (const { id, runId, createdAt, metadata } of await checkpointer.list({ threadId })) {
      known.push({ id, runId, createdAt })
      const status = metadata?.['status']
      if (typeof status === 'string') statuses.set(runId, status as RunStatus)
    }
    const entry = { known, statuses }
    threads.set(threadId, entry)
    const [oldest] = threads.keys()
    if (threads.size > MOST_THREADS && oldest !== undefined) threads.delete(oldest)
    return entry
  }

  return async ({ id, threadId, runId, createdAt }, isNew, run) => {
    if (isFull(retention) || !checkpointer.delete) return
    const entry = await read(threadId)
    if (isNew && !entry.known.some((each) => each.id === id)) entry.known.push({ id, runId, createdAt })
    entry.statuses.set(runId, run.status)
    const gone = surplus(entry.known, entry.statuses, retention, Date.now())
    for (const each of gone) await checkpointer.delete(each.id)
    entry.known = entry.known.filter((each) => !gone.includes(each))
  }
}

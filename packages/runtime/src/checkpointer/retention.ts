import { isTerminal, keepsAll, type Ledger, type RunStatus, type RunSummary } from '@clew/ledger'
import type { Checkpoint, Checkpointer, Retention } from './checkpoint.ts'
import { checkpointLookupOf } from './checkpoint-lookup.ts'

interface KnownCheckpoint {
  readonly id: string
  readonly runId: string
  readonly createdAt: string
}

interface KnownThread {
  known: KnownCheckpoint[]
  readonly statuses: Map<string, RunStatus>
}

const MAX_THREADS = 100

/** Checkpoints of a thread to delete, oldest first; the newest one of a run that has not ended is kept. */
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

/** Deletes what the policy no longer keeps, after each put. Forks are not affected: they begin with a whole state. */
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
    if (threads.size > MAX_THREADS && oldest !== undefined) threads.delete(oldest)
    return entry
  }

  return async ({ id, threadId, runId, createdAt }, isNew, run) => {
    if (keepsAll(retention) || !checkpointer.delete) return
    const entry = await read(threadId)
    if (isNew && !entry.known.some((each) => each.id === id)) entry.known.push({ id, runId, createdAt })
    entry.statuses.set(runId, run.status)
    const gone = surplus(entry.known, entry.statuses, retention, Date.now())
    for (const each of gone) await checkpointer.delete(each.id)
    entry.known = entry.known.filter((each) => !gone.includes(each))
  }
}

/** Deletes the states of a run on a ledger that the policy no longer keeps. */
export type PruneStates = (ledger: Ledger, runId: string) => Promise<unknown>

/** Undefined if all states are kept. A user's checkpointer needs none: `createPruner` deletes with each put. */
export const createStatePruner = (retention: Retention = {}): PruneStates | undefined =>
  keepsAll(retention)
    ? undefined
    : async (ledger, runId) => checkpointLookupOf(ledger) ?? (await ledger.pruneStates(runId, retention))

import {
  checkStatePolicy,
  keepsAll,
  type Ledger,
  type LedgerOptions,
  type RunFilter,
  type RunSummary,
  type SearchOptions,
} from '@clew/ledger'
import type { Checkpoint, Checkpointer, CheckpointQuery, Retention } from './checkpoint.ts'
import { eventsOfDump } from './dump-run.ts'
import { readKept } from './kept-checkpoint.ts'
import { type Lineage, lineage } from './lineage.ts'
import { createInProcessLedger } from './in-process-ledger.ts'
import {
  eventIdOf,
  findCheckpoint,
  parentOf,
  readThread,
  type RecordedCheckpoint,
} from './read-checkpoints.ts'
import { createSaverLedger } from './saver-ledger.ts'
import { searchStates, type StateHit } from './search-states.ts'
import { type ThreadStats, threadStats } from './thread-stats.ts'

export interface MemorySaverOptions extends Omit<LedgerOptions, 'retention'> {
  /** Default: everything is kept, as a record in memory. */
  readonly retention?: Retention | undefined
}

/** Keeps checkpoints in memory: for tests and for what need not outlive its process. */
export class MemorySaver implements Checkpointer {
  readonly ledger: Ledger
  readonly #kept: KeptInMap | undefined

  constructor({ retention = {}, ...options }: MemorySaverOptions = {}) {
    checkStatePolicy(retention)
    this.#kept = keepsAll(retention) ? undefined : createMap()
    this.ledger = this.#kept ? createSaverLedger(this.#kept, retention) : createInProcessLedger(options)
  }

  async put(checkpoint: Checkpoint): Promise<void> {
    if (this.#kept) return this.#kept.put(checkpoint)
    if (await findCheckpoint(this.ledger, checkpoint.id)) return
    const [dump, ...children] = readKept(checkpoint).dumps
    for (const each of dump ? [dump, ...children] : []) {
      const events = eventsOfDump(each, eventIdOf)
      // The start of a known run was appended before.
      const isKnown = (await this.ledger.getRun(each.runId)) !== null
      await this.ledger.append(isKnown ? events.slice(1) : events)
    }
  }

  async get({ threadId, checkpointId }: CheckpointQuery): Promise<Checkpoint | null> {
    if (this.#kept) return this.#kept.get({ threadId, checkpointId })
    const { ledger } = this
    const id = checkpointId ?? (await ledger.listRuns({ threadId, limit: 1 })).runs[0]?.checkpoint?.id
    const event = id === undefined ? null : await findCheckpoint(ledger, id)
    const run = event && (await ledger.getRun(event.correlationId))
    const folded =
      run?.threadId === threadId ? await ledger.getStateAt(run.runId, event?.ledger.seq ?? 0) : null
    if (!event || !run || !folded) return null
    const { seq } = event.ledger
    const parentId = await parentOf(ledger, event)
    return toPublic({ ...folded, checkpointId: id as string, parentId, runId: run.runId, threadId, seq })
  }

  async *list({ threadId }: { readonly threadId: string }): AsyncGenerator<Checkpoint> {
    if (this.#kept) yield* await this.#kept.list({ threadId })
    else for await (const each of readThread(this.ledger, threadId)) yield toPublic(each)
  }

  getSteps(runId: string): ReturnType<Ledger['getSteps']> {
    return this.ledger.getSteps(runId)
  }

  listRuns(filter?: RunFilter): Promise<{ runs: RunSummary[]; nextCursor: string | null }> {
    return this.ledger.listRuns(filter)
  }

  search(query: string, options?: SearchOptions): Promise<StateHit[]> {
    return searchStates(this.ledger, query, options)
  }

  stats(threadId?: string): Promise<ThreadStats> {
    return threadStats(this.ledger, threadId)
  }

  lineage(runId: string): Promise<Lineage> {
    return lineage(this.ledger, runId)
  }
}

const toPublic = (recorded: RecordedCheckpoint): Checkpoint => {
  const { checkpointId, parentId, threadId, runId, superstep, state, next, createdAt, versions, seq } =
    recorded
  const metadata = { versions: { ...versions }, seq }
  return {
    id: checkpointId,
    parentId,
    threadId: threadId ?? runId,
    runId,
    superstep,
    state,
    next,
    createdAt,
    metadata,
  }
}

type KeptInMap = Checkpointer & Required<Pick<Checkpointer, 'delete'>>

/** For what is not kept for ever: a ledger in memory could not give anything back. */
function createMap(): KeptInMap {
  const threads = new Map<string, Map<string, Checkpoint>>()
  return {
    async put(checkpoint) {
      const { threadId, id } = checkpoint
      const thread = threads.get(threadId) ?? new Map<string, Checkpoint>()
      threads.set(threadId, thread)
      thread.set(id, checkpoint)
    },
    async get({ threadId, checkpointId }) {
      const thread = threads.get(threadId)
      return (
        (checkpointId === undefined ? [...(thread?.values() ?? [])].at(-1) : thread?.get(checkpointId)) ??
        null
      )
    },
    list: async ({ threadId }) => [...(threads.get(threadId)?.values() ?? [])],
    async delete(checkpointId) {
      for (const [threadId, thread] of threads) {
        thread.delete(checkpointId)
        if (thread.size === 0) threads.delete(threadId)
      }
    },
  }
}

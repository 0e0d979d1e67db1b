import {
  ClewError,
  type EventInput,
  type Lease,
  type Leases,
  type Ledger,
  type LedgerMemory,
  type RunFilter,
  type RunSummary,
} from '@clew/ledger'
import type { Checkpoint, Checkpointer, Retention } from './checkpoint.ts'
import { createCheckpointLookup } from './create-checkpoint-lookup.ts'
import { setCheckpointLookup } from './checkpoint-lookup.ts'
import { createInProcessLedger } from './in-process-ledger.ts'
import { createPruner } from './retention.ts'
import { openThread, putMark, rootOf, seedRun, type ThreadLedger } from './thread-ledger.ts'

/** Limit of idle threads in memory; the checkpointer has them all. */
const MAX_IDLE = 32
const MAX_KNOWN_RUNS = 10_000
const MAX_OLD = 8
const SECRET = 'kept by a checkpointer of your own'

/**
 * A ledger in front of a checkpointer. Each thread has a small ledger of its own in memory, made from what the
 * checkpointer has of it; everything that happens there is put before anything goes on. Leases hold within this process:
 * what two processes do on the same thread at once is up to the checkpointer.
 */
export function createSaverLedger(checkpointer: Checkpointer, retention: Retention): Ledger {
  const empty = createInProcessLedger({}, SECRET)
  const threads = new Map<string, ThreadLedger>()
  const threadOf = new Map<string, string>()
  const old = new Map<string, Ledger>()
  const syncing = new Map<string, Promise<ThreadLedger>>()
  const prune = createPruner(checkpointer, retention)
  let position = 0

  /** The thread as the checkpointer has it now, unless it is being worked on here. */
  function sync(threadId: string): Promise<ThreadLedger> {
    const before = syncing.get(threadId) ?? Promise.resolve()
    const next = before.then(
      () => syncNow(threadId),
      () => syncNow(threadId),
    )
    const forget = (): boolean => syncing.get(threadId) === next && syncing.delete(threadId)
    syncing.set(threadId, next)
    void next.then(forget, forget)
    return next
  }

  async function syncNow(threadId: string): Promise<ThreadLedger> {
    const known = threads.get(threadId)
    if (known && known.held > 0) return known
    const kept: Checkpoint | null = (await checkpointer.get({ threadId })) ?? null
    if (known && known.mark !== undefined && known.mark === (kept ? putMark(kept) : undefined)) return known
    if (known && !kept && known.mark === undefined) return known
    const ledger = createInProcessLedger({}, SECRET)
    const opened = await openThread(threadId, ledger, checkpointer, kept, (checkpoint, isNew, run) =>
      prune(checkpoint, isNew, run),
    )
    if (kept) remember(kept.runId, threadId)
    threads.delete(threadId)
    threads.set(threadId, opened)
    position++
    dropIdle()
    return opened
  }

  function dropIdle(): void {
    if (threads.size <= MAX_IDLE) return
    for (const [threadId, { held }] of threads) {
      if (held > 0) continue
      threads.delete(threadId)
      if (threads.size <= MAX_IDLE) return
    }
  }

  function remember(runId: string, threadId: string): void {
    threadOf.delete(runId)
    threadOf.set(runId, threadId)
    if (threadOf.size > MAX_KNOWN_RUNS)
      for (const oldest of threadOf.keys()) return void threadOf.delete(oldest)
  }

  /** Runs without a thread are their own. */
  const threadIdOf = (runId: string): string => threadOf.get(rootOf(runId)) ?? rootOf(runId)
  const at = (runId: string): Ledger => threads.get(threadIdOf(runId))?.ledger ?? empty

  async function ledgerOf(runId: string): Promise<Ledger> {
    const threadId = threadIdOf(runId)
    const { ledger: kept } = threads.get(threadId) ?? (await sync(threadId))
    if (await kept.getRun(rootOf(runId))) return kept
    return (await oldRun(threadId, rootOf(runId))) ?? kept
  }

  /** A run before the thread's newest one, on a ledger of its own: only to be looked at and forked from. */
  async function oldRun(threadId: string, runId: string): Promise<Ledger | undefined> {
    const known = old.get(runId)
    if (known) return known
    let last: Checkpoint | undefined
    for await (const each of await checkpointer.list({ threadId })) if (each.runId === runId) last = each
    if (!last) return undefined
    const ledger = createInProcessLedger({}, SECRET)
    await seedRun(ledger, last)
    old.set(runId, ledger)
    const [first] = old.keys()
    if (old.size > MAX_OLD && first !== undefined) old.delete(first)
    return ledger
  }

  async function append(events: readonly EventInput[], options?: Parameters<Ledger['append']>[1]) {
    const [first] = events
    if (!first) return []
    const threadId = threadIdOf(first.correlationId)
    const thread = threads.get(threadId) ?? (await sync(threadId))
    if (first.eventType !== 'system.workflow_started' && !(await thread.ledger.getRun(first.correlationId)))
      throw notNewest(first.correlationId, threadId)
    const stored = await thread.ledger.append(
      events.map((event) => inThread(event, threadId)),
      options,
    )
    position += stored.length
    try {
      await thread.keep(stored)
    } catch (error) {
      // A failed put does not count: the next access loads the thread from the checkpointer again.
      if (threads.get(threadId) === thread) threads.delete(threadId)
      throw error
    }
    return stored
  }

  const leases: Leases = {
    async acquire(key, threadId = null) {
      const isChild = key.runId.includes('/')
      if (!isChild) remember(key.runId, threadId ?? key.runId)
      const thread = isChild
        ? (threads.get(threadIdOf(key.runId)) ?? (await sync(threadIdOf(key.runId))))
        : await sync(threadIdOf(key.runId))
      const lease = await thread.ledger.leases.acquire(key, threadId)
      thread.held++
      holders.set(lease, thread)
      return lease
    },
    claim: refused('worked on by a worker'),
    queues: async () => [],
    renew: (lease) => ledgerOfLease(lease).leases.renew(lease),
    async release(lease) {
      const thread = holders.get(lease)
      if (thread && holders.delete(lease)) thread.held--
      await ledgerOfLease(lease, thread).leases.release(lease)
    },
    async list() {
      return (await Promise.all([...threads.values()].map(({ ledger }) => ledger.leases.list()))).flat()
    },
  }
  const holders = new Map<Lease, ThreadLedger>()
  const ledgerOfLease = (lease: Lease, thread = holders.get(lease)): Ledger =>
    thread?.ledger ?? at(lease.runId)

  async function listRuns(
    filter: RunFilter = {},
  ): Promise<{ runs: RunSummary[]; nextCursor: string | null }> {
    const [threadId] = [filter.threadId ?? []].flat()
    if (threadId !== undefined) return (await sync(threadId)).ledger.listRuns(filter)
    const pages = await Promise.all(
      [...threads.values()].map(({ ledger }) => ledger.listRuns({ ...filter, limit: 500 })),
    )
    const runs = pages.flatMap((page) => page.runs).sort((a, b) => (a.startedAt < b.startedAt ? 1 : -1))
    return { runs: runs.slice(0, filter.limit ?? 50), nextCursor: null }
  }

  async function first<T>(ask: (ledger: Ledger) => Promise<T | null>): Promise<T | null> {
    for (const { ledger } of [...threads.values()].toReversed()) {
      const found = await ask(ledger)
      if (found !== null) return found
    }
    return null
  }

  const ledger: Ledger = {
    ...empty,
    url: 'checkpointer:',
    leases,
    append,
    appendWire: refused('written to over the network'),
    record: async (event) => (await append([event]))[0] as Awaited<ReturnType<Ledger['record']>>,
    async *read(runId, options) {
      yield* (await ledgerOf(runId)).read(runId, options)
    },
    async *listCheckpoints(runId) {
      yield* (await ledgerOf(runId)).listCheckpoints(runId)
    },
    getRun: (async (...given: Parameters<Ledger['getRun']>) =>
      (await ledgerOf(given[0])).getRun(...given)) as Ledger['getRun'],
    listRuns,
    findBelow: async (runIds) =>
      (await Promise.all([...threads.values()].map(({ ledger: each }) => each.findBelow(runIds)))).flat(),
    getSteps: async (runId) => (await ledgerOf(runId)).getSteps(runId),
    getSkeleton: async (runId, range) => (await ledgerOf(runId)).getSkeleton(runId, range),
    getState: async (runId, options) => (await ledgerOf(runId)).getState(runId, options),
    getStateAt: async (runId, seq, options) => (await ledgerOf(runId)).getStateAt(runId, seq, options),
    getEvent: (eventId) => first((each) => each.getEvent(eventId)),
    causes: async (eventId) => (await first(async (each) => nonEmpty(await each.causes(eventId)))) ?? [],
    effects: async (eventId) => (await first(async (each) => nonEmpty(await each.effects(eventId)))) ?? [],
    timeline: async (runId) => (await ledgerOf(runId)).timeline(runId),
    taskGraph: async (runId) => (await ledgerOf(runId)).taskGraph(runId),
    audit: async (runId) => (await ledgerOf(runId)).audit(runId),
    explain: async (runId) => (await ledgerOf(runId)).explain(runId),
    search: refused('searched'),
    memory: NO_MEMORY,
    follow: refused('followed'),
    consume: refused('consumed'),
    export: refused('exported'),
    import: refused('imported into'),
    verify: refused('verified'),
    signHeads: refused('signed'),
    pruneStates: refused('pruned'),
    in: refused('seen from another workspace'),
    cost: refused('billed'),
    diff: refused('compared'),
    lastPosition: async () => position,
    newestPosition: async () => position,
    get waiting() {
      return [...threads.values()].reduce((sum, { ledger: each }) => sum + each.waiting, 0)
    },
    async close() {
      for (const { ledger: each } of threads.values()) await each.close()
      threads.clear()
      await empty.close()
    },
  }
  setCheckpointLookup(ledger, createCheckpointLookup(checkpointer, remember))
  return ledger
}

/** Nothing would be found, and that would be taken for an answer. */
const refused = (what: string) => (): never => {
  throw new ClewError(
    'bad_option',
    `A checkpointer of your own keeps no record that could be ${what}`,
    'Use a ledger: openLedger, or new MemorySaver().',
  )
}

const noMemory = refused('remembered in')
const NO_MEMORY: LedgerMemory = {
  put: noMemory,
  get: noMemory,
  list: noMemory,
  search: noMemory,
  forget: noMemory,
  promote: noMemory,
  sweep: noMemory,
  context: noMemory,
  export: noMemory,
  import: noMemory,
}

const notNewest = (runId: string, threadId: string): ClewError =>
  new ClewError(
    'not_resumable',
    `Run ${runId} is not the newest one of thread ${threadId}`,
    'A checkpointer of your own goes on only with the newest run of a thread: fork this one. Nothing was changed.',
    { runId, threadId },
  )

const nonEmpty = <T>(list: T[]): T[] | null => (list.length > 0 ? list : null)

/** A run without a thread is found again by its own id. */
function inThread(event: EventInput, threadId: string): EventInput {
  const { eventType, payload } = event
  const { threadId: known, parentRunId } = payload ?? {}
  if (eventType !== 'system.workflow_started' || known !== undefined || parentRunId !== undefined)
    return event
  return { ...event, payload: { ...payload, threadId } }
}

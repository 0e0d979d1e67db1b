import {
  checkpointOf,
  ClewError,
  type ClewEvent,
  isOwn,
  isTerminal,
  type Ledger,
  type RunSummary,
} from '@clew/ledger'
import { randomUUID } from 'node:crypto'
import type { Checkpoint, Checkpointer } from './checkpoint.ts'
import { type BaseDump, eventsOfDump, followRun, type RunDump, type RunFollower } from './dump-run.ts'
import { readKept, toCheckpoint } from './kept-checkpoint.ts'
import { eventIdOf } from './read-checkpoints.ts'

/** One thread of a checkpointer in this process: a ledger in memory, and what of it must be put. */
export interface ThreadLedger {
  readonly threadId: string
  readonly ledger: Ledger
  /** The put that it stands on; undefined when nothing was kept yet. */
  readonly mark: string | undefined
  /** Runs of it that are leased here and now. */
  held: number
  /** Resolves when the checkpointer has what these events say. */
  keep(events: readonly ClewEvent[]): Promise<void>
}

/** Events that need no put: if a crash loses them, nothing is done twice. */
const LIGHT: ReadonlySet<string> = new Set(['execution.step_stopped', 'system.workflow_resumed'])
const REPEATABLE: ReadonlySet<unknown> = new Set([undefined, 'read', 'undeclared'])
const isLight = (event: ClewEvent): boolean =>
  LIGHT.has(event.eventType) ||
  (isOwn(event, 'execution.step_started') && REPEATABLE.has(event.payload.safety))

export const putMark = ({ metadata }: Checkpoint): string | undefined =>
  typeof metadata?.['put'] === 'string' ? metadata['put'] : undefined

export async function openThread(
  threadId: string,
  ledger: Ledger,
  checkpointer: Checkpointer,
  kept: Checkpoint | null,
  onPut: (checkpoint: Checkpoint, isNew: boolean, run: RunSummary) => Promise<void>,
): Promise<ThreadLedger> {
  const followers = new Map<string, RunFollower>()
  const waiting: { events: readonly ClewEvent[]; done: () => void; failed: (error: unknown) => void }[] = []
  let mark = kept ? putMark(kept) : undefined
  let lastPut: string | undefined = kept?.id
  let working = false

  async function follow(event: ClewEvent): Promise<RunFollower> {
    const runId = event.correlationId
    const known = followers.get(runId)
    if (!known) {
      const begun = followRun(event)
      followers.set(runId, begun)
      return begun
    }
    const checkpoint = known.checkpointId === undefined ? checkpointOf(event) : null
    if (checkpoint?.from) {
      const state = await ledger.getStateAt(checkpoint.from.runId, checkpoint.from.seq)
      known.apply(event, { state, parentId: state?.checkpointId ?? null })
    } else known.apply(event)
    // Child runs of a superstep end with it.
    if (checkpointOf(event))
      for (const other of followers.keys()) if (other.startsWith(`${runId}/`)) followers.delete(other)
    return known
  }

  /** Each checkpoint comes before the checkpointer, even when the next one is there already. */
  function isSuperseding(event: ClewEvent, put: string | undefined): boolean {
    const before = followers.get(event.correlationId)?.checkpointId
    return (
      checkpointOf(event) !== null &&
      before !== undefined &&
      before !== put &&
      !event.correlationId.includes('/')
    )
  }

  async function work(): Promise<void> {
    working = true
    try {
      while (waiting.length > 0) {
        const batch = waiting.splice(0)
        try {
          let due: string | undefined
          for (const event of batch.flatMap(({ events }) => events)) {
            const root = rootOf(event.correlationId)
            if (due !== undefined && (due !== root || isSuperseding(event, lastPut))) await putRun(due)
            await follow(event)
            if (!isLight(event)) due = root
          }
          if (due !== undefined) await putRun(due)
          for (const { done } of batch) done()
        } catch (error) {
          for (const { failed } of batch) failed(error)
        }
      }
    } finally {
      working = false
    }
  }

  async function putRun(runId: string): Promise<void> {
    const run = await ledger.getRun(runId)
    const dump = followers.get(runId)?.dump()
    if (!run || !dump || !hasBase(dump)) return
    const children = [...followers.values()].filter((each) => each.runId.startsWith(`${runId}/`))
    const put = randomUUID()
    const marks = { put, status: run.status }
    const checkpoint = toCheckpoint(
      threadId,
      dump,
      children.map((child) => child.dump()),
      marks,
    )
    try {
      await checkpointer.put(checkpoint)
    } catch (error) {
      throw notKept(checkpoint, error)
    }
    mark = put
    const isNew = lastPut !== checkpoint.id
    lastPut = checkpoint.id
    if (isTerminal(run.status)) followers.delete(runId)
    await onPut(checkpoint, isNew, run)
  }

  if (kept) await seedRun(ledger, kept, follow)

  return {
    threadId,
    ledger,
    get mark() {
      return mark
    },
    held: 0,
    keep(events) {
      return new Promise((done, failed) => {
        waiting.push({ events, done, failed })
        if (!working) void work()
      })
    },
  }
}

/** Makes the run of a checkpoint again, with the child runs that its superstep had under way. */
export async function seedRun(
  ledger: Ledger,
  kept: Checkpoint,
  follow: (event: ClewEvent) => Promise<unknown> = async () => {},
): Promise<void> {
  for (const dump of readKept(kept).dumps) {
    for (const event of await ledger.append(eventsOfDump(dump, eventIdOf), { expectedSeq: 0 }))
      await follow(event)
    await passEpochs(ledger, dump)
  }
}

/** Ids of life-cycle events hang on the epoch of the lease they are written under: none may come again. */
async function passEpochs(ledger: Ledger, { runId, epoch }: RunDump): Promise<void> {
  for (let i = 0; i < epoch; i++)
    await ledger.leases.release(await ledger.leases.acquire({ workspace: ledger.workspace, runId }, null))
}

const hasBase = (dump: RunDump): dump is RunDump & { readonly base: BaseDump } => dump.base !== undefined

/** Ids of child runs begin with that of their parent. */
export const rootOf = (runId: string): string => {
  const slash = runId.indexOf('/')
  return slash < 0 ? runId : runId.slice(0, slash)
}

const notKept = ({ id, threadId, runId }: Checkpoint, cause: unknown): ClewError =>
  new ClewError(
    'store_failed',
    `The checkpointer did not keep checkpoint ${id} of thread ${threadId}`,
    'See what it says below; the run goes on from the last checkpoint that was kept.',
    { checkpointId: id, threadId, runId },
    cause,
  )

import { ClewError, isOwn, type Ledger, type RunSummary } from '@clew/ledger'
import { type CheckpointLookup, checkpointLookupOf } from './checkpoint-lookup.ts'

/** Numbers of one thread or of all. */
export interface ThreadStats {
  readonly runs: number
  readonly checkpoints: number
  readonly events: number
  /** Size of the whole store: threads share stored values. */
  readonly bytes: number
  readonly firstAt: string | null
  readonly lastAt: string | null
  /** Per day, over the time from the first to the last; null where that is less than a minute. */
  readonly growth: { readonly runs: number; readonly checkpoints: number; readonly events: number } | null
}

const PAGE = 100
const DAY_MS = 86_400_000
const MIN_MS = 60_000

export async function threadStats(ledger: Ledger, threadId?: string): Promise<ThreadStats> {
  const lookup = checkpointLookupOf(ledger)
  if (lookup) return keptStats(lookup, threadId)
  const total = { runs: 0, checkpoints: 0, events: 0 }
  let firstAt: string | null = null
  let lastAt: string | null = null
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await ledger.listRuns({ threadId, limit: PAGE, cursor })
    for (const run of page.runs) {
      total.runs++
      total.events += run.events
      total.checkpoints += await countCheckpoints(ledger, run)
      if (firstAt === null || run.startedAt < firstAt) firstAt = run.startedAt
      if (lastAt === null || run.updatedAt > lastAt) lastAt = run.updatedAt
    }
    cursor = page.nextCursor
  }
  const { bytes } = await ledger.stats()
  return { ...total, bytes, firstAt, lastAt, growth: growthOf(total, firstAt, lastAt) }
}

type Counts = Pick<ThreadStats, 'runs' | 'checkpoints' | 'events'>

function growthOf(
  { runs, checkpoints, events }: Counts,
  firstAt: string | null,
  lastAt: string | null,
): Counts | null {
  const spanMs = firstAt !== null && lastAt !== null ? Date.parse(lastAt) - Date.parse(firstAt) : 0
  if (spanMs < MIN_MS) return null
  const perDay = (count: number): number => (count * DAY_MS) / spanMs
  return { runs: perDay(runs), checkpoints: perDay(checkpoints), events: perDay(events) }
}

/** Counts what a user's checkpointer lists of a thread; `bytes` is the length of its JSON. */
async function keptStats(lookup: CheckpointLookup, threadId: string | undefined): Promise<ThreadStats> {
  if (threadId === undefined)
    throw new ClewError(
      'bad_option',
      'A checkpointer of your own is asked by thread',
      'Say of which thread the numbers are wanted.',
    )
  const runs = new Set<string>()
  let checkpoints = 0
  let bytes = 0
  let firstAt: string | null = null
  let lastAt: string | null = null
  for await (const { runId, createdAt, state, metadata } of lookup.list(threadId)) {
    runs.add(runId)
    checkpoints++
    bytes += JSON.stringify([state, metadata]).length
    firstAt ??= createdAt
    lastAt = createdAt
  }
  const total = { runs: runs.size, checkpoints, events: 0 }
  return { ...total, bytes, firstAt, lastAt, growth: growthOf(total, firstAt, lastAt) }
}

/** Each checkpoint of a graph is one superstep on, and a fork has those of its prefix from elsewhere. */
async function countCheckpoints(
  ledger: Ledger,
  { runId, checkpoint, forkedFrom }: RunSummary,
): Promise<number> {
  if (!checkpoint) return 0
  if (!forkedFrom) return checkpoint.superstep + 1
  for await (const event of ledger.read(runId, { afterSeq: forkedFrom.seq, limit: 1 })) {
    const given = isOwn(event, 'system.workflow_forked') ? event.payload.checkpoint : undefined
    return checkpoint.superstep - (given?.superstep ?? -1)
  }
  return 0
}

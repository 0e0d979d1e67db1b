import { ClewError, type ClewEvent, isoMs, type Ledger } from '@clew/ledger'
import { ERROR, INTERRUPT } from '@langchain/langgraph-checkpoint'
import type { Handed } from './run-buffer.ts'
import type { SavedRow, SavedWrite, SaverDatabase } from './saver-database.ts'
import { createThreadNamespaces, type ThreadNamespaces } from './thread-namespaces.ts'
import type { ThreadNamespace } from './thread-namespace.ts'

export interface ImportCheckpointsOptions {
  readonly agent?: string | undefined
  /** Reads and counts everything, and writes nothing. */
  readonly dryRun?: boolean | undefined
  /** Called with the checkpoints done and how many there are; an exception ends the import. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined
}

export interface ImportedCheckpoints {
  readonly threads: number
  readonly checkpoints: number
  /** Runs and events that were written. */
  readonly runs: number
  readonly events: number
  /** Checkpoints that the ledger had already. */
  readonly passed: number
  /** Threads that could be imported only up to a checkpoint, or not at all. */
  readonly refused: readonly { readonly thread: string; readonly error: ClewError }[]
}

/** Commits that are under way before the next checkpoint is read. */
const IN_FLIGHT = 64

/**
 * The threads of another saver as runs. They are put as the framework put them, so the record is that of a graph that ran
 * on `ClewSaver`; times are those of the checkpoints. What the ledger has already is passed by.
 */
export async function importCheckpoints(
  ledger: Ledger,
  database: SaverDatabase,
  { agent = 'langgraph', dryRun = false, onProgress }: ImportCheckpointsOptions = {},
): Promise<ImportedCheckpoints> {
  const threads = await database.threads()
  const total = threads.reduce((sum, { checkpoints }) => sum + checkpoints, 0)
  const refused: { thread: string; error: ClewError }[] = []
  const runs = new Set<string>()
  let [done, passed, before, events] = [0, 0, 0, 0]
  const counting = countAppended(ledger, (appended) => {
    events += appended.length
    for (const { correlationId } of appended) runs.add(correlationId)
  })
  for (const { thread, checkpoints } of threads) {
    // One of their own for each, with nothing remembered of the one before.
    const clock = { nowMs: 0 }
    const spaces = createThreadNamespaces(counting, agent, 'refuse', () => clock.nowMs)
    try {
      for await (const isNew of importThread(spaces, database, thread, clock, dryRun)) {
        if (!isNew) passed++
        onProgress?.(++done, total)
      }
    } catch (error) {
      if (!(error instanceof ClewError) || !REFUSALS.has(error.code)) throw error
      refused.push({ thread, error })
    }
    before += checkpoints
    done = before
  }
  return { threads: threads.length, checkpoints: total, runs: runs.size, events, passed, refused }
}

/** The same ledger; calls `tell` with the events that are appended through it. */
function countAppended(ledger: Ledger, tell: (events: readonly ClewEvent[]) => void): Ledger {
  const append: Ledger['append'] = async (events, options) => {
    const appended = await ledger.append(events, options)
    tell(appended)
    return appended
  }
  return Object.assign(Object.create(ledger) as Ledger, { append })
}

const REFUSALS: ReadonlySet<string> = new Set([
  'broken_import',
  'bad_option',
  'bad_value',
  'bad_payload',
  'too_large',
  'conflict',
])

/** Yields for each checkpoint whether it is new. */
async function* importThread(
  spaces: ThreadNamespaces,
  database: SaverDatabase,
  thread: string,
  clock: { nowMs: number },
  dryRun: boolean,
): AsyncGenerator<boolean> {
  const versions = new Map<string, Readonly<Record<string, number | string>>>()
  const known = new Map<string, boolean>()
  const newSpaces = new Map<string, boolean>()
  let commits: Promise<unknown>[] = []
  /** The newest checkpoint of each namespace: its writes go before the next one, with the time of that. */
  const last = new Map<string, SavedRow>()

  const commit = async (handed: Handed | Promise<Handed>): Promise<void> => {
    const waiting = await handed
    const committed = waiting()
    // Awaited below; until then a failure must not count as an unhandled rejection.
    committed.catch(() => undefined)
    commits.push(committed)
    if (commits.length < IN_FLIGHT) return
    await Promise.all(commits)
    commits = []
  }

  async function putWrites({ ns, id, writes }: SavedRow, isThere: boolean): Promise<void> {
    for (const [taskId, given] of Map.groupBy(writes, (write) => write.taskId))
      for (const call of callsOf(given)) {
        const key = { thread, ns }
        if (isThere && (await spaces.reading(key, (space) => hasWrites(space, id, taskId, call)))) continue
        await commit(
          await spaces.within(key, (space) =>
            space.putWrites({
              checkpointId: id,
              taskId,
              given: call.map(({ channel, value }) => [channel, value] as const),
              signal: undefined,
              isLate: false,
              isTold: false,
              assertSound: () => undefined,
            }),
          ),
        )
      }
  }

  async function finish(ns: string): Promise<void> {
    const row = last.get(ns)
    if (row) await putWrites(row, known.get(row.id) ?? false)
  }

  /** Skips the lookup in a namespace that the ledger does not have. */
  async function isThereNow(ns: string, id: string): Promise<boolean> {
    const key = { thread, ns }
    let isNew = newSpaces.get(ns)
    if (isNew === undefined) {
      isNew = (await spaces.reading(key, (space) => space.latest())) === null
      newSpaces.set(ns, isNew)
    }
    return !isNew && (await spaces.reading(key, (space) => space.find(id))) !== null
  }

  for await (const row of database.checkpoints(thread)) {
    const { ns, id, parentId, checkpoint, metadata } = row
    const key = { thread, ns }
    const madeMs = Number.isNaN(isoMs(checkpoint.ts)) ? Date.now() : isoMs(checkpoint.ts)
    const isThere = await isThereNow(ns, id)
    clock.nowMs = madeMs
    if (!dryRun) await finish(ns)
    const beforeVersions = parentId === undefined ? undefined : versions.get(parentId)
    versions.set(id, checkpoint.channel_versions)
    known.set(id, isThere)
    if (!dryRun && !isThere) {
      const newVersions = changedVersions(beforeVersions, checkpoint.channel_versions)
      // A branch begins at what is committed.
      if (parentId !== undefined && parentId !== last.get(ns)?.id)
        await spaces.reading(key, (space) => space.grant(parentId))
      const given = {
        parentId,
        checkpoint,
        metadata,
        newVersions,
        agentName: () => undefined,
        session: undefined,
      }
      await commit(
        await spaces.within(key, (space) => space.put({ ...given, signal: undefined, isEager: false })),
      )
    }
    last.set(ns, row)
    yield !isThere
  }
  // The innermost graphs wrote first.
  if (!dryRun) for (const ns of [...last.keys()].toReversed()) await finish(ns)
  await Promise.all(commits)
}

/**
 * A task is written to in several calls over its life, of which the database has the sum: what it asked or threw first,
 * and what it gave back when it ran again.
 */
function callsOf(writes: readonly SavedWrite[]): SavedWrite[][] {
  const isHalt = ({ channel }: SavedWrite): boolean => channel === INTERRUPT || channel === ERROR
  const rest = writes.filter((write) => !isHalt(write))
  const halts = writes.filter(isHalt)
  const isOver = rest.some(({ index }) => index >= 0)
  return (isOver ? [halts, rest] : [[...halts, ...rest]]).filter((call) => call.length > 0)
}

async function hasWrites(
  space: ThreadNamespace,
  checkpointId: string,
  taskId: string,
  call: readonly SavedWrite[],
): Promise<boolean> {
  const saved = await space.find(checkpointId)
  const there = (saved?.writes ?? []).filter((each) => each.taskId === taskId).flatMap(({ writes }) => writes)
  return call.every(({ channel }) => there.some((write) => write.channel === channel))
}

function changedVersions(
  before: Readonly<Record<string, number | string>> | undefined,
  now: Readonly<Record<string, number | string>>,
): Record<string, number | string> {
  return Object.fromEntries(Object.entries(now).filter(([channel, version]) => before?.[channel] !== version))
}

import type { Ledger, RunSummary } from '@clew/ledger'
import { isObject } from './rich-values.ts'
import type { Saved } from './saved.ts'
import { PREFIX, type NamespaceKey, spaceNames, threadNames } from './namespace-key.ts'
import type { ThreadNamespaces } from './thread-namespaces.ts'

const PAGE = 100

export interface Wanted {
  readonly thread: string | undefined
  readonly ns: string | undefined
  readonly checkpointId: string | undefined
  /** Only checkpoints whose id is smaller. */
  readonly before: string | undefined
}

export interface Listed {
  readonly key: NamespaceKey
  readonly saved: Saved
}

interface OpenRun {
  readonly key: NamespaceKey
  readonly rest: AsyncGenerator<Saved>
  saved: Saved
}

/**
 * Checkpoints by id, newest first. Runs are opened when their newest checkpoint has its turn, and of each no more is
 * held than a stretch between two whole states.
 */
export async function* listSaved(
  ledger: Ledger,
  spaces: ThreadNamespaces,
  wanted: Wanted,
): AsyncGenerator<Listed> {
  const { before, checkpointId } = wanted
  await spaces.look()
  const waiting = await runsOf(ledger, spaces, wanted)
  waiting.sort((a, b) => compare(b.newest, a.newest))
  const open: OpenRun[] = []
  for (;;) {
    let best: OpenRun | undefined
    for (const each of open) if (!best || each.saved.id > best.saved.id) best = each
    const first = waiting[0]
    if (first && (!best || first.newest >= best.saved.id)) {
      waiting.shift()
      const rest = spaces.reader.newestFirst(first.run)
      const { value } = await rest.next()
      if (value) open.push({ key: first.key, rest, saved: value as Saved })
      continue
    }
    if (!best) return
    const { key, saved } = best
    if (
      (before === undefined || saved.id < before) &&
      (checkpointId === undefined || saved.id === checkpointId)
    )
      yield { key, saved }
    const { value } = await best.rest.next()
    if (value) best.saved = value as Saved
    else open.splice(open.indexOf(best), 1)
  }
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

interface WaitingRun {
  readonly key: NamespaceKey
  readonly run: RunSummary
  readonly newest: string
}

async function runsOf(
  ledger: Ledger,
  spaces: ThreadNamespaces,
  { thread, ns }: Wanted,
): Promise<WaitingRun[]> {
  const found: WaitingRun[] = []
  const keys = new Map<string, NamespaceKey | null>()
  if (thread !== undefined && ns !== undefined)
    keys.set(spaceNames({ thread, ns }, await spaces.deletionCount(thread)).prefix, { thread, ns })
  const isClosed = keys.size > 0
  const filter = thread === undefined ? {} : { threadId: threadNames(thread) }
  for (let cursor: string | undefined; ; ) {
    const page = await ledger.listRuns({ ...filter, limit: PAGE, cursor })
    for (const run of page.runs) {
      const { runId, checkpoint, forkedFrom } = run
      if (!runId.startsWith(PREFIX) || !checkpoint || (forkedFrom && checkpoint.seq <= forkedFrom.seq))
        continue
      const prefix = runId.slice(0, runId.lastIndexOf('-') + 1)
      if (!keys.has(prefix))
        keys.set(prefix, isClosed ? null : await readKey(ledger, spaces, run, prefix, thread))
      const key = keys.get(prefix)
      if (!key || (thread !== undefined && key.thread !== thread) || (ns !== undefined && key.ns !== ns))
        continue
      found.push({ key, run, newest: checkpoint.id })
    }
    cursor = page.nextCursor ?? undefined
    if (cursor === undefined) return found
  }
}

/** Which space a run is of, as its first event says; null when that thread was deleted since. */
async function readKey(
  ledger: Ledger,
  spaces: ThreadNamespaces,
  { runId }: RunSummary,
  prefix: string,
  wanted: string | undefined,
): Promise<NamespaceKey | null> {
  for await (const { payload } of ledger.read(runId, { limit: 1, restored: true })) {
    const { langgraph: given, threadId: recorded } = payload
    const { threadId, ns } = isObject(given) ? given : { threadId: recorded, ns: '' }
    // The record may have it without what redaction took out.
    const thread = wanted ?? threadId
    if (typeof thread !== 'string' || typeof ns !== 'string') return null
    return spaceNames({ thread, ns }, await spaces.deletionCount(thread)).prefix === prefix
      ? { thread, ns }
      : null
  }
  return null
}

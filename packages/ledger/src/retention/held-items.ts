import { findRun } from '../store/find-runs.ts'
import type { ClewEvent } from '../event/envelope.ts'
import { expandToWholeItems, MEMORY_TYPES, writtenFor } from '../memory/fold.ts'
import type { MemoryRow } from '../memory/item.ts'
import type { PayloadReader } from '../read/payload-reader.ts'
import type { Store } from '../store/store.ts'
import { findHold } from './find-hold.ts'
import { type Hold, isHeldName } from './holds.ts'

interface HoldParts {
  readonly store: Store
  readonly reader: PayloadReader
  readonly workspace: string
}

/**
 * Finds the hold that covers an item of memory, whatever memory run it is stored in: one on a subject of the item, or one on
 * the run that wrote it. Holds on the memory run as a whole are found by `findHold`.
 */
export function createItemHoldCheck(
  parts: Pick<HoldParts, 'store' | 'workspace'>,
  holds: readonly Hold[],
): (item: Pick<MemoryRow, 'subjects' | 'runId'>) => Promise<Hold | undefined> {
  const { store, workspace } = parts
  const byRun = new Map<string, Promise<Hold | undefined>>()
  async function ofRun(runId: string): Promise<Hold | undefined> {
    const run = await findRun(store, { workspace, runId })
    return run ? findHold(parts, holds, run.summary) : undefined
  }
  return async ({ subjects, runId }) => {
    const own = holds.find(
      (hold) => 'subject' in hold.target && subjects.some((name) => isHeldName(hold, name)),
    )
    if (own || runId === null || holds.length === 0) return own
    const known = byRun.get(runId) ?? ofRun(runId)
    byRun.set(runId, known)
    return known
  }
}

const PAGE = 500
const KEYS: ReadonlySet<string> = new Set(['namespace', 'key', 'subjects', 'runId'])

/** The events of a memory run without their values. */
async function* itemEvents(
  { store, reader, workspace }: HoldParts,
  memoryRun: string,
): AsyncGenerator<ClewEvent> {
  for (let afterSeq = 0; ; ) {
    const range = { afterSeq, limit: PAGE, types: MEMORY_TYPES }
    const page = await store.readRun({ workspace, runId: memoryRun }, range)
    for (const stored of page) yield reader.toPartialEvent(stored, KEYS)
    if (page.length < PAGE) return
    afterSeq = page.at(-1)?.seq ?? afterSeq
  }
}

/**
 * A hold on any event of a memory run, also one that was forgotten or written again since: for callers that take
 * memory runs as a whole.
 */
export async function findHoldWithin(
  parts: HoldParts,
  holds: readonly Hold[],
  memoryRun: string,
): Promise<Hold | undefined> {
  if (holds.length === 0) return undefined
  const holdOn = createItemHoldCheck(parts, holds)
  for await (const event of itemEvents(parts, memoryRun)) {
    const hold = await holdOn(writtenFor(event))
    if (hold) return hold
  }
  return undefined
}

/** Seqs of all events of held items: an item is erased as a whole, so it is held as a whole. */
export async function readHeldItems(
  parts: HoldParts,
  holds: readonly Hold[],
  memoryRun: string,
): Promise<{ readonly seqs: ReadonlySet<number>; readonly hold: Hold } | undefined> {
  const holdOn = createItemHoldCheck(parts, holds)
  const events: ClewEvent[] = []
  const own = new Set<number>()
  let first: Hold | undefined
  for await (const event of itemEvents(parts, memoryRun)) {
    events.push(event)
    const hold = await holdOn(writtenFor(event))
    if (!hold) continue
    first ??= hold
    own.add(event.ledger.seq)
  }
  return (
    first && { seqs: new Set(expandToWholeItems(events, own).map(({ ledger }) => ledger.seq)), hold: first }
  )
}

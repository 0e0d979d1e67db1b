import type { ClewEvent } from '../event/envelope.ts'
import { ClewError } from '../errors.ts'
import { yieldToEventLoop } from '../yield-to-event-loop.ts'
import type { PayloadReader } from '../read/payload-reader.ts'
import type { Ports } from '../ports.ts'
import type { Store } from '../store/store.ts'
import { foldMemory, MEMORY_TYPES, MEMORY_VERSION, nameOf, replacedBy, subjectOf, wordsOf } from './fold.ts'
import { MEMORY_LAYERS, type MemoryRow } from './item.ts'
import type { Spellings } from './spellings.ts'
import { type StaleScope, type MemoryIndex, namedIn, type ScopeFilter } from './memory-index.ts'
import { foldedMemory } from './fold-rows.ts'

export interface MemoryParts {
  readonly store: Store
  readonly reader: PayloadReader
  readonly ports: Pick<Ports, 'sha256' | 'now' | 'defer'>
  readonly workspace: string
  readonly spellings: Spellings
  /** Throws `closed` after the ledger was closed. */
  readonly assertOpen: () => void
}

const PAGE = 500

/**
 * Brings the rows of these scopes to the heads of their memory runs, and gives what is to be asked: the store's rows, or rows
 * made for this one question where the store may only be read.
 */
export async function catchUpMemory(
  parts: MemoryParts,
  filter: Omit<ScopeFilter, 'workspace'>,
): Promise<MemoryIndex> {
  const { store, workspace } = parts
  const asked = { ...filter, workspace, version: MEMORY_VERSION }
  const behind = await store.memory.behind(asked)
  if (behind.length === 0) return store.memory
  try {
    for (const scope of behind) await foldMemoryRun(parts, store.memory, scope)
    return store.memory
  } catch (error) {
    if (!(error instanceof ClewError && error.code === 'store_readonly')) throw error
    return rowsForReading(parts, filter)
  }
}

async function rowsForReading(
  parts: MemoryParts,
  filter: Omit<ScopeFilter, 'workspace'>,
): Promise<MemoryIndex> {
  const { store, workspace } = parts
  const rows = foldedMemory(store)
  for (const scope of await rows.behind({ ...filter, workspace, version: MEMORY_VERSION }))
    await foldMemoryRun(parts, rows, scope)
  return rows
}

/** Events that replaced an item under another name: the event that wrote it has that name. */
async function readReplaced(
  { store, reader, workspace }: MemoryParts,
  runId: string,
  events: readonly ClewEvent[],
): Promise<ClewEvent[]> {
  const seqs = new Set(events.flatMap((event) => replacedBy(event)))
  const pages = [...seqs].map((seq) =>
    store.readRun({ workspace, runId }, { afterSeq: seq - 1, upToSeq: seq, limit: 1 }),
  )
  return reader.toPlainEvents((await Promise.all(pages)).flat())
}

async function foldMemoryRun(
  parts: MemoryParts,
  index: MemoryIndex,
  { memoryRun, seq, foldedSeq }: StaleScope,
): Promise<void> {
  const { store, reader, ports, workspace } = parts
  for (let fromSeq = foldedSeq; fromSeq < seq; ) {
    const range = { afterSeq: fromSeq, upToSeq: seq, limit: PAGE }
    const stored = await store.readRun({ workspace, runId: memoryRun }, range)
    const events = await reader.toPlainEvents(
      stored.filter((event) => (MEMORY_TYPES as readonly string[]).includes(event.eventType)),
    )
    const named = [...events, ...(await readReplaced(parts, memoryRun, events))]
    const names = new Map(
      named.flatMap((event) => {
        const subject = subjectOf(event)
        return subject ? [[nameOf(subject), subject] as const] : []
      }),
    )
    // From the first event on nothing stands before, whatever rows another version of the fold has left.
    const before = fromSeq === 0 ? [] : await index.list(namedIn(workspace, [memoryRun], [...names.values()]))
    const rows = new Map<string, MemoryRow>(before.map((row) => [nameOf(row), row]))
    for (const event of events) foldMemory(rows, event)
    const byPosition = new Map(events.map((event) => [event.ledger.position, event]))
    const standing = new Set([...rows.values()].map((row) => row.position))
    const known = new Set(before.map((row) => row.position))
    const toSeq = stored.length < PAGE ? seq : (stored.at(-1)?.seq ?? seq)
    const isTaken = await index.apply({
      workspace,
      memoryRun,
      fromSeq,
      toSeq,
      version: MEMORY_VERSION,
      gone: [...known].filter((position) => !standing.has(position)),
      rows: [...rows.values()].flatMap((row) => {
        const event = known.has(row.position) ? undefined : byPosition.get(row.position)
        return event ? [{ ...row, words: wordsOf(row, event) }] : []
      }),
    })
    if (!isTaken) {
      // Another process was faster: continue from the present state of the rows.
      const [now] = await index.behind({
        workspace,
        memoryRuns: [memoryRun],
        layers: MEMORY_LAYERS,
        version: MEMORY_VERSION,
      })
      if (!now) return
      fromSeq = now.foldedSeq
    } else fromSeq = toSeq
    await yieldToEventLoop(ports)
  }
}

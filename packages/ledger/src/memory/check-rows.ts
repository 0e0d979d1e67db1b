import type { PayloadReader } from '../read/payload-reader.ts'
import type { Store, StoredRun } from '../store/store.ts'
import type { Problem } from '../verify/verify.ts'
import { isErased } from '../fold/fields.ts'
import { foldMemory, MEMORY_TYPES, MEMORY_VERSION, nameOf, wordsOf } from './fold.ts'
import { MEMORY_LAYERS, type MemoryRow, parseMemoryRunId } from './item.ts'

const PAGE = 500
/** Readers may fold new events into the rows, and an erasure delete some, while they are compared. */
const ATTEMPTS = 3

/** Compares the rows of a run of memory with its events, up to where they are folded (L1). */
export async function checkMemoryRows(
  store: Store,
  reader: PayloadReader,
  { workspace, summary: { runId: memoryRun }, seq }: StoredRun,
  memorySeq: number | null,
): Promise<Problem[]> {
  if (!parseMemoryRunId(memoryRun)) return []
  const differs: Problem = {
    runId: memoryRun,
    seq: null,
    problem: 'projection_differs',
    detail: 'the stored rows of memory are not what its events fold to',
  }
  // Events up to there would never be folded.
  if (memorySeq !== null && memorySeq > seq) return [differs]
  const filter = { workspace, memoryRuns: [memoryRun], layers: MEMORY_LAYERS }

  async function foldedSeq(): Promise<number> {
    const [behind] = await store.memory.behind({ ...filter, version: MEMORY_VERSION })
    return behind ? behind.foldedSeq : seq
  }

  async function folded(upToSeq: number): Promise<MemoryRow[]> {
    const rows = new Map<string, MemoryRow>()
    for (let afterSeq = 0; ; ) {
      const range = { afterSeq, upToSeq, limit: PAGE, types: MEMORY_TYPES }
      const page = await store.readRun({ workspace, runId: memoryRun }, range)
      for (const event of await reader.toPlainEvents(page)) foldMemory(rows, event)
      if (page.length < PAGE) return [...rows.values()]
      afterSeq = page.at(-1)?.seq ?? afterSeq
    }
  }

  /** The text is not kept beside the rows: a memory run may hold a lot of it. */
  async function areFound(rows: readonly MemoryRow[]): Promise<boolean> {
    for (let at = 0; at < rows.length; at += PAGE) {
      const page = new Map(rows.slice(at, at + PAGE).map((row) => [row.position, row]))
      const events = await store.findEvents({ workspace, positions: [...page.keys()] })
      const withWords = (await reader.toPlainEvents(events)).flatMap((event) => {
        const row = page.get(event.ledger.position)
        return row && !isErased(event) ? [{ ...row, words: wordsOf(row, event) }] : []
      })
      if ((await store.memory.differing(workspace, withWords)).length > 0) return false
    }
    return true
  }

  async function stored(): Promise<MemoryRow[]> {
    const rows: MemoryRow[] = []
    for (;;) {
      const page = await store.memory.list({ ...filter, nowMs: null, limit: PAGE, after: rows.at(-1) })
      rows.push(...page)
      if (page.length < PAGE) return rows
    }
  }

  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const before = await foldedSeq()
    const rows = await stored()
    // Rows of an older fold, or of none, are not read: the next reader drops them and folds from the first event.
    if (before === 0) return []
    if (textOf(rows) === textOf(await folded(before)) && (await areFound(rows))) return []
  }
  return [differs]
}

const textOf = (rows: readonly MemoryRow[]): string =>
  JSON.stringify(rows.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1)).map(fieldsOf))

/** Fields in one order, whatever the order of the store. */
const fieldsOf = (row: MemoryRow): unknown => Object.entries(row).toSorted(([a], [b]) => (a < b ? -1 : 1))

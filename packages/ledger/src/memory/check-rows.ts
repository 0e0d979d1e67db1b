import type { PayloadReader } from '../payload-reader.ts'
import type { Store, StoredRun } from '../store/store.ts'
import type { Problem } from '../verify.ts'
import { foldMemory, MEMORY_TYPES, MEMORY_VERSION, nameOf } from './fold.ts'
import { MEMORY_LAYERS, type MemoryRow, parseMemoryBook } from './item.ts'

const PAGE = 500
/** Whoever reads brings rows on: then they are looked at again. */
const ATTEMPTS = 3

/** The rows of a book of memory must be what its events fold to, as far as they are folded (L1). */
export async function checkMemoryRows(
  store: Store,
  reader: PayloadReader,
  { workspace, summary: { runId: book }, seq }: StoredRun,
): Promise<Problem[]> {
  if (!parseMemoryBook(book)) return []
  const filter = { workspace, books: [book], layers: MEMORY_LAYERS }

  async function foldedSeq(): Promise<number> {
    const [behind] = await store.memory.behind({ ...filter, version: MEMORY_VERSION })
    return behind ? behind.foldedSeq : seq
  }

  async function folded(upToSeq: number): Promise<MemoryRow[]> {
    const rows = new Map<string, MemoryRow>()
    for (let afterSeq = 0; ; ) {
      const range = { afterSeq, upToSeq, limit: PAGE, types: MEMORY_TYPES }
      const page = await store.readRun({ workspace, runId: book }, range)
      for (const event of await reader.toPlainEvents(page)) foldMemory(rows, event)
      if (page.length < PAGE) return [...rows.values()]
      afterSeq = page.at(-1)?.seq ?? afterSeq
    }
  }

  async function stored(): Promise<MemoryRow[]> {
    const rows: MemoryRow[] = []
    for (;;) {
      const page = await store.memory.list({ ...filter, nowMs: null, limit: PAGE, after: rows.at(-1) })
      rows.push(...page)
      if (page.length < PAGE) return rows
    }
  }

  for (let attempt = 1; ; attempt++) {
    const before = await foldedSeq()
    const rows = textOf(await stored())
    // Rows of an older fold, or of none, say nothing yet: the next reader makes them.
    if (before === 0 || rows === textOf(await folded(before))) return []
    if ((await foldedSeq()) === before || attempt === ATTEMPTS) break
  }
  const detail = 'the stored rows of memory are not what its events fold to'
  return [{ runId: book, seq: null, problem: 'projection_differs', detail }]
}

const textOf = (rows: readonly MemoryRow[]): string =>
  JSON.stringify(rows.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1)).map(fieldsOf))

/** In one order, whatever a store gives them in. */
const fieldsOf = (row: MemoryRow): unknown => Object.entries(row).toSorted(([a], [b]) => (a < b ? -1 : 1))

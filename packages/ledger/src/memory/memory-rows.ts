import { findPhrase } from '../search/highlight.ts'
import type { Phrase } from '../search/search-index.ts'
import { indexedTokens } from '../search/tokens.ts'
import type { StoredEvent } from '../store.ts'
import { isoText } from '../iso-text.ts'
import { isExpired, nameOf } from './fold.ts'
import { type MemoryRow, parseMemoryBook } from './item.ts'
import type { FindRows, MemoryIndex, RowFilter, ScopeFilter } from './memory-index.ts'
import { compareNames, isWithin } from './names.ts'

interface Book {
  seq: number
  version: number
  readonly rows: Map<string, MemoryRow>
  readonly names: Map<number, string>
}

interface MemoryRowsParts {
  /** These books, or all books of memory, and where they stand. */
  readonly heads: (
    workspace: string,
    books: readonly string[] | undefined,
  ) => Iterable<readonly [book: string, seq: number]>
  readonly eventAt: (position: number) => StoredEvent | undefined
}

/** The rows of a store in memory, gone through one by one; also what a ledger that may only be read is asked by. */
export function createMemoryRows({ heads, eventAt }: MemoryRowsParts): MemoryIndex {
  const workspaces = new Map<string, Map<string, Book>>()
  const words = new WeakMap<MemoryRow, { readonly name: string[]; readonly text: string[] }>()

  const booksIn = (workspace: string): Map<string, Book> => {
    const books = workspaces.get(workspace) ?? new Map<string, Book>()
    workspaces.set(workspace, books)
    return books
  }

  function isAsked(book: string, { books, layers }: Omit<ScopeFilter, 'workspace'>): boolean {
    const scope = parseMemoryBook(book)
    return (
      scope !== undefined && layers.includes(scope.layer) && (books === undefined || books.includes(book))
    )
  }

  function* rowsIn(filter: RowFilter): Generator<MemoryRow> {
    const { namespaces, tags = [], nowMs } = filter
    const now = nowMs === null ? null : isoText(nowMs)
    for (const [name, { rows }] of booksIn(filter.workspace)) {
      if (!isAsked(name, filter)) continue
      for (const row of rows.values())
        if (
          (now === null || !isExpired(row, now)) &&
          (namespaces === undefined || namespaces.some((above) => isWithin(row.namespace, above))) &&
          tags.every((names) => names.some((tag) => row.tags.includes(tag)))
        )
          yield row
    }
  }

  function fits(row: MemoryRow, { all, names = [], none }: FindRows): boolean {
    const { name = [], text = [] } = words.get(row) ?? {}
    const has = (phrase: Phrase): boolean => findPhrase(name, phrase) >= 0 || findPhrase(text, phrase) >= 0
    return all.every(has) && names.every((phrase) => findPhrase(name, phrase) >= 0) && !none.some(has)
  }

  const newestFirst = (rows: Iterable<MemoryRow>): MemoryRow[] =>
    [...rows].sort((a, b) => b.position - a.position)

  return {
    async behind(filter) {
      const books = booksIn(filter.workspace)
      return [...heads(filter.workspace, filter.books)].flatMap(([book, seq]) => {
        if (!isAsked(book, filter)) return []
        const known = books.get(book)
        const foldedSeq = known?.version === filter.version ? known.seq : 0
        return seq > foldedSeq ? [{ book, seq, foldedSeq }] : []
      })
    },
    async apply({ workspace, book, fromSeq, toSeq, version, gone, rows }) {
      const books = booksIn(workspace)
      const known = books.get(book)
      const foldedSeq = known?.version === version ? known.seq : 0
      if (foldedSeq !== fromSeq) return false
      const kept = fromSeq === 0 || !known ? { rows: new Map(), names: new Map() } : known
      const next: Book = { seq: toSeq, version, rows: kept.rows, names: kept.names }
      for (const position of gone) drop(next, position)
      for (const { words: own, ...row } of rows) {
        next.rows.set(nameOf(row), row)
        words.set(row, { name: indexedTokens(own.name), text: indexedTokens(own.text) })
        next.names.set(row.position, nameOf(row))
      }
      books.set(book, next)
      return true
    },
    async named(workspace, book, names) {
      const rows = booksIn(workspace).get(book)?.rows
      return names.flatMap((name) => rows?.get(nameOf(name)) ?? [])
    },
    async list(filter) {
      const { after, limit } = filter
      const order = (a: Pick<MemoryRow, 'book' | 'namespace' | 'key'>, b: typeof a): number =>
        compareNames(a.book, b.book) || compareNames(a.namespace, b.namespace) || compareNames(a.key, b.key)
      const found = [...rowsIn(filter)].filter((row) => after === undefined || order(row, after) > 0)
      return found.sort(order).slice(0, limit)
    },
    async newest(filter) {
      const { before = Number.MAX_SAFE_INTEGER, limit } = filter
      return newestFirst([...rowsIn(filter)].filter((row) => row.position < before)).slice(0, limit)
    },
    find: async (filter) =>
      newestFirst([...rowsIn(filter)].filter((row) => fits(row, filter)))
        .slice(0, filter.limit)
        .map(({ position, updatedAt }) => ({ position, updatedAt })),
    async rows(workspace, positions) {
      const wanted = new Set(positions)
      const books = [...booksIn(workspace).values()]
      return books.flatMap(({ rows }) => [...rows.values()].filter((row) => wanted.has(row.position)))
    },
    async sizes(filter) {
      return [...booksIn(filter.workspace)].flatMap(([book, { rows }]) => {
        if (!isAsked(book, filter) || rows.size === 0) return []
        let bytes = 0
        for (const row of rows.values()) bytes += row.bytes
        return [{ book, items: rows.size, bytes }]
      })
    },
    async events(workspace, positions) {
      return positions.flatMap((position) => {
        const event = eventAt(position)
        return event?.workspace === workspace ? [event] : []
      })
    },
    async remove(workspace, positions) {
      for (const book of booksIn(workspace).values()) for (const position of positions) drop(book, position)
    },
    async clear(workspace, book) {
      if (book === undefined) workspaces.delete(workspace)
      else booksIn(workspace).delete(book)
    },
  }
}

function drop({ rows, names }: Book, position: number): void {
  const name = names.get(position)
  names.delete(position)
  if (name !== undefined && rows.get(name)?.position === position) rows.delete(name)
}

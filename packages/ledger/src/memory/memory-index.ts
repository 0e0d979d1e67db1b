import type { Phrase } from '../search/search-index.ts'
import type { StoredEvent } from '../store.ts'
import type { MemoryLayer, MemoryRow, MemoryWords } from './item.ts'

/** Which scopes: these books, or all books of these layers. */
export interface ScopeFilter {
  readonly workspace: string
  readonly books?: readonly string[] | undefined
  readonly layers: readonly MemoryLayer[]
}

export interface RowFilter extends ScopeFilter {
  /** In one of these or below it: `a/b` is below `a`. */
  readonly namespaces?: readonly string[] | undefined
  /** With one of each of these. */
  readonly tags?: readonly (readonly string[])[] | undefined
  /** Without what had expired by then; null: with it. */
  readonly nowMs: number | null
  readonly limit: number
}

export interface RowName {
  readonly namespace: string
  readonly key: string
}

/** A book whose rows lack events: folded up to `foldedSeq`, while it stands at `seq`. */
export interface BehindScope {
  readonly book: string
  readonly seq: number
  readonly foldedSeq: number
}

export interface ScopeSize {
  readonly book: string
  readonly items: number
  readonly bytes: number
}

/** What the events of a book after `fromSeq` up to `toSeq` make of its rows. */
export interface MemoryChange {
  readonly workspace: string
  readonly book: string
  readonly fromSeq: number
  readonly toSeq: number
  /** Version of the fold: rows of another one are made again from the first event on. */
  readonly version: number
  /** Positions of rows that go: forgotten, or written anew. */
  readonly gone: readonly number[]
  readonly rows: readonly (MemoryRow & { readonly words: MemoryWords })[]
}

/** A row that holds what is looked for: no more of it than ranking needs. */
export interface FoundRow {
  readonly position: number
  readonly updatedAt: string
}

export interface FindRows extends RowFilter {
  /** Words that must all be there; with `names`, in namespace, key or tags. */
  readonly all: readonly Phrase[]
  readonly names?: readonly Phrase[] | undefined
  readonly none: readonly Phrase[]
}

/**
 * The fold of the books of memory as rows with full text: a projection that whoever reads brings on (`bringOn`), and
 * that can be emptied and made again from the events at any time.
 *
 * Erasure and retention take rows with the events they stand on, by position: in the same transaction where they can, else by
 * `remove`. The events to erase are first widened to all events of the same items (`eventsOfSameItems`).
 */
export interface MemoryIndex {
  /** Books that have events the rows lack, or whose rows another version of the fold made. */
  behind(filter: ScopeFilter & { readonly version: number }): Promise<BehindScope[]>
  /** In one transaction; false, and nothing is changed, when the rows of the book stand elsewhere than at `fromSeq`. */
  apply(change: MemoryChange): Promise<boolean>
  /** The rows of these names in one book, expired or not. */
  named(workspace: string, book: string, names: readonly RowName[]): Promise<MemoryRow[]>
  /** By book, namespace and key (in the order of their code points), after the one given. */
  list(
    filter: RowFilter & { readonly after?: (RowName & { readonly book: string }) | undefined },
  ): Promise<MemoryRow[]>
  /** Newest first, before the position given. */
  newest(filter: RowFilter & { readonly before?: number | undefined }): Promise<MemoryRow[]>
  /** Rows that hold the words, newest first. */
  find(filter: FindRows): Promise<FoundRow[]>
  /** The rows at these positions, in any order. */
  rows(workspace: string, positions: readonly number[]): Promise<MemoryRow[]>
  /** How much each scope holds, expired items included. */
  sizes(filter: ScopeFilter): Promise<ScopeSize[]>
  /** The events at these positions: where the values are. */
  events(workspace: string, positions: readonly number[]): Promise<StoredEvent[]>
  /** Takes rows away whose events are erased: their words too, so that no byte of them is left. */
  remove(workspace: string, positions: readonly number[]): Promise<void>
  /** Empties one book's rows, or all; the next reader makes them again. */
  clear(workspace: string, book?: string): Promise<void>
}

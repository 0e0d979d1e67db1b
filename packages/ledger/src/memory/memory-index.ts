import type { Phrase } from '../search/search-index.ts'
import { MEMORY_LAYERS, type MemoryLayer, type MemoryRow, type MemoryWords } from './item.ts'

/** Which scopes: these memory runs, or all memory runs; of these layers. */
export interface ScopeFilter {
  readonly workspace: string
  readonly memoryRuns?: readonly string[] | undefined
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

/** A memory run whose rows lack events: folded up to `foldedSeq`, while it stands at `seq`. */
export interface StaleScope {
  readonly memoryRun: string
  readonly seq: number
  readonly foldedSeq: number
}

export interface ScopeSize {
  readonly memoryRun: string
  readonly items: number
  readonly bytes: number
}

/** Changes to the rows of a memory run by its events after `fromSeq` up to `toSeq`. */
export interface MemoryChange {
  readonly workspace: string
  readonly memoryRun: string
  readonly fromSeq: number
  readonly toSeq: number
  /** Version of the fold: rows of another one are made again from the first event on. */
  readonly version: number
  /** Positions of rows to delete: forgotten, or written again. */
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

/** Rows that are asked for, by name or newest first. */
export interface RowQuery extends RowFilter {
  /** Only rows of these names. */
  readonly names?: readonly RowName[] | undefined
  /** Only rows at these positions. */
  readonly positions?: readonly number[] | undefined
  /** Order: memory run, namespace and key by code points (the default), or position, highest first. */
  readonly order?: 'name' | 'newest' | undefined
  /** Only rows after this one in the order by name. */
  readonly after?: (RowName & { readonly memoryRun: string }) | undefined
  /** Only rows below this position. */
  readonly before?: number | undefined
}

/**
 * The fold of the memory runs as rows with full text: a projection that every read first applies new events to
 * (`catchUpMemory`), and that can be emptied and rebuilt from the events at any time. Rows of erased and pruned
 * events disappear with their events. The events to erase are first expanded to all events of the same items
 * (`expandToWholeItems`).
 */
export interface MemoryIndex {
  /** Memory runs that have events which the rows lack, or whose rows another version of the fold made. */
  behind(filter: ScopeFilter & { readonly version: number }): Promise<StaleScope[]>
  /** One transaction; false, and nothing is changed, if the rows of the memory run are not at `fromSeq`. */
  apply(change: MemoryChange): Promise<boolean>
  list(query: RowQuery): Promise<MemoryRow[]>
  /** Positions of the rows that are found by other words than these, or by none. */
  differing(workspace: string, rows: MemoryChange['rows']): Promise<number[]>
  /** Rows that contain the words, newest first. */
  find(filter: FindRows): Promise<FoundRow[]>
  /** Size of each scope, expired items included. */
  sizes(filter: ScopeFilter): Promise<ScopeSize[]>
  /** Empties all rows of a workspace; the next read rebuilds them. */
  clear(workspace: string): Promise<void>
}

/** The rows of these names in some memory runs, expired or not. */
export const namedIn = (
  workspace: string,
  memoryRuns: readonly string[],
  names: readonly RowName[],
): RowQuery => ({
  workspace,
  memoryRuns,
  layers: MEMORY_LAYERS,
  names,
  nowMs: null,
  limit: memoryRuns.length * names.length,
})

import type { RunStatus } from '../fold/run-summary.ts'

/** Searchable text of one event; each field is normalized by `indexText`. */
export interface SearchDocument {
  readonly position: number
  readonly workspace: string
  readonly runId: string
  readonly seq: number
  readonly eventType: string
  readonly recordedAt: string
  /** Name of the tool that it calls or answers for. */
  readonly tool: string | null
  readonly fields: Readonly<Record<SearchField, string>>
}

/** In the order of their weight: a word in a name or an error says more than one in a large value. */
export const SEARCH_FIELDS = ['name', 'error', 'message', 'data'] as const
export type SearchField = (typeof SEARCH_FIELDS)[number]
export const FIELD_WEIGHTS: Readonly<Record<SearchField, number>> = { name: 4, error: 4, message: 2, data: 1 }

/** Words that must stand together, folded; the last may be the beginning of one. */
export interface Phrase {
  readonly tokens: readonly string[]
  readonly prefix: boolean
}

/** One of several values; each matches whole, or by its beginning. */
export interface ValueFilter {
  readonly values: readonly { readonly text: string; readonly prefix: boolean }[]
  readonly negated: boolean
}

export interface NumberFilter {
  readonly op: '<' | '<=' | '=' | '>=' | '>'
  readonly amount: number
  readonly negated: boolean
}

/** A tag of the run; without `values` and `number` it must only be there. Null for either asks for nothing of it. */
export interface TagFilter {
  readonly name: string
  readonly values: ValueFilter['values'] | null
  readonly number: Pick<NumberFilter, 'op' | 'amount'> | null
  readonly negated: boolean
}

export interface RunSort {
  readonly by: 'started' | 'updated' | 'ended' | 'duration' | 'tokens' | 'cost' | 'events' | 'steps'
  readonly descending: boolean
}

/** Whether it asks for certain events; otherwise it is about runs only, and each run fits once, with its first event. */
export const isAboutEvents = ({ all, none, type, tool }: SearchQuery): boolean =>
  all.length + none.length + type.length + tool.length > 0

/** A parsed query: everything must hold. Words are about one event, filters about it or its run. */
export interface SearchQuery {
  readonly all: readonly Phrase[]
  readonly none: readonly Phrase[]
  readonly type: readonly ValueFilter[]
  readonly tool: readonly ValueFilter[]
  readonly run: readonly ValueFilter[]
  readonly agent: readonly ValueFilter[]
  readonly thread: readonly ValueFilter[]
  readonly status: readonly { readonly values: readonly RunStatus[]; readonly negated: boolean }[]
  readonly cost: readonly NumberFilter[]
  /** Events recorded, or runs that went on, at or after this time. */
  readonly since: string | null
  // Conditions on the summary of the run that stores need not know: search and listing test them above the store.
  readonly tag: readonly TagFilter[]
  readonly model: readonly ValueFilter[]
  /** Text in the name, code or message of its error, in lower case. */
  readonly error: readonly { readonly text: string; readonly negated: boolean }[]
  readonly tokens: readonly NumberFilter[]
  readonly duration: readonly NumberFilter[]
  readonly steps: readonly NumberFilter[]
  readonly sort: RunSort | null
}

export interface SearchMatch {
  readonly position: number
  readonly runId: string
  readonly seq: number
  readonly recordedAt: string
  /** How well the words fit; higher is better, 0 without words. */
  readonly relevance: number
}

export interface FindOptions {
  readonly workspace: string
  readonly query: SearchQuery
  /** Only events up to this position. */
  readonly upTo: number
  /** Only events after this one. */
  readonly after?: number | undefined
  /** Only events of this run. */
  readonly runId?: string | undefined
  readonly limit: number
}

export interface IndexState {
  /** All events up to here are in it. */
  readonly position: number
  /** The version of the extraction that filled it; 0 when it is empty. */
  readonly version: number
}

/**
 * The search index: an asynchronous consumer of the ledger (L1), never written on the way of an append. Erased and
 * pruned events are not found from the moment they are; their words leave the index with the next `add`.
 */
export interface SearchIndex {
  state(): Promise<IndexState>
  /**
   * Adds the documents of all events after `from` up to `position` in one transaction, and removes the words of events
   * that were erased or pruned since, whether they are in the index already or among the documents. An `add` without
   * documents from where the index stands only does the latter. False, and nothing is changed, if the index stands
   * elsewhere.
   */
  add(
    batch: IndexState & { readonly from: number; readonly documents: readonly SearchDocument[] },
  ): Promise<boolean>
  /** Positions of the documents of which the index has other words than these, or none. */
  differing(documents: readonly SearchDocument[]): Promise<number[]>
  /** Matching events, newest first. */
  find(options: FindOptions): Promise<SearchMatch[]>
  /** Empties the index; the next `add` begins at 0. */
  clear(): Promise<void>
}

import type { Highlight } from '../search/highlight.ts'
import type { MemoryInput } from './check-put.ts'
import type { MemoryItem, MemoryLayer, MemoryScope } from './item.ts'
import type { MemoryPolicy, PromotionRule } from './policy.ts'

export type MemoryName = Pick<MemoryInput, 'layer' | 'scope' | 'namespace' | 'key'>

export interface PutOptions {
  /** Only if the item has this version, 0 for one that must not be there; `conflict` otherwise. */
  readonly ifVersion?: number | undefined
  /** A write with an id that is there already was done before, and is answered as it was then. */
  readonly eventId?: string | undefined
  /** The run in which it is done. */
  readonly runId?: string | undefined
}

export interface ForgetOptions extends PutOptions {
  /** Why; stands in the event. */
  readonly reason?: string | undefined
}

/** Result of a write. */
export interface MemoryReceipt extends MemoryScope {
  readonly namespace: string
  readonly key: string
  readonly version: number
  readonly eventId: string
  readonly writtenAt: string
  readonly expiresAt: string | null
}

export interface MemoryFilter {
  /** Default: all. */
  readonly layers?: readonly MemoryLayer[] | undefined
  /** Only these; default all scopes of the layers. */
  readonly scopes?: readonly MemoryScope[] | undefined
  /** In one of these or below it. */
  readonly namespaces?: readonly string[] | undefined
  /** With all of these. */
  readonly tags?: readonly string[] | undefined
}

export interface MemoryListOptions extends MemoryFilter {
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}

export interface MemorySearchOptions extends MemoryFilter {
  /** Maximum number of items; 20 by default. */
  readonly limit?: number | undefined
}

export interface MemoryHit {
  readonly item: MemoryItem
  /** Relevance of its words, weighed by how new it is; 0 to 1. */
  readonly score: number
  /** Position of the match; null if it is in text that is not shown, such as an object key. */
  readonly highlight: Highlight | null
}

export interface MemoryContextOptions extends MemoryFilter {
  /** Purpose of the context: the user's question in plain words. */
  readonly query?: string | undefined
  /** How many tokens it may have, by estimate. */
  readonly budgetTokens: number
}

export interface MemoryContext {
  /** One line for each item, best first: for a prompt. */
  readonly text: string
  readonly items: readonly MemoryItem[]
  readonly tokens: number
  /** Candidates that did not fit. */
  readonly left: number
}

export interface PromoteOptions {
  /** Default: those of the ledger's policy. */
  readonly rules?: readonly PromotionRule[] | undefined
  /** Only what is in these scopes. */
  readonly scopes?: readonly MemoryScope[] | undefined
  readonly dryRun?: boolean | undefined
  /** A call repeated with the same id after a crash also returns what was promoted then. */
  readonly callId?: string | undefined
}

export interface Promotion {
  readonly from: MemoryScope & { readonly version: number }
  readonly to: MemoryScope
  readonly namespace: string
  readonly key: string
  readonly reason: string
}

export interface PromotionReport {
  readonly dryRun: boolean
  readonly promoted: readonly Promotion[]
  /** Items that were promoted by such a rule before. */
  readonly before: number
  /** Items that fit a rule and stay, each with the reason. */
  readonly kept: readonly (Omit<Promotion, 'to'> & { readonly why: string })[]
}

export type MemorySweepReason = 'expired' | 'ttl' | 'max_items' | 'max_bytes'

export interface SweptItem extends MemoryScope {
  readonly namespace: string
  readonly key: string
  readonly version: number
  readonly bytes: number
  readonly reason: MemorySweepReason
}

export interface MemorySweepOptions extends Pick<MemoryFilter, 'layers' | 'scopes'> {
  /** Only report what would be deleted. */
  readonly dryRun?: boolean | undefined
  /** Default: that of the ledger's policy. What has expired goes in any case. */
  readonly retention?: MemoryPolicy['retention']
}

export interface MemorySweepReport {
  readonly dryRun: boolean
  readonly scopes: number
  readonly checked: number
  readonly forgotten: number
  /** Items that would have been deleted, had no legal hold covered them. */
  readonly held: number
  readonly bytes: number
  readonly byReason: readonly {
    readonly layer: MemoryLayer
    readonly reason: MemorySweepReason
    readonly items: number
    readonly bytes: number
  }[]
  /** The first thousand of them. */
  readonly items: readonly SweptItem[]
}

export interface MemoryImportReport {
  readonly written: number
  /** The very same is there already. */
  readonly unchanged: number
  /** Had expired by now. */
  readonly expired: number
}

/** Memory of agents (section 8): a fold of the memory runs of its scopes, so everything is in the record. */
export interface LedgerMemory {
  put(input: MemoryInput, options?: PutOptions): Promise<MemoryReceipt>
  /** Null when it is not there, or has expired. */
  get(name: MemoryName): Promise<MemoryItem | null>
  /** Ordered by layer, scope, namespace and key. */
  list(options?: MemoryListOptions): Promise<{ items: MemoryItem[]; nextCursor: string | null }>
  /** Best first: any of the words, by how rare they are and how new the item is; see `parseWords`. */
  search(query: string, options?: MemorySearchOptions): Promise<MemoryHit[]>
  /** Null when there is nothing to forget. */
  forget(name: MemoryName, options?: ForgetOptions): Promise<MemoryReceipt | null>
  /** Takes what fits a declared rule into a higher layer, each item once. Can be repeated, also after a crash. */
  promote(options?: PromoteOptions): Promise<PromotionReport>
  /** Forgets what has expired and what the retention of its layer does not keep, unless a hold covers it. Can be repeated, also after a crash. */
  sweep(options?: MemorySweepOptions): Promise<MemorySweepReport>
  /** Picks the items that fit best into a token budget. The same record gives the same choice. */
  context(options: MemoryContextOptions): Promise<MemoryContext>
  /** One item a line, as JSON. */
  export(filter?: MemoryFilter): AsyncGenerator<string>
  import(
    stream: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>,
  ): Promise<MemoryImportReport>
}

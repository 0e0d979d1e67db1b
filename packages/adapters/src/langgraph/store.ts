import { ClewError, type ClewEvent, type EventInput, type Ledger } from '@clew/ledger'
import {
  BaseStore,
  type Item,
  type Operation,
  type OperationResults,
  type SearchItem,
  type SearchOperation,
} from '@langchain/langgraph-checkpoint'
import { copyValue } from './store-copy.ts'
import { type Change, createStoreEvents, MINUTE_MS, type StoreEvents } from './store-events.ts'
import { createFilter } from './store-filter.ts'
import { createStoreItems, isExpired, type StoredItem, type StoreItems, wordsOfItem } from './store-items.ts'
import { selectNamespaces, startsWith } from './store-namespace.ts'
import { assertTtl, planOperations } from './store-operations.ts'
import { scoreWords, wordsOf } from './store-text.ts'
import type { SecretsRule } from './whole-secrets.ts'

export interface StoreTtl {
  /** Minutes that an item lives when its `put` says nothing; left out: for ever. */
  readonly defaultTtl?: number | undefined
  /** Whether `get` and `search` begin the time of what they give anew. Default true. */
  readonly refreshOnRead?: boolean | undefined
}

export interface ClewStoreOptions {
  /** Stores of different names on one ledger share nothing. Default `default`. */
  readonly name?: string | undefined
  readonly ttl?: StoreTtl | undefined
  /**
   * Rule for a value with a string that redaction would replace as a whole: refused (default), or stored as its
   * placeholder. A secret inside a longer text is stored redacted either way.
   */
  readonly secrets?: SecretsRule | undefined
  /** Not supported: a ClewStore finds words, not vectors. Passing it is an error rather than a silent miss. */
  readonly index?: unknown
}

/** A checkpoint is due after this many events, and not before as many as there are items. */
const CHECKPOINT_EVENTS = 1_000
const MAX_SWEPT_ITEMS = 100

/**
 * LangGraph's long-term memory on a ledger. Every change is an event of one run, `store:<name>`; items are a fold of it
 * that the object keeps in memory and brings on before each batch, so that processes on one store see each other.
 */
export class ClewStore extends BaseStore {
  readonly runId: string
  readonly #ledger: Ledger
  readonly #options: ClewStoreOptions
  readonly #items: StoreItems = createStoreItems()
  readonly #events: StoreEvents
  #checkpointAfter = CHECKPOINT_EVENTS
  #loaded = false
  #reading: Promise<void> | undefined
  #queued: Promise<void> | undefined

  constructor(ledger: Ledger, options: ClewStoreOptions = {}) {
    super()
    if (options.index !== undefined)
      throw new ClewError(
        'bad_option',
        'ClewStore was given an index with embeddings, and it has no vectors',
        'Leave index out: a query then finds items by their words. For meaning, keep a vector store beside it.',
        { option: 'index' },
      )
    assertTtl(options.ttl?.defaultTtl)
    this.#ledger = ledger
    this.#options = options
    this.runId = `store:${options.name ?? 'default'}`
    this.#events = createStoreEvents(ledger, this.runId, this.#items, {
      defaultTtl: options.ttl?.defaultTtl,
      secrets: options.secrets ?? 'refuse',
    })
  }

  /** As in the framework, with the minutes that this item lives as a last argument. */
  override async put(
    namespace: string[],
    key: string,
    value: Record<string, unknown>,
    index?: false | string[],
    { ttl }: { readonly ttl?: number | undefined } = {},
  ): Promise<void> {
    const op = {
      namespace,
      key,
      value,
      ...(index !== undefined && { index }),
      ...(ttl !== undefined && { ttl }),
    }
    await this.batch([op])
  }

  /** Reads see what was there before the batch; of several puts of one key the last counts; all of them or none. */
  override async batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    const planned = planOperations(operations)
    await this.#catchUp()
    const now = Date.now()
    const changes = new Map<string, Change>()
    const results = planned.map(({ does, op }) => {
      if (does === 'put') {
        changes.set(JSON.stringify([op.namespace, op.key]), { type: 'put', op })
        return undefined
      }
      if (does === 'get') return this.#give(this.#live(op.namespace, op.key, now), now, changes)
      if (does === 'search') return this.#search(op, now, changes)
      return selectNamespaces(this.#namespaces(now), {
        ...op,
        limit: op.limit ?? Number.POSITIVE_INFINITY,
        offset: op.offset ?? 0,
      })
    })
    await this.#write([...changes.values()], now)
    return results as OperationResults<Op>
  }

  /** Records the end of items whose time is over; reads leave them out in any case. Gives their number. */
  async sweepExpiredItems(): Promise<number> {
    let swept = 0
    for (;;) {
      await this.#catchUp()
      const expired = this.#items.expired(Date.now(), MAX_SWEPT_ITEMS)
      if (expired.length === 0) return swept
      await this.#append(expired.map((item) => ({ type: 'expire' as const, item })))
      swept += expired.length
    }
  }

  #live(namespace: readonly string[], key: string, now: number): StoredItem | undefined {
    const item = this.#items.find(namespace, key)
    return item && !isExpired(item, now) ? item : undefined
  }

  *#namespaces(now: number): Generator<readonly string[]> {
    for (const { labels, items } of this.#items.groups())
      if (items.values().some((item) => !isExpired(item, now))) yield labels
  }

  #give(item: StoredItem | undefined, now: number, changes: Map<string, Change>): Item | null {
    if (!item) return null
    const { labels, key, value, createdAt, updatedAt, ttlMs, expiresAt } = item
    const name = JSON.stringify([labels, key])
    // A read a moment after the last one moves the end by nothing worth an event.
    const isDue = ttlMs !== null && now + ttlMs - (expiresAt ?? 0) >= Math.min(MINUTE_MS, ttlMs / 10)
    if (isDue && this.#options.ttl?.refreshOnRead !== false && this.#ledger.mode.write && !changes.has(name))
      changes.set(name, { type: 'renew', item })
    return {
      value: copyValue(value),
      key,
      namespace: [...labels],
      createdAt: new Date(createdAt),
      updatedAt: new Date(updatedAt),
    }
  }

  #search(op: SearchOperation, now: number, changes: Map<string, Change>): SearchItem[] {
    const { namespacePrefix, limit = 10, offset = 0 } = op
    const fits = createFilter(op.filter)
    const query = wordsOf(op.query ?? '')
    const isRanked = query.size > 0
    const found: { item: StoredItem; score: number | undefined }[] = []
    search: for (const { labels, items } of this.#items.groups()) {
      if (!startsWith(labels, namespacePrefix)) continue
      for (const item of items.values()) {
        if (!isRanked && found.length >= offset + limit) break search
        if (isExpired(item, now) || !fits(item.value)) continue
        const score = isRanked ? scoreWords(query, wordsOfItem(item)) : undefined
        if (score !== 0) found.push({ item, score })
      }
    }
    if (isRanked) found.sort((a, b) => (b.score ?? 0) - (a.score ?? 0))
    return found.slice(offset, offset + limit).map(({ item, score }) => ({
      ...(this.#give(item, now, changes) as Item),
      ...(score !== undefined && { score }),
    }))
  }

  async #write(changes: readonly Change[], now: number): Promise<void> {
    const real = changes.filter(
      (change) =>
        change.type !== 'put' ||
        change.op.value !== null ||
        this.#live(change.op.namespace, change.op.key, now),
    )
    if (real.length === 0) return
    // M3: a write also records which items have expired since, except for those that it writes again.
    const written = new Set(real.map((change) => (change.type === 'put' ? nameOf(change.op) : '')))
    const expired = this.#items
      .expired(now, MAX_SWEPT_ITEMS)
      .filter((item) => !written.has(nameOf({ namespace: item.labels, key: item.key })))
    await this.#append([...expired.map((item) => ({ type: 'expire' as const, item })), ...real])
  }

  async #append(changes: readonly Change[]): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        const events = changes.map((change) => this.#events.of(change))
        const begin = this.#items.seq === 0 ? this.#events.begin() : []
        const stored = await this.#appendWithCheckpoint([...begin, ...events])
        return await this.#take(stored)
      } catch (error) {
        // Another writer stored the same version of an item: this write comes after it.
        if (!(error instanceof ClewError && error.code === 'conflict') || attempt === 5) throw error
        await this.#catchUp()
      }
    }
  }

  async #appendWithCheckpoint(events: readonly EventInput[]): Promise<readonly ClewEvent[]> {
    const { loose, size, seq } = this.#items
    if (loose < Math.max(this.#checkpointAfter, size)) return this.#ledger.append(events)
    // The checkpoint names the seq it covers, so concurrent writes do not make it wrong.
    const checkpoint = this.#events.checkpoint({ state: { items: this.#items.pack() }, upToSeq: seq })
    try {
      return await this.#ledger.append([...events, checkpoint])
    } catch (error) {
      if (
        !(error instanceof ClewError && error.code === 'too_large' && error.fields['item'] === events.length)
      )
        throw error
      // More than one payload holds: the next reader folds from the one before, or from the start.
      this.#checkpointAfter = loose * 2
      return this.#ledger.append(events)
    }
  }

  /** Own events are known already, unless others wrote between them. */
  async #take(stored: readonly ClewEvent[]): Promise<void> {
    // Appended events come back with placeholders; the vault has the originals.
    if (this.#ledger.hasVault) return this.#catchUp()
    for (const event of stored) {
      if (event.ledger.seq <= this.#items.seq) continue
      if (event.ledger.seq > this.#items.seq + 1) return this.#catchUp()
      this.#items.apply(event)
    }
  }

  /** A reading that has begun may have missed what was written since: who comes later waits for the next one. */
  #catchUp(): Promise<void> {
    if (!this.#reading) return this.#read()
    this.#queued ??= this.#reading.then(
      () => this.#read(),
      () => this.#read(),
    )
    return this.#queued
  }

  #read(): Promise<void> {
    this.#queued = undefined
    this.#reading = this.#readOn().finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  async #readOn(): Promise<void> {
    if (!this.#loaded) {
      await this.#load()
      this.#loaded = true
    }
    for await (const event of this.#ledger.read(this.runId, { afterSeq: this.#items.seq, restored: true }))
      if (event.ledger.seq === this.#items.seq + 1) this.#items.apply(event)
  }

  /** The last checkpoint, if there is one: what came before it need not be folded again. */
  async #load(): Promise<void> {
    const place = (await this.#ledger.getRun(this.runId))?.checkpoint
    if (!place) return
    for await (const { payload } of this.#ledger.read(this.runId, {
      afterSeq: place.seq - 1,
      limit: 1,
      restored: true,
    })) {
      const { state, upToSeq } = payload as { state?: { items?: unknown }; upToSeq?: unknown }
      if (this.#items.seq === 0 && Array.isArray(state?.items) && typeof upToSeq === 'number')
        this.#items.restore(state.items, upToSeq)
    }
  }
}

const nameOf = ({
  namespace,
  key,
}: {
  readonly namespace: readonly string[]
  readonly key: string
}): string => JSON.stringify([namespace, key])

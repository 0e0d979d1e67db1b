import type { ClewEvent } from '@clew/ledger'
import { copyValue } from './store-copy.ts'
import { formatNamespace, parseNamespace } from './store-namespace.ts'
import { indexedWords } from './store-text.ts'

export interface StoredItem {
  readonly labels: readonly string[]
  readonly key: string
  readonly value: Record<string, unknown>
  readonly createdAt: string
  readonly updatedAt: string
  readonly ttlMs: number | null
  readonly expiresAt: number | null
  /** Fields that a query may search. */
  readonly index: false | readonly string[] | undefined
  /** Seq of the last event that wrote the item: distinguishes its versions. */
  readonly seq: number
  words?: Set<string>
}

/** An item as it stands in a checkpoint: what `restore` takes. */
type PackedItem = readonly [namespace: string, key: string, value: unknown, rest: PackedRest]
interface PackedRest {
  readonly createdAt: string
  readonly updatedAt: string
  readonly seq: number
  readonly ttlMs?: number
  readonly expiresAt?: number
  readonly index?: false | readonly string[]
}

interface Group {
  readonly labels: readonly string[]
  readonly items: Map<string, StoredItem>
}

/** Items of one store, folded from its events; one store object keeps the fold and applies new events. */
export interface StoreItems {
  /** Seq of the last event that is in. */
  readonly seq: number
  readonly size: number
  /** Events since the last checkpoint that was seen. */
  readonly loose: number
  find(namespace: readonly string[], key: string): StoredItem | undefined
  groups(): Iterable<Group>
  /** Items whose time was over at that moment, at most so many. */
  expired(now: number, most: number): StoredItem[]
  apply(event: ClewEvent): void
  pack(): PackedItem[]
  restore(items: readonly PackedItem[], seq: number): void
}

export const isExpired = (item: StoredItem, now: number): boolean =>
  item.expiresAt !== null && item.expiresAt <= now

export const wordsOfItem = (item: StoredItem): Set<string> =>
  (item.words ??= indexedWords(item.value, item.index))

export function createStoreItems(): StoreItems {
  const groups = new Map<string, Group>()
  let seq = 0
  let size = 0
  let checkpointSeq = 0
  /** No item expires before this. */
  let soonest = Number.POSITIVE_INFINITY

  function put(namespace: string, item: StoredItem): void {
    let group = groups.get(namespace)
    if (!group) groups.set(namespace, (group = { labels: item.labels, items: new Map() }))
    if (!group.items.has(item.key)) size++
    group.items.set(item.key, item)
    if (item.expiresAt !== null) soonest = Math.min(soonest, item.expiresAt)
  }

  function remove(namespace: string, key: string): void {
    const group = groups.get(namespace)
    if (!group?.items.delete(key)) return
    size--
    if (group.items.size === 0) groups.delete(namespace)
  }

  function write(event: ClewEvent, namespace: string, key: string): void {
    const { payload, ledger } = event
    const before = groups.get(namespace)?.items.get(key)
    // An item that was written again after it expired is a new one, whether or not its end was recorded.
    const old = before && !isExpired(before, Date.parse(ledger.recordedAt)) ? before : undefined
    const expiresAt = typeof payload['expiresAt'] === 'string' ? Date.parse(payload['expiresAt']) : null
    if (payload['renewed'] === true) {
      if (old) put(namespace, { ...old, expiresAt, seq: ledger.seq })
      return
    }
    if (before && !old) remove(namespace, key)
    put(namespace, {
      labels: old?.labels ?? parseNamespace(namespace),
      key,
      value: copyValue(payload['value']) as Record<string, unknown>,
      createdAt: old?.createdAt ?? ledger.recordedAt,
      updatedAt: ledger.recordedAt,
      ttlMs: typeof payload['ttlMs'] === 'number' ? payload['ttlMs'] : null,
      expiresAt,
      index: payload['index'] as StoredItem['index'],
      seq: ledger.seq,
    })
  }

  return {
    get seq() {
      return seq
    },
    get size() {
      return size
    },
    get loose() {
      return seq - checkpointSeq
    },
    find: (namespace, key) => groups.get(formatNamespace(namespace))?.items.get(key),
    groups: () => groups.values(),
    expired(now, most) {
      if (soonest > now) return []
      const found: StoredItem[] = []
      let next = Number.POSITIVE_INFINITY
      for (const { items } of groups.values())
        for (const item of items.values()) {
          if (isExpired(item, now) && found.length < most) found.push(item)
          next = Math.min(next, item.expiresAt ?? next)
        }
      soonest = next
      return found
    },
    apply(event) {
      seq = event.ledger.seq
      const { namespace, key } = event.payload
      if (event.eventType === 'execution.checkpoint') checkpointSeq = seq
      // An erased event names nothing any more.
      if (typeof namespace !== 'string' || typeof key !== 'string') return
      if (event.eventType === 'execution.memory_written') write(event, namespace, key)
      else if (event.eventType === 'execution.memory_forgotten') {
        // An item written after the sweep read it is not forgotten by the sweep.
        const { writtenSeq } = event.payload
        const item = groups.get(namespace)?.items.get(key)
        if (writtenSeq === undefined || item?.seq === writtenSeq) remove(namespace, key)
      }
    },
    pack() {
      const packed: PackedItem[] = []
      for (const [namespace, { items }] of groups)
        for (const {
          key,
          value,
          createdAt,
          updatedAt,
          seq: written,
          ttlMs,
          expiresAt,
          index,
        } of items.values())
          packed.push([
            namespace,
            key,
            value,
            {
              createdAt,
              updatedAt,
              seq: written,
              ...(ttlMs !== null && { ttlMs }),
              ...(expiresAt !== null && { expiresAt }),
              ...(index !== undefined && { index }),
            },
          ])
      return packed
    },
    restore(items, upToSeq) {
      for (const [namespace, key, value, rest] of items)
        put(namespace, {
          ...rest,
          labels: parseNamespace(namespace),
          key,
          value: value as Record<string, unknown>,
          ttlMs: rest.ttlMs ?? null,
          expiresAt: rest.expiresAt ?? null,
          index: rest.index,
        })
      seq = upToSeq
      checkpointSeq = upToSeq
    },
  }
}

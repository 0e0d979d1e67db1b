import type { Codecs } from '../event/codecs.ts'
import type { ClewEvent, Payload } from '../event/envelope.ts'
import { ClewError } from '../errors.ts'
import { deepFreeze, type JsonValue } from '../json.ts'
import type { Store, StoredEvent } from '../store/store.ts'
import { childIds, fromBody, pickKeys, type StoredNode } from '../hash/tree.ts'
import { withPayload } from '../store/stored-event.ts'
import { upcastEvent } from '../event/upcast.ts'
import type { RestorePayload } from '../vault/vault.ts'

const CACHE_CHARS = 32 * 1024 * 1024

export interface PayloadReader {
  /**
   * Events with their payloads put together; parts shared between events are the same frozen object. With `restore`,
   * payloads have the originals of their secrets: for code, never for a view.
   */
  toEvents(stored: readonly StoredEvent[], restore?: RestorePayload): Promise<ClewEvent[]>
  /** Events with payloads as the JSON that is stored, rich values still tagged: what projections are folded from. */
  toPlainEvents(stored: readonly StoredEvent[]): Promise<ClewEvent[]>
  /** The same with only these keys of the payload, where the others need not be loaded to leave them out. */
  toPartialEvent(stored: StoredEvent, keys: ReadonlySet<string>): Promise<ClewEvent>
  /** Payloads as the JSON that is stored, rich values still tagged. */
  toJson(stored: StoredEvent): Promise<JsonValue>
  /** Forgets the values it has read: some may have been erased (P5). */
  forget(): void
  /** The nodes below a body, all levels. */
  nodesBelow(body: string): Promise<ReadonlyMap<number, StoredNode>>
}

export function createPayloadReader(store: Store, codecs: Codecs): PayloadReader {
  const cache = new Map<number, { readonly value: JsonValue; readonly chars: number }>()
  let cached = 0

  function remember(id: number, value: JsonValue, chars: number): void {
    cache.set(id, { value, chars })
    cached += chars
    for (const [oldest, entry] of cache) {
      if (cached <= CACHE_CHARS) break
      cache.delete(oldest)
      cached -= entry.chars
    }
  }

  async function nodesBelow(
    body: string,
    skip?: ReadonlyMap<number, unknown>,
  ): Promise<Map<number, StoredNode>> {
    const found = new Map<number, StoredNode>()
    let wanted = childIds(body)
    while (wanted.length > 0) {
      const missing = [...new Set(wanted)].filter((id) => !found.has(id) && !skip?.has(id))
      if (missing.length === 0) break
      const loaded = await store.values.read(missing)
      wanted = []
      for (const [id, node] of loaded) {
        found.set(id, node)
        wanted.push(...childIds(node.body))
      }
    }
    return found
  }

  async function toValue(body: string): Promise<JsonValue> {
    const nodes = await nodesBelow(body, cache)
    // Values used here are held apart from the cache, which may drop them while this one is being built.
    const built = new Map<number, JsonValue>()
    const child = (id: number): JsonValue => {
      const known = built.get(id) ?? cache.get(id)?.value
      if (known !== undefined) return known
      const node = nodes.get(id) as StoredNode
      const value = deepFreeze(fromBody(node.body, child))
      built.set(id, value)
      return value
    }
    const value = fromBody(body, child)
    for (const [id, each] of built) remember(id, each, (nodes.get(id) as StoredNode).body.length)
    return value
  }

  async function toEvent(stored: StoredEvent, restore?: RestorePayload): Promise<ClewEvent> {
    const { body } = stored
    const json = await toJson(stored)
    const whole = restore ? restore(stored, json) : json
    const text = whole === json && body?.startsWith('{') ? body : undefined
    return upcastEvent(withPayload(stored, codecs.decode(whole, text) as Payload))
  }

  async function toJson(stored: StoredEvent): Promise<JsonValue> {
    const { body } = stored
    if (body === null) return {}
    try {
      return body.startsWith('{') ? (JSON.parse(body) as JsonValue) : await toValue(body)
    } catch (cause) {
      throw cause instanceof ClewError ? cause : damaged(stored, cause)
    }
  }

  return {
    async toEvents(stored, restore) {
      const events: ClewEvent[] = []
      for (const each of stored) events.push(await toEvent(each, restore))
      return events
    },
    toJson,
    async toPlainEvents(stored) {
      const events: ClewEvent[] = []
      for (const each of stored) events.push(upcastEvent(withPayload(each, (await toJson(each)) as Payload)))
      return events
    },
    async toPartialEvent(stored, keys) {
      const body = stored.body === null ? null : pickKeys(stored.body, keys)
      return upcastEvent(withPayload(stored, (await toJson({ ...stored, body })) as Payload))
    },
    forget() {
      cache.clear()
      cached = 0
    },
    nodesBelow,
  }
}

function damaged({ correlationId: runId, seq }: StoredEvent, cause: unknown): ClewError {
  return new ClewError(
    'store_corrupt',
    `The payload of event ${seq} of run ${runId} is damaged`,
    'See with `clew verify` what else was changed, and restore the ledger from a backup or an export.',
    { runId, seq },
    cause,
  )
}

import { yieldToEventLoop } from '../yield-to-event-loop.ts'
import type { PayloadReader } from '../read/payload-reader.ts'
import type { Ports } from '../ports.ts'
import type { Store } from '../store/store.ts'
import { SEARCH_VERSION, toDocument } from './extract.ts'
import type { IndexState } from './search-index.ts'

const PAGE = 500
/** From this many events on the indexer rests between pages, so much longer than it worked. */
const BUSY_PER_MS = 5
const REST = 8
const MAX_REST_MS = 400
/** How long, without a bound, for events that stand behind a transaction still under way, and how often it looks. */
const HELD_BACK_MS = 2000
const LOOK_MS = 5

interface CatchUpParts {
  readonly store: Store
  readonly reader: PayloadReader
  readonly ports: Pick<Ports, 'now' | 'defer' | 'sleep'>
}

interface CatchUpOptions {
  /** Stop after about this long, however much is left. */
  readonly budgetMs?: number | undefined
  readonly signal?: AbortSignal | undefined
  /** Give way to writers: while they are very busy they come first, and are caught up with later. */
  readonly givesWay?: boolean | undefined
  readonly onProgress?: ((position: number) => void) | undefined
}

/**
 * Applies new events to the search index. Each page is one transaction that also moves the cursor of the index, so a
 * kill loses at most a page of work and never leaves a page half in or in twice. An index made by another version of
 * the extraction is built again.
 */
export async function catchUp(
  { store, reader, ports }: CatchUpParts,
  { budgetMs, signal, givesWay = false, onProgress }: CatchUpOptions = {},
): Promise<IndexState> {
  const until = ports.now() + (budgetMs ?? Number.POSITIVE_INFINITY)
  const waitUntil = ports.now() + (budgetMs ?? HELD_BACK_MS)
  let state = await store.search.state()
  if (state.version !== SEARCH_VERSION && state.position > 0) {
    await store.search.clear()
    state = await store.search.state()
  }
  let newest = givesWay ? (await store.info('lastPosition')).lastPosition : 0
  for (;;) {
    const startedMs = ports.now()
    if (signal?.aborted || startedMs >= until) return state
    const page = await store.readAll({ afterPosition: state.position, limit: PAGE })
    const last = page.at(-1)
    if (!last) {
      const isHeldBack = startedMs < waitUntil && (await store.countAfter(state.position)) > 0
      if (!isHeldBack) return state
      await ports.sleep(LOOK_MS, signal).catch(() => undefined)
      continue
    }
    const documents = (await reader.toPlainEvents(page)).map(toDocument)
    const next = { position: last.position, version: SEARCH_VERSION }
    const taken = await store.search.add({ ...next, from: state.position, documents })
    state = taken ? next : await store.search.state()
    onProgress?.(state.position)
    await yieldToEventLoop(ports)
    if (!givesWay) continue
    const before = newest
    newest = (await store.info('lastPosition')).lastPosition
    const tookMs = Math.max(1, ports.now() - startedMs)
    if (newest > before && (await store.countAfter(before)) > BUSY_PER_MS * tookMs)
      await ports.sleep(Math.min(MAX_REST_MS, REST * tookMs), signal).catch(() => undefined)
  }
}

import { ClewError } from '../errors.ts'
import { createNotifier } from '../read/follow.ts'
import type { IndexOptions, IndexReport } from '../ledger.ts'
import type { PayloadReader } from '../read/payload-reader.ts'
import type { Ports } from '../ports.ts'
import type { Store } from '../store/store.ts'
import { catchUp } from './catch-up.ts'
import { SEARCH_VERSION } from './extract.ts'

interface IndexerParts {
  readonly store: Store
  readonly reader: PayloadReader
  readonly ports: Pick<Ports, 'now' | 'sleep' | 'defer'>
  readonly isClosed: () => boolean
}

export interface Indexer {
  index(options: IndexOptions): Promise<IndexReport>
  state(): Promise<IndexReport>
}

/** Larger transactions cost less; a reader of the index sees news at most this late. */
const GATHER_MS = 100

export function createIndexer(parts: IndexerParts): Indexer {
  const { store, ports, isClosed } = parts

  async function state(): Promise<IndexReport> {
    const { position, version } = await store.search.state()
    const isCurrent = version === SEARCH_VERSION || position === 0
    return { position, lag: await store.countAfter(position), isCurrent }
  }

  async function followOn({ signal, onProgress }: IndexOptions): Promise<void> {
    const notifier = createNotifier()
    const unwatch = store.watch(notifier.notify)
    signal?.addEventListener('abort', notifier.notify)
    const isOver = (): boolean => isClosed() || signal?.aborted === true
    try {
      while (!isOver()) {
        const notified = notifier.wait()
        await catchUp(parts, { signal, givesWay: true, onProgress })
        if (isOver()) return
        await notified
        await ports.sleep(GATHER_MS, signal).catch(() => undefined)
      }
    } catch (error) {
      if (!(error instanceof ClewError && error.code === 'closed' && isClosed())) throw error
    } finally {
      unwatch()
      signal?.removeEventListener('abort', notifier.notify)
    }
  }

  return {
    state,
    async index(options) {
      if (options.rebuild) await store.search.clear()
      if (options.follow) await followOn(options)
      else await catchUp(parts, options)
      return isClosed() ? { position: 0, lag: 0, isCurrent: true } : state()
    },
  }
}

import { nextTurn } from '../next-turn.ts'
import type { PayloadReader } from '../payload-reader.ts'
import type { Ports } from '../ports.ts'
import type { Store } from '../store.ts'
import { SEARCH_VERSION, toDocument } from './extract.ts'
import type { IndexState } from './search-index.ts'

const PAGE = 500

interface CatchUpParts {
  readonly store: Store
  readonly reader: PayloadReader
  readonly ports: Pick<Ports, 'now' | 'defer'>
}

interface CatchUpOptions {
  /** Stop after about this long, however much is left. */
  readonly budgetMs?: number | undefined
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((position: number) => void) | undefined
}

/**
 * Brings the search index on from where it stands. Each page is one transaction that also moves the index on, so a
 * kill loses at most a page of work and never leaves a page half in or in twice. An index that another version of
 * the extraction made is begun anew.
 */
export async function catchUp(
  { store, reader, ports }: CatchUpParts,
  { budgetMs = Number.POSITIVE_INFINITY, signal, onProgress }: CatchUpOptions = {},
): Promise<IndexState> {
  const until = ports.now() + budgetMs
  let state = await store.search.state()
  if (state.version !== SEARCH_VERSION && state.position > 0) {
    await store.search.clear()
    state = await store.search.state()
  }
  for (;;) {
    if (signal?.aborted || ports.now() >= until) return state
    const page = await store.readAll({ afterPosition: state.position, limit: PAGE })
    const last = page.at(-1)
    if (!last) return state
    const documents = (await reader.toPlainEvents(page)).map(toDocument)
    const next = { position: last.position, version: SEARCH_VERSION }
    const taken = await store.search.add({ ...next, from: state.position, documents })
    state = taken ? next : await store.search.state()
    onProgress?.(state.position)
    await nextTurn(ports)
  }
}

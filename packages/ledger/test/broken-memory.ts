import { foldedMemory } from '../src/memory/fold-rows.ts'
import type { MemoryIndex } from '../src/memory/memory-index.ts'
import type { Store } from '../src/store/store.ts'
import type { BrokenStore } from './broken-stores.ts'

const memory =
  (change: (index: MemoryIndex) => Partial<MemoryIndex>) =>
  (store: Store): Partial<Store> => ({ memory: { ...store.memory, ...change(store.memory) } })

/** Stores that break a rule of memory. */
export const BROKEN_MEMORY: readonly BrokenStore[] = [
  {
    what: 'remembers what has expired',
    failing: ['M1 what is remembered is the fold'],
    change: memory((index) => ({ list: (filter) => index.list({ ...filter, nowMs: null }) })),
  },
  {
    what: 'does not take rows away that were written anew or forgotten',
    failing: ['M1 what is remembered is the fold', 'M2 search ranks'],
    change: memory((index) => ({
      apply: (change) => index.apply({ ...change, gone: [] }),
      list: async (query) => (query.names ? [] : index.list(query)),
    })),
  },
  {
    what: 'says that all items are found by their words',
    failing: ['L1 the index says which items'],
    change: memory(() => ({ differing: async () => [] })),
  },
  {
    what: 'never brings its rows on',
    failing: ['M1 an item has', 'M1 of many who write'],
    change: memory(() => ({ behind: async () => [] })),
  },
  {
    what: 'finds rows of other scopes',
    failing: ['M2 search ranks'],
    change: memory((index) => ({
      find: (filter) => index.find({ ...filter, namespaces: undefined }),
      list: (query) => index.list(query.positions ? { ...query, namespaces: undefined } : query),
    })),
  },
  {
    what: 'lists by when it was written',
    failing: ['M2 items are listed by namespace'],
    change: memory((index) => ({ list: (query) => index.list({ ...query, order: 'newest' }) })),
  },
  {
    what: 'keeps rows of erased events',
    failing: ['P5 rows of erased events'],
    change: (store) => ({ memory: foldedMemory({ ...store, findEvents: keepingErased(store) }) }),
  },
]

const keepingErased =
  (store: Store): Store['findEvents'] =>
  async (query) =>
    (await store.findEvents(query)).map((event) => ({ ...event, erased: false }))

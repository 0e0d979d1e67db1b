import type { MemoryIndex } from '../src/memory/memory-index.ts'
import type { Store } from '../src/store.ts'
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
      named: async () => [],
    })),
  },
  {
    what: 'never brings its rows on',
    failing: ['M1 an item has', 'M1 of many who write'],
    change: memory(() => ({ behind: async () => [] })),
  },
  {
    what: 'finds rows of other scopes',
    failing: ['M2 search ranks'],
    change: memory((index) => ({ find: (filter) => index.find({ ...filter, namespaces: undefined }) })),
  },
  {
    what: 'lists by when it was written',
    failing: ['M2 items are listed by namespace'],
    change: memory((index) => ({ list: (filter) => index.newest(filter) })),
  },
  {
    what: 'removes rows of other workspaces',
    failing: ['P5 rows of erased events'],
    change: memory((index) => ({ remove: (_, positions) => index.remove('default', positions) })),
  },
]

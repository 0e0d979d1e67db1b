import type { BrokenStore } from './broken-stores.ts'

/** Stores that break what consumers, the search index and rebuilds rely on. */
export const BROKEN_READINGS: readonly BrokenStore[] = [
  {
    what: 'moves a cursor whatever its version',
    failing: ['V9 a cursor is written by compare-and-set', 'V9 a silent worker'],
    change: (store) => ({
      slots: {
        ...store.slots,
        async put(slot, _) {
          const [known] = await store.slots.list(slot.workspace, slot.name)
          return store.slots.put(slot, known?.version ?? 0)
        },
      },
    }),
  },
  {
    what: 'forgets where consumers stand',
    failing: ['V9 a consumer gets all events in order'],
    change: (store) => ({
      slots: {
        ...store.slots,
        put: ({ value, ...slot }, version) =>
          store.slots.put({ ...slot, value: { ...value, position: 0 } }, version),
      },
    }),
  },
  {
    what: 'gives the name of a consumer to two workers',
    failing: ['V9 one works under a name at a time'],
    change: (store) => ({
      leases: {
        ...store.leases,
        list: async () => [],
        async acquire(key, threadId) {
          for (const lease of await store.leases.list())
            if (lease.runId === key.runId) await store.leases.release(lease)
          return store.leases.acquire(key, threadId)
        },
      },
    }),
  },
  {
    what: 'replaces rows of a run that has moved on',
    failing: ['L1 writers go on while rows are rebuilt'],
    change: (store) => ({
      write: ({ expect: _, ...change }) => store.write(change),
    }),
  },
  {
    what: 'does the rest of a change although its call is refused',
    failing: ['L5 a change is written whole'],
    change: (store) => ({
      async write(change) {
        const { calls, ...rest } = change
        const written = await store.write({ calls })
        if (rest.blank) await store.write({ ...rest, calls: [] })
        return written
      },
    }),
  },
  {
    what: 'writes a change although a run has moved',
    failing: ['L5 a change is written whole'],
    change: (store) => ({ write: ({ expect: _, ...change }) => store.write(change) }),
  },
  {
    what: 'forgets how far a rebuild came',
    failing: ['L1 a rebuild that was cut short'],
    change: (store) => ({
      slots: {
        ...store.slots,
        list: async (workspace, prefix) =>
          (await store.slots.list(workspace, prefix)).map(({ value, ...slot }) => ({
            ...slot,
            value: { ...value, rebuilding: null },
          })),
      },
    }),
  },
  {
    what: 'takes a page into the search index twice',
    failing: ['L1 the index goes on where it stands'],
    change: (store) => ({
      search: {
        ...store.search,
        async add(batch) {
          const { position, version } = await store.search.state()
          await store.search.add({ ...batch, from: position })
          return store.search.add({ ...batch, from: batch.position, version: version || batch.version })
        },
      },
    }),
  },
  {
    what: 'searches all workspaces',
    failing: ['A2 search never leaves its workspace'],
    change: (store) => ({
      search: {
        ...store.search,
        async find(options) {
          const all = await Promise.all(
            (await store.info('workspaces')).workspaces.map((workspace) =>
              store.search.find({ ...options, workspace }),
            ),
          )
          return all.flat()
        },
      },
    }),
  },
  {
    what: 'says that all events are found by their words',
    failing: ['L1 the index goes on where it stands'],
    change: (store) => ({ search: { ...store.search, differing: async () => [] } }),
  },
  {
    what: 'searches without filters',
    failing: ['L1 search filters by status'],
    change: (store) => ({
      search: {
        ...store.search,
        find: (options) =>
          store.search.find({ ...options, query: { ...options.query, status: [], agent: [] } }),
      },
    }),
  },
  {
    what: 'finds the newest matches only',
    failing: ['L1 search is paged'],
    change: (store) => ({
      search: { ...store.search, find: (options) => store.search.find({ ...options, limit: 400 }) },
    }),
  },
]

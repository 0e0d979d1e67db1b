import type { LedgerMemory } from './ledger-memory.ts'

/** Loaded when it is first asked for something: most who use a ledger never do. */
export function createLateMemory(load: () => Promise<LedgerMemory>): LedgerMemory {
  return {
    put: async (input, options) => (await load()).put(input, options),
    get: async (name) => (await load()).get(name),
    list: async (options) => (await load()).list(options),
    search: async (query, options) => (await load()).search(query, options),
    forget: async (name, options) => (await load()).forget(name, options),
    promote: async (options) => (await load()).promote(options),
    sweep: async (options) => (await load()).sweep(options),
    context: async (options) => (await load()).context(options),
    async *export(filter) {
      yield* (await load()).export(filter)
    },
    import: async (stream) => (await load()).import(stream),
  }
}

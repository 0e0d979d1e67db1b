import type { Ledger } from '../ledger.ts'
import type { MemoryItem } from '../memory/item.ts'

/** Names of the memory items that the tests use, all in the scope of the workspace. */
export const long = { layer: 'long', scope: 'workspace' } as const
export const names = (items: readonly MemoryItem[]): string[] =>
  items.map((item) => `${item.namespace}/${item.key}`)
export const listed = async (ledger: Ledger, filter = {}): Promise<string[]> =>
  names((await ledger.memory.list({ limit: 1000, ...filter })).items)
export const found = async (ledger: Ledger, query: string, filter = {}): Promise<string[]> =>
  names((await ledger.memory.search(query, filter)).map((hit) => hit.item))

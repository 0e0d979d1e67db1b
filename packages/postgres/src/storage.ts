import type { StoragePart } from '@clew/ledger'
import type { Sql } from './sql.ts'

/** Tables with their indexes. */
const STORAGE = `SELECT c.relname AS "table", pg_total_relation_size(c.oid) AS bytes FROM pg_class c
  WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' ORDER BY 2 DESC, 1`
const PARTS: Readonly<Record<string, string>> = {
  events: 'events',
  payloads: 'payloads',
  nodes: 'shared values',
  vault: 'vault',
  runs: 'runs and steps',
  steps: 'runs and steps',
  search_words: 'search index',
  search_tools: 'search index',
  memory_items: 'memory',
  memory_scopes: 'memory',
}

/** What the ledger takes on disk, by what it is for. */
export async function readStorage(sql: Sql): Promise<StoragePart[]> {
  const sizes = new Map<string, number>()
  for (const { table, bytes } of (await sql.query({ text: STORAGE })).rows) {
    const name = PARTS[table as string] ?? 'other'
    sizes.set(name, (sizes.get(name) ?? 0) + Number(bytes))
  }
  return [...sizes].map(([name, bytes]) => ({ name, bytes }))
}

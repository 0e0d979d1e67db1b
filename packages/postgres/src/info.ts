import type { StoragePart, StoreInfo } from '@clew/ledger'
import { HORIZON } from './event-row.ts'
import type { Row, Sql } from './sql.ts'

const NEWEST = 'SELECT coalesce(max(position), 0) AS last FROM events'
/** From one name to the next, for there are few of them among many runs. */
const WORKSPACES = `WITH RECURSIVE names (name) AS (
    SELECT min(workspace) FROM runs
    UNION ALL
    SELECT (SELECT min(workspace) FROM runs WHERE workspace > name) FROM names WHERE name IS NOT NULL
  ) SELECT name FROM names WHERE name IS NOT NULL`
const TABLES = `pg_class c WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'`
const STATS = `SELECT (SELECT count(*) FROM events) AS events, (SELECT count(*) FROM runs) AS runs,
  (SELECT count(*) FROM nodes) AS values,
  (SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM ${TABLES}) AS bytes`
/** Tables with their indexes. */
const STORAGE = `SELECT c.relname AS "table", pg_total_relation_size(c.oid) AS bytes FROM ${TABLES} ORDER BY 2 DESC, 1`
const PRUNED = `SELECT coalesce(sum(s.to_seq - s.from_seq + 1), 0)::bigint AS n
  FROM seals s JOIN runs r ON r.id = s.run`
const VAULT_KEYS = 'SELECT DISTINCT key_id FROM vault ORDER BY key_id'

/** Parts of the storage by table; all other tables are one part. */
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

/** Facts about the whole ledger. */
export function createInfo(sql: Sql): { readonly [K in keyof StoreInfo]: () => Promise<StoreInfo[K]> } {
  const read = async (name: string, text: string): Promise<Row[]> =>
    (await sql.query({ name: `info ${name}`, text })).rows
  return {
    lastPosition: async () =>
      (await read('last', `${NEWEST} WHERE position < ${HORIZON}`))[0]?.['last'] as number,
    newestPosition: async () => (await read('newest', NEWEST))[0]?.['last'] as number,
    workspaces: async () => (await read('workspaces', WORKSPACES)).map((row) => row['name'] as string),
    stats: async () => (await read('stats', STATS))[0] as unknown as StoreInfo['stats'],
    async storage() {
      const sizes = new Map<string, number>()
      for (const { table, bytes } of await read('storage', STORAGE)) {
        const name = PARTS[table as string] ?? 'other'
        sizes.set(name, (sizes.get(name) ?? 0) + (bytes as number))
      }
      return [...sizes].map(([name, bytes]): StoragePart => ({ name, bytes }))
    },
    prunedEvents: async () => (await read('pruned', PRUNED))[0]?.['n'] as number,
    vaultKeys: async () => (await read('vault keys', VAULT_KEYS)).map((row) => row['key_id'] as string),
  }
}

import { statSync } from 'node:fs'
import type { StoreInfo } from '@clew/ledger'
import type { Connection } from './connection.ts'
import { LAST_POSITION } from './event-row.ts'

/** Facts about the whole file. */
export function createInfo({ db, file }: Connection): {
  readonly [K in keyof StoreInfo]: () => StoreInfo[K]
} {
  const sql = {
    lastPosition: db.prepare(LAST_POSITION),
    workspaces: db.prepare('SELECT DISTINCT workspace FROM runs ORDER BY workspace'),
    // Scope 0 has nodes that only keep an id taken.
    stats: db.prepare(
      `SELECT (SELECT count(*) FROM events) AS events, (SELECT count(*) FROM runs) AS runs,
         (SELECT count(*) FROM nodes WHERE scope <> 0) AS "values", page_count * page_size AS bytes
       FROM pragma_page_count(), pragma_page_size()`,
    ),
    pages: db.prepare(
      `SELECT page_count * page_size AS bytes, freelist_count * page_size AS free
         FROM pragma_page_count(), pragma_page_size(), pragma_freelist_count()`,
    ),
    pruned: db.prepare(
      'SELECT coalesce(sum(s.to_seq - s.from_seq + 1), 0) AS n FROM seals s CROSS JOIN runs r ON r.id = s.run',
    ),
    vaultKeys: db.prepare('SELECT DISTINCT key_id FROM vault ORDER BY key_id'),
  }
  const lastPosition = (): number => Number(sql.lastPosition.get()?.['position'] ?? 0)
  const sizeOf = (...paths: readonly string[]): number =>
    paths.reduce((sum, path) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0), 0)
  return {
    lastPosition,
    newestPosition: lastPosition,
    workspaces: () => sql.workspaces.all().map((row) => row['workspace'] as string),
    stats: () => ({ ...sql.stats.get() }) as unknown as StoreInfo['stats'],
    storage() {
      const pages = sql.pages.get()
      const free = Number(pages?.['free'])
      const search = `${file}.search.db`
      return [
        { name: 'ledger', bytes: Number(pages?.['bytes']) - free },
        { name: 'free pages', bytes: free },
        { name: 'write-ahead log', bytes: sizeOf(`${file}-wal`) },
        { name: 'search index', bytes: sizeOf(search, `${search}-wal`) },
        { name: 'live progress', bytes: sizeOf(`${file}-progress`) },
      ].filter(({ bytes }) => bytes > 0)
    },
    prunedEvents: () => Number(sql.pruned.get()?.['n']),
    vaultKeys: () => sql.vaultKeys.all().map((row) => row['key_id'] as string),
  }
}

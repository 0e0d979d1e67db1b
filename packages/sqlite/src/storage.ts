import { statSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import type { StoragePart } from '@clew/ledger'

/** The files of a ledger and the pages of the first; parts that take nothing are left out. */
export function createStorage(db: DatabaseSync, file: string): () => StoragePart[] {
  const pages = db.prepare(
    `SELECT page_count * page_size AS bytes, freelist_count * page_size AS free
       FROM pragma_page_count(), pragma_page_size(), pragma_freelist_count()`,
  )
  const sizeOf = (...paths: readonly string[]): number =>
    paths.reduce((sum, path) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0), 0)
  return () => {
    const row = pages.get()
    const free = Number(row?.['free'])
    const search = `${file}.search.db`
    return [
      { name: 'ledger', bytes: Number(row?.['bytes']) - free },
      { name: 'free pages', bytes: free },
      { name: 'write-ahead log', bytes: sizeOf(`${file}-wal`) },
      { name: 'search index', bytes: sizeOf(search, `${search}-wal`) },
      { name: 'live progress', bytes: sizeOf(`${file}-progress`) },
    ].filter(({ bytes }) => bytes > 0)
  }
}

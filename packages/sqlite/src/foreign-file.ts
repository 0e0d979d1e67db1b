import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { ClewError } from '@clew/ledger'

export interface ForeignDatabase {
  /** Rows of a query with the parameters `$1`, `$2`, … */
  query(sql: string, values: readonly string[]): Promise<Record<string, unknown>[]>
  close(): Promise<void>
}

/** A database of another program, only to read. */
export function openForeignFile(path: string): ForeignDatabase {
  try {
    statSync(path)
    const db = new DatabaseSync(path, { readOnly: true, timeout: 5000 })
    return {
      // Numbered parameters of SQLite are `?1`.
      query: async (sql, values) => {
        try {
          return db.prepare(sql.replaceAll('$', '?')).all(...values)
        } catch (error) {
          throw unreadable(path, error)
        }
      },
      close: async () => db.close(),
    }
  } catch (error) {
    throw unreadable(path, error)
  }
}

const unreadable = (path: string, cause: unknown): ClewError =>
  new ClewError(
    'broken_import',
    `${path} cannot be read as a SQLite database: ${cause instanceof Error ? cause.message : 'unknown'}`,
    'Name the file that the saver wrote; nothing was imported.',
    { path },
    cause,
  )

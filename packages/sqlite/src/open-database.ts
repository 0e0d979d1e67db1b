import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { ClewError } from '@clew/ledger'
import { storeError } from './errors.ts'
import { makeFile } from './make-file.ts'
import { assertReadable, migrate, readSchema } from './migrate.ts'
import { MIGRATIONS } from './migrations.ts'

export type Sync = 'normal' | 'full'

export interface OpenDatabaseOptions {
  readonly readOnly?: boolean | undefined
  readonly create?: boolean | undefined
  /** `normal` survives the death of the process, `full` also the loss of power (L5). */
  readonly sync?: Sync | undefined
  /** How long to wait for a file that another process has locked; 30 s by default. */
  readonly waitMs?: number | undefined
  /** Other migrations than those of this version, for tests. */
  readonly migrations?: readonly string[] | undefined
}

export const WAIT_MS = 30_000
/** Opening blocks the event loop while it waits. */
const OPEN_WAIT_MS = 5000

export function openDatabase(path: string, url: string, options: OpenDatabaseOptions): DatabaseSync {
  const {
    readOnly = false,
    create = true,
    sync = 'normal',
    waitMs = WAIT_MS,
    migrations = MIGRATIONS,
  } = options
  const timeout = Math.min(waitMs, OPEN_WAIT_MS)
  const isNew = !existsSync(path)
  if (isNew && (readOnly || !create)) throw missing(url)
  if (!isNew && statSync(path).isDirectory()) throw folderInstead(url)
  let db: DatabaseSync | undefined
  try {
    if (isNew) {
      mkdirSync(dirname(path), { recursive: true })
      makeFile(path)
    }
    if (!readOnly && existsSync(`${path}-wal`)) assertOurs(path, url, migrations.length, timeout)
    db = new DatabaseSync(readOnly && isAtRest(path) ? asItLies(path) : path, { readOnly, timeout })
    if (readOnly) assertReadable(db, url, migrations.length)
    else {
      migrate(db, url, migrations)
      db.exec('PRAGMA journal_mode = WAL')
      // The first read opens the WAL, which then lies beside the file until this connection is closed.
      db.exec('SELECT 1 FROM sqlite_schema LIMIT 1')
    }
    db.exec(`PRAGMA synchronous = ${sync === 'full' ? 'FULL' : 'NORMAL'}`)
    db.exec('PRAGMA secure_delete = ON; PRAGMA temp_store = MEMORY')
    // A reader goes through the file from one end to the other, and the system caches its pages as well.
    db.exec(`PRAGMA cache_size = ${readOnly ? -4000 : -16_000}`)
    db.exec('PRAGMA journal_size_limit = 67108864; PRAGMA foreign_keys = OFF')
    // A checkpoint waits for the disk. With `full` each commit does so too, and longer while the WAL still grows.
    db.exec(`PRAGMA wal_autocheckpoint = ${sync === 'full' ? 4000 : 12_000}`)
    // From here on `Connection` waits, without blocking the event loop.
    db.exec('PRAGMA busy_timeout = 0')
    return db
  } catch (error) {
    db?.close()
    throw storeError(url, error, path)
  }
}

/**
 * Throws if this version cannot use the file, through a connection that cannot write: one that can would write the WAL
 * back when it is closed, and a file that is refused must stay as it is.
 */
function assertOurs(path: string, url: string, newest: number, timeout: number): void {
  const db = new DatabaseSync(path, { readOnly: true, timeout })
  try {
    readSchema(db, url, newest)
  } finally {
    db.close()
  }
}

function missing(url: string): ClewError {
  return new ClewError(
    'store_missing',
    `There is no ledger at ${url}`,
    'Record something first (npx clew demo), or name another with --store or CLEW_STORE.',
    { url },
  )
}

/** True if this user cannot make files beside the database and there is no WAL, as on a read-only disk. */
export function isAtRest(path: string): boolean {
  if (existsSync(`${path}-wal`)) return false
  try {
    accessSync(dirname(path), constants.W_OK)
    return false
  } catch {
    return true
  }
}

/** Opens a file without the shared memory that WAL mode otherwise needs beside it. */
function asItLies(path: string): URL {
  const address = pathToFileURL(path)
  address.searchParams.set('immutable', '1')
  return address
}

function folderInstead(url: string): ClewError {
  return new ClewError(
    'not_a_store',
    `There is a folder at ${url}`,
    'Name a file in it, for example clew.db.',
    { url },
  )
}

import type { DatabaseSync } from 'node:sqlite'
import { ClewError } from '@clew/ledger'

/** "Clew" in ASCII: marks the file as ours. */
const APPLICATION_ID = 0x436c6577
/**
 * `user_version` of a file: this number plus that of its last migration. Versions of Clew before this schema counted
 * from 1 to 12 with the same application id. So each refuses the files of the other: as older here, as newer there.
 */
const BASE = 100

const pragma = (db: DatabaseSync, name: string): number =>
  Number(Object.values(db.prepare(`PRAGMA ${name}`).get() ?? {})[0])

/**
 * Brings a file to the newest schema, or refuses it. All migrations are one transaction, so a kill leaves the old schema
 * or the new one. If several processes open a file at once, one of them migrates it and the others find it done.
 */
export function migrate(db: DatabaseSync, url: string, migrations: readonly string[]): void {
  const newest = migrations.length
  if (readSchema(db, url, newest) === newest) return
  // Takes effect only in a file without tables.
  db.exec('PRAGMA auto_vacuum = INCREMENTAL')
  db.exec('BEGIN EXCLUSIVE')
  try {
    for (const sql of migrations.slice(readSchema(db, url, newest))) db.exec(sql)
    db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${BASE + newest}`)
    db.exec('COMMIT')
  } catch (error) {
    db.exec('ROLLBACK')
    throw error
  }
}

/** The number of the file's last migration, 0 for an empty file. Throws if this version cannot use the file. */
export function readSchema(db: DatabaseSync, url: string, newest: number): number {
  const version = pragma(db, 'user_version')
  const tables = Number(db.prepare('SELECT count(*) AS n FROM sqlite_schema').get()?.['n'])
  if (tables === 0 && version === 0) return 0
  if (pragma(db, 'application_id') !== APPLICATION_ID) throw foreign(url)
  if (version <= BASE) throw older(url, version)
  if (version > BASE + newest) throw newer(url, version)
  return version - BASE
}

/** For a file that may only be read: it must have the newest schema. */
export function assertReadable(db: DatabaseSync, url: string, newest: number): void {
  const schema = readSchema(db, url, newest)
  if (schema < newest)
    throw new ClewError(
      'store_readonly',
      `The ledger ${url} has schema ${schema} and must be brought to ${newest}, but it can only be read`,
      'Open it once with write permission.',
      { url, schema },
    )
}

const foreign = (url: string): ClewError =>
  new ClewError(
    'not_a_store',
    `The file behind ${url} is a SQLite database, but not a Clew ledger`,
    'Give the path of a Clew ledger, or of a file that does not exist yet; nothing was changed.',
    { url },
  )

const older = (url: string, version: number): ClewError =>
  new ClewError(
    'older_store',
    `The ledger ${url} was made by an earlier version of Clew, whose files this version does not open`,
    'Export it with the version that made it and import that into a new file; nothing was changed.',
    { url, version },
  )

const newer = (url: string, version: number): ClewError =>
  new ClewError(
    'newer_store',
    `The ledger ${url} was made by a newer version of Clew`,
    'Update Clew to open it; nothing was changed.',
    { url, version },
  )

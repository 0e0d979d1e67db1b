import { readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { ClewError, PROJECTION_VERSION } from '@clew/ledger'
import { makeFile } from './make-file.ts'

/** "Clew" in ASCII: marks the file as ours. */
const APPLICATION_ID = 0x436c6577

const FOLDER = new URL('../migrations/', import.meta.url)

/** The numbered migrations that come with this version, oldest first. */
export function readMigrations(): string[] {
  const files = readdirSync(FOLDER).filter((file) => /^\d{4}\.sql$/.test(file))
  return files.toSorted().map((file) => readFileSync(new URL(file, FOLDER), 'utf8'))
}

const pragma = (db: DatabaseSync, name: string): number =>
  Number(Object.values(db.prepare(`PRAGMA ${name}`).get() ?? {})[0])

/**
 * Brings a file to the newest schema, or refuses it. An older file is copied beside itself first; several
 * processes may start at once, one of them migrates and the others find it done.
 */
export function migrate(db: DatabaseSync, path: string, url: string, migrations: readonly string[]): void {
  const version = pragma(db, 'user_version')
  assertOurs(db, url, version)
  if (version > migrations.length) throw newer(url, version, migrations.length)
  if (version === migrations.length) return
  if (version > 0) backUp(db, path, version)
  // Takes effect only in a file without tables.
  db.exec('PRAGMA auto_vacuum = INCREMENTAL')
  db.exec('BEGIN EXCLUSIVE')
  try {
    const found = pragma(db, 'user_version')
    for (let next = found; next < migrations.length; next++) db.exec(migrations[next] as string)
    // A new file has no rows of older folds.
    if (found === 0 && migrations.length > 1)
      db.exec(`UPDATE projections SET version = ${PROJECTION_VERSION}`)
    db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${migrations.length}`)
    db.exec('COMMIT')
  } catch (error) {
    db.exec('ROLLBACK')
    throw error
  }
}

/** For a file that may only be read: it must be ours, and of a schema this version knows. */
export function assertReadable(db: DatabaseSync, url: string, newest: number): void {
  const version = pragma(db, 'user_version')
  assertOurs(db, url, version)
  if (version > newest) throw newer(url, version, newest)
  if (version < newest)
    throw new ClewError(
      'store_readonly',
      `The ledger ${url} has schema ${version} and must be brought to ${newest}, but it can only be read`,
      'Open it once with write permission.',
      { url, version },
    )
}

function assertOurs(db: DatabaseSync, url: string, version: number): void {
  const tables = Number(db.prepare('SELECT count(*) AS n FROM sqlite_schema').get()?.['n'])
  if (pragma(db, 'application_id') === APPLICATION_ID || (tables === 0 && version === 0)) return
  throw new ClewError(
    'not_a_store',
    `The file behind ${url} is a SQLite database, but not a Clew ledger`,
    'Give the path of a Clew ledger, or of a file that does not exist yet; nothing was changed.',
    { url },
  )
}

function newer(url: string, version: number, newest: number): ClewError {
  return new ClewError(
    'newer_store',
    `The ledger ${url} has schema ${version}; this Clew knows up to ${newest}`,
    'Update Clew to open it; nothing was changed.',
    { url, version, newest },
  )
}

/** Made under a name of its own and put in place whole, for several processes may do this at once. */
function backUp(db: DatabaseSync, path: string, version: number): void {
  const made = `${path}.backup-${version}.${process.pid}`
  rmSync(made, { force: true })
  makeFile(made, path)
  db.prepare('VACUUM INTO ?').run(made)
  const copy = new DatabaseSync(made, { readOnly: true })
  const isOld = pragma(copy, 'user_version') === version
  copy.close()
  // Another process migrated in the meantime: its backup is the right one.
  if (isOld) renameSync(made, `${path}.backup-${version}`)
  else rmSync(made)
}

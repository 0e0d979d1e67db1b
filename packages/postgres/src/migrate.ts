import { ClewError } from '@clew/ledger'
import { stateOf } from './errors.ts'
import type { Sql } from './sql.ts'

/** Versions 1 to 7 were another format; the first of `MIGRATIONS` makes version 8. */
const FIRST_VERSION = 8

interface MigrateOptions {
  readonly url: string
  readonly schema: string
  readonly migrations: readonly string[]
  readonly readOnly: boolean
  readonly create: boolean
}

/**
 * Brings a schema to the newest version, or refuses it. Any number of processes may start at once: one of them
 * migrates behind an advisory lock, the others wait for it and find it done. `sql` is one connection.
 */
export async function migrate(sql: Sql, options: MigrateOptions): Promise<void> {
  const { url, schema, migrations, readOnly, create } = options
  const newest = FIRST_VERSION + migrations.length - 1
  const found = await readVersion(sql, url, schema)
  assertUsable(found)
  if (found.version >= newest) return
  if (found.version === 0 && !create) throw missing(url)
  await sql.query({ text: 'BEGIN' })
  try {
    // The same lock for all processes that open this schema of this database.
    await sql.query({
      text: 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))',
      values: [`clew ${schema}`],
    })
    const { version, oldest } = await readVersion(sql, url, schema)
    assertUsable({ version, oldest })
    if (version === 0) await createSchema(sql, schema)
    const applied = version === 0 ? 0 : version - FIRST_VERSION + 1
    for (const script of migrations.slice(applied)) await sql.query({ text: script })
    if (version < newest) await sql.query({ text: 'UPDATE meta SET version = $1', values: [newest] })
    await sql.query({ text: 'COMMIT' })
  } catch (error) {
    await sql.query({ text: 'ROLLBACK' }).catch(() => undefined)
    throw error
  }

  /** Old and new code work side by side, one version apart, while one is replaced by the other. */
  function assertUsable({ version, oldest }: Version): void {
    if (version > newest + 1 || oldest > newest) throw newer(url, version, newest)
    if (version > 0 && version < FIRST_VERSION) throw older(url, version)
    if (!readOnly || version >= newest) return
    throw version === 0 ? missing(url) : tooOldToRead(url, version, newest)
  }
}

/** A schema that the operator made beforehand needs no right to make one. */
async function createSchema(sql: Sql, schema: string): Promise<void> {
  const { rows } = await sql.query({ text: 'SELECT FROM pg_namespace WHERE nspname = $1', values: [schema] })
  if (rows.length === 0) await sql.query({ text: `CREATE SCHEMA "${schema}"` })
}

interface Version {
  readonly version: number
  /** The oldest version whose code may work on the schema. */
  readonly oldest: number
}

/** 0 for a schema without anything in it; a schema with tables of another program is refused. */
async function readVersion(sql: Sql, url: string, schema: string): Promise<Version> {
  const { rows } = await sql.query({
    text: `SELECT to_regclass(format('%I.meta', $1::text)) IS NOT NULL AS has_meta,
      EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1) AS has_any`,
    values: [schema],
  })
  if (rows[0]?.['has_any'] !== true) return { version: 0, oldest: 0 }
  if (rows[0]['has_meta'] !== true) throw foreign(url, schema)
  const { rows: columns } = await sql.query({
    text: `SELECT count(*)::int AS n FROM pg_attribute WHERE attrelid = to_regclass(format('%I.meta', $1::text))
      AND attname IN ('ledger', 'version', 'base', 'oldest')`,
    values: [schema],
  })
  if (columns[0]?.['n'] !== 4) throw foreign(url, schema)
  try {
    const { rows: meta } = await sql.query({ text: `SELECT ledger, version, oldest FROM "${schema}".meta` })
    if (meta[0]?.['ledger'] !== 'clew') throw foreign(url, schema)
    return { version: meta[0]['version'] as number, oldest: meta[0]['oldest'] as number }
  } catch (error) {
    // The table was dropped in between.
    if (stateOf(error) === '42P01') throw foreign(url, schema)
    throw error
  }
}

function missing(url: string): ClewError {
  return new ClewError(
    'store_missing',
    `There is no ledger at ${url}`,
    'Record something first, or name another with --store or CLEW_STORE.',
    { url },
  )
}

function older(url: string, version: number): ClewError {
  return new ClewError(
    'older_store',
    `The ledger ${url} was made by an earlier version of Clew, whose schema this version does not open`,
    'Export it with the version that made it and import that into a new schema (?schema=NAME at the end of the URL); nothing was changed.',
    { url, version },
  )
}

function tooOldToRead(url: string, version: number, newest: number): ClewError {
  return new ClewError(
    'store_readonly',
    `The ledger ${url} has schema ${version} and must be brought to ${newest}, but it can only be read`,
    'Open it once with the right to change its tables.',
    { url, version },
  )
}

function foreign(url: string, schema: string): ClewError {
  return new ClewError(
    'not_a_store',
    `The schema ${schema} of ${url} has tables that are not those of a Clew ledger`,
    'Name another schema with ?schema=NAME at the end of the URL, or another database; nothing was changed.',
    { url, schema },
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

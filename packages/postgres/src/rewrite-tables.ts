import type { Ports } from '@clew/ledger'
import type { Database, Sql } from './sql.ts'

interface RewriteParts {
  readonly db: Database
  readonly reading: Sql
  readonly ports: Pick<Ports, 'sleep'>
  readonly waitMs: number
}

const FIRST_MS = 10
const MAX_MS = 250

const MARK = `SELECT pg_snapshot_xmax(pg_current_snapshot())::text AS mark`

/** Transaction ids of sessions have 32 bits and wrap around: whether `id` comes before the mark. */
const isOlder = (id: string): string =>
  `(($1::bigint - ${id}::text::bigint) % 4294967296 + 4294967296) % 4294967296 BETWEEN 1 AND 2147483647`

/**
 * Everything that keeps dead rows of this database: writers anywhere on the server (by their ids the snapshot of a
 * rewrite is as old), readers of an older state of this database or of a replica, prepared transactions, and slots. A
 * vacuum keeps nothing.
 */
const HOLDERS = `SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint < $1::bigint AS is_held, ARRAY(
  SELECT format('%s (pid %s, database %s, since %s)', coalesce(nullif(application_name, ''), 'a session'), pid,
      coalesce(datname, 'none'), to_char(xact_start AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'))
    FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND (${isOlder('backend_xid')}
      OR (datname = current_database() OR datname IS NULL) AND ${isOlder('backend_xmin')}
        AND pid NOT IN (SELECT pid FROM pg_stat_progress_vacuum))
  UNION ALL SELECT format('the prepared transaction %s (database %s)', gid, database)
    FROM pg_prepared_xacts WHERE ${isOlder('transaction')}
  UNION ALL SELECT format('the replication slot %s', slot_name)
    FROM pg_replication_slots WHERE ${isOlder('xmin')}) AS holders`

/** Planner statistics, which contain values of the tables. Only the owner of the database can rewrite them. */
const STATISTICS = 'pg_statistic'
const IS_OWNER = `SELECT pg_has_role(datdba, 'USAGE') AS is_owner FROM pg_database WHERE datname = current_database()`

/**
 * Rewrites tables with their live rows, so that no byte of deleted rows is left; otherwise returns why not, and what
 * to do. VACUUM FULL copies dead rows that an older transaction may see, so it waits for those.
 */
export async function rewriteTables(
  { db, reading, ports, waitMs }: RewriteParts,
  tables: readonly string[],
): Promise<string | null> {
  // First, so that counted rows are dead when they are rewritten.
  await countAnew(db, tables)
  const holders = await awaitOlderTransactions(reading, ports, waitMs)
  if (holders.length > 0) {
    for (const table of tables) await db.query({ text: `VACUUM ${table}` })
    return `Nothing of it can be read any more, but tables were not written anew, for older transactions may still see it: ${holders.join(', ')}. Let them end, and erase the same again: then no file of the database holds a byte of it.`
  }
  for (const table of tables) await db.query({ text: `VACUUM (FULL) ${table}` })
  if ((await reading.query({ text: IS_OWNER })).rows[0]?.['is_owner'] !== true)
    return `Nothing of it can be read any more, and tables were written anew, but ${STATISTICS} may hold values that the server had counted. Let the owner of the database run VACUUM FULL ${STATISTICS}: then no file of the database holds a byte of it.`
  await db.query({ text: `VACUUM (FULL) ${STATISTICS}` })
  return null
}

const COUNTED = `SELECT format('ALTER COLUMN %I TYPE %s', s.attname, format_type(a.atttypid, a.atttypmod))
    || CASE WHEN a.attcollation = 0 THEN '' ELSE format(' COLLATE %s', a.attcollation::regcollation) END AS again
  FROM pg_stats s JOIN pg_attribute a ON a.attrelid = to_regclass(s.tablename) AND a.attname = s.attname
  JOIN pg_type t ON t.oid = a.atttypid AND t.typcategory NOT IN ('N', 'B')
  WHERE s.schemaname = current_schema() AND s.tablename = $1`

/**
 * Replaces the statistics of tables, which quote values from them and which any user can read. ANALYZE does so, except for a
 * table that is empty by now: its statistics are dropped when a column is given its type once more, with its collation. Numbers
 * quote nothing of a person.
 */
export async function countAnew(db: Database, tables: readonly string[]): Promise<void> {
  for (const table of tables) {
    await db.query({ text: `ANALYZE ${table}` })
    if ((await db.query({ text: `SELECT FROM ${table} LIMIT 1` })).rows.length > 0) continue
    const columns = (await db.query({ text: COUNTED, values: [table] })).rows.map((row) => row['again'])
    if (columns.length > 0) await db.query({ text: `ALTER TABLE ${table} ${columns.join(', ')}` })
  }
}

/** Waits until no transaction is open that began before now; returns those that still keep dead rows after `waitMs`. */
async function awaitOlderTransactions(
  sql: Sql,
  { sleep }: Pick<Ports, 'sleep'>,
  waitMs: number,
): Promise<readonly string[]> {
  const mark = (await sql.query({ text: MARK })).rows[0]?.['mark']
  const deadline = performance.now() + waitMs
  for (let pauseMs = FIRST_MS; ; pauseMs = Math.min(MAX_MS, 2 * pauseMs)) {
    const [row] = (await sql.query({ text: HOLDERS, values: [mark] })).rows
    const holders = row?.['holders'] as string[]
    if (row?.['is_held'] === false && holders.length === 0) return []
    if (performance.now() > deadline)
      return holders.length > 0 ? holders : ['one that this user may not see (grant pg_read_all_stats)']
    await sleep(pauseMs)
  }
}

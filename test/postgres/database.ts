import { randomBytes } from 'node:crypto'
import { NEW_PROJECTIONS } from '../../packages/ledger/src/projections/projection-version.ts'
import pg from 'pg'
import { type PostgresServer, startServer } from './start-server.ts'

/** Where tests ask for the server of their run, and what the run is called; set by `global-setup.ts`. */
export const DOOR = 'CLEW_TEST_POSTGRES_DOOR'
export const RUN = 'CLEW_TEST_POSTGRES_RUN'

export interface TestDatabase {
  readonly url: string
  readonly name: string
  /** One statement, as a superuser, over a connection of its own. */
  query(sql: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]>
  drop(): Promise<void>
}

let own: Promise<PostgresServer> | undefined

/** URL of the server for tests: `CLEW_TEST_POSTGRES`, that of the vitest run, or one that ends with this process. */
export async function serverUrl(): Promise<string> {
  const given = process.env['CLEW_TEST_POSTGRES']
  if (given) return given
  const door = process.env[DOOR]
  if (door === undefined) {
    own ??= startServer()
    return (await own).url
  }
  const answer = (await (await fetch(door)).json()) as { url?: string; error?: string }
  if (answer.url === undefined) throw new Error(answer.error)
  return answer.url
}

/** An empty database of its own, so that tests beside each other never meet. */
export async function createDatabase(
  options: { server?: string; create?: string } = {},
): Promise<TestDatabase> {
  const server = options.server ?? (await serverUrl())
  const name = `clew_test_${process.env[RUN] ?? ''}${randomBytes(6).toString('hex')}`
  await query(server, `CREATE DATABASE ${name} ${options.create ?? 'TEMPLATE template0'}`)
  const url = withDatabase(server, name)
  return {
    url,
    name,
    query: (sql, values) => query(url, sql, values),
    drop: async () => void (await query(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)),
  }
}

let shared: Promise<TestDatabase> | undefined
const emptied: string[] = []

/**
 * An empty schema in a database of this process: the cheaper way to keep tests apart. Given back, it is emptied and
 * used again, for making all tables takes longer than most tests.
 */
export async function createSchema(): Promise<Pick<TestDatabase, 'url' | 'drop'>> {
  shared ??= createDatabase()
  const database = await shared
  const schema = emptied.pop() ?? `test_${randomBytes(6).toString('hex')}`
  const address = new URL(database.url)
  address.searchParams.set('schema', schema)
  return {
    url: address.href,
    async drop() {
      await database.query(emptying(schema))
      emptied.push(schema)
    },
  }
}

/** All rows but those that the migrations have put there. A superuser may lift the triggers for a moment. */
const emptying = (schema: string): string => `DO $$
DECLARE t record;
BEGIN
  IF to_regclass('${schema}.meta') IS NULL THEN RETURN; END IF;
  FOR t IN SELECT tgrelid::regclass AS name FROM pg_trigger JOIN pg_class c ON c.oid = tgrelid
    WHERE c.relnamespace = '${schema}'::regnamespace AND tgname = 'never_gone' LOOP
    EXECUTE format('ALTER TABLE %s DISABLE TRIGGER never_gone', t.name);
    EXECUTE format('DELETE FROM %s', t.name);
    EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER never_gone', t.name);
  END LOOP;
  FOR t IN SELECT oid::regclass AS name FROM pg_class WHERE relnamespace = '${schema}'::regnamespace AND relkind = 'r'
    AND relname NOT IN ('meta', 'search_state') LOOP
    EXECUTE format('DELETE FROM %s', t.name);
  END LOOP;
  UPDATE ${schema}.search_state SET position = 0, version = 0;
  INSERT INTO ${schema}.slots VALUES ('${NEW_PROJECTIONS.workspace}', '${NEW_PROJECTIONS.name}', '${JSON.stringify(NEW_PROJECTIONS.value)}', 1);
END $$`

function withDatabase(url: string, name: string): string {
  const changed = new URL(url)
  changed.pathname = `/${name}`
  return changed.href
}

export async function query(
  url: string,
  sql: string,
  values: readonly unknown[] = [],
): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url })
  // A server that is taken away says so on the connection, too; the statement tells.
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query(sql, [...values])).rows as Record<string, unknown>[]
  } finally {
    await client.end()
  }
}

/** What a run has left on a server that goes on without it. */
export async function dropAll(run: string): Promise<void> {
  const server = await serverUrl()
  const left = await query(server, 'SELECT datname FROM pg_database WHERE starts_with(datname, $1)', [
    `clew_test_${run}`,
  ])
  for (const { datname } of left)
    await query(server, `DROP DATABASE IF EXISTS ${String(datname)} WITH (FORCE)`)
}

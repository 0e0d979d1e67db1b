import pg from 'pg'
import { ClewError } from '@clew/ledger'
import { isCollision, isLost, serverTooOld, shownUrl, storeError, wrongEncoding } from './errors.ts'
import { assertSameKey, type KeyFingerprint } from './key-fingerprint.ts'
import { migrate } from './migrate.ts'
import { MIGRATIONS } from './migrations.ts'
import type { Database, Sql, Statement } from './sql.ts'

export interface OpenDatabaseOptions {
  readonly readOnly?: boolean | undefined
  readonly create?: boolean | undefined
  /**
   * How long to wait for a server that is away, for one statement of an append, and for other transactions before a
   * rewrite of tables; 30 s by default.
   */
  readonly waitMs?: number | undefined
  /** How long making one connection may take; 30 s by default. A refused address fails at once. */
  readonly connectMs?: number | undefined
  readonly migrations?: readonly string[] | undefined
  readonly keyMark?: KeyFingerprint | undefined
}

export const WAIT_MS = 30_000
const CONNECT_MS = 30_000
const OLDEST = 14
const DEFAULT_SCHEMA = 'clew'
const CONNECTIONS = 6
const RETRY_MS = 25
const COLLISIONS = 20

/** The connection for appends, until it is released. Statements are sent immediately, without waiting for earlier answers. */
export interface Connection extends Sql {
  /** Gives it back; a broken one is replaced by the next `connect`. */
  release(): void
}

export interface OpenedDatabase extends Database {
  readonly url: string
  readonly schema: string
  /** The connection for appends: one at a time, so that plans are made once. */
  connect(): Promise<Connection>
  /** For reads, which are repeated when the connection is lost. */
  readonly reading: Sql
  /** A new connection that is not open yet. */
  createClient(): pg.Client
  /** Applies the ledger's settings to a connection made by `createClient`, once it is open. */
  settle(client: pg.Client): Promise<void>
  close(): Promise<void>
}

/** Positions, seqs and ids are safe integers; the driver's default for bigint is text. */
const types = new pg.TypeOverrides()
types.setTypeParser(pg.types.builtins.INT8, Number)

/** The ledger's schema, and the URL as the driver may see it. */
function parseAddress(url: string): { shown: string; schema: string; connectionString: string } {
  const base = shownUrl(url)
  const address = new URL(url)
  const schema = address.searchParams.get('schema') ?? DEFAULT_SCHEMA
  if (!/^(?!pg_)[a-z_][a-z0-9_]{0,47}$/.test(schema))
    throw new ClewError(
      'bad_url',
      'The schema in the store URL is not a usable name',
      'Use up to 48 small letters, digits and _ after ?schema=, for example ?schema=clew.',
    )
  address.searchParams.delete('schema')
  const shown = schema === DEFAULT_SCHEMA ? base : `${base}?schema=${schema}`
  return { shown, schema, connectionString: address.href }
}

export async function openDatabase(address: string, options: OpenDatabaseOptions): Promise<OpenedDatabase> {
  const { readOnly = false, create = true, migrations = MIGRATIONS } = options
  const { waitMs = WAIT_MS, connectMs = CONNECT_MS } = options
  const { shown: url, schema, connectionString } = parseAddress(address)
  const config: pg.PoolConfig = {
    connectionString,
    types,
    keepAlive: true,
    application_name: 'clew',
    connectionTimeoutMillis: connectMs,
  }

  // Settings of the database user must not change what statements mean or whether a commit is durable.
  const usual = {
    search_path: `"${schema}"`,
    default_transaction_isolation: 'read committed',
    bytea_output: 'hex',
    datestyle: 'ISO',
    jit: 'off',
  }
  const session = readOnly ? { ...usual, default_transaction_read_only: 'on' } : usual
  const appending = {
    ...session,
    plan_cache_mode: 'force_generic_plan',
    enable_hashjoin: 'off',
    enable_mergejoin: 'off',
    enable_seqscan: 'off',
    statement_timeout: String(waitMs),
    idle_in_transaction_session_timeout: String(waitMs),
  }
  async function settle(client: pg.ClientBase, settings: Readonly<Record<string, string>>): Promise<void> {
    // An acknowledged append is on disk (L5), also where synchronous_commit is off for this user.
    await client.query(
      `SELECT set_config(name, value, false) FROM unnest($1::text[], $2::text[]) s (name, value)
       WHERE name <> 'synchronous_commit' OR current_setting(name) = 'off'`,
      [
        [...Object.keys(settings), 'synchronous_commit'],
        [...Object.values(settings), 'on'],
      ],
    )
  }

  function createPool(options: pg.PoolConfig, settings: Readonly<Record<string, string>>): pg.Pool {
    // The pool waits for the promise, which its type does not say.
    const onConnect = (client: pg.ClientBase): unknown => settle(client, settings)
    const pool = new pg.Pool({ ...config, ...options, onConnect })
    // A connection that is lost while idle is replaced when one is needed; a running statement fails with its own
    // error.
    pool.on('error', () => {}).on('connect', (client) => client.on('error', () => {}))
    return pool
  }

  await prepare()
  // A server behind a stalled network never answers: then the connection is cut, and the outcome is not known.
  const appends = createPool(
    { max: 1, pipeline: true, idleTimeoutMillis: 0, query_timeout: waitMs + 5000 },
    appending,
  )
  const others = createPool({ max: CONNECTIONS }, session)
  let closed = false

  /** Checks, migrates and ends a connection of its own, so that a wrong address or schema fails here, once. */
  async function prepare(): Promise<void> {
    const client = new pg.Client(config)
    client.on('error', () => {})
    try {
      await client.connect()
      await assertServer(client, url)
      await settle(client, session)
      await migrate(client, { url, schema, migrations, readOnly, create })
      if (!readOnly) await raiseBase(client)
      if (options.keyMark) await assertSameKey(client, url, options.keyMark, readOnly)
    } catch (error) {
      throw storeError(url, error)
    } finally {
      await client.end().catch(() => undefined)
    }
  }

  async function acquire(pool: pg.Pool): Promise<pg.PoolClient> {
    const deadline = performance.now() + waitMs
    for (;;) {
      if (closed)
        throw new ClewError('closed', `The ledger ${url} is closed`, 'Open it again before using it.')
      try {
        return await pool.connect()
      } catch (error) {
        if (!isLost(error) || performance.now() > deadline) throw storeError(url, error)
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
      }
    }
  }

  async function connect(): Promise<Connection> {
    const client = await acquire(appends)
    let isBroken = false
    return {
      async query(statement) {
        try {
          return await client.query(statement)
        } catch (error) {
          isBroken ||= isLost(error)
          throw error
        }
      },
      release: () => client.release(isBroken),
    }
  }

  async function transact<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      const client = await acquire(others)
      let isBroken = false
      try {
        await client.query('BEGIN')
        const result = await work(client)
        await client.query('COMMIT')
        return result
      } catch (error) {
        isBroken = isLost(error)
        if (!isBroken) await client.query('ROLLBACK').catch(() => (isBroken = true))
        if (!isCollision(error) || attempt >= COLLISIONS) throw storeError(url, error)
      } finally {
        client.release(isBroken)
      }
    }
  }

  async function once(pool: pg.Pool, statement: Statement) {
    const client = await acquire(pool)
    let broken = false
    try {
      return await client.query(statement)
    } catch (error) {
      broken = isLost(error)
      throw error
    } finally {
      client.release(broken)
    }
  }

  const reading: Sql['query'] = async (statement) => {
    const deadline = performance.now() + waitMs
    for (;;)
      try {
        return await once(others, statement)
      } catch (error) {
        if (!isLost(error) || performance.now() > deadline) throw storeError(url, error)
      }
  }

  const query: Sql['query'] = async (statement) => {
    for (let attempt = 1; ; attempt++)
      try {
        return await once(others, statement)
      } catch (error) {
        if (!isCollision(error) || attempt >= COLLISIONS) throw storeError(url, error)
      }
  }

  return {
    url,
    schema,
    query,
    transact,
    connect,
    reading: { query: reading },
    createClient: () => new pg.Client(config),
    settle: (client) => settle(client, session),
    async close() {
      if (closed) return
      closed = true
      await Promise.all([appends.end(), others.end()])
    },
  }
}

async function assertServer(client: pg.Client, url: string): Promise<void> {
  const { rows } = await client.query<{ number: string; version: string; encoding: string }>(
    `SELECT current_setting('server_version_num') AS number, current_setting('server_version') AS version,
      current_setting('server_encoding') AS encoding`,
  )
  const { number, version, encoding } = rows[0] as (typeof rows)[0]
  if (Number(number) < OLDEST * 10_000) throw serverTooOld(url, version, OLDEST)
  if (encoding !== 'UTF8') throw wrongEncoding(url, encoding)
}

/**
 * Moves the base of positions behind the last event, if new positions would not be: after a restore into a server whose
 * transaction ids are lower than those of the server before.
 */
export async function raiseBase(sql: Sql): Promise<void> {
  await sql.query({
    text: `UPDATE meta m SET base = b.last + 1024 - b.next * 1024
      FROM (SELECT base, (SELECT max(position) FROM events) AS last,
        pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS next FROM meta) b
      WHERE m.base = b.base AND b.last >= b.base + b.next * 1024`,
  })
}

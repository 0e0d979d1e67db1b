import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { createLedger, type Ledger, type Store } from '@clew/ledger'
import { nodePorts } from '../../packages/ledger/test/node-ports.ts'
import { openPostgresStore } from '../../packages/postgres/src/index.ts'
import { openSqliteStore } from '../../packages/sqlite/src/index.ts'
import { BIN, type Ended, ended, startNode } from '../../packages/clew/test/run-clew.ts'
import { createDatabase, query, type TestDatabase } from '../postgres/database.ts'
import { type PostgresServer, startServer } from '../postgres/start-server.ts'
import { findBytes, recordCustomers, SUBJECT } from './world.ts'

// A server of its own: its transactions stay open, and others would wait for them.
let server: PostgresServer
beforeAll(async () => {
  server = await startServer()
}, 60_000)
afterAll(() => server.close())

const SECRET = 'a secret for tests that is long enough'

const ledgerOn = (store: Store): Ledger =>
  createLedger({
    store,
    ports: nodePorts,
    secret: SECRET,
    heads: { verify: async () => false },
  })

async function openCustomers(waitMs: number): Promise<{ ledger: Ledger; database: TestDatabase }> {
  const database = await createDatabase({ server: server.url })
  const ledger = ledgerOn(await openPostgresStore(database.url, nodePorts, { waitMs }))
  onTestFinished(async () => {
    await ledger.close()
    await database.drop()
  })
  await recordCustomers(ledger, 10)
  // What the server counted of the tables quotes from them.
  await database.query('ANALYZE')
  return { ledger, database }
}

/** A transaction that somebody else keeps open. */
async function holdOpen(url: string, statements: readonly string[]): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: url, application_name: 'nightly report' })
  client.on('error', () => {})
  await client.connect()
  for (const statement of statements) await client.query(statement)
  let isOpen = true
  const end = async (): Promise<void> => {
    if (isOpen) await client.end()
    isOpen = false
  }
  onTestFinished(end)
  return end
}
const WRITING = ['BEGIN', 'SELECT pg_current_xact_id()']
const READING = ['BEGIN ISOLATION LEVEL REPEATABLE READ', 'SELECT count(*) FROM clew.events']

/** What the files of this database hold of the subject. */
async function bytesOf(database: TestDatabase): Promise<string[]> {
  await database.query('CHECKPOINT')
  const [row] = await database.query(
    `SELECT current_setting('data_directory') AS folder, oid FROM pg_database WHERE datname = current_database()`,
  )
  return findBytes(join(String(row?.['folder']), 'base', String(row?.['oid'])))
}

it('P5 a rewrite waits for transactions of other databases: dead rows that they may see are kept by it', async () => {
  const other = await createDatabase({ server: server.url })
  onTestFinished(() => other.drop())
  const { ledger, database } = await openCustomers(60_000)
  const end = await holdOpen(other.url, WRITING)
  let isDone = false
  const erasing = ledger.erase({ subject: SUBJECT }, { rewrite: true }).finally(() => (isDone = true))
  // It has asked who is in its way at least once, or has not waited at all.
  const asked = async (): Promise<boolean> =>
    isDone ||
    (await database
      .query(`SELECT FROM pg_stat_activity WHERE state = 'idle' AND query LIKE $1`, ['%backend_xmin%'])
      .then(({ length }) => length > 0))
  await expect.poll(asked, { timeout: 60_000 }).toBe(true)
  expect(isDone).toBe(false)
  await end()
  const report = await erasing
  expect(report.unfinished).toBeNull()
  expect(report.certificate?.events).toBe(report.events)
  expect(await bytesOf(database)).toEqual([])
}, 120_000)

it.each([
  ['writes elsewhere on the server', 'postgres', WRITING],
  ['reads an older state of this database', 'ledger', READING],
] as const)(
  'P5 who %s for longer is named, with what to do; the same again finishes it',
  async (_, where, statements) => {
    const { ledger, database } = await openCustomers(200)
    const end = await holdOpen(where === 'ledger' ? database.url : server.url, statements)
    const report = await ledger.erase({ subject: SUBJECT }, { rewrite: true })
    expect(report.events).toBeGreaterThan(0)
    expect(report.certificate?.events).toBe(report.events)
    expect(report.unfinished).toMatch(
      /nightly report \(pid \d+, database \w+, since .*\).*erase the same again/,
    )
    expect(await bytesOf(database)).not.toEqual([])
    await end()
    const again = await ledger.erase({ subject: SUBJECT }, { rewrite: true })
    expect([again.events, again.unfinished]).toEqual([0, null])
    expect(await bytesOf(database)).toEqual([])
  },
  120_000,
)

it('P5 who does not own the database is told what its owner has to do, by exit code 1, too', async () => {
  const database = await createDatabase({ server: server.url })
  onTestFinished(() => database.drop())
  const guest = `guest_${database.name}`
  await database.query(`CREATE ROLE ${guest} LOGIN PASSWORD 'guest'`)
  onTestFinished(() => query(server.url, `DROP ROLE ${guest}`).then(() => undefined))
  await database.query(`GRANT CREATE ON DATABASE ${database.name} TO ${guest}`)
  const address = new URL(database.url)
  Object.assign(address, { username: guest, password: 'guest' })
  const ledger = ledgerOn(await openPostgresStore(address.href, nodePorts))
  await recordCustomers(ledger, 5)
  await database.query('ANALYZE')
  await ledger.close()
  const folder = mkdtempSync(join(tmpdir(), 'clew-guest-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const erase = (CLEW_STORE: string): Promise<Ended> =>
    ended(
      startNode(folder, [BIN, 'erase', '--subject', SUBJECT, '--rewrite'], {
        CLEW_STORE,
        CLEW_SECRET: SECRET,
        COLUMNS: '500',
      }),
    )
  const told = await erase(address.href)
  expect([told.code, told.stdout]).toEqual([
    1,
    expect.stringMatching(/ erased, with [^]*Let the owner of the database run VACUUM FULL pg_statistic/),
  ])
  const owner = await erase(database.url)
  expect([owner.code, owner.stdout]).toEqual([0, expect.stringContaining('Nothing of it is here')])
  expect(await bytesOf(database)).toEqual([])
  await database.query(`DROP OWNED BY ${guest}`)
}, 120_000)

it('P5 SQLite: who reads an older state from the WAL for longer is told of, and the certificate is there', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'clew-rewrite-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'clew.db')
  const ledger = ledgerOn(openSqliteStore(file, nodePorts, { waitMs: 200 }))
  onTestFinished(() => ledger.close())
  await recordCustomers(ledger, 10)
  const reader = new DatabaseSync(file, { readOnly: true })
  onTestFinished(() => {
    if (reader.isOpen) reader.close()
  })
  reader.exec('BEGIN')
  reader.prepare('SELECT count(*) FROM events').get()
  const report = await ledger.erase({ subject: SUBJECT })
  expect(report.certificate?.events).toBe(report.events)
  expect(report.unfinished).toMatch(/older state of the file.*erase the same again/)
  reader.close()
  expect((await ledger.erase({ subject: SUBJECT })).unfinished).toBeNull()
  expect(findBytes(folder)).toEqual([])
}, 60_000)

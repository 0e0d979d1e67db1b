import { foreignType, type Ledger } from '@clew/ledger'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openLedger } from '../../packages/postgres/test/harness.ts'
import { readMarkdown } from '../docs/markdown.ts'
import { readPage } from '../docs/pages.ts'
import { createDatabase, type TestDatabase, query } from './database.ts'
import { type PostgresServer, startServer } from './start-server.ts'

/** The page is the script: what it tells operators to run is run here, in its order. */
const scripts = readMarkdown(readPage('docs/guide/operations.md').text)
  .fences.filter(({ info }) => info === 'sql')
  .map(({ text }) => text)
const [roles = '', grants = '', ...questions] = scripts
const SEALED = ['events', 'payloads', 'nodes', 'seals', 'erasures', 'pruned_states']

const keyMark = (): string => 'of the one key'

let server: PostgresServer
let database: TestDatabase
const as = (user: string, password: string): string => {
  const url = new URL(database.url)
  url.username = user
  url.password = password
  return url.href
}
const app = (): string => as('clew_app', 'change me')
const reader = (): string => as('clew_read', 'change me, too')

beforeAll(async () => {
  // Roles belong to a whole server.
  server = await startServer()
  database = await createDatabase({ server: server.url })
  await database.query(roles)
  await database.query(`CREATE ROLE migrator LOGIN PASSWORD 'm' IN ROLE clew_owner`)
  await database.query('ALTER ROLE migrator SET role = clew_owner')
  await (await openLedger(as('migrator', 'm'), { keyMark })).close()
  await database.query(grants)
})
afterAll(() => server.close())

/** Everything that agents, workers and tools do to a ledger. */
async function useAll(ledger: Ledger): Promise<void> {
  const step = (eventType: string) => ({
    eventType,
    correlationId: 'r',
    payload: { stepId: 's#0', name: 's' },
  })
  const lease = await ledger.leases.acquire({ workspace: 'default', runId: 'r' }, 't')
  const started = { agent: 'owl', threadId: 't', subjects: ['ann'], text: 'needle '.repeat(2000) }
  await ledger.append(
    [
      { eventType: 'system.workflow_started', correlationId: 'r', payload: started },
      step('execution.step_started'),
      step('execution.step_completed'),
      { eventType: 'system.workflow_paused', correlationId: 'r' },
    ],
    { epoch: lease.epoch },
  )
  await ledger.leases.renew(lease)
  await ledger.leases.release(lease)
  const options = { workspace: 'default', agents: ['owl'], nowMs: Date.now() + 1000, limit: 1 }
  expect((await ledger.leases.claim(options)).leases).toHaveLength(1)
  expect((await ledger.search('needle', { catchUpMs: 30_000 })).hits).toHaveLength(1)
  await ledger.index({ rebuild: true })
  await ledger.memory.put({ layer: 'long', namespace: 'facts', key: 'owl', value: 'hunts by night' })
  expect((await ledger.memory.search('night')).length).toBe(1)
  await ledger.progress.put([
    {
      runId: 'r',
      stepId: 's#0',
      attempt: 1,
      stepType: 's',
      version: 1,
      content: 'so far',
      at: new Date().toISOString(),
    },
  ])
  await ledger.progress.clear('r')
  await ledger.rebuild()
  const stop = new AbortController()
  await ledger.consume('all', () => stop.abort(), { signal: stop.signal })
  const lines: string[] = []
  for await (const line of ledger.export()) lines.push(line)
  expect(lines.length).toBeGreaterThan(3)
  expect(await ledger.verify(undefined, { projections: true })).toMatchObject({ ok: true })
}

describe('L2 the rights that docs/guide/operations.md grants', () => {
  it('let the role of the agents do all they do', async () => {
    const ledger = await openLedger(app(), { keyMark })
    await useAll(ledger)
    await ledger.close()
  })

  it('let the role of the readers read and verify, and nothing else', async () => {
    const ledger = await openLedger(reader(), { readOnly: true })
    expect((await ledger.getRun('r'))?.agent).toBe('owl')
    expect((await ledger.search('needle')).hits).toHaveLength(1)
    expect(await ledger.verify(undefined, { projections: true })).toMatchObject({ ok: true })
    await expect(
      ledger.record({ eventType: foreignType('execution.note'), correlationId: 'x', payload: {} }),
    ).rejects.toMatchObject({ code: 'store_readonly' })
    await ledger.close()
    const inserting = `INSERT INTO clew.scopes VALUES (1, 'w', 'n')`
    await expect(query(reader(), inserting)).rejects.toThrow('permission denied')
  })

  it.each(SEALED)('let nobody change %s: not that role, and not the owner of the tables', async (table) => {
    // Rows that no audit event covers, so `verify` reports them from here on.
    await database.query(`INSERT INTO clew.seals VALUES (1, 1, 1, '') ON CONFLICT DO NOTHING`)
    await database.query(`INSERT INTO clew.erasures VALUES (1, '') ON CONFLICT DO NOTHING`)
    await database.query(`INSERT INTO clew.pruned_states VALUES (1, '') ON CONFLICT DO NOTHING`)
    const [column] = await database.query(
      `SELECT attname FROM pg_attribute WHERE attrelid = 'clew.${table}'::regclass AND attnum = 1`,
    )
    const name = String(column?.['attname'])
    for (const sql of [
      `UPDATE clew.${table} SET ${name} = ${name}`,
      `DELETE FROM clew.${table}`,
      `TRUNCATE clew.${table}`,
      `ALTER TABLE clew.${table} DISABLE TRIGGER ALL`,
      `DROP TRIGGER never_changed ON clew.${table}`,
    ])
      for (const url of [app(), reader()])
        await expect(query(url, sql)).rejects.toThrow(/permission denied|must be owner/)
    for (const sql of [`UPDATE clew.${table} SET ${name} = ${name}`, `TRUNCATE clew.${table} CASCADE`])
      await expect(query(as('migrator', 'm'), sql)).rejects.toThrow('is append-only')
    await expect(
      query(as('migrator', 'm'), `SET session_replication_role = replica; DELETE FROM clew.${table}`),
    ).rejects.toThrow()
  })
})

describe('L10 the questions of docs/guide/operations.md', () => {
  it.each(questions.map((sql, n) => [n + 1, sql] as const))('number %i is answered', async (_, sql) => {
    await database.query(sql)
  })

  it('the last one names a table whose triggers were switched off', async () => {
    const last = questions.at(-1) as string
    expect(await database.query(last)).toEqual([])
    await database.query('ALTER TABLE clew.nodes DISABLE TRIGGER never_changed')
    expect(await database.query(last)).toEqual([{ without_trigger: 'nodes' }])
    await database.query('ALTER TABLE clew.nodes ENABLE ALWAYS TRIGGER never_changed')
  })
})

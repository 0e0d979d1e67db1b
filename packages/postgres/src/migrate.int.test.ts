import { foreignType } from '@clew/ledger'
import { describe, expect, it } from 'vitest'
import { openLedger } from '../test/harness.ts'
import { withChildren } from '../test/with-children.ts'
import { MIGRATIONS } from './migrations.ts'

const here = withChildren()
/** Versions 1 to 7 were another format. */
const NEWEST = 7 + MIGRATIONS.length
const NEXT = 'ALTER TABLE runs ADD COLUMN colour text; CREATE TABLE colours (name text)'

describe('L1 migrations', () => {
  it('ten processes that start at once on an empty database migrate it once, and all of them write', async () => {
    const children = Array.from({ length: 10 }, () => here.start('open'))
    expect(await Promise.all(children.map((child) => child.next()))).toEqual(Array(10).fill('ok'))
    const ledger = await openLedger(here.database.url)
    expect((await ledger.getRun('opened'))?.events).toBe(10)
    expect((await ledger.verify('opened')).ok).toBe(true)
    await ledger.close()
    expect(await here.database.query('SELECT version FROM clew.meta')).toEqual([{ version: NEWEST }])
  })

  it('an older schema is brought to the newest by one of several, with what is in it', async () => {
    const old = await openLedger(here.database.url)
    await old.record({ eventType: foreignType('execution.note'), correlationId: 'old' })
    const children = Array.from({ length: 4 }, () => here.start('open', NEXT))
    expect(await Promise.all(children.map((child) => child.next()))).toEqual(Array(4).fill('ok'))
    // Old code goes on beside it, and may begin anew, as long as it is one version behind and told that it may.
    await old.record({ eventType: foreignType('execution.note'), correlationId: 'old' })
    expect((await old.verify()).ok).toBe(true)
    await old.close()
    await (await openLedger(here.database.url)).close()
    for (const state of [`oldest = ${NEWEST + 1}`, `oldest = 8, version = ${NEWEST + 2}`]) {
      await here.database.query(`UPDATE clew.meta SET ${state}`)
      await expect(openLedger(here.database.url)).rejects.toMatchObject({ code: 'newer_store' })
    }
  })

  it('one that fails leaves nothing behind', async () => {
    const migrations = [...MIGRATIONS, 'CREATE TABLE half (id int); SELECT 1 / 0']
    await expect(openLedger(here.database.url, { migrations })).rejects.toMatchObject({
      code: 'store_failed',
    })
    expect(await here.database.query("SELECT FROM pg_namespace WHERE nspname = 'clew'")).toEqual([])
    await (await openLedger(here.database.url)).close()
  })

  it('one whose process is killed leaves nothing behind, and the next process migrates', async () => {
    const child = here.start('open', 'SELECT pg_sleep(600)')
    const sleeping = `SELECT pid FROM pg_stat_activity WHERE query LIKE '%pg_sleep(600)%' AND pid <> pg_backend_pid()
      AND datname = current_database()`
    await expect.poll(async () => (await here.database.query(sleeping)).length).toBe(1)
    await child.kill('SIGKILL')
    // A sleeping backend does not notice that its client is gone.
    await here.database.query(`SELECT pg_terminate_backend(pid) FROM (${sleeping}) s`)
    await expect.poll(async () => (await here.database.query(sleeping)).length).toBe(0)
    expect(await here.database.query("SELECT FROM pg_namespace WHERE nspname = 'clew'")).toEqual([])
    await (await openLedger(here.database.url)).close()
  })

  it('a schema of the format before is refused and left as it is, and its code refuses this one', async () => {
    await here.database.query(`CREATE SCHEMA clew;
      CREATE TABLE clew.meta (id int, ledger text, version int, base bigint, key_mark text, oldest int);
      INSERT INTO clew.meta VALUES (1, 'clew', 7, 0, NULL, 1)`)
    for (const readOnly of [false, true])
      await expect(openLedger(here.database.url, { readOnly })).rejects.toMatchObject({
        code: 'older_store',
        fields: { version: 7 },
      })
    expect(await here.database.query('SELECT version, base FROM clew.meta')).toEqual([
      { version: 7, base: '0' },
    ])
    const tables = "SELECT count(*)::int AS n FROM pg_class WHERE relnamespace = 'clew'::regnamespace"
    expect(await here.database.query(tables)).toEqual([{ n: 1 }])
    const other = `${here.database.url}?schema=other`
    await (await openLedger(other)).close()
    // Code that knows up to version 7 refuses what names a later one as the oldest.
    expect(await here.database.query('SELECT oldest > 7 AS is_refused FROM other.meta')).toEqual([
      { is_refused: true },
    ])
  })

  it('a schema with tables of somebody else is refused and left alone; another can be named', async () => {
    await here.database.query('CREATE SCHEMA clew; CREATE TABLE clew.meta (id int)')
    await expect(openLedger(here.database.url)).rejects.toMatchObject({
      code: 'not_a_store',
      fields: { schema: 'clew' },
    })
    const tables = "SELECT count(*)::int AS n FROM pg_class WHERE relnamespace = 'clew'::regnamespace"
    expect(await here.database.query(tables)).toEqual([{ n: 1 }])
    const ledger = await openLedger(`${here.database.url}?schema=agents_2`)
    await ledger.record({ eventType: foreignType('execution.note'), correlationId: 'r' })
    expect(ledger.url).toMatch(/\?schema=agents_2$/)
    await ledger.close()
    await expect(openLedger(`${here.database.url}?schema=Robert'); DROP`)).rejects.toMatchObject({
      code: 'bad_url',
    })
  })

  it('two ledgers in one database do not meet', async () => {
    const [one, two] = await Promise.all(
      ['one', 'two'].map((name) => openLedger(`${here.database.url}?schema=${name}`)),
    )
    if (!one || !two) throw new Error('not opened')
    await one.record({ eventType: foreignType('execution.note'), correlationId: 'r' })
    expect(await two.getRun('r')).toBeNull()
    expect(
      (await two.record({ eventType: foreignType('execution.note'), correlationId: 'r' })).ledger.seq,
    ).toBe(1)
    await one.close()
    await two.close()
  })

  it('who may only read makes nothing, and reads what is there', async () => {
    const { url } = here.database
    await expect(openLedger(url, { readOnly: true })).rejects.toMatchObject({ code: 'store_missing' })
    await expect(openLedger(url, { create: false })).rejects.toMatchObject({ code: 'store_missing' })
    const writer = await openLedger(url)
    await writer.record({ eventType: foreignType('execution.note'), correlationId: 'r' })
    const reader = await openLedger(url, { readOnly: true })
    expect((await reader.getRun('r'))?.events).toBe(1)
    await expect(
      reader.record({ eventType: foreignType('execution.note'), correlationId: 'r' }),
    ).rejects.toMatchObject({
      code: 'store_readonly',
    })
    await reader.close()
    await writer.close()
    const migrations = [...MIGRATIONS, NEXT]
    await expect(openLedger(url, { readOnly: true, migrations })).rejects.toMatchObject({
      code: 'store_readonly',
    })
  })
})

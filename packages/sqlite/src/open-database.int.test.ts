import { DatabaseSync } from 'node:sqlite'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { foreignType, PROJECTION_VERSION } from '@clew/ledger'
import { makeFolder, openLedger, removeFolder } from '../test/harness.ts'
import { startChild, startCrowdedChild } from '../test/start-child.ts'
import { MIGRATIONS } from './migrations.ts'
import { openDatabase } from './open-database.ts'

let folder: string
let file: string
beforeEach(() => {
  folder = makeFolder()
  file = join(folder, 'clew.db')
})
afterEach(() => removeFolder(folder))

const note = { eventType: foreignType('execution.note'), correlationId: 'r', payload: { a: 1 } }
const code = (run: () => unknown): string => {
  try {
    run()
    return 'opened'
  } catch (error) {
    return (error as { code: string }).code
  }
}
async function fill(): Promise<void> {
  const ledger = openLedger(file)
  await ledger.append([note, note])
  await ledger.close()
}

describe('opening a file', () => {
  it.each([
    ['normal', 1],
    ['full', 2],
  ] as const)('L5 with sync %s sets its promises', (sync, level) => {
    const db = openDatabase(file, 'sqlite:x', { sync })
    const value = (name: string): unknown => Object.values(db.prepare(`PRAGMA ${name}`).get() ?? {})[0]
    expect(
      ['journal_mode', 'synchronous', 'secure_delete', 'auto_vacuum', 'busy_timeout'].map(value),
    ).toEqual(['wal', level, 1, 2, 0])
    db.close()
  })

  it('makes missing folders, takes an empty file, and refuses a missing one when told to', async () => {
    const deep = join(folder, 'a', 'b', 'clew.db')
    expect(code(() => openLedger(deep, { create: false }))).toBe('store_missing')
    expect(code(() => openLedger(deep, { readOnly: true }))).toBe('store_missing')
    expect(readdirSync(folder)).toEqual([])
    await openLedger(deep).close()
    expect(existsSync(deep)).toBe(true)
    writeFileSync(file, '')
    const ledger = openLedger(file)
    expect((await ledger.record(note)).ledger.seq).toBe(1)
    await ledger.close()
  })

  it.each([
    ['a text file', 'not_a_store', () => writeFileSync(file, 'hello\n')],
    ['a long text file', 'not_a_store', () => writeFileSync(file, 'hello\n'.repeat(5000))],
    ['a folder', 'not_a_store', () => mkdirSync(join(file, 'inside'), { recursive: true })],
    [
      'a foreign database',
      'not_a_store',
      () => foreign('CREATE TABLE events (a); INSERT INTO events VALUES (1)'),
    ],
    ['a foreign database with a version', 'not_a_store', () => foreign('PRAGMA user_version = 1')],
    [
      'a foreign database of another application',
      'not_a_store',
      () => foreign('CREATE TABLE t (a); PRAGMA application_id = 5'),
    ],
  ])('refuses %s and leaves it as it was', (_, expected, make) => {
    make()
    const before = statSync(file).isFile() ? readFileSync(file) : undefined
    expect(code(() => openLedger(file))).toBe(expected)
    expect(code(() => openLedger(file, { readOnly: true }))).toBe(expected)
    if (before) expect(readFileSync(file).equals(before)).toBe(true)
    expect(readdirSync(folder)).toEqual(['clew.db'])
  })

  function foreign(sql: string): void {
    const db = new DatabaseSync(file)
    db.exec(sql)
    db.close()
  }
})

describe('P1 files that hold what was recorded', () => {
  const modes = (): Record<string, string> =>
    Object.fromEntries(
      readdirSync(folder, { withFileTypes: true })
        .filter((each) => each.isFile())
        .map(({ name }) => [name, (statSync(join(folder, name)).mode & 0o777).toString(8)]),
    )
  const progressNote = { runId: 'r', stepId: 's', attempt: 1, stepType: 'thinking', version: 1, at: '' }

  async function useAll(): Promise<Record<string, string>> {
    const ledger = openLedger(file)
    await ledger.record(note)
    await ledger.index()
    await ledger.progress.put([{ ...progressNote, content: 'so far' }])
    const found = modes()
    await ledger.close()
    return found
  }

  let umask: number
  beforeEach(() => {
    umask = process.umask(0)
  })
  afterEach(() => void process.umask(umask))

  it('are made for their owner alone, whatever the umask', async () => {
    expect(await useAll()).toEqual({
      'clew.db': '600',
      'clew.db-wal': '600',
      'clew.db-shm': '600',
      'clew.db.search.db': '600',
      'clew.db.search.db-wal': '600',
      'clew.db.search.db-shm': '600',
      'clew.db-progress': '600',
    })
  })

  it('keep the mode they have, and new ones beside a shared ledger get its mode', async () => {
    await fill()
    chmodSync(file, 0o660)
    expect(await useAll()).toEqual({
      'clew.db': '660',
      'clew.db-wal': '660',
      'clew.db-shm': '660',
      'clew.db.search.db': '660',
      'clew.db.search.db-wal': '660',
      'clew.db.search.db-shm': '660',
      'clew.db-progress': '660',
    })
    chmodSync(`${file}.search.db`, 0o640)
    expect(await useAll()).toMatchObject({ 'clew.db': '660', 'clew.db.search.db': '640' })
  })
})

describe('migrations', () => {
  const next = [...MIGRATIONS, 'CREATE TABLE later (a); ALTER TABLE runs ADD COLUMN extra TEXT']

  it('killed in the middle leave the old schema, and whoever opens the file next finishes them', async () => {
    await fill()
    const endless = 'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n'
    const child = startChild('open', file, `CREATE TABLE later (a); ${endless}`)
    const plain = new DatabaseSync(file)
    const isMigrating = (): boolean => {
      try {
        plain.exec('BEGIN IMMEDIATE; ROLLBACK')
        return false
      } catch {
        return true
      }
    }
    await expect.poll(isMigrating, { timeout: 60_000 }).toBe(true)
    await child.kill()
    plain.close()
    const before = openLedger(file)
    expect(await before.verify(undefined, { projections: true })).toMatchObject({ ok: true, checked: 2 })
    await before.close()
    const after = openLedger(file, { migrations: next })
    expect((await after.record(note)).ledger.seq).toBe(3)
    await after.close()
  })

  it('bring a file forward and keep what is in it', async () => {
    await fill()
    const ledger = openLedger(file, { migrations: next })
    expect((await ledger.record(note)).ledger.seq).toBe(3)
    expect(await ledger.verify(undefined, { projections: true })).toMatchObject({ ok: true, checked: 3 })
    await ledger.close()
  })

  it('need write permission once', async () => {
    await fill()
    expect(code(() => openLedger(file, { readOnly: true, migrations: next }))).toBe('store_readonly')
    await openLedger(file, { migrations: next }).close()
    const reader = openLedger(file, { readOnly: true, migrations: next })
    expect((await reader.stats()).events).toBe(2)
    await reader.close()
  })

  it('leave the file as it was when one fails', async () => {
    await fill()
    const bad = [...MIGRATIONS, 'CREATE TABLE later (a); SELECT nonsense FROM nowhere']
    expect(() => openLedger(file, { migrations: bad })).toThrow()
    const ledger = openLedger(file)
    expect((await ledger.stats()).events).toBe(2)
    await ledger.close()
  })

  it('give a new file the version of the current folds', async () => {
    const ledger = openLedger(file)
    expect(await ledger.projectionState()).toMatchObject({ version: PROJECTION_VERSION, isRebuilding: false })
    await ledger.close()
  })

  it.each([
    ['a new file', 10, []],
    ['a file of the schema before', 8, ['CREATE TABLE later (a)']],
  ] as const)('run once when several processes open %s at the same moment', async (what, count, further) => {
    if (what !== 'a new file') await fill()
    const children = Array.from({ length: count }, () => startChild('open', file, ...further))
    const answers = await Promise.all(children.map((child) => child.next()))
    expect(answers).toEqual(answers.map(() => 'ok'))
    const ledger = openLedger(file, { migrations: [...MIGRATIONS, ...further] })
    expect(await ledger.verify(undefined, { projections: true })).toMatchObject({ ok: true })
    expect((await ledger.getRun('opened'))?.events).toBe(count)
    await ledger.close()
  })
})

describe('a file of another version', () => {
  const APPLICATION_ID = 0x436c6577

  /** A file as versions before this schema left it: our application id and a user_version of at most 12. */
  function makeOlder(): DatabaseSync {
    const db = new DatabaseSync(file)
    db.exec(`PRAGMA journal_mode = WAL; PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = 12;
      CREATE TABLE events (position INTEGER PRIMARY KEY); INSERT INTO events VALUES (1)`)
    return db
  }
  const contents = (): Record<string, string> =>
    Object.fromEntries(
      readdirSync(folder)
        .filter((name) => !name.endsWith('-shm'))
        .map((name) => [name, readFileSync(join(folder, name)).toString('hex')]),
    )
  const opened = (): string[] => [
    code(() => openLedger(file)),
    code(() => openLedger(file, { readOnly: true })),
    code(() => openLedger(file, { create: false })),
  ]

  it('that is older and held open by an older process is refused, byte for byte as it was', () => {
    const holder = makeOlder()
    const before = contents()
    expect(Object.keys(before)).toEqual(['clew.db', 'clew.db-wal'])
    expect(opened()).toEqual(['older_store', 'older_store', 'older_store'])
    expect(contents()).toEqual(before)
    holder.exec('INSERT INTO events VALUES (2)')
    expect(holder.prepare('SELECT count(*) AS n FROM events').get()).toEqual({ n: 2 })
    holder.close()
  })

  it('that is older, with the WAL of a process that was killed, is refused, byte for byte as it was', () => {
    const holder = makeOlder()
    const [database, wal] = [readFileSync(file), readFileSync(`${file}-wal`)]
    holder.close()
    writeFileSync(file, database)
    writeFileSync(`${file}-wal`, wal)
    const before = contents()
    expect(opened()).toEqual(['older_store', 'older_store', 'older_store'])
    expect(contents()).toEqual(before)
  })

  it('that is older and at rest is refused, byte for byte as it was', () => {
    makeOlder().close()
    const before = readFileSync(file)
    expect(opened()).toEqual(['older_store', 'older_store', 'older_store'])
    expect(readFileSync(file).equals(before)).toBe(true)
    const refusal = expect.stringMatching(/earlier version of Clew.+\. Export it.+nothing was changed/)
    expect(() => openLedger(file)).toThrow(expect.objectContaining({ message: refusal }))
  })

  it('has a number that versions before this schema refuse as newer', async () => {
    await fill()
    const db = new DatabaseSync(file)
    expect(db.prepare('PRAGMA application_id').get()).toEqual({ application_id: APPLICATION_ID })
    expect(db.prepare('PRAGMA user_version').get()?.['user_version']).toBeGreaterThan(12)
    db.close()
  })

  it('that is newer is refused, untouched', async () => {
    await openLedger(file, { migrations: [...MIGRATIONS, 'CREATE TABLE later (a)'] }).close()
    const before = readFileSync(file)
    expect(opened()).toEqual(['newer_store', 'newer_store', 'newer_store'])
    expect(readFileSync(file).equals(before)).toBe(true)
  })
})

describe('a file that is only read', () => {
  it('gives what is there and what comes, and refuses to write', async () => {
    await fill()
    const [writer, reader] = [openLedger(file), openLedger(file, { readOnly: true })]
    await expect(reader.record(note)).rejects.toMatchObject({ code: 'store_readonly' })
    await expect(reader.leases.acquire({ workspace: 'default', runId: 'r' })).rejects.toMatchObject({
      code: 'store_readonly',
    })
    const seen: number[] = []
    const following = (async () => {
      for await (const event of reader.follow()) if (seen.push(event.ledger.seq) === 4) return
    })()
    await expect.poll(() => seen.length).toBe(2)
    await writer.append([note, note])
    await following
    expect(seen).toEqual([1, 2, 3, 4])
    await reader.close()
    await expect(reader.leases.list()).rejects.toMatchObject({ code: 'closed' })
    await writer.close()
  })
})

describe('a file that cannot be used', () => {
  it('because another process has locked it says so, and can be used again afterwards', async () => {
    await fill()
    const open = openLedger(file, { waitMs: 100 })
    await open.close()
    const locker = startChild('lock', file)
    expect(await locker.next()).toBe('locked')
    expect(code(() => openLedger(file, { waitMs: 100 }))).toBe('store_locked')
    locker.tell('stop')
    expect(await locker.next()).toBe('unlocked')
    const ledger = openLedger(file)
    expect((await ledger.record(note)).ledger.seq).toBe(3)
    await ledger.close()
  })

  it('for writing, because another writer does not end, refuses the append and goes on later', async () => {
    const ledger = openLedger(file, { waitMs: 100 })
    await ledger.record(note)
    const other = new DatabaseSync(file)
    other.exec('BEGIN IMMEDIATE')
    await expect(ledger.record(note)).rejects.toMatchObject({ code: 'store_locked' })
    expect((await ledger.getRun('r'))?.events).toBe(1)
    other.exec('ROLLBACK')
    expect((await ledger.record(note)).ledger.seq).toBe(2)
    other.close()
    await ledger.close()
  })

  it('because too many files are open, and goes on when there are fewer', async () => {
    await fill()
    const crowded = startCrowdedChild(64, 'crowded', file)
    const tooMany = expect.stringMatching(/^store_failed: .+ too many files are open\. .+ulimit -n/)
    // An append needs no further file; the search index and the proof that a process lives do.
    expect(await crowded.next()).toEqual({
      opening: tooMany,
      making: tooMany,
      record: 'ok',
      index: tooMany,
      lease: tooMany,
    })
    expect(await crowded.next()).toEqual({ record: 'ok', index: 'ok', lease: 'ok' })
  })

  it('because this user may not write the file or the folder', async () => {
    await fill()
    chmodSync(file, 0o444)
    chmodSync(folder, 0o555)
    const fixedFolder = startChild('nobody', file)
    expect(await fixedFolder.next()).toEqual({ write: 'store_readonly', read: '2 events' })
    chmodSync(file, 0o000)
    const closed = startChild('nobody', file)
    expect(await closed.next()).toMatchObject({ write: 'store_missing', read: 'store_missing' })
  })

  it('for a new ledger in a folder this user may not write', async () => {
    chmodSync(folder, 0o555)
    const child = startChild('nobody', file)
    expect(await child.next()).toEqual({ write: 'store_missing', read: 'store_missing' })
  })
})

import { DatabaseSync } from 'node:sqlite'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { PROJECTION_VERSION } from '@clew/ledger'
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

const note = { eventType: 'execution.note', correlationId: 'r', payload: { a: 1 } }
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
  const newest = readMigrations().length
  const second = [...readMigrations(), 'CREATE TABLE later (a); ALTER TABLE runs ADD COLUMN extra TEXT']

  it('bring an older file forward after a backup, and keep what is in it', async () => {
    await fill()
    const ledger = openLedger(file, { migrations: second })
    expect((await ledger.record(note)).ledger.seq).toBe(3)
    expect(await ledger.verify(undefined, { projections: true })).toMatchObject({ ok: true, checked: 3 })
    await ledger.close()
    const backup = openLedger(`${file}.backup-${newest}`)
    expect((await backup.stats()).events).toBe(2)
    await backup.close()
  })

  it('bring a file of the first schema forward: its rows are of older folds, and a rebuild makes them new', async () => {
    const first = openDatabase(file, 'sqlite:x', { migrations: readMigrations().slice(0, 1) })
    first.close()
    const ledger = openLedger(file)
    expect(existsSync(`${file}.backup-1`)).toBe(true)
    await ledger.record(note)
    expect(await ledger.projectionState()).toEqual({
      version: 1,
      current: PROJECTION_VERSION,
      isRebuilding: false,
    })
    expect(await ledger.rebuild()).toMatchObject({ runs: 1, changed: 0 })
    expect((await ledger.projectionState()).version).toBe(PROJECTION_VERSION)
    await ledger.close()
  })

  it('refuse a newer file, untouched', async () => {
    await openLedger(file, { migrations: second }).close()
    const before = readFileSync(file)
    expect(code(() => openLedger(file))).toBe('newer_store')
    expect(code(() => openLedger(file, { readOnly: true }))).toBe('newer_store')
    expect(readFileSync(file).equals(before)).toBe(true)
  })

  it('leave the file as it was when one fails', async () => {
    await fill()
    const bad = [...readMigrations(), 'CREATE TABLE later (a); SELECT nonsense FROM nowhere']
    expect(() => openLedger(file, { migrations: bad })).toThrow()
    const ledger = openLedger(file)
    expect((await ledger.stats()).events).toBe(2)
    await ledger.close()
  })

  it('run once when ten processes open a new file at the same moment', async () => {
    const children = Array.from({ length: 10 }, () => startChild('open', file))
    const answers = await Promise.all(children.map((child) => child.next()))
    expect(answers).toEqual(Array.from({ length: 10 }, () => 'ok'))
    const ledger = openLedger(file)
    expect(await ledger.verify(undefined, { projections: true })).toMatchObject({ ok: true, checked: 10 })
    expect((await ledger.getRun('opened'))?.events).toBe(10)
    await ledger.close()
  })
})

describe('migrations of an older file', () => {
  it('run once, with one whole backup, when eight processes open it at the same moment', async () => {
    await fill()
    const children = Array.from({ length: 8 }, () => startChild('open', file, 'CREATE TABLE later (a)'))
    const answers = await Promise.all(children.map((child) => child.next()))
    expect(answers).toEqual(Array.from({ length: 8 }, () => 'ok'))
    const name = `clew.db.backup-${readMigrations().length}`
    expect(readdirSync(folder).filter((each) => each.includes('backup'))).toEqual([name])
    const backup = openLedger(join(folder, name))
    expect(await backup.verify()).toMatchObject({ ok: true, checked: 2 })
    await backup.close()
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

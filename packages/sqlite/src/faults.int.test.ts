import { DatabaseSync } from 'node:sqlite'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { RecordInput, Ledger } from '@clew/ledger'
import { makeFolder, openLedger, removeFolder } from '../test/harness.ts'

let folder: string
let file: string
beforeEach(() => {
  folder = makeFolder()
  file = join(folder, 'clew.db')
})
afterEach(() => removeFolder(folder))

const note = (n: number, size = 10): RecordInput<'execution.step_started' | 'execution.step_completed'> => ({
  eventType: n % 2 ? 'execution.step_started' : 'execution.step_completed',
  correlationId: `run-${n % 3}`,
  payload: { stepId: `s#${n - (n % 2)}`, name: 's', n, text: `${n} `.repeat(size) },
})

async function assertWhole(ledger: Ledger, when = ''): Promise<number> {
  const { ok, problems, checked } = await ledger.verify(undefined, { projections: true })
  expect(problems, when).toEqual([])
  expect(ok).toBe(true)
  return checked
}

/** Nothing half-written: the file's own checks, and no value or payload without its event. */
function assertTidy(): void {
  const db = new DatabaseSync(file, { readOnly: true })
  expect(db.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' })
  const orphans = db.prepare(
    'SELECT count(*) AS n FROM payloads WHERE position NOT IN (SELECT position FROM events)',
  )
  expect(orphans.get()).toEqual({ n: 0 })
  expect(db.prepare('SELECT count(*) AS n FROM runs WHERE seq = 0').get()).toEqual({ n: 0 })
  db.close()
}

describe('a full disk', () => {
  it('refuses what does not fit, keeps what was acknowledged, and goes on when there is room', async () => {
    // A limit on the connection's file is what a full disk looks like to SQLite.
    const limit = 120
    const setLimit = `PRAGMA max_page_count = ${limit}`
    const original = Object.getOwnPropertyDescriptor(DatabaseSync.prototype, 'exec') as PropertyDescriptor
    const exec = original.value as DatabaseSync['exec']
    const connections: DatabaseSync[] = []
    DatabaseSync.prototype.exec = function (this: DatabaseSync, sql: string) {
      connections.push(this)
      return exec.call(this, sql)
    }
    const ledger = openLedger(file)
    Object.defineProperty(DatabaseSync.prototype, 'exec', original)
    const db = connections[0] as DatabaseSync
    await ledger.append([note(0), note(1), note(2)])
    db.prepare(setLimit).get()

    let acknowledged = 3
    let refused = 0
    for (let n = 3; n < 60; n++) {
      const group = await Promise.allSettled([
        ledger.record(note(n, 5000)),
        ledger.append([note(n, 4000), note(n + 1, 4000)]),
      ])
      for (const each of group) {
        if (each.status === 'rejected') {
          expect(each.reason).toMatchObject({ code: 'store_full' })
          refused++
        } else acknowledged += Array.isArray(each.value) ? each.value.length : 1
      }
    }
    expect(refused).toBeGreaterThan(10)
    expect(await assertWhole(ledger)).toBe(acknowledged)
    db.prepare('PRAGMA max_page_count = 1000000').get()
    await ledger.append([note(100, 5000), note(101, 5000)])
    expect(await assertWhole(ledger)).toBe(acknowledged + 2)
    await ledger.close()
    assertTidy()
    const later = openLedger(file)
    expect(await assertWhole(later)).toBe(acknowledged + 2)
    await later.close()
  })
})

describe('L5 a file that goes away while the ledger has it open', () => {
  /** Longer than the time between two looks at the file. */
  const LOOK_MS = 50
  const gone = {
    code: 'store_missing',
    message: expect.stringContaining('was deleted, moved or replaced'),
  }

  const losses: readonly [string, () => unknown][] = [
    ['deleted alone', () => rmSync(file)],
    ['deleted with its log', () => ['', '-wal', '-shm'].forEach((end) => rmSync(file + end))],
    ['whose log alone was deleted', () => rmSync(`${file}-wal`)],
    ['restored in place, without its log', () => restore()],
    ['deleted with its folder', () => rmSync(folder, { recursive: true })],
    ['replaced by a copy', () => replaceBy(() => copyFileSync(file, `${file}.new`))],
    ['replaced by another ledger', () => replaceBy(() => openLedger(`${file}.new`).close())],
    ['replaced by an empty file', () => replaceBy(() => writeFileSync(`${file}.new`, ''))],
  ]
  it.each(losses)('%s, refuses every later write, and closes', async (_, lose) => {
    const ledger = openLedger(file)
    await ledger.append([note(0), note(1)])
    await lose()
    await sleep(LOOK_MS)
    for (let n = 2; n < 4; n++) await expect(ledger.record(note(n))).rejects.toMatchObject(gone)
    await expect(ledger.append([note(4), note(5)])).rejects.toMatchObject(gone)
    await expect(ledger.leases.acquire({ workspace: 'default', runId: 'r' })).rejects.toMatchObject(gone)
    // Nothing of what was refused was written, and what is still open can be saved by reading it.
    expect((await ledger.stats()).events).toBe(2)
    await ledger.close()
    mkdirSync(folder, { recursive: true })
  })

  /** The inode of the database stays, as with `cp backup clew.db`. */
  function restore(): void {
    writeFileSync(file, readFileSync(file))
    for (const end of ['-wal', '-shm']) rmSync(file + end)
  }

  async function replaceBy(make: () => unknown): Promise<void> {
    await make()
    renameSync(`${file}.new`, file)
  }

  it('moved away and put back, goes on', async () => {
    const ledger = openLedger(file)
    await ledger.record(note(0))
    renameSync(file, `${file}.away`)
    await sleep(LOOK_MS)
    await expect(ledger.record(note(1))).rejects.toMatchObject(gone)
    renameSync(`${file}.away`, file)
    await ledger.record(note(2))
    expect(await assertWhole(ledger)).toBe(2)
    await ledger.close()
    assertTidy()
  })

  it('deleted and made anew by another process, leaves that one whole', async () => {
    const ledger = openLedger(file)
    await ledger.append([note(0), note(1)])
    for (const end of ['', '-wal', '-shm']) rmSync(file + end)
    await sleep(LOOK_MS)
    const other = openLedger(file)
    await other.record(note(0))
    await expect(ledger.record(note(2))).rejects.toMatchObject(gone)
    await ledger.close()
    await other.record(note(1))
    expect(await assertWhole(other)).toBe(2)
    await other.close()
    assertTidy()
  })
})

describe('a WAL that was cut off', () => {
  it('leaves a whole prefix of what was acknowledged, wherever the cut is', async () => {
    const ledger = openLedger(file)
    const places: number[] = []
    for (let n = 0; n < 120; n++) {
      const events = await ledger.append(
        Array.from({ length: 1 + (n % 4) }, (_, i) => note(n + i, n % 10 === 0 ? 900 : 3)),
      )
      places.push(events.at(-1)?.ledger.position ?? 0)
    }
    const copy = join(folder, 'copy.db')
    const wal = readFileSync(`${file}-wal`)
    let last = -1
    const cuts = [
      0,
      10,
      32,
      33,
      1000,
      ...Array.from({ length: 24 }, () => Math.floor(Math.random() * wal.length)),
      wal.length,
    ]
    for (const cut of cuts.toSorted((a, b) => a - b)) {
      copyFileSync(file, copy)
      writeFileSync(`${copy}-wal`, wal.subarray(0, cut))
      if (existsSync(`${copy}-shm`)) truncateSync(`${copy}-shm`)
      const cutLedger = openLedger(copy)
      const count = await assertWhole(cutLedger, `cut at ${cut} of ${wal.length}`)
      // A commit is there as a whole or not at all, and longer files never hold less.
      expect([0, ...places]).toContain(count)
      expect(count).toBeGreaterThanOrEqual(last)
      last = count
      const { ledger: place } = await cutLedger.record(note(7))
      expect(place.position).toBe(count + 1)
      expect(await assertWhole(cutLedger)).toBe(count + 1)
      await cutLedger.close()
    }
    expect(last).toBe(places.at(-1))
    await ledger.close()
  })

  it('with a changed byte in it is cut where the byte is', async () => {
    const ledger = openLedger(file)
    for (let n = 0; n < 40; n++) await ledger.record(note(n))
    const wal = readFileSync(`${file}-wal`)
    const copy = join(folder, 'copy.db')
    for (const at of [0.2, 0.5, 0.9].map((part) => Math.floor(wal.length * part))) {
      copyFileSync(file, copy)
      const changed = Buffer.from(wal)
      changed[at] = (changed[at] as number) ^ 0xff
      writeFileSync(`${copy}-wal`, changed)
      const cutLedger = openLedger(copy)
      expect(await assertWhole(cutLedger)).toBeLessThan(40)
      await cutLedger.close()
    }
    await ledger.close()
    expect(statSync(file).size).toBeGreaterThan(0)
  })
})

describe('two ledgers in one process', () => {
  it('L3 L7 on one file write, read and follow each other', async () => {
    const [one, two] = [openLedger(file), openLedger(file)]
    const control = new AbortController()
    const seen: number[] = []
    const following = (async () => {
      for await (const event of two.follow({ signal: control.signal })) seen.push(event.ledger.position)
    })()
    await Promise.all(Array.from({ length: 200 }, (_, n) => (n % 2 ? one : two).record(note(n))))
    await expect.poll(() => seen.length, { timeout: 60_000 }).toBe(200)
    expect(seen).toEqual(Array.from({ length: 200 }, (_, n) => n + 1))
    expect(await assertWhole(one)).toBe(200)
    control.abort()
    await following
    await one.close()
    expect((await two.record(note(1))).ledger.position).toBe(201)
    await two.close()
  })
})

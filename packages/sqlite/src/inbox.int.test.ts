import { copyFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type ClewEvent, type ForeignType, foreignType, type Ledger, type RecordInput } from '@clew/ledger'
import { makeFolder, openLedger, removeFolder } from '../test/harness.ts'

let folder: string
let file: string
let ledger: Ledger
let plain: DatabaseSync

const note = (n: number, more: Partial<RecordInput<ForeignType>> = {}): RecordInput<ForeignType> => ({
  eventType: foreignType('execution.note'),
  correlationId: 'r',
  payload: { n, text: `needle number ${n}` },
  ...more,
})
/** One commit each, so that the store sees that nobody else writes. */
async function record(first: number, last: number): Promise<ClewEvent[]> {
  const events: ClewEvent[] = []
  for (let n = first; n <= last; n++) events.push(await ledger.record(note(n)))
  return events
}
async function all<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = []
  for await (const item of stream) items.push(item)
  return items
}
const numberOf = (sql: string): number => Number(Object.values(plain.prepare(sql).get() ?? {})[0])
const lying = (): number => numberOf('SELECT count(*) FROM inbox')

let recorded: ClewEvent[]
beforeEach(async () => {
  folder = makeFolder()
  file = join(folder, 'clew.db')
  ledger = openLedger(file)
  recorded = await record(1, 30)
  plain = new DatabaseSync(file, { enableForeignKeyConstraints: false })
})
afterEach(async () => {
  plain.close()
  await ledger.close()
  removeFolder(folder)
})

describe('L3 events that lie in the inbox', () => {
  it('are there for every reader, in this process and in others, with and without permission to write', async () => {
    expect(lying()).toBeGreaterThan(10)
    const newest = recorded.at(-1) as ClewEvent
    for (const each of [ledger, openLedger(file), openLedger(file, { readOnly: true })]) {
      expect(await all(each.read('r'))).toEqual(recorded)
      expect(await all(each.read('r', { afterSeq: 3 }))).toEqual(recorded.slice(3))
      expect(await each.getEvent(newest.eventId)).toEqual(newest)
      expect(await each.getRun('r')).toMatchObject({ events: 30 })
      expect((await each.listRuns()).runs).toMatchObject([{ events: 30 }])
      expect(await each.newestPosition()).toBe(30)
      expect((await all(each.export())).filter((line) => line.includes('execution.note'))).toHaveLength(30)
      expect(await each.verify(undefined, { projections: true })).toMatchObject({ ok: true, checked: 30 })
      if (each !== ledger) await each.close()
    }
    expect(lying()).toBeGreaterThan(10)
  })

  it('are found by a search, for which they are moved on', async () => {
    expect((await ledger.search('needle')).hits).toMatchObject([{ found: 30 }])
    expect(lying()).toBe(0)
    await record(31, 50)
    const other = openLedger(file)
    expect((await other.search('"number 50"')).hits).toMatchObject([{ found: 1 }])
    await other.close()
  })

  it('survive the death of their process, and go on with whoever writes next', async () => {
    const copy = join(folder, 'copy.db')
    for (const part of ['', '-wal']) copyFileSync(`${file}${part}`, `${copy}${part}`)
    const reader = openLedger(copy, { readOnly: true })
    expect(await all(reader.read('r'))).toEqual(recorded)
    await reader.close()
    const heir = openLedger(copy)
    const next = await heir.record(note(31))
    expect(next.ledger).toMatchObject({ position: 31, seq: 31 })
    expect(await heir.verify(undefined, { projections: true })).toMatchObject({ ok: true, checked: 31 })
    await heir.close()
  })

  it('are few, and none when the ledger is closed', async () => {
    await record(31, 400)
    expect(lying()).toBeLessThanOrEqual(64)
    await ledger.close()
    expect([lying(), numberOf('SELECT count(*) FROM events')]).toEqual([0, 400])
    ledger = openLedger(file)
    expect(await ledger.verify(undefined, { projections: true })).toMatchObject({ ok: true, checked: 400 })
  })

  it('keep their order before events that do not go there: large ones, many at once, those of another process', async () => {
    const large = note(31, { payload: { n: 31, text: 'long '.repeat(2000) } })
    const other = openLedger(file)
    const writes = [
      () => ledger.record(large),
      () => record(32, 50),
      () => ledger.append(Array.from({ length: 9 }, (_, i) => note(51 + i))),
      () => record(60, 80),
      () => other.record(note(81)),
      () => record(82, 99),
      () => other.append([note(100)]),
    ]
    for (const write of writes) await write()
    const events = await all(ledger.read('r'))
    expect(events.map((event) => event.payload['n'])).toEqual(Array.from({ length: 100 }, (_, i) => i + 1))
    expect(events.map((event) => event.ledger.position)).toEqual(events.map((event) => event.ledger.seq))
    await other.close()
    expect(await ledger.verify(undefined, { projections: true })).toMatchObject({ ok: true, checked: 100 })
  })

  it('L4 are accepted once: again with the same content they have their first place, with other content they conflict', async () => {
    const [newest] = recorded.slice(-1) as [ClewEvent]
    const again = note(30, { eventId: newest.eventId, timestamp: newest.timestamp })
    expect((await ledger.record(again)).ledger.seq).toBe(30)
    expect((await ledger.append([again], { expectedSeq: 29 })).map(({ ledger: at }) => at.seq)).toEqual([30])
    await expect(ledger.record({ ...again, payload: { n: 'other' } })).rejects.toMatchObject({
      code: 'conflict',
    })
    expect(await all(ledger.read('r'))).toEqual(recorded)
  })

  it('P5 can be erased, and leave no byte behind', async () => {
    const [newest] = recorded.slice(-1) as [ClewEvent]
    const found = (): boolean =>
      [file, `${file}-wal`].some(
        (path) => existsSync(path) && readFileSync(path).includes('needle number 30'),
      )
    expect([lying() > 0, found()]).toEqual([true, true])
    plain.close()
    await ledger.erase({ eventId: newest.eventId })
    plain = new DatabaseSync(file)
    expect(found()).toBe(false)
    expect(await ledger.verify()).toMatchObject({ ok: true })
    expect((await ledger.getEvent(newest.eventId))?.ledger.erased).toBe(true)
  })
})

describe('L2 a plain connection to the file', () => {
  const columns =
    'event_type, timestamp, origin, runtime, recorded_at, schema_version, payload_hash, hash, follows, salt, body'
  const eventColumns =
    'event_type, timestamp, origin, runtime, recorded_at, schema_version, payload_hash, hash, follows'
  it.each([
    "UPDATE inbox SET body = '{}'",
    'DELETE FROM inbox WHERE position = 30',
    `REPLACE INTO inbox (position, event_id, run, seq, ${columns}) SELECT position, 'new', run, 77, ${columns} FROM inbox WHERE position = 30`,
    `INSERT INTO inbox (position, event_id, run, seq, ${columns}) SELECT 50, event_id, run, 77, ${columns} FROM inbox WHERE position = 30`,
    `INSERT INTO inbox (position, event_id, run, seq, ${columns}) SELECT 50, (SELECT event_id FROM events LIMIT 1), run, 77, ${columns} FROM inbox WHERE position = 30`,
    `INSERT INTO inbox (position, event_id, run, seq, ${columns}) SELECT 50, 'new', run, 30, ${columns} FROM inbox WHERE position = 30`,
    `INSERT INTO inbox (position, event_id, run, seq, ${columns}) SELECT 2, 'new', run, 77, ${columns} FROM inbox WHERE position = 30`,
    `INSERT INTO events (position, event_id, run, seq, ${eventColumns}) SELECT 50, 'new', run, 77, ${eventColumns} FROM events WHERE position = 1`,
    `INSERT INTO events (position, event_id, run, seq, ${eventColumns}) SELECT position, 'new', run, 77, ${eventColumns.replace(' hash', " x'00'")} FROM inbox WHERE position = 30`,
  ])('cannot %s', async (sql) => {
    expect(() => plain.exec(sql)).toThrow(/append-only/)
    expect(await all(ledger.read('r'))).toEqual(recorded)
    expect(await ledger.verify(undefined, { projections: true })).toMatchObject({ ok: true, checked: 30 })
  })

  it('can delete all that lies in the inbox: it moves on, and nothing is lost', async () => {
    plain.exec('DELETE FROM inbox')
    expect([lying(), numberOf('SELECT count(*) FROM events')]).toEqual([0, 30])
    recorded.push(...(await record(31, 50)))
    expect(await all(ledger.read('r'))).toEqual(recorded)
    expect(await ledger.verify(undefined, { projections: true })).toMatchObject({ ok: true, checked: 50 })
  })

  it('can move an event on by hand, and the next writer moves on the others', async () => {
    const moved = `run, seq, event_id, causation_id, ${eventColumns}`
    plain.exec(
      `INSERT INTO events (position, ${moved}) SELECT position, ${moved} FROM inbox WHERE position = 29`,
    )
    recorded.push(await ledger.record(note(31)))
    await ledger.close()
    expect([lying(), numberOf('SELECT count(*) FROM events')]).toEqual([0, 31])
    ledger = openLedger(file)
    expect(await all(ledger.read('r'))).toEqual(recorded)
    expect(await ledger.verify(undefined, { projections: true })).toMatchObject({ ok: true, checked: 31 })
  })

  it.each([
    ['changed 30', "UPDATE inbox SET body = '{}' WHERE seq = 30"],
    ['missing 29', 'DELETE FROM inbox WHERE seq = 29'],
    ['truncated 30', 'DELETE FROM inbox WHERE seq = 30'],
  ])('L6 with the triggers dropped, verify finds %s after %s', async (found, sql) => {
    plain.exec('DROP TRIGGER inbox_never_changes; DROP TRIGGER inbox_moves_on')
    plain.exec(sql)
    const { problems } = await ledger.verify()
    expect(problems.map(({ problem, seq }) => `${problem} ${seq}`)).toContain(found)
  })
})

import { DatabaseSync } from 'node:sqlite'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ClewEvent, Ledger } from '@clew/ledger'
import { makeFolder, openLedger, removeFolder } from '../test/harness.ts'

let folder: string
let file: string
let ledger: Ledger
let plain: DatabaseSync

const list = Array.from({ length: 900 }, (_, n) => n)

beforeEach(async () => {
  folder = makeFolder()
  file = join(folder, 'clew.db')
  ledger = openLedger(file)
  for (const n of [1, 2, 3, 4])
    await ledger.append([
      { eventType: 'execution.note', correlationId: 'r', payload: { n, list: [...list, n] } },
    ])
  // Any client of the file: no options, no help of ours.
  plain = new DatabaseSync(file, { enableForeignKeyConstraints: false })
  plain.exec(
    "INSERT INTO seals VALUES (99, 1, 2, x'00'); INSERT INTO erasures VALUES (999, ''); INSERT INTO node_erasures VALUES (9999, ''); INSERT INTO pruned_states VALUES (9999, '')",
  )
})
afterEach(async () => {
  plain.close()
  await ledger.close()
  removeFolder(folder)
})

async function all<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = []
  for await (const item of stream) items.push(item)
  return items
}
const read = (): Promise<ClewEvent[]> => all(ledger.read('r'))
const columns =
  'run, seq, event_id, event_type, timestamp, origin, runtime, recorded_at, schema_version, payload_hash, hash, follows'

describe('L2 a plain connection to the file', () => {
  it.each([
    "UPDATE events SET timestamp = 'x' WHERE position = 1",
    'UPDATE events SET position = position + 100',
    'DELETE FROM events WHERE position = 4',
    'DELETE FROM events',
    `INSERT OR REPLACE INTO events (position, ${columns}) SELECT position, ${columns} FROM events WHERE seq = 2`,
    `INSERT OR REPLACE INTO events (position, ${columns}) SELECT 50, ${columns} FROM events WHERE seq = 2`,
    `REPLACE INTO events (position, ${columns}) SELECT 50, run, 77, event_id, event_type, 'x', origin, runtime, recorded_at, 0, hash, hash, 0 FROM events WHERE seq = 2`,
    `INSERT INTO events (position, ${columns}) SELECT 50, run, 77, event_id, event_type, 'x', origin, runtime, recorded_at, 0, hash, hash, 0 FROM events WHERE seq = 4`,
    `INSERT INTO events (position, ${columns}) SELECT 1, run, 77, 'new', event_type, 'x', origin, runtime, recorded_at, 0, hash, hash, 0 FROM events WHERE seq = 4`,
    `UPDATE OR REPLACE events SET seq = 1 WHERE seq = 2`,
    "UPDATE payloads SET body = '{}'",
    'UPDATE payloads SET mac = NULL',
    'DELETE FROM payloads WHERE position = 2',
    'DELETE FROM payloads WHERE position = 4',
    "INSERT OR REPLACE INTO payloads (position, salt, body) SELECT position, salt, '{}' FROM payloads WHERE position = 2",
    "UPDATE nodes SET body = 'a'",
    'DELETE FROM nodes',
    "INSERT OR REPLACE INTO nodes (id, scope, hash, body) SELECT id, scope, hash, 'x' FROM nodes LIMIT 1",
    "INSERT OR REPLACE INTO nodes (scope, hash, body) SELECT scope, hash, 'x' FROM nodes LIMIT 1",
    'UPDATE seals SET to_seq = 9',
    'DELETE FROM seals',
    "INSERT OR REPLACE INTO seals VALUES (99, 1, 1000, x'00')",
    "UPDATE erasures SET erased_at = 'x'",
    'DELETE FROM erasures',
    "INSERT OR REPLACE INTO erasures VALUES (999, 'other')",
    "UPDATE pruned_states SET pruned_at = 'x'",
    'DELETE FROM pruned_states',
    "INSERT OR REPLACE INTO pruned_states VALUES (9999, 'other')",
    "UPDATE node_erasures SET erased_at = 'x'",
    'DELETE FROM node_erasures',
    "INSERT OR REPLACE INTO node_erasures VALUES (9999, 'other')",
  ])('cannot %s', async (sql) => {
    const before = await read()
    expect(() => plain.exec(sql)).toThrow(/append-only/)
    expect(await read()).toEqual(before)
    expect(await ledger.verify('r', { projections: true })).toMatchObject({ ok: true, checked: 4 })
  })

  it('can delete what a seal covers, and only that', () => {
    const { id } = plain.prepare("SELECT id FROM runs WHERE run_id = 'r'").get() as { id: number }
    plain.prepare("INSERT INTO seals VALUES (?, 1, 2, x'00')").run(id)
    plain.exec('DELETE FROM payloads WHERE position <= 2; DELETE FROM events WHERE position <= 2')
    expect(() => plain.exec('DELETE FROM payloads')).toThrow(/append-only/)
    expect(() => plain.exec('DELETE FROM events')).toThrow(/append-only/)
    expect(plain.prepare('SELECT count(*) AS n FROM events').get()).toEqual({ n: 2 })
  })
})

describe('P5 an erased payload', () => {
  it('may go once a row of erasures covers it, but verify says that no audit event does; an import records one', async () => {
    plain.exec("INSERT INTO erasures VALUES (2, '2026-01-01'); DELETE FROM payloads WHERE position = 2")
    const events = await read()
    expect(events.map((event) => event.ledger.erased)).toEqual([undefined, true, undefined, undefined])
    expect(events[1]?.payload).toEqual({})
    expect(events[2]?.payload['n']).toBe(3)
    expect(await ledger.verify('r')).toMatchObject({
      ok: false,
      checked: 4,
      problems: [{ runId: 'r', seq: 2, problem: 'unrecorded' }],
    })
    const lines = await all(ledger.export())
    const there = openLedger(join(folder, 'there.db'))
    await there.import(lines)
    expect(await there.verify()).toMatchObject({ ok: true, checked: 5 })
    expect((await there.getEvent(events[1]?.eventId ?? ''))?.ledger.erased).toBe(true)
    await there.close()
  })

  it('that no erasure covers is found by verify', async () => {
    plain.exec('DROP TRIGGER payloads_never_go; DELETE FROM payloads WHERE position = 3')
    expect(await ledger.verify('r')).toMatchObject({
      ok: false,
      problems: [
        { runId: 'r', seq: 3, problem: 'changed', detail: expect.stringContaining('no row of erasures') },
      ],
    })
  })
})

describe('L6 with the triggers dropped, verify finds', () => {
  const drop = (): void => {
    for (const { name } of plain.prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger'").all())
      plain.exec(`DROP TRIGGER ${String(name)}`)
  }
  const problems = async (): Promise<string[]> =>
    (await ledger.verify(undefined, { projections: true })).problems.map(
      (each) => `${each.problem} ${each.seq}`,
    )

  it.each([
    ['changed 2', "UPDATE events SET timestamp = '2001-01-01T00:00:00Z' WHERE seq = 2"],
    ['changed 2', "UPDATE events SET event_type = 'execution.other' WHERE seq = 2"],
    ['changed 3', "UPDATE payloads SET body = '{}' WHERE position = 3"],
    ['changed 3', "UPDATE payloads SET salt = x'00000000000000000000000000000000' WHERE position = 3"],
    ['changed 2', "UPDATE events SET hash = 'a text' WHERE seq = 2"],
    ['changed 2', 'UPDATE events SET payload_hash = 7 WHERE seq = 2'],
    ['missing 2', 'DELETE FROM events WHERE seq = 2'],
    ['truncated 4', 'DELETE FROM events WHERE seq = 4'],
    ['head_mismatch 4', "UPDATE runs SET hash = x'00'"],
    ['projection_differs null', 'UPDATE runs SET summary = replace(summary, \'"events":4\', \'"events":5\')'],
  ])('%s after %s', async (found, sql) => {
    drop()
    plain.exec(sql)
    expect(await problems()).toContain(found)
  })

  it('a payload that was replaced', async () => {
    drop()
    plain.exec("INSERT OR REPLACE INTO payloads (position, salt, mac, body) VALUES (2, x'00', NULL, '{}')")
    expect(await problems()).toContain('changed 2')
  })

  it('a payload that is no JSON any more; reading it says so', async () => {
    drop()
    plain.prepare('UPDATE payloads SET body = ? WHERE position = 3').run(`{"n":${'3'.repeat(600)}`)
    expect(await problems()).toContain('changed 3')
    await expect(read()).rejects.toMatchObject({ code: 'store_corrupt', fields: { runId: 'r', seq: 3 } })
  })

  it('one changed byte of a shared value', async () => {
    drop()
    plain.exec("UPDATE nodes SET body = replace(body, '=700', '=701') WHERE body LIKE '%=700%'")
    expect(await problems()).toContain('changed 1')
  })
})

describe('SQLite', () => {
  it('P5 is set up so that erasing leaves nothing behind, and L5 to survive the death of the process', async () => {
    const value = (name: string): unknown => Object.values(plain.prepare(`PRAGMA ${name}`).get() ?? {})[0]
    expect([value('auto_vacuum'), value('journal_mode')]).toEqual([2, 'wal'])
    // FTS5 makes such tables for itself, and has a secure deletion of its own.
    const clustered = plain.prepare(
      "SELECT name FROM sqlite_schema WHERE sql LIKE '%WITHOUT ROWID%' AND name NOT GLOB '*_words_*'",
    )
    expect(clustered.all()).toEqual([])
  })
})

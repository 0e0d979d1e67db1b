import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ClewEvent, Ledger } from '@clew/ledger'
import { createDatabase, type TestDatabase } from '../test/server.ts'
import { openLedger } from '../test/harness.ts'

let database: TestDatabase
let ledger: Ledger

const list = Array.from({ length: 900 }, (_, n) => n)

beforeAll(async () => {
  database = await createDatabase()
  ledger = await openLedger(database.url)
  for (const n of [1, 2, 3, 4])
    await ledger.append([
      { eventType: 'execution.note', correlationId: 'r', payload: { n, list: [...list, n] } },
    ])
  await plain(
    "INSERT INTO seals VALUES (99, 1, 2, '\\x00'); INSERT INTO erasures VALUES (999, ''); INSERT INTO pruned_states VALUES (9999, '')",
  )
})
afterAll(async () => {
  await ledger.close()
  await database.drop()
})

/** Any client of the database, as its superuser. */
const plain = (sql: string): Promise<unknown> => database.query(`SET search_path = clew; ${sql}`)
const read = (): Promise<ClewEvent[]> => Array.fromAsync(ledger.read('r'))
const columns =
  'run, seq, schema_version, follows, event_id, event_type, timestamp, origin, runtime, recorded_at, payload_hash, hash'
const same = 'ON CONFLICT (position) DO UPDATE SET timestamp = excluded.timestamp'

describe('L2 a plain connection to the database', () => {
  it.each([
    "UPDATE events SET timestamp = 'x' WHERE seq = 1",
    'UPDATE events SET position = position + 100',
    'DELETE FROM events WHERE seq = 4',
    'DELETE FROM events',
    'TRUNCATE events',
    'TRUNCATE events, payloads CASCADE',
    `INSERT INTO events (position, ${columns}) SELECT position, ${columns} FROM events WHERE seq = 2 ${same}`,
    `MERGE INTO events e USING (SELECT 2 AS seq) s ON e.seq = s.seq WHEN MATCHED THEN DELETE`,
    `MERGE INTO events e USING (SELECT 2 AS seq) s ON e.seq = s.seq WHEN MATCHED THEN UPDATE SET timestamp = 'x'`,
    "UPDATE payloads SET body = '{}'",
    'UPDATE payloads SET mac = NULL',
    'DELETE FROM payloads',
    'TRUNCATE payloads',
    "UPDATE nodes SET body = 'a'",
    'DELETE FROM nodes',
    'TRUNCATE nodes',
    'UPDATE seals SET to_seq = 9',
    'DELETE FROM seals',
    'TRUNCATE seals',
    "UPDATE erasures SET erased_at = 'x'",
    'DELETE FROM erasures',
    "UPDATE pruned_states SET pruned_at = 'x'",
    'DELETE FROM pruned_states',
    'TRUNCATE pruned_states',
    // Where triggers of the usual kind are silent.
    'SET session_replication_role = replica; DELETE FROM events; DELETE FROM payloads',
    "SET session_replication_role = replica; UPDATE nodes SET body = 'a'",
  ])('is refused: %s', async (sql) => {
    const before = await read()
    await expect(plain(sql)).rejects.toThrow(/append-only/)
    expect(await read()).toEqual(before)
    expect((await ledger.verify('r')).ok).toBe(true)
  })

  it.each([
    `INSERT INTO events (position, ${columns}) SELECT position, ${columns} FROM events WHERE seq = 2`,
    `INSERT INTO events (position, ${columns}) SELECT 50, ${columns} FROM events WHERE seq = 2`,
    `INSERT INTO events (position, ${columns}) SELECT 50, run, 77, 0, false, event_id, event_type, 'x', origin, runtime, recorded_at, hash, hash FROM events WHERE seq = 2`,
    "INSERT INTO payloads (position, salt, body) SELECT position, salt, '{}' FROM payloads",
    "INSERT INTO nodes (id, scope, hash, body) SELECT id + 100000, scope, hash, 'x' FROM nodes LIMIT 1",
  ])('cannot put a second one in the place of the first: %s', async (sql) => {
    await expect(plain(sql)).rejects.toThrow(/duplicate key/)
  })
})

it('P4 P5 what a seal or an erasure covers may go, and nothing beside it', async () => {
  await ledger.append(
    [1, 2, 3].map((n) => ({ eventType: 'execution.note', correlationId: 'old', payload: { n } })),
  )
  const run = "(SELECT id FROM runs WHERE run_id = 'old')"
  const at = (seq: number): string => `(SELECT position FROM events WHERE run = ${run} AND seq = ${seq})`
  await plain(`INSERT INTO erasures SELECT ${at(3)}, ''; DELETE FROM payloads WHERE position = ${at(3)}`)
  await expect(plain(`DELETE FROM payloads WHERE position = ${at(2)}`)).rejects.toThrow(/append-only/)
  await expect(plain(`DELETE FROM events WHERE run = ${run} AND seq = 3`)).rejects.toThrow(/append-only/)
  await plain(`INSERT INTO seals SELECT ${run}, 1, 1, '\\x00'`)
  await plain(
    `DELETE FROM payloads WHERE position = ${at(1)}; DELETE FROM events WHERE run = ${run} AND seq = 1`,
  )
  await expect(plain(`DELETE FROM events WHERE run = ${run} AND seq = 2`)).rejects.toThrow(/append-only/)
  await expect(plain('DELETE FROM nodes')).rejects.toThrow(/append-only/)
  await plain('INSERT INTO sweeps SELECT DISTINCT scope, 1 FROM nodes; DELETE FROM nodes')
})

import { type ForeignType, foreignType, type RecordInput } from '@clew/ledger'
import pg from 'pg'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openLedger } from '../test/harness.ts'
import { createDatabase, type TestDatabase } from '../test/server.ts'

const note = (n: number): RecordInput<ForeignType> => ({
  eventType: foreignType('execution.note'),
  correlationId: 'r',
  payload: { n },
})

let database: TestDatabase
/** Hears the bell without saying that it listens, as older versions did. */
let silent: pg.Client
let rings = 0
beforeEach(async () => {
  database = await createDatabase()
  rings = 0
  silent = new pg.Client({ connectionString: database.url })
  await silent.connect()
  silent.on('notification', () => rings++)
  await silent.query('LISTEN clew_clew')
})
afterEach(async () => {
  await silent.end()
  await database.drop()
})

it('L7 the bell is rung seldom while nobody listens, and for whoever begins to', async () => {
  const ledger = await openLedger(database.url)
  const start = performance.now()
  for (let n = 0; n < 60; n++) await ledger.record(note(n))
  await expect.poll(() => rings, { timeout: 60_000 }).toBeGreaterThan(0)
  expect(rings).toBeLessThanOrEqual((performance.now() - start) / 100 + 1)

  const other = await openLedger(database.url)
  const seen: unknown[] = []
  const following = (async () => {
    for await (const { payload } of other.follow()) if (seen.push(payload['n']) === 120) return
  })()
  const isHeld = async (): Promise<boolean> => {
    const held = await database.query(`SELECT FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ShareLock'
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`)
    return held.length === 1
  }
  await expect.poll(isHeld, { timeout: 60_000 }).toBe(true)
  for (let n = 60; n < 120; n++) await ledger.record(note(n))
  await following
  expect(seen).toEqual(Array.from({ length: 120 }, (_, n) => n))
  await other.close()
  await ledger.close()
}, 60_000)

it('L7 what was not rung for yet is rung for before the ledger is closed', async () => {
  const ledger = await openLedger(database.url)
  await ledger.record(note(0))
  await ledger.record(note(1))
  await ledger.close()
  await expect.poll(() => rings, { timeout: 60_000 }).toBe(2)
}, 60_000)

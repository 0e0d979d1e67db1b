import type { EventInput } from '@clew/ledger'
import fc from 'fast-check'
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openLedger } from '../test/harness.ts'
import { createDatabase, type TestDatabase } from '../test/server.ts'
import { type Column, layoutOf, parametersOf, putRows, rowsFrom } from './columns.ts'
import { bindMessage, sendPrepared, shapeOf } from './prepared.ts'

interface Sent {
  readonly n: number
  readonly count: number | null
  readonly big: number
  readonly flag: boolean | null
  readonly name: string | null
  readonly bytes: string | null
  readonly body: string
}
const COLUMNS: readonly Column<Sent>[] = [
  ['n', 'int', (row) => row.n, 'plain'],
  ['count', 'int', (row) => row.count, 'plain'],
  ['big', 'bigint', (row) => row.big, 'plain'],
  ['flag', 'boolean', (row) => row.flag, 'plain'],
  ['name', 'text', (row) => row.name, 'plain'],
  ['bytes', 'bytea', (row) => row.bytes, 'plain'],
  ['body', 'text', (row) => row.body],
]
/** Values that are the same in all rows, that rise, that do so for a while only, and any. */
const columnOf = <T>(any: fc.Arbitrary<T>, rising: (first: number, i: number) => T, size: number) =>
  fc.oneof(
    any.map((value) => Array.from({ length: size }, () => value)),
    fc
      .tuple(fc.integer({ min: -3, max: 3 }), fc.nat(size))
      .map(([first, until]) => Array.from({ length: size }, (_, i) => rising(first, Math.min(i, until)))),
    fc.array(any, { minLength: size, maxLength: size }),
  )
const integers = fc.option(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }))
const hex = fc.oneof(
  fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString('hex')),
  fc.uuid(),
)
/** Short and long ones, of one byte a character and of more. */
const texts = fc
  .oneof(
    fc.string({ unit: 'binary', maxLength: 20 }),
    fc.string({ unit: fc.constantFrom('a', '\u007f', '\u0080', 'é', 'ÿ', 'Ā'), maxLength: 20 }),
    fc.string({ unit: 'binary-ascii', minLength: 55, maxLength: 75, size: 'max' }),
  )
  .map((text) => text.replaceAll('\0', ''))
const groups = fc.integer({ min: 1, max: 7 }).chain((size) =>
  fc
    .tuple(
      columnOf(integers, (first, i) => first + i, size),
      columnOf(fc.maxSafeInteger(), (first, i) => 2 ** 32 + first + i, size),
      columnOf(fc.option(fc.boolean()), (_, i) => i > 1, size),
      columnOf(fc.option(texts), (_, i) => String(i), size),
      columnOf(fc.option(hex), (_, i) => `0${i}`, size),
      columnOf(texts, (_, i) => String(i), size),
    )
    .map(([counts, bigs, flags, names, bytes, bodies]) =>
      counts.map(
        (count, n): Sent => ({
          n,
          count,
          big: bigs[n] as number,
          flag: flags[n] ?? null,
          name: names[n] ?? null,
          bytes: bytes[n] ?? null,
          body: bodies[n] as string,
        }),
      ),
    ),
)

let database: TestDatabase
let client: pg.Client
beforeAll(async () => {
  database = await createDatabase()
  client = new pg.Client({ connectionString: database.url })
  await client.connect()
})
afterAll(async () => {
  await client.end()
  await database.drop()
})

it('L8 rows arrive as they were given, sent one by one or as arrays, whole columns as one value or not', async () => {
  const orders = new Set<number>()
  await fc.assert(
    fc.asyncProperty(groups, fc.boolean(), async (rows, isFew) => {
      const layout = layoutOf(COLUMNS, rows)
      for (const order of layout.orders) orders.add(order)
      const few = isFew ? rows.length : undefined
      const name = `${few ?? 'many'}${layout.code}`
      const item = `json_build_array(e.n, e.count, e.big, e.flag, e.name, encode(e.bytes, 'hex'), e.body)`
      const text = `SELECT json_agg(${item} ORDER BY e.n) FROM ${rowsFrom(COLUMNS, 'e', 1, few, layout)}`
      const shape = shapeOf(name, text, parametersOf(COLUMNS, few, layout))
      const message = bindMessage(shape, () => putRows(COLUMNS, rows, isFew, layout))
      const answer = await sendPrepared(client, { shape, message })
      const given = rows.map((row) => {
        const bytes = row.bytes?.replaceAll('-', '') ?? null
        return [row.n, row.count, row.big, row.flag, row.name, bytes, row.body]
      })
      expect(JSON.parse(answer?.[0] as string)).toEqual(given)
    }),
    { numRuns: 150 },
  )
  expect(orders).toEqual(new Set([0, 1, 2]))
}, 120_000)

it('L10 an error of a prepared statement is told, and its connection goes on', async () => {
  const send = (name: string, text: string, to = client) => {
    const shape = shapeOf(name, text, 0)
    return sendPrepared(to, { shape, message: bindMessage(shape, () => {}) })
  }
  await expect(send('divide', 'SELECT 1 / 0')).rejects.toMatchObject({ code: '22012' })
  await expect(send('divide', 'SELECT 1 / 0')).rejects.toMatchObject({ code: '22012' })
  await expect(send('wrong', 'SELECT FROM FROM')).rejects.toMatchObject({ code: '42601' })
  await expect(send('wrong', 'SELECT 7')).resolves.toEqual(['7'])
  await expect(send('nothing', 'SELECT 1 WHERE false')).resolves.toBeUndefined()
  const closed = new pg.Client({ connectionString: database.url })
  await closed.connect()
  await closed.end()
  await expect(send('x', 'SELECT 1', closed)).rejects.toThrow(/closed|Connection terminated/)
})

it('L3 groups of more shapes than there are statements for are stored as they were given', async () => {
  const ledger = await openLedger(database.url)
  const cause = '01a1e135-1bd1-8129-8c16-5b96b265a5fd'
  const each = (n: number, bit: number): boolean => (n >> bit) % 2 === 1
  let told = 0
  for (let shape = 0; shape < 128; shape++) {
    const runs = [`a-${shape % 3}`, each(shape, 0) ? `b-${shape % 3}` : `a-${shape % 3}`]
    const events: EventInput[] = Array.from({ length: each(shape, 6) ? 2 : 3 }, (_, i) => ({
      correlationId: runs[i % 2] as string,
      eventType: each(shape, 1) && i === 1 ? 'execution.other' : 'execution.note',
      timestamp: `2026-01-01T00:00:0${each(shape, 2) ? i : 0}.000Z`,
      source: { origin: each(shape, 3) && i === 1 ? 'ui' : 'agent', runtime: 'custom' },
      causationId: each(shape, 4) ? (each(shape, 5) && i === 0 ? null : cause) : null,
      payload: { n: told++ },
    }))
    const stored = await ledger.append(events)
    expect(stored).toMatchObject(events)
    expect(await ledger.getEvent(stored[1]?.eventId as string)).toEqual(stored[1])
  }
  let read = 0
  for (const run of ['a-0', 'a-1', 'a-2', 'b-0', 'b-1', 'b-2']) for await (const _ of ledger.read(run)) read++
  expect(read).toBe(told)
  expect(await ledger.verify()).toMatchObject({ ok: true })
  await ledger.close()
}, 120_000)

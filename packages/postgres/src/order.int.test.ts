import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type ClewEvent, type ForeignType, foreignType, type Ledger, type RecordInput } from '@clew/ledger'
import { createDatabase, type PostgresServer, startServer, type TestDatabase } from '../test/server.ts'
import { openLedger } from '../test/harness.ts'
import { type HeldWriter, holdWriter, openWriter } from '../test/held-writer.ts'

// A server of its own: its transactions stay open, and others would wait for them.
let server: PostgresServer
let database: TestDatabase
let ledger: Ledger
let writers: HeldWriter[]

beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.close())
beforeEach(async () => {
  database = await createDatabase({ server: server.url })
  ledger = await openLedger(database.url)
  writers = []
})
afterEach(async () => {
  for (const writer of writers) await writer.close()
  await ledger.close()
  await database.drop()
})

async function hold(): Promise<HeldWriter> {
  const writer = await holdWriter(database.url)
  writers.push(writer)
  return writer
}
const note = (runId: string, n = 0): RecordInput<ForeignType> => ({
  eventType: foreignType('execution.note'),
  correlationId: runId,
  payload: { n },
})

/** Follows until it is stopped, collecting what it sees. */
function follow(): { seen: ClewEvent[]; stop(): Promise<void> } {
  const control = new AbortController()
  const seen: ClewEvent[] = []
  const ended = (async () => {
    for await (const event of ledger.follow({ signal: control.signal })) seen.push(event)
  })()
  return {
    seen,
    async stop() {
      control.abort()
      await ended
    },
  }
}
const runsOf = (events: readonly ClewEvent[]): string[] => events.map((event) => event.correlationId)

/** A follower that goes by positions alone, as one would write it for a sequence. */
function naiveFollower(): () => Promise<string[]> {
  let after = 0
  return async () => {
    const rows = await database.query(
      `SELECT e.position, r.run_id FROM clew.events e JOIN clew.runs r ON r.id = e.run
       WHERE e.position > $1 ORDER BY e.position`,
      [after],
    )
    after = Number(rows.at(-1)?.['position'] ?? after)
    return rows.map((row) => row['run_id'] as string)
  }
}

describe('L3 a transaction that ends late', () => {
  it('holds back what stands behind it from followers, and from nobody else; a naive follower misses it', async () => {
    const naive = naiveFollower()
    const follower = follow()
    const late = await hold()
    const first = await late.ledger.record(note('late'))
    const second = await ledger.record(note('early'))
    expect(second.ledger.position).toBeGreaterThan(first.ledger.position)
    expect((await ledger.getRun('early'))?.events).toBe(1)
    expect(await ledger.lastPosition()).toBeLessThan(first.ledger.position)
    expect(await naive()).toEqual(['early'])
    const exported = (await Array.fromAsync(ledger.export())).map(
      (line) => JSON.parse(line) as { event_id: string },
    )
    expect(exported.map((line) => line.event_id)).toEqual([second.eventId])
    // Others go on writing, each in its own time.
    for (let n = 0; n < 20; n++) await ledger.record(note('early', n))
    expect(follower.seen).toEqual([])
    await late.end('COMMIT')
    await expect.poll(() => follower.seen.length, { timeout: 60_000 }).toBe(22)
    expect(runsOf(follower.seen).slice(0, 2)).toEqual(['late', 'early'])
    expect(await naive()).not.toContain('late')
    await follower.stop()
  })

  it('leaves a hole when it is rolled back, and followers go on', async () => {
    const follower = follow()
    const late = await hold()
    await late.ledger.record(note('never'))
    await ledger.record(note('early'))
    await late.end('ROLLBACK')
    await expect.poll(() => runsOf(follower.seen), { timeout: 60_000 }).toEqual(['early'])
    await follower.stop()
  })

  it('one of many, ended in any order: a follower sees all that was committed, once and by position', async () => {
    const follower = follow()
    const committed: string[] = []
    let seed = 11
    const dice = (n: number): number => (seed = (seed * 48_271) % 2_147_483_647) % n
    for (let round = 0; round < 6; round++) {
      const held = await Promise.all(Array.from({ length: 4 }, hold))
      for (const [i, writer] of held.entries()) {
        await writer.ledger.append(
          Array.from({ length: 1 + dice(3) }, (_, n) => note(`held-${round}-${i}`, n)),
        )
        await ledger.record(note(`free-${round}`, i))
        committed.push(`free-${round}`)
      }
      const left = held.map((writer, i) => ({ writer, runId: `held-${round}-${i}` }))
      while (left.length > 0) {
        const [one] = left.splice(dice(left.length), 1)
        if (!one) break
        const how = dice(4) === 0 ? 'ROLLBACK' : 'COMMIT'
        await one.writer.end(how)
        if (how === 'ROLLBACK') continue
        for (let n = (await ledger.getRun(one.runId))?.events ?? 0; n > 0; n--) committed.push(one.runId)
      }
    }
    await expect.poll(() => follower.seen.length, { timeout: 60_000 }).toBe(committed.length)
    expect(runsOf(follower.seen).toSorted()).toEqual(committed.toSorted())
    const positions = follower.seen.map((event) => event.ledger.position)
    expect(positions).toEqual(positions.toSorted((a, b) => a - b))
    expect(new Set(positions).size).toBe(positions.length)
    await follower.stop()
  })
})

describe('L3 positions', () => {
  it('of a batch with more events than a transaction has room for are its own, in order, beside other writers', async () => {
    const other = await openLedger(database.url)
    const follower = follow()
    const batch = Array.from({ length: 2600 }, (_, n) => note(`big-${n % 3}`, n))
    const [big, ...small] = await Promise.all([
      ledger.append(batch),
      ...Array.from({ length: 30 }, (_, n) => other.record(note('small', n))),
    ])
    expect(big.map((event) => event.payload['n'])).toEqual(batch.map((_, n) => n))
    await expect.poll(() => follower.seen.length, { timeout: 60_000 }).toBe(2630)
    const told = [...big, ...small].map((event) => [event.ledger.position, event.eventId])
    const seen = follower.seen.map((event) => [event.ledger.position, event.eventId])
    expect(seen).toEqual(told.toSorted((a, b) => Number(a[0]) - Number(b[0])))
    expect(big.map((event) => event.ledger.position)).toEqual(
      big.map((event) => event.ledger.position).toSorted((a, b) => a - b),
    )
    await follower.stop()
    await other.close()
  })

  it('of a run rise with its seqs, also when a transaction had its id before it waited for the run', async () => {
    await ledger.record(note('shared'))
    let overtakes = 0
    let isOpen = false
    const { ledger: slow } = await openWriter(database.url, async (statement, client) => {
      if (['BEGIN', 'COMMIT', 'ROLLBACK'].includes(statement)) isOpen = statement === 'BEGIN'
      // Overtaken before a statement on cached rows, and again between the id of its transaction and the lock of the run.
      if (isOpen ? statement === 'load runs' : statement.startsWith('write ')) {
        if (isOpen) await client.query('SELECT pg_current_xact_id()')
        overtakes++
        await ledger.record(note('shared', overtakes))
      }
      return true
    })
    const follower = follow()
    await slow.append(Array.from({ length: 1100 }, (_, n) => note('shared', n)))
    await slow.record(note('shared'))
    expect(overtakes).toBe(3)
    const count = 1 + overtakes + 1101
    await expect.poll(() => follower.seen.length, { timeout: 60_000 }).toBe(count)
    expect(follower.seen.map((event) => event.ledger.seq)).toEqual(
      Array.from({ length: count }, (_, i) => i + 1),
    )
    await follower.stop()
    await slow.close()
  })

  it('go on behind the last one when a ledger is restored where transactions count from less', async () => {
    // As on a server that had seen ten million more transactions.
    await database.query('UPDATE clew.meta SET base = 10240000000')
    const before = await ledger.record(note('r'))
    await database.query('UPDATE clew.meta SET base = 0')
    const restored = await Promise.all([1, 2, 3, 4].map(() => openLedger(database.url)))
    const after = await Promise.all(restored.map((each, n) => each.record(note('r', n))))
    for (const event of after) expect(event.ledger.position).toBeGreaterThan(before.ledger.position)
    expect(new Set(after.map((event) => event.ledger.position)).size).toBe(4)
    for (const each of restored) await each.close()
  })
})

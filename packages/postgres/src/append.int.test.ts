import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  ClewError,
  createLedger,
  type EventInput,
  type ForeignType,
  foreignType,
  type Ledger,
  type RecordInput,
} from '@clew/ledger'
import { createDatabase, nodePorts, type TestDatabase } from '../test/server.ts'
import { openLedger } from '../test/harness.ts'
import { createWriter } from './write.ts'
import { openPostgresStore } from './index.ts'
import { openDatabase } from './open-database.ts'
import type { Sql } from './sql.ts'

let database: TestDatabase
let ledger: Ledger
beforeEach(async () => {
  database = await createDatabase()
  ledger = await openLedger(database.url)
})
afterEach(async () => {
  await ledger.close()
  await database.drop()
})

const note = (runId: string, payload: Record<string, unknown> = {}): RecordInput<ForeignType> => ({
  eventType: foreignType('execution.note'),
  correlationId: runId,
  payload,
})
const large = (n: number): string[] => Array.from({ length: 300 }, (_, i) => `${n}: line ${i} of a text`)

const TERMINATE = { text: 'SELECT pg_terminate_backend(pg_backend_pid())' }

interface Between {
  /** Its name, or its text. */
  readonly statement: string
  /** Whether it is part of a transaction of several statements. */
  readonly isInTransaction: boolean
  send(): Promise<unknown>
  /** Ends the connection, as a broken network does. */
  cut(): Promise<never>
}

/** A ledger whose appends can be watched and disturbed, statement by statement. */
async function interposed(
  between: (sent: Between) => Promise<unknown>,
): Promise<{ ledger: Ledger; roundTrips(): number; close(): Promise<void> }> {
  let roundTrips = 0
  const opened = await openDatabase(database.url, {})
  const store = await openPostgresStore(database.url, nodePorts)
  const { write } = createWriter({
    database: {
      ...opened,
      async connect() {
        const real = await opened.connect()
        let last: Promise<unknown> = Promise.resolve()
        let isInTransaction = false
        let waiting = 0
        const query: Sql['query'] = (statement) => {
          const isBegin = statement.text === 'BEGIN'
          // What is sent while another is under way does not wait for its answer.
          if (waiting++ === 0) roundTrips++
          const sent = last.then(() => {
            if (isBegin) isInTransaction = true
            return between({
              statement: statement.name ?? statement.text,
              isInTransaction,
              send: () => real.query(statement),
              cut: () => real.query(TERMINATE) as Promise<never>,
            })
          })
          const settle = (): void => void waiting--
          last = sent.then(settle, settle)
          return sent as ReturnType<Sql['query']>
        }
        return { query, release: real.release }
      },
    },
    ports: nodePorts,
    waitMs: 30_000,
  })
  const secret = 'a secret for tests that is long enough'
  const heads = { verify: async () => false }
  return {
    ledger: createLedger({ ports: nodePorts, secret, heads, store: { ...store, write } }),
    roundTrips: () => roundTrips,
    async close() {
      await store.close()
      await opened.close()
    },
  }
}
/** The statement after which an append is committed. */
const commits = ({ statement, isInTransaction }: Between): boolean =>
  isInTransaction ? statement === 'COMMIT' : statement.startsWith('write ')

describe('L5 a connection that is lost', () => {
  it.each([
    ['after', 'its answer was lost'],
    ['before', 'it never arrived'],
  ] as const)(
    '%s the statement, so that %s: it is there once and answered with its place',
    async (when, _) => {
      const fate = ['never', when, when, 'never', when]
      const other = await interposed(async (sent) => {
        const now = commits(sent) ? fate.shift() : 'never'
        if (now === 'before') return sent.cut()
        const answer = await sent.send()
        return now === 'after' ? sent.cut() : answer
      })
      await other.ledger.record(note('r', { n: 0 }))
      const lease = await ledger.leases.acquire({ workspace: 'default', runId: 'leased' })
      const answers = await Promise.all([
        other.ledger.record(note('r', { n: 1, text: large(1) })),
        other.ledger.append([note('r', { n: 2 }), note('s', { n: 3 })]),
        other.ledger.append([note('leased', { n: 4 })], { epoch: lease.epoch, expectedSeq: 0 }),
        other.ledger.append([note('t', { n: 5 })], { expectedSeq: 7 }).catch((error: unknown) => error),
      ])
      expect(answers[3]).toMatchObject({ code: 'wrong_seq' })
      const more = await other.ledger.append([note('r', { n: 6 })], { expectedSeq: 3 })
      const told = [answers[0], ...answers[1], ...answers[2], ...more]
      for (const runId of ['r', 's', 'leased']) {
        const stored = await Array.fromAsync(ledger.read(runId))
        expect(stored.slice(runId === 'r' ? 1 : 0)).toEqual(
          told.filter((event) => event.correlationId === runId),
        )
        expect((await ledger.verify(runId, { projections: true })).ok).toBe(true)
      }
      expect((await ledger.stats()).events).toBe(6)
      await other.close()
    },
  )
})

describe('L4 writers that meet', () => {
  it('on a run, a thread and values that none of them knew yet all get their turn', async () => {
    const ledgers = await Promise.all([1, 2, 3, 4, 5].map(() => openLedger(database.url)))
    const begin = (runId: string): RecordInput<'system.workflow_started'> => ({
      eventType: 'system.workflow_started',
      correlationId: runId,
      payload: { threadId: 'thread', input: large(0) },
    })
    for (let round = 0; round < 5; round++) {
      const results = await Promise.all(
        ledgers.flatMap((each, i) => [
          each.append([note(`same-${round}`, { i, text: large(round) })]),
          each.append([begin(`own-${round}-${i}`)]),
        ]),
      )
      const seqs = results
        .flat()
        .flatMap((event) => (event.correlationId === `same-${round}` ? [event.ledger.seq] : []))
      expect(seqs.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5])
    }
    expect(await ledger.verify(undefined, { projections: true })).toMatchObject({ ok: true, checked: 50 })
    const rows = await database.query('SELECT count(*)::int AS n FROM clew.scopes')
    expect(rows).toEqual([{ n: 6 }])
    for (const each of ledgers) await each.close()
  })

  it('what is remembered of a run that another has moved never refuses what is right now', async () => {
    const other = await openLedger(database.url)
    await ledger.record(note('r'))
    await other.append([note('r'), note('r')], { expectedSeq: 1 })
    expect((await ledger.append([note('r')], { expectedSeq: 3 }))[0]?.ledger.seq).toBe(4)
    await expect(other.append([note('r')], { expectedSeq: 3 })).rejects.toMatchObject({ code: 'wrong_seq' })
    const [fork] = await ledger.append([
      {
        eventType: 'system.workflow_forked',
        correlationId: 'f',
        payload: { sourceRunId: 'r', sourceSeq: 4 },
      },
    ])
    expect(fork?.ledger.seq).toBe(5)
    await other.record(note('r'))
    const again = {
      eventType: 'system.workflow_forked' as const,
      correlationId: 'g',
      payload: { sourceRunId: 'r', sourceSeq: 5 },
    }
    expect((await ledger.append([again]))[0]?.ledger.seq).toBe(6)
    await other.close()
  })

  const take = (runId: string): string =>
    `INSERT INTO clew.leases VALUES ('default', '${runId}', 'o', 1, NULL, true, now())
     ON CONFLICT (workspace, run_id) DO UPDATE SET epoch = leases.epoch + 1`

  it('R9 a lease that is taken between a decision on cached rows and its statement fences it', async () => {
    let meanwhile = ''
    const other = await interposed(async ({ statement, isInTransaction, send }) => {
      if (statement.startsWith('write ') && !isInTransaction && meanwhile !== '') {
        await database.query(meanwhile)
        meanwhile = ''
      }
      return send()
    })
    const lease = await ledger.leases.acquire({ workspace: 'default', runId: 'leased' })
    await other.ledger.append([note('leased')], { epoch: lease.epoch })
    await other.ledger.record(note('free'))
    for (const [runId, epoch] of [
      ['leased', lease.epoch],
      ['free', undefined],
    ] as const) {
      meanwhile = take(runId)
      await expect(other.ledger.append([note(runId)], { epoch })).rejects.toMatchObject({
        code: 'stale_epoch',
      })
      expect((await ledger.getRun(runId))?.events).toBe(1)
    }
    await other.close()
  })

  it('R9 a lease of a run that begins at the same time waits for its first events, and counts from then on', async () => {
    let taking: Promise<unknown> = Promise.resolve()
    let runId = ''
    const other = await interposed(async ({ statement, send }) => {
      // The locks of the run are held from here to the commit.
      if (statement.startsWith('write ')) taking = database.query(take(runId))
      return send()
    })
    const early = await ledger.leases.acquire({ workspace: 'default', runId: 'lease' })
    for (const [id, epoch] of [
      ['lease', early.epoch],
      ['none', undefined],
    ] as const) {
      runId = id
      await other.ledger.append([note(id)], { epoch })
      await taking
      const rows = await database.query(
        `SELECT r.epoch = l.epoch AND r.held = l.held AS is_same FROM clew.runs r JOIN clew.leases l USING (workspace, run_id)
         WHERE r.run_id = $1`,
        [id],
      )
      expect(rows).toEqual([{ is_same: true }])
      await expect(ledger.append([note(id)], { epoch })).rejects.toMatchObject({ code: 'stale_epoch' })
    }
    await other.close()
  })

  it('L1 rows that were made anew are not overwritten by what was remembered of them', async () => {
    await ledger.record(note('r'))
    const sql = `UPDATE clew.runs SET summary = replace(summary, '"agent":null', '"agent":"told"'), revision = revision + 1`
    await database.query(sql)
    await ledger.record(note('r'))
    expect((await ledger.getRun('r'))?.agent).toBe('told')
  })
})

it('L8 a small append to a cached run is one statement; any other takes three round trips at most', async () => {
  let statements = 0
  const other = await interposed(({ send }) => {
    statements++
    return send()
  })
  async function costOf(...events: EventInput[]): Promise<{ statements: number; roundTrips: number }> {
    const before = other.roundTrips()
    statements = 0
    await other.ledger.append(events)
    return { statements, roundTrips: other.roundTrips() - before }
  }
  const one = { statements: 1, roundTrips: 1 }
  const step = (type: string, n: number): EventInput => ({
    eventType: `execution.step_${type}`,
    correlationId: 'r',
    payload: { stepId: `s#${n}`, name: type === 'started' ? 's' : undefined },
  })
  const big = {
    ...note('r', { lines: [large(0), large(1), large(2)] }),
    eventId: '0198a0a0-0000-7000-8000-000000000001',
  }
  expect((await costOf(note('r'))).roundTrips).toBe(3)
  expect(await costOf(note('r', { n: 1 }))).toEqual(one)
  expect(await costOf(step('started', 1), step('completed', 1))).toEqual(one)
  expect(await costOf(step('started', 2))).toEqual(one)
  expect(await costOf(step('completed', 2))).toEqual(one)
  expect((await costOf(step('completed', 1))).roundTrips).toBe(2)
  expect((await costOf(big)).roundTrips).toBe(3)
  // Found again and compared, with the values that it refers to.
  expect((await costOf(big)).roundTrips).toBe(3)
  expect(await costOf(note('r', { n: 2 }))).toEqual(one)
  expect((await ledger.verify('r', { projections: true })).ok).toBe(true)
  await other.close()
})

it('L1 steps that another process ended are not taken from the cache', async () => {
  const step = (type: string): EventInput => ({
    eventType: `execution.step_${type}`,
    correlationId: 'r',
    payload: { stepId: 's#0', name: 's' },
  })
  const other = await openLedger(database.url)
  await ledger.append([step('started')])
  await other.append([step('completed')])
  // Read under locks, for the run has another head; from then on it is cached again.
  await ledger.record(note('r'))
  await ledger.append([step('failed')])
  await ledger.append([step('started')])
  expect((await ledger.verify('r', { projections: true })).ok).toBe(true)
  await other.close()
})

it('L5 a run that somebody keeps locked is told after a while, nothing is written, and it goes on later', async () => {
  const hasty = await openLedger(database.url, { waitMs: 300 })
  await hasty.record(note('r'))
  const opened = await openDatabase(database.url, {})
  const client = opened.createClient()
  await client.connect()
  await client.query('BEGIN')
  await client.query('SELECT FROM clew.runs FOR UPDATE')
  await expect(hasty.record(note('r'))).rejects.toBeInstanceOf(ClewError)
  await client.query('ROLLBACK')
  expect((await hasty.record(note('r'))).ledger.seq).toBe(2)
  await client.end()
  await opened.close()
  await hasty.close()
})

/** Forwards bytes to the server of the database until it stalls: then nothing is answered, and nothing is closed. */
async function stallingProxy(): Promise<{ url: string; stall(): void; close(): void }> {
  const address = new URL(database.url)
  const { hostname, port } = address
  const sockets = new Set<Socket>()
  let isStalled = false
  const proxy = createServer((near) => {
    const far = connect(Number(port), hostname)
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.on('error', () => to.destroy()).on('data', (bytes) => isStalled || to.write(bytes))
    }
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  address.port = String((proxy.address() as AddressInfo).port)
  return {
    url: address.href,
    stall: () => void (isStalled = true),
    close() {
      for (const socket of sockets) socket.destroy()
      proxy.close()
    },
  }
}

it('L5 a network that stalls is reported after a while, and the outcome as unknown', async () => {
  const proxy = await stallingProxy()
  const stalled = await openLedger(proxy.url, { waitMs: 300, connectMs: 10_000 })
  await stalled.record(note('r'))
  proxy.stall()
  // Neither the statement nor a new connection is answered.
  await expect(stalled.record(note('r'))).rejects.toMatchObject({
    code: 'store_unreachable',
    message: expect.stringContaining('was lost during a write') as string,
  })
  proxy.close()
  await stalled.close()
  expect((await ledger.getRun('r'))?.events).toBe(1)
})

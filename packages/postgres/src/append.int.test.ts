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
import { createAppender } from './append.ts'
import { openPostgresStore } from './index.ts'
import { openDatabase } from './open-database.ts'

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

/** A ledger with somebody between it and the server, who sees each statement by its name. */
async function interposed(
  between: (name: string, send: () => Promise<unknown>) => Promise<unknown>,
): Promise<{ ledger: Ledger; close(): Promise<void> }> {
  const opened = await openDatabase(database.url, {})
  const store = await openPostgresStore(database.url, nodePorts)
  const { write } = createAppender({
    database: {
      ...opened,
      async connect() {
        const real = await opened.connect()
        return {
          drop: () => {},
          query: async (statement) =>
            (await between(statement.name ?? '', () => real.query(statement))) as never,
          send: async (statement) =>
            (await between(statement.shape.name, () => real.send(statement))) as never,
        }
      },
    },
    ports: nodePorts,
    waitMs: 30_000,
  })
  const secret = 'a secret for tests that is long enough'
  const heads = { verify: async () => false }
  return {
    ledger: createLedger({ ports: nodePorts, secret, heads, store: { ...store, write } }),
    async close() {
      await store.close()
      await opened.close()
    },
  }
}
const writes = (name: string): boolean => name.startsWith('append ') && name !== 'append load'

describe('L5 a connection that is lost', () => {
  it.each([
    ['after', 'its answer was lost'],
    ['before', 'it never arrived'],
  ] as const)(
    '%s the statement, so that %s: it is there once and answered with its place',
    async (when, _) => {
      const fate = ['never', when, when, 'never', when]
      const other = await interposed(async (name, send) => {
        const now = writes(name) ? fate.shift() : 'never'
        if (now === 'before') throw new Error('Connection terminated unexpectedly')
        const answer = await send()
        if (now === 'after') throw new Error('Connection terminated unexpectedly')
        return answer
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

  it('R9 a lease that is taken between a decision and its statement fences it, whether there was one or a run', async () => {
    let meanwhile = ''
    const other = await interposed(async (name, send) => {
      if (writes(name) && meanwhile !== '') {
        await database.query(meanwhile)
        meanwhile = ''
      }
      return send()
    })
    const take = (runId: string): string =>
      `INSERT INTO clew.leases VALUES ('default', '${runId}', 'o', 1, NULL, true, now())
       ON CONFLICT (workspace, run_id) DO UPDATE SET epoch = leases.epoch + 1`
    const lease = await ledger.leases.acquire({ workspace: 'default', runId: 'both' })
    await other.ledger.append([note('both')], { epoch: lease.epoch })
    await other.ledger.record(note('run'))
    const early = await ledger.leases.acquire({ workspace: 'default', runId: 'lease' })
    for (const [runId, epoch] of [
      ['both', 1],
      ['run', undefined],
      ['lease', early.epoch],
      ['none', undefined],
    ] as const) {
      meanwhile = take(runId)
      await expect(other.ledger.append([note(runId)], { epoch })).rejects.toMatchObject({
        code: 'stale_epoch',
      })
    }
    const counts = await Promise.all(['both', 'run', 'lease', 'none'].map((runId) => ledger.getRun(runId)))
    expect(counts.map((run) => run?.events)).toEqual([1, 1, undefined, undefined])
    expect((await other.ledger.append([note('none')], { epoch: 1 }))[0]?.ledger.seq).toBe(1)
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

it('L8 an append to a run that is known is one statement; what must be read first is read together', async () => {
  const sent: string[] = []
  const other = await interposed(async (name, send) => {
    sent.push(name)
    return send()
  })
  const count = async (work: () => Promise<unknown>): Promise<number> => {
    sent.length = 0
    await work()
    return sent.length
  }
  const step = (type: string, n: number): EventInput => ({
    eventType: `execution.step_${type}`,
    correlationId: 'r',
    payload: { stepId: `s#${n}`, name: type === 'started' ? 's' : undefined },
  })
  const steps = Array.from({ length: 1500 }, (_, n) => n)
  const id = '0198a0a0-0000-7000-8000-000000000001'
  const big = { ...note('r', { lines: [large(0), large(1), large(2)] }), eventId: id }
  expect(await count(() => other.ledger.record(note('r')))).toBe(2)
  expect(await count(() => other.ledger.record(note('r', { n: 1 })))).toBe(1)
  expect(await count(() => other.ledger.record(big))).toBe(1)
  // Refused as it stands already, read again with what it refers to, compared, and known to be the same.
  expect(await count(() => other.ledger.record(big))).toBeLessThanOrEqual(4)
  await other.ledger.append(steps.map((n) => step('started', n)))
  expect(await count(() => other.ledger.append([{ ...step('completed', 1400) }]))).toBe(1)
  // More than are remembered of one run.
  expect(await count(() => other.ledger.append(steps.map((n) => step('failed', n))))).toBe(2)
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

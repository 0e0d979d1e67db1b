import type { Ledger, RunFilter } from '../ledger.ts'
import { assert, assertEqual, assertRefused } from './assert.ts'
import { note, started, type StoreTest, upTo } from './world.ts'

const id = (n: number): string => `run-${String(n).padStart(2, '0')}`
const MINUTE = 60_000
const START = Date.parse('2026-01-01T00:00:00Z')
const at = (ms: number): string => new Date(START + ms).toISOString()

/** 24 runs: n minutes long, n thousand tokens, every third failed, every fourth without an end. */
async function record(ledger: Ledger): Promise<void> {
  for (const n of upTo(24)) {
    const run = { correlationId: id(n) }
    const began = n * 60 * MINUTE
    await ledger.append([
      {
        ...started(id(n), {
          agent: n % 2 ? 'owl' : 'fox',
          threadId: `t${n % 5}`,
          tags: { customer: n % 2 ? 'acme' : 'beta', rank: String(n), ...(n > 20 && { vip: '' }) },
        }),
        timestamp: at(began),
      },
      {
        ...run,
        eventType: 'integration.response',
        timestamp: at(began + 1),
        payload: {
          model: n > 12 ? 'gpt-5' : 'gpt-4o',
          usage: { inputTokens: n * 900, outputTokens: n * 100 },
          cost: { amount: n / 100, currency: 'USD', source: 'test', version: '1' },
        },
      },
    ])
    if (n % 4 === 0) continue
    const timestamp = at(began + n * MINUTE)
    await ledger.record(
      n % 3 === 0
        ? {
            ...run,
            eventType: 'system.workflow_failed',
            timestamp,
            payload: {
              error: { name: 'Error', code: n === 9 ? 'E429' : 'E500', message: `Rate limit of ${n}` },
            },
          }
        : { ...run, eventType: 'system.workflow_completed', timestamp, payload: {} },
    )
  }
}

async function list(ledger: Ledger, filter: RunFilter): Promise<string[]> {
  const found: string[] = []
  for (let cursor: string | undefined; ; ) {
    const page = await ledger.listRuns({ ...filter, cursor })
    assert(page.runs.length <= (filter.limit ?? 50), 'a page is no longer than asked for')
    found.push(...page.runs.map(({ runId }) => runId))
    if (page.nextCursor === null) return found
    cursor = page.nextCursor
  }
}

const isFailed = (n: number): boolean => n % 3 === 0 && n % 4 !== 0

export const runQueryTests: readonly StoreTest[] = [
  {
    rule: 'V13',
    title: 'runs are listed by a query, in pages of any size, each once, newest first',
    async run(world) {
      const ledger = await world.open()
      await record(ledger)
      const cases: readonly (readonly [string, (n: number) => boolean])[] = [
        [' ', () => true],
        ['status:failed', isFailed],
        ['-status:failed', (n) => !isFailed(n)],
        ['status:failed,completed', (n) => n % 4 !== 0],
        ['agent:owl thread:t1,t3', (n) => n % 2 === 1 && [1, 3].includes(n % 5)],
        ['-agent:owl', (n) => n % 2 === 0],
        ['agent:o*', (n) => n % 2 === 1],
        ['run:run-0*', (n) => n < 10],
        ['run:run-03,run-04,run-99', (n) => n === 3 || n === 4],
        ['customer:acme', (n) => n % 2 === 1],
        ['tag:customer=acme status:failed', (n) => n % 2 === 1 && isFailed(n)],
        ['customer:acme,beta', () => true],
        ['customer:acme customer:beta', () => false],
        ['-customer:acme', (n) => n % 2 === 0],
        ['tag:vip', (n) => n > 20],
        ['-tag:vip', (n) => n <= 20],
        ['tag:nothing', () => false],
        ['rank:>=10 rank:<12', (n) => n === 10 || n === 11],
        ['customer:>1', () => false],
        ['model:gpt-5', (n) => n > 12],
        ['model:gpt-* -model:gpt-5', (n) => n <= 12],
        ['tokens:>20k', (n) => n > 20],
        ['tokens:<=2000', (n) => n <= 2],
        ['duration:>90s duration:<=3m', (n) => n === 2 || n === 3],
        ['-duration:>1m', (n) => n === 1],
        ['cost:>0.2', (n) => n > 20],
        ['error:"rate LIMIT"', isFailed],
        ['error:e429', (n) => n === 9],
        ['-error:limit', (n) => !isFailed(n)],
        ['since:2026-01-01T20:00:00Z', (n) => n >= 20],
        ['steps:>0', () => false],
      ]
      for (const [q, keep] of cases)
        for (const limit of [1, 5, 100])
          assertEqual(
            await list(ledger, { q, limit }),
            upTo(24).filter(keep).toReversed().map(id),
            `${q} in pages of ${limit}`,
          )
      const both = { q: 'tokens:>5k', agent: 'owl', tags: { customer: 'acme' }, hasTags: ['vip'] }
      assertEqual(await list(ledger, both), [id(23), id(21)], 'beside other conditions')
    },
  },
  {
    rule: 'V13',
    title: 'an order is kept over pages, and unknown values come last',
    async run(world) {
      const ledger = await world.open()
      await record(ledger)
      const ended = upTo(24).filter((n) => n % 4 !== 0)
      const endless = upTo(24).filter((n) => n % 4 === 0)
      const cases: readonly (readonly [string, readonly number[]])[] = [
        ['sort:tokens', upTo(24)],
        ['sort:-cost', upTo(24).toReversed()],
        ['sort:started', upTo(24)],
        ['sort:duration', [...ended, ...endless]],
        ['sort:-duration', [...ended.toReversed(), ...endless]],
        [
          'sort:-tokens customer:acme',
          upTo(24)
            .filter((n) => n % 2 === 1)
            .toReversed(),
        ],
        ['sort:steps', upTo(24)],
      ]
      for (const [q, expected] of cases)
        for (const limit of [1, 7, 100])
          assertEqual(await list(ledger, { q, limit }), expected.map(id), `${q} in pages of ${limit}`)
    },
  },
  {
    rule: 'V13',
    title: 'search takes the same fields beside its words',
    async run(world) {
      const ledger = await world.open()
      await record(ledger)
      await ledger.append(upTo(24).map((n) => note(id(n), { text: 'barn owls' })))
      for (const [query, expected] of [
        ['customer:acme tokens:>20k', [23, 21]],
        ['owls tag:vip model:gpt-5 -rank:22', [24, 23, 21]],
        ['owls error:e429', [9]],
        ['owls duration:>30h', []],
      ] as const) {
        const { hits } = await ledger.search(query, { limit: 100 })
        assertEqual(hits.map(({ run }) => run.runId).toSorted(), expected.map(id).toSorted(), query)
      }
      await assertRefused(() => ledger.search('owls sort:-tokens'), 'bad_option', { option: 'query', at: 6 })
    },
  },
  {
    rule: 'V13',
    title: 'a query that a list cannot answer is refused with its place',
    async run(world) {
      const ledger = await world.open()
      for (const [q, place] of [
        ['stauts:failed', 1],
        ['agent:x barn', 9],
        ['agent:x tool:search', 9],
        ['sort:size', 1],
        ['a:1 "x', 5],
      ] as const)
        await assertRefused(() => ledger.listRuns({ q }), 'bad_option', { option: 'query', at: place })
      for (const cursor of ['x', '[]', '12', '%', '["a","b"]'])
        await assertRefused(() => ledger.listRuns({ q: 'sort:tokens', cursor }), 'bad_option', {
          option: 'cursor',
        })
    },
  },
]

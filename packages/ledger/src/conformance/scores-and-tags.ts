import type { PayloadOf, RecordInput } from '../catalogue/catalogue.ts'
import type { Ledger, RunFilter } from '../ledger.ts'
import { assertEqual, assertRefused } from './assert.ts'
import { createRandom } from './random.ts'
import { forked, note, started, type StoreTest, upTo } from './world.ts'

const scored = (runId: string, payload: PayloadOf<'system.scored'>): RecordInput<'system.scored'> => ({
  eventType: 'system.scored',
  correlationId: runId,
  payload,
})
const score = (runId: string, name: string, value: number | string | boolean | null, by = 'ann') =>
  scored(runId, { target: 'run', name, value, by })
const tagged = (runId: string, payload: PayloadOf<'system.tagged'>): RecordInput<'system.tagged'> => ({
  eventType: 'system.tagged',
  correlationId: runId,
  payload,
})
const completed = (runId: string): RecordInput<'system.workflow_completed'> => ({
  eventType: 'system.workflow_completed',
  correlationId: runId,
  payload: { output: 1 },
})

/** Scores that count, in short: `accuracy=0.5 by ann`. */
const scoresOf = async (ledger: Ledger, runId: string): Promise<string[]> =>
  ((await ledger.getRun(runId))?.scores ?? []).map(
    ({ stepId, attempt, name, value, by }) =>
      `${stepId === null ? '' : `${stepId}${attempt === null ? '' : `:${attempt}`} `}${name}=${String(value)} by ${by}`,
  )
const tagsOf = async (ledger: Ledger, runId: string) => (await ledger.getRun(runId))?.tags
const found = async (ledger: Ledger, filter: RunFilter): Promise<string[]> =>
  (await ledger.listRuns(filter)).runs.map((run) => run.runId)

async function assertProjected(ledger: Ledger): Promise<void> {
  assertEqual((await ledger.verify(undefined, { projections: true })).problems, [], 'rows equal their folds')
}

export const scoreAndTagTests: readonly StoreTest[] = [
  {
    rule: 'V11',
    title: 'a score or tags of wrong types are refused, and nothing is written',
    async run(world) {
      const ledger = await world.open()
      for (const [field, eventType, payload] of [
        ['payload.target', 'system.scored', { name: 'a', value: 1 }],
        ['payload.target', 'system.scored', { target: 'thread', name: 'a', value: 1 }],
        ['payload.stepId', 'system.scored', { target: 'step', name: 'a', value: 1 }],
        ['payload.name', 'system.scored', { target: 'run', value: 1 }],
        ['payload.value', 'system.scored', { target: 'run', name: 'a' }],
        ['payload.value', 'system.scored', { target: 'run', name: 'a', value: Number.NaN }],
        ['payload.value', 'system.scored', { target: 'run', name: 'a', value: { of: 1 } }],
        ['payload.set.a', 'system.tagged', { set: { a: 1 } }],
        ['payload.unset', 'system.tagged', { unset: 'a' }],
      ] as const)
        await assertRefused(
          () => ledger.append([{ eventType, correlationId: 'r', payload }]),
          'bad_payload',
          { field, eventType },
        )
      assertEqual(await ledger.getRun('r'), null, 'no run')
    },
  },
  {
    rule: 'V11',
    title: 'the latest score of each target, name and giver counts, and null takes it back',
    async run(world) {
      const ledger = await world.open()
      const step = (stepId: string, attempt: number | undefined, value: number | null) =>
        scored('r', { target: 'step', stepId, attempt, name: 'good', value, by: 'ann' })
      await ledger.append([
        started('r'),
        score('r', 'good', 0.1),
        score('r', 'good', true, 'bob'),
        score('r', 'tone', 'calm'),
        step('a#0', undefined, 1),
        step('a#0', 1, 2),
        step('a#0', 2, 3),
        step('b#0', undefined, 4),
        score('r', 'good', 0.9),
        step('a#0', 1, null),
        score('r', 'nobody gave this one', null),
      ])
      assertEqual(
        await scoresOf(ledger, 'r'),
        [
          'good=true by bob',
          'tone=calm by ann',
          'a#0 good=1 by ann',
          'a#0:2 good=3 by ann',
          'b#0 good=4 by ann',
          'good=0.9 by ann',
        ],
        'scores',
      )
      const last = (await ledger.getRun('r'))?.scores.at(-1)
      assertEqual([last?.seq, last?.why], [9, null], 'where it stands')
      await ledger.record(scored('r', { target: 'run', name: 'anonymous', value: 1, why: 'a guess' }))
      const anonymous = (await ledger.getRun('r'))?.scores.at(-1)
      assertEqual([anonymous?.by, anonymous?.why], ['system/custom', 'a guess'], 'by the source of the event')
      await assertProjected(ledger)
    },
  },
  {
    rule: 'V11',
    title: 'scores and tags after the end, and without the epoch of a lease, change nothing but themselves',
    async run(world) {
      const ledger = await world.open()
      await ledger.append([started('r', { agent: 'a' }), note('r'), completed('r')])
      await ledger.record(started('held'))
      await ledger.leases.acquire({ workspace: ledger.workspace, runId: 'held' })
      for (const runId of ['r', 'held']) {
        const before = await ledger.getRun(runId)
        await ledger.record(score(runId, 'good', 1))
        await ledger.record(tagged(runId, { set: { env: 'test' } }))
        const after = await ledger.getRun(runId)
        assertEqual(
          { ...after, events: 0, updatedAt: '', scores: [], tags: {} },
          { ...before, events: 0, updatedAt: '', scores: [], tags: {} },
          `the rest of ${runId}`,
        )
        assertEqual(after?.tags, { env: 'test' }, 'tags')
      }
      assertEqual(await scoresOf(ledger, 'r'), ['good=1 by ann'], 'scores')
    },
  },
  {
    rule: 'V11',
    title: 'of tags the last write wins, unset before set, under any name',
    async run(world) {
      const ledger = await world.open()
      const random = createRandom(7)
      const keys = ['env', 'team', '7', '__proto__', 'constructor', 'ключ']
      const expected = new Map<string, string>()
      for (const n of upTo(60)) {
        const unset = keys.filter(() => random.below(4) === 0)
        const set = keys.filter(() => random.below(4) === 0).map((key) => [key, `${key} ${n}`] as const)
        await ledger.record(tagged('r', { set: Object.fromEntries(set), unset }))
        for (const key of unset) expected.delete(key)
        for (const [key, value] of set) expected.set(key, value)
        const tags = new Map(Object.entries((await tagsOf(ledger, 'r')) ?? {}))
        for (const key of keys) assertEqual(tags.get(key), expected.get(key), `${key} after ${n}`)
      }
      await assertProjected(ledger)
    },
  },
  {
    rule: 'V11',
    title: 'a fork has the tags that its first event brings from the cut, and no scores of its source',
    async run(world) {
      const ledger = await world.open()
      await ledger.append([
        started('r'),
        tagged('r', { set: { env: 'test', team: 'red' } }),
        score('r', 'good', 1),
        tagged('r', { set: { env: 'prod' } }),
      ])
      const fork = forked('f', 'r', 2)
      await ledger.record({ ...fork, payload: { ...fork.payload, tags: { env: 'test', team: 'red' } } })
      await ledger.append([tagged('r', { unset: ['team'] }), tagged('f', { set: { team: 'blue' } })])
      assertEqual(await tagsOf(ledger, 'f'), { env: 'test', team: 'blue' }, 'of the fork')
      assertEqual(await tagsOf(ledger, 'r'), { env: 'prod' }, 'of the source')
      assertEqual(await scoresOf(ledger, 'f'), [], 'scores of the fork')
      await assertProjected(ledger)
    },
  },
  {
    rule: 'V11',
    title: 'P5 what is erased no longer counts: neither a tag nor a score, nor as a filter',
    async run(world) {
      const ledger = await world.open()
      await ledger.append([started('r'), tagged('r', { set: { env: 'test' } }), score('r', 'good', 0.2)])
      const [tag, good] = await ledger.append([
        tagged('r', { set: { env: 'prod', name: 'ann' } }),
        score('r', 'good', 0.9),
      ])
      await ledger.append([completed('r')])
      await ledger.erase({ eventId: tag?.eventId ?? '' })
      await ledger.erase({ eventId: good?.eventId ?? '' })
      assertEqual(await tagsOf(ledger, 'r'), { env: 'test' }, 'the tags before it')
      assertEqual(await scoresOf(ledger, 'r'), ['good=0.2 by ann'], 'the score before it')
      assertEqual(await found(ledger, { tags: { name: 'ann' } }), [], 'by tag')
      assertEqual(await found(ledger, { scores: [{ name: 'good', op: '>', value: 0.5 }] }), [], 'by score')
      assertEqual(await found(ledger, { tags: { env: 'test' } }), ['r'], 'by what is left')
      await assertProjected(ledger)
      await ledger.erase({ runId: 'r' })
      assertEqual([await tagsOf(ledger, 'r'), await scoresOf(ledger, 'r')], [{}, []], 'nothing is left')
    },
  },
  {
    rule: 'V11',
    title: 'runs are found by all given tags and scores, in pages',
    async run(world) {
      const ledger = await world.open()
      const run = (n: number): string => `run-${n}`
      for (const n of upTo(20))
        await ledger.append([
          started(run(n), { agent: n > 15 ? 'late' : 'early' }),
          tagged(run(n), { set: { env: n % 2 === 0 ? 'prod' : 'test', ...(n % 5 === 0 && { five: '' }) } }),
          score(run(n), 'good', n / 20),
          scored(run(n), { target: 'step', stepId: 's#0', name: 'tone', value: n === 3 ? 'calm' : n }),
        ])
      await ledger.append([note('bare'), score(run(20), 'good', null)])
      const cases: readonly (readonly [RunFilter, readonly number[]])[] = [
        [{ tags: { env: 'prod' } }, [20, 18, 16, 14, 12, 10, 8, 6, 4, 2]],
        [{ tags: { env: 'prod', five: '' } }, [20, 10]],
        [{ tags: { env: 'prod', five: 'x' } }, []],
        [{ tags: { toString: '' } }, []],
        [{ tags: { env: 'prod' }, agent: 'late' }, [20, 18, 16]],
        [{ scores: [{ name: 'good', op: '>=', value: 0.9 }] }, [19, 18]],
        [{ scores: [{ name: 'good', op: '<', value: 0.15 }] }, [2, 1]],
        [{ scores: [{ name: 'tone', op: '=', value: 'calm' }] }, [3]],
        [{ scores: [{ name: 'tone', op: '<=', value: 3 }] }, [2, 1]],
        [{ scores: [{ name: 'nothing', op: '!=', value: 0 }] }, []],
        [
          {
            scores: [
              { name: 'good', op: '>', value: 0.1 },
              { name: 'good', op: '<=', value: 0.2 },
            ],
            tags: { env: 'prod' },
          },
          [4],
        ],
      ]
      for (const [filter, expected] of cases)
        for (const limit of [1, 3, 50]) {
          const ids: string[] = []
          for (let cursor: string | undefined; ; ) {
            const page = await ledger.listRuns({ ...filter, limit, cursor })
            ids.push(...page.runs.map(({ runId }) => runId))
            if (page.nextCursor === null) break
            cursor = page.nextCursor
          }
          assertEqual(ids, expected.map(run), `${JSON.stringify(filter)} in pages of ${limit}`)
        }
    },
  },
  {
    rule: 'V11',
    title: 'a filter that could fit nothing is refused by its name',
    async run(world) {
      const ledger = await world.open()
      for (const [option, filter] of [
        ['tags', { tags: ['env'] }],
        ['tags', { tags: { env: 1 } }],
        ['scores', { scores: { name: 'good', op: '=', value: 1 } }],
        ['scores', { scores: [{ name: 'good', op: '~', value: 1 }] }],
        ['scores', { scores: [{ name: 'good', op: '>', value: 'calm' }] }],
        ['scores', { scores: [{ name: 'good', op: '=', value: null }] }],
        ['scores', { scores: [{ op: '=', value: 1 }] }],
      ] as const)
        await assertRefused(() => ledger.listRuns(filter as unknown as RunFilter), 'bad_option', { option })
    },
  },
]

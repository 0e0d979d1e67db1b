import { findRun } from '../store/find-runs.ts'
import type { RecordInput } from '../catalogue/catalogue.ts'
import type { EventInput } from '../event/envelope.ts'
import type { Store } from '../store/store.ts'
import { assert, assertEqual, assertRefused } from './assert.ts'
import { createRandom } from './random.ts'
import { beginExpected, checkStates, type Expected, runSuperstep } from './state-model.ts'
import { forked, note, started, type StoreTest, upTo } from './world.ts'

/** Counts the events that a store hands out. */
function counting(store: Store): { store: Store; rows: () => number } {
  let rows = 0
  const counted: Store = {
    ...store,
    async readRun(key, range) {
      const page = await store.readRun(key, range)
      rows += page.length
      return page
    },
  }
  return { store: counted, rows: () => rows }
}

export const stateTests: readonly StoreTest[] = [
  ...[1, 2, 3, 4].map(
    (seed): StoreTest => ({
      rule: 'R7',
      title: `the state at each superstep is what all events fold to, with whole states, turns and forks (seed ${seed})`,
      async run(world) {
        const ledger = await world.open()
        const random = createRandom(seed)
        const runs: Expected[] = []
        for (let i = 0; i < 60; i++) {
          if (runs.length === 0 || random.below(8) === 0)
            runs.push(await beginExpected(ledger, random, runs, `run-${seed}-${i}`))
          await runSuperstep(ledger, random, random.pick(runs))
        }
        const other = await world.open()
        for (const run of runs) await checkStates(other, run)
        const { ok, problems } = await other.verify(undefined, { projections: true })
        assert(ok, JSON.stringify(problems.slice(0, 3)))
      },
    }),
  ),
  {
    rule: 'R7',
    title: 'a state costs what it is large, not what the run is long: early, late, in a fork, through turns',
    async run(world) {
      const { store, rows } = counting(await world.openStore())
      const ledger = await world.open({}, store)
      const run: Expected = { runId: 'r', states: [], base: null, seq: 2, baseSeq: 2 }
      await ledger.append([
        started('r'),
        {
          eventType: 'execution.checkpoint',
          correlationId: 'r',
          payload: { superstep: 0, next: ['n'], baseSeq: 2 },
        },
      ])
      const events: EventInput[] = []
      for (const n of upTo(3000)) {
        run.seq += 1
        if (n % 20 === 0) run.baseSeq = run.seq
        const checkpoint = {
          superstep: n,
          next: ['n'],
          operations: [{ op: 'set', channel: 'n', from: `n@s${n}` }],
        }
        const whole = n % 20 === 0 && { state: { n }, versions: { n: n } }
        events.push({
          eventType: 'execution.step_completed',
          correlationId: 'r',
          payload: {
            stepId: `n@s${n}`,
            output: { n },
            checkpoint: { ...checkpoint, baseSeq: run.baseSeq, ...whole },
          },
        })
      }
      for (let at = 0; at < events.length; at += 500) await ledger.append(events.slice(at, at + 500))
      await ledger.append([forked('f0', 'r', 1500)])
      for (const n of upTo(40)) await ledger.record(forked(`f${n}`, `f${n - 1}`, 1500 + n))
      for (const [runId, superstepAt, expected] of [
        ['r', 3, 3],
        ['r', 1711, 1711],
        ['r', 2999, 2999],
        ['r', undefined, 3000],
        ['f40', 77, 77],
        ['f40', undefined, 1498],
      ] as const) {
        const before = rows()
        const found = await ledger.getState(runId, { superstep: superstepAt })
        assertEqual(
          [found?.state['n'], found?.versions['n']],
          [expected, expected],
          `${runId} at ${superstepAt}`,
        )
        assert(rows() - before < 150, `${rows() - before} events were read for ${runId} at ${superstepAt}`)
      }
    },
  },
  {
    rule: 'R5',
    title: 'a state goes on through a line of turns, and says which run it misses',
    async run(world) {
      const ledger = await world.open()
      const turn = (n: number): EventInput[] => [
        started(`t${n}`, { threadId: 'chat' }),
        {
          eventType: 'execution.checkpoint',
          correlationId: `t${n}`,
          payload: {
            superstep: 0,
            next: [],
            baseSeq: 2,
            operations: [{ op: 'append', channel: 'list', items: [n] }],
            ...(n > 1 && { from: { runId: `t${n - 1}`, seq: 2 } }),
          },
        },
      ]
      for (const n of upTo(200)) await ledger.append(turn(n))
      const state = await ledger.getState('t200')
      assertEqual(state?.state, { list: upTo(200) }, 'the list')
      assertEqual(state?.versions, { list: 200 }, 'its version')
      const elsewhere = await (await world.elsewhere()).open()
      await elsewhere.append(turn(9))
      await assertRefused(() => elsewhere.getState('t9'), 'not_found', {
        runId: 't9',
        sourceRunId: 't8',
        seq: 2,
      })
    },
  },
  {
    rule: 'R4',
    title: 'states are frozen, whatever their size, and events without a checkpoint have none',
    async run(world) {
      const ledger = await world.open()
      const large = upTo(400).map((n) => ({ n, text: 'x'.repeat(50) }))
      await ledger.append([
        note('r'),
        {
          eventType: 'execution.step_completed',
          correlationId: 'r',
          payload: { stepId: 'a@s1', output: { small: [{ k: 1 }], large } },
        },
        {
          eventType: 'execution.step_completed',
          correlationId: 'r',
          payload: {
            stepId: 'b@s1',
            checkpoint: {
              superstep: 1,
              operations: [
                { op: 'append', channel: 'small', from: 'a@s1' },
                { op: 'set', channel: 'large', from: 'a@s1' },
                { op: 'set', channel: 'none', from: 'nobody@s1' },
              ],
            },
          },
        },
      ])
      const found = await ledger.getStateAt('r', 3)
      assertEqual(found?.state, { small: [{ k: 1 }], large }, 'the state')
      assert(found, 'there is one')
      const { small, large: list } = found.state as { small: object[]; large: object[] }
      for (const part of [found, found.state, found.versions, found.next, small, small[0], list, list[7]])
        assert(Object.isFrozen(part), `frozen: ${JSON.stringify(part)?.slice(0, 40)}`)
      assertEqual(
        [await ledger.getStateAt('r', 1), await ledger.getStateAt('r', 2), await ledger.getStateAt('r', 9)],
        [null, null, null],
        'events that carry no checkpoint',
      )
      assertEqual(await ledger.getStateAt('nobody', 1), null, 'an unknown run')
      for await (const each of ledger.listCheckpoints('nobody')) assert(false, JSON.stringify(each))
    },
  },
  {
    rule: 'R4',
    title: 'a run whose row was made by an older fold has its states, before and after a rebuild',
    async run(world) {
      const ledger = await world.open()
      const checkpoint = (
        superstep: number,
        payload: Record<string, unknown>,
      ): RecordInput<'execution.checkpoint'> => ({
        eventType: 'execution.checkpoint',
        correlationId: 'r',
        payload: { superstep, ...payload },
      })
      await ledger.append([
        started('r'),
        checkpoint(0, { next: ['a'], operations: [{ op: 'set', channel: 'n', value: 1 }], baseSeq: 2 }),
        checkpoint(1, { next: ['b'], operations: [{ op: 'set', channel: 'n', value: 2 }], baseSeq: 2 }),
        note('r'),
      ])
      const read = async (): Promise<unknown> => {
        const [first, latest] = [await ledger.getState('r', { superstep: 0 }), await ledger.getState('r')]
        return [first?.state, first?.next, latest?.state, latest?.next, latest?.versions]
      }
      const expected = [{ n: 1 }, ['a'], { n: 2 }, ['b'], { n: 2 }]
      assertEqual(await read(), expected, 'as it is')
      const store = await world.openStore()
      const run = await findRun(store, { workspace: 'default', runId: 'r' })
      assert(run, 'the run is there')
      const { checkpoint: _, dueAt: __, stopRequested: ___, ...older } = run.summary
      const key = { workspace: 'default', runId: 'r' }
      const row = { ...key, summary: older as typeof run.summary, steps: [], gone: [] }
      assert('outcomes' in (await store.write({ calls: [], replace: [row] })), 'an older row')
      assertEqual((await ledger.getRun('r'))?.checkpoint, undefined, 'which tells nothing')
      assertEqual(await read(), expected, 'with the older row')
      assertEqual((await ledger.rebuild()).changed, 1, 'rebuilt')
      assertEqual((await ledger.getRun('r'))?.checkpoint, run.summary.checkpoint, 'the checkpoint of the row')
      assertEqual(await read(), expected, 'after the rebuild')
    },
  },
  {
    rule: 'R4',
    title: 'a digest is that of the value as it would be stored',
    async run(world) {
      const ledger = await world.open()
      assertEqual(
        ledger.digest({ b: 1, a: [new Date(0)] }),
        ledger.digest({ a: [new Date(0)], b: 1 }),
        'key order',
      )
      assert(ledger.digest({ at: new Date(0) }) !== ledger.digest({ at: new Date(1) }), 'rich values count')
      const key = (end: string): unknown => ({ password: `hunter2-and-${end}` })
      const open = await world.open({ redact: false })
      assert(ledger.digest(key('a')) !== open.digest(key('a')), 'secrets are taken out before')
      await assertRefused(async () => ledger.digest({ deep: [() => 1] }), 'bad_value', { path: '$.deep[0]' })
    },
  },
]

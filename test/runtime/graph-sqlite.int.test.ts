import { join } from 'node:path'
import type { Ledger } from '@clew/ledger'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  append,
  command,
  END,
  interrupt,
  last,
  Message,
  messages,
  send,
  START,
  StateGraph,
} from '../../packages/runtime/src/index.ts'
import { makeFolder, openLedger, removeFolder } from '../../packages/sqlite/test/harness.ts'
import { flawsOf } from './worlds.ts'

let folder = ''
const open = (): Ledger => openLedger(join(folder, 'clew.db'))
beforeEach(() => {
  folder = makeFolder()
})
afterEach(() => removeFolder(folder))

/** Everything at once: fan-out, a deferred join, a sub-graph, a gate, a question, a conversation. */
const makeGraph = (ledger: Ledger) => {
  const inner = new StateGraph({ talk: messages(), out: append<string>() })
    .addNode('in', async ({ out }) => ({ out: `in ${out.length}`, talk: Message.ai('inside') }))
    .addNode('ask', async () => ({ out: await interrupt<string>('sure?') }))
    .addEdge(START, 'in')
    .addEdge('in', 'ask')
    .compile({ name: 'inner' })
  return new StateGraph({ talk: messages(), out: append<string>(), turn: last(0) })
    .addNode('plan', () => command({ send: [2, 0, 1].map((n) => send('work', { n })) }), {
      targets: ['work'],
    })
    .addNode('work', async ({ n }: { n: number }, run) => ({
      out: await run.effect('do', n, (m) => `work ${m}`),
    }))
    .addNode('sum', ({ out }) => ({ out: `sum ${out.length}` }), { defer: true })
    .addNode('sub', inner)
    .addNode('end', ({ turn }) => ({ turn: turn + 1 }))
    .addGate('gate', ({ turn }) => turn < 5, { true: 'sub', false: END })
    .addEdge(START, 'plan')
    .addEdge('work', 'sum')
    .addEdge('sum', 'gate')
    .addEdge('sub', 'end')
    .compile({ name: 'all', checkpointer: ledger })
}

describe.each([false, true])('R3 graphs on SQLite (suspended at every await: %s)', (suspendAlways) => {
  it('R3 R5 R6 a conversation with fan-out, joins, sub-graphs and pauses, each turn and answer in a new process', async () => {
    const outs: string[][] = []
    for (const turn of [1, 2, 3]) {
      const first = open()
      const paused = await makeGraph(first).invoke(
        { talk: Message.human(`turn ${turn}`) },
        { threadId: 't', suspendAlways },
      )
      expect([paused.status, paused.pause?.question]).toEqual(['paused', { question: 'sure?' }])
      await first.close()
      const second = open()
      const done = await makeGraph(second).resume({ threadId: 't' }, { answer: `yes ${turn}`, suspendAlways })
      expect([done.status, done.state.turn, done.state.talk.length]).toEqual(['completed', turn, 2 * turn])
      outs.push(done.state.out.slice(6 * (turn - 1)))
      for (const { runId } of (await second.listRuns({ limit: 20 })).runs)
        expect([runId, await flawsOf(second, runId)]).toEqual([runId, []])
      await second.close()
    }
    expect(outs).toEqual(
      [0, 1, 2].map((turn) => [
        'work 2',
        'work 0',
        'work 1',
        `sum ${6 * turn + 3}`,
        `in ${6 * turn + 4}`,
        `yes ${turn + 1}`,
      ]),
    )
  })

  it('R8 R12 a map and a stream', async () => {
    const ledger = open()
    const graph = new StateGraph({ n: last(0), out: last('') })
      .addNode('a', async ({ n }) => {
        if (n === 3) throw new Error('three')
        return { out: `n ${n}` }
      })
      .addEdge(START, 'a')
      .compile({ name: 'short', checkpointer: ledger })
    const result = await graph.map({ n: [1, 2, 3, 4] }, { runId: 'map', suspendAlways })
    expect([result.status, result.column('out')]).toEqual(['partial', ['n 1', 'n 2', undefined, 'n 4']])
    expect((await ledger.getRun('map'))?.status).toBe('partial')
    const items: unknown[] = []
    for await (const item of graph.stream({ n: 9 }, { mode: ['updates', 'values'], suspendAlways }))
      items.push(item)
    expect(items).toEqual([
      ['values', { n: 9, out: '' }],
      ['updates', { a: { out: 'n 9' } }],
      ['values', { n: 9, out: 'n 9' }],
    ])
    expect((await ledger.verify(undefined, { projections: true })).ok).toBe(true)
    await ledger.close()
  })

  it('R9 two processes that resume at once: one goes on, the other is told', async () => {
    const [one, two] = [open(), open()]
    const { runId } = await makeGraph(one).invoke({}, { suspendAlways })
    const results = await Promise.allSettled([
      makeGraph(one).resume({ runId }, { answer: 'a' }),
      makeGraph(two).resume({ runId }, { answer: 'b' }),
    ])
    const done = results.filter(({ status }) => status === 'fulfilled')
    expect(done).toHaveLength(1)
    const refused = results.find(({ status }) => status === 'rejected')
    expect((refused as PromiseRejectedResult).reason).toMatchObject({
      code: expect.stringMatching(/busy|not_resumable|conflict/) as string,
    })
    expect(await flawsOf(one, runId)).toEqual([])
    await Promise.all([one.close(), two.close()])
  })
})

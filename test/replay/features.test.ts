import type { Ledger } from '@clew/ledger'
import {
  agent,
  append,
  channel,
  command,
  END,
  last,
  Message,
  messages,
  replay,
  type ReplayTarget,
  type Run,
  send,
  START,
  StateGraph,
} from '@clew/runtime'
import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { createMemoryWorld } from '../../packages/runtime/test/memory-ledger.ts'
import { flawsOfReplay } from './unchanged-lives.ts'

const open = (): Ledger => createMemoryWorld().open()

/** Each with the graph or agent and the ids of the runs that it made. */
const CASES: Readonly<
  Record<string, (ledger: Ledger) => Promise<{ target: ReplayTarget; runIds: string[] }>>
> = {
  async 'turns of a thread, with messages that get their ids here'(ledger) {
    const graph = new StateGraph({ talk: messages(), turns: last(0) })
      .addNode('answer', ({ talk, turns }) => ({ talk: Message.ai(`echo ${talk.length}`), turns: turns + 1 }))
      .addEdge(START, 'answer')
      .compile({ checkpointer: ledger })
    const runIds: string[] = []
    for (const text of ['one', 'two', 'three'])
      runIds.push((await graph.invoke({ talk: Message.human(text) }, { threadId: 'talk' })).runId)
    return { target: graph, runIds }
  },
  async 'edits of the state, before and between supersteps'(ledger) {
    const graph = new StateGraph({ log: append<string>(), n: last(0) })
      .addNode('a', ({ n }) => ({ log: `a ${n}`, n: n + 1 }))
      .addNode('b', ({ n }) => ({ log: `b ${n}` }))
      .addEdge(START, 'a')
      .addEdge('a', 'b')
      .compile({ checkpointer: ledger, interruptBefore: ['b'], interruptAfter: ['a'] })
    const { runId } = await graph.invoke({ n: 1 }, { threadId: 't' })
    await graph.updateState({ threadId: 't' }, { n: 40 })
    let result = await graph.resume({ runId })
    while (result.status === 'paused') result = await graph.resume({ runId })
    expect(result.status).toBe('completed')
    return { target: graph, runIds: [runId] }
  },
  async 'siblings that were done when the state was edited'(ledger) {
    const graph = new StateGraph({ log: append<string>() })
      .addNode('quick', async (_, run) => ({ log: await run.effect('q', 1, () => 'quick') }))
      .addNode('asks', async (_, run) => ({ log: await run.interrupt<string>('Well?') }))
      .addNode('end', ({ log }) => ({ log: `${log.length}` }))
      .addEdge(START, 'quick')
      .addEdge(START, 'asks')
      .addEdge(['quick', 'asks'], 'end')
      .compile({ checkpointer: ledger })
    const { runId } = await graph.invoke({}, { threadId: 't' })
    await graph.updateState({ runId }, { log: 'edited' })
    const asked = await graph.resume({ runId })
    expect((await graph.resume({ runId }, { answer: asked.status === 'paused' ? 'yes' : null })).status).toBe(
      'completed',
    )
    return { target: graph, runIds: [runId] }
  },
  async 'forks of a graph: at a step, with an edit, with another input, tried again'(ledger) {
    let fails = true
    const graph = new StateGraph({ log: append<string>(), n: last(0) })
      .addNode('a', ({ n }) => ({ log: `a ${n}` }))
      .addNode('b', async ({ log }, run) => ({ log: await run.effect('b', log.length, () => 'b') }))
      .addNode('c', async (_, run) => {
        if (await run.effect('c', 0, () => fails)) throw new Error('not yet')
        return { log: 'c' }
      })
      .addEdge(START, 'a')
      .addEdge('a', 'b')
      .addEdge('b', 'c')
      .compile({ checkpointer: ledger })
    const { runId } = await graph.invoke({ n: 1 })
    fails = false
    const forks = [
      await graph.fork({ runId, at: { step: 'b' } }),
      await graph.fork({ runId, at: { superstep: 1 }, update: { log: 'edited' } }),
      await graph.fork({ runId, at: { superstep: 1 }, state: { n: 7 } }),
      await graph.fork({ runId, input: { n: 5 } }),
      await graph.retry({ runId }),
    ]
    expect(forks.map(({ status }) => status)).toEqual(Array.from({ length: 5 }, () => 'completed'))
    const again = await graph.fork({ runId: forks[1]?.runId as string, at: { step: 'c' } })
    return { target: graph, runIds: [runId, ...forks.map((each) => each.runId), again.runId] }
  },
  async 'sends, joins, commands, gates, deferred nodes and own merge rules'(ledger) {
    const graph = new StateGraph({
      log: append<string>(),
      sum: channel({ initial: 0, merge: (before: number, write: number) => before + write }),
    })
      .addNode('split', () => command({ send: [1, 2, 3].map((n) => send('work', { n })) }), {
        targets: ['work'],
      })
      .addNode('work', async (task: unknown, run: Run) => {
        const { n } = task as { n: number }
        return { log: `work ${n}`, sum: await run.effect('double', n, () => n * 2) }
      })
      .addNode('both', ({ sum }) => ({ log: `both ${sum}` }), { defer: true })
      .addNode('go', ({ sum }) => command({ update: { log: 'go' }, goto: sum > 5 ? 'left' : 'right' }), {
        targets: ['left', 'right'],
      })
      .addNode('left', () => ({ log: 'left' }))
      .addNode('right', () => ({ log: 'right' }))
      .addGate('gate', ({ sum }) => (sum > 5 ? 'go' : END), ['go', END])
      .addEdge(START, 'split')
      .addEdge('work', 'both')
      .addEdge('both', 'gate')
      .compile({ checkpointer: ledger })
    const { runId, status } = await graph.invoke({})
    expect(status).toBe('completed')
    return { target: graph, runIds: [runId] }
  },
  async 'a graph that goes round too often, under the limit of one invocation'(ledger) {
    const graph = new StateGraph({ n: last(0) })
      .addNode('add', ({ n }) => ({ n: n + 1 }))
      .addEdge(START, 'add')
      .addConditionalEdges('add', () => 'add', ['add', END])
      .compile({ checkpointer: ledger, recursionLimit: 3 })
    const limited = await graph.invoke({}, { recursionLimit: 5 })
    const own = await graph.invoke({})
    expect([limited.error?.code, own.error?.code]).toEqual(['recursion_limit', 'recursion_limit'])
    return { target: graph, runIds: [limited.runId, own.runId] }
  },
  async 'cached steps and nodes'(ledger) {
    let calls = 0
    const graph = new StateGraph({ log: append<number>() })
      .addNode('once', () => ({ log: ++calls }), { cache: true })
      .addNode('twice', ({ log }) => ({ log: log.length }))
      .addEdge(START, 'once')
      .addEdge('once', 'twice')
      .compile({ checkpointer: ledger })
    await graph.invoke({})
    const { runId } = await graph.invoke({})
    expect(calls).toBe(1)
    return { target: graph, runIds: [runId] }
  },
  async 'a map over items, one of which fails'(ledger) {
    const half = agent('half', async (run, { n }: { n: number }) => {
      const by = await run.effect('by', n, () => 2)
      if (n === 3) throw new Error('odd')
      return n / by
    })
    const graph = new StateGraph({ n: last(0) })
      .addNode('add', ({ n }) => ({ n: n + 1 }))
      .addEdge(START, 'add')
      .compile({ checkpointer: ledger, name: 'adder' })
    const { status } = await half.map(ledger, [{ n: 2 }, { n: 3 }, { n: 4 }], { runId: 'halves' })
    expect(status).toBe('partial')
    await graph.map([{ n: 1 }, { n: 2 }], { runId: 'sums' })
    expect(await flawsOfReplay(graph, ledger, 'sums')).toEqual([])
    return { target: half, runIds: ['halves'] }
  },
  async 'what fails, times out, is denied, is refused, or cannot be stored'(ledger) {
    const caught = (work: Promise<unknown>) => work.catch((error: { code: string }) => error.code)
    const odd = agent('odd', async (run) => {
      const codes = [
        await caught(run.step('throws', 1, () => Promise.reject(new TypeError('no')))),
        await caught(run.step('slow', 1, () => new Promise(() => {}), { timeoutMs: 5 })),
        await caught(
          run.step(
            'slow body',
            1,
            (_, inner) => inner.effect('waits', 1, (_n, { signal }) => once(signal, 'abort')),
            {
              timeoutMs: 5,
              retry: { tries: 2, delayMs: 0 },
            },
          ),
        ),
        await caught(run.step('gives a function', 1, (): unknown => () => 1)),
        await caught(
          run.step(
            'given a function',
            () => 1,
            () => 1,
          ),
        ),
        await caught(run.effect('approved', 1, () => 1, { approval: true, safety: 'write' })),
      ]
      await run.sleep(1)
      return codes
    })
    const { runId } = await odd.start(ledger, null)
    const { output } = await odd.resume(ledger, runId, { answer: 'deny' })
    expect(output).toEqual(['thrown', 'timeout', 'timeout', 'bad_value', 'bad_value', 'denied'])
    return { target: odd, runIds: [runId] }
  },
  async 'runs that wait, were stopped, or are stopped by their budget'(ledger) {
    const waits = agent('waits', async (run) => {
      await run.effect('before', 1, () => 1)
      const answers = await Promise.all([run.interrupt('One?'), run.interrupt('Two?')])
      await run.effect('after', answers, () => 1)
      return answers
    })
    const paused = await waits.start(ledger, null)
    const half = await waits.start(ledger, null)
    await waits.resume(ledger, half.runId, { answer: 1, pauseId: half.pauses[0]?.pauseId })
    const poor = await waits.start(ledger, null, { budget: { steps: 1 } })
    expect([paused.status, poor.status]).toEqual(['paused', 'stopped'])
    return { target: waits, runIds: [paused.runId, half.runId, poor.runId] }
  },
  async 'sub-graphs that ask, and children of children'(ledger) {
    const inner = new StateGraph({ log: append<string>() })
      .addNode('in', async (_, run) => ({ log: await run.interrupt<string>('Which?') }))
      .addEdge(START, 'in')
      .compile({ name: 'inner' })
    const leaf = agent('leaf', (run, n: number) => run.effect('leaf', n, () => n + 1))
    const branch = agent('branch', async (run, n: number) => (await run.child(leaf, n)) * 2)
    const graph = new StateGraph({ log: append<string>() })
      .addNode('sub', inner)
      .addNode('kids', async (_, run) => ({ log: `${await run.child(branch, 3)}` }))
      .addEdge(START, 'sub')
      .addEdge('sub', 'kids')
      .compile({ checkpointer: ledger })
    const { runId } = await graph.invoke({})
    expect((await graph.resume({ runId }, { answer: 'this' })).status).toBe('completed')
    return { target: graph, runIds: [runId] }
  },
}

describe.each(Object.entries(CASES))('D1 unchanged code: %s', (_, make) => {
  it('D1 is identical', async () => {
    const ledger = open()
    const { target, runIds } = await make(ledger)
    for (const runId of runIds)
      expect([runId, await flawsOfReplay(target, ledger, runId)]).toEqual([runId, []])
  })
})

describe('D6', () => {
  const graph = new StateGraph({ log: append<string>(), n: last(0) })
    .addNode('add', async ({ n }, run) => ({ log: await run.effect('look', n, () => `${n}`), n: n + 1 }))
    .addEdge(START, 'add')
    .addConditionalEdges('add', ({ n }) => (n < 5 ? 'add' : END), ['add', END])

  it('D6 a graph is rehydrated at a superstep and goes on from there', async () => {
    const ledger = open()
    const compiled = graph.compile({ checkpointer: ledger })
    const { runId } = await compiled.invoke({})
    const report = await replay(compiled, { ledger, runId, from: { superstep: 3 } })
    expect([report.verdict, report.path.map(({ stepId }) => stepId), report.outcome]).toEqual([
      'identical',
      ['add@s4', 'add@s4/look#0', 'add@s5', 'add@s5/look#0'],
      { status: 'completed', output: { log: ['0', '1', '2', '3', '4'], n: 5 } },
    ])
  })

  it('D6 an unknown superstep, and one of a function, are refused', async () => {
    const ledger = open()
    const compiled = graph.compile({ checkpointer: ledger })
    const { runId } = await compiled.invoke({})
    const from = { superstep: 77 }
    await expect(replay(compiled, { ledger, runId, from })).rejects.toMatchObject({ code: 'not_found' })
    const one = agent('one', (run) => run.effect('a', 1, () => 1))
    const other = await one.start(ledger, null)
    await expect(replay(one, { ledger, runId: other.runId, from })).rejects.toMatchObject({
      code: 'bad_option',
    })
  })
})

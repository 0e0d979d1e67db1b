import { describe, expect, it } from 'vitest'
import {
  append,
  channel,
  command,
  END,
  interrupt,
  last,
  MemorySaver,
  Message,
  messages,
  send,
  START,
  StateGraph,
} from '../../packages/runtime/src/index.ts'
import { ALL_WORLDS, flawsOf, KEPT_WORLDS } from './worlds.ts'

describe.each(ALL_WORLDS)('R3 sub-graphs, %s', (_, open) => {
  const { ledger, how } = open()
  const sound = async (runId: string): Promise<void> => {
    if (ledger) expect(await flawsOf(ledger, runId)).toEqual([])
  }

  const inner = new StateGraph({ log: append<string>(), talk: messages(), own: last(0), set: last(0) })
    .addNode('in1', ({ log }) => ({
      log: `in1 of ${log.length}`,
      own: 1,
      talk: Message.ai('hm', { id: 'm2' }),
    }))
    .addNode('in2', ({ own }) => ({ log: ['in2', `own ${own}`], set: 7 }))
    .addEdge(START, 'in1')
    .addEdge('in1', 'in2')
    .compile({ name: 'inner' })

  it('R3 shared channels go in and come back: lists are not doubled, messages merge by id, own ones stay inside', async () => {
    const graph = new StateGraph({ log: append<string>(), talk: messages(), set: last(0), outer: last(0) })
      .addNode('first', () => ({ log: 'first', talk: Message.human('hi', { id: 'm1' }) }))
      .addNode('sub', inner)
      .addNode('last', ({ set }) => ({ log: 'last', outer: set }))
      .addEdge(START, 'first')
      .addEdge('first', 'sub')
      .addEdge('sub', 'last')
      .compile({ name: 'outer', checkpointer: ledger })
    const { state, runId } = await graph.invoke({}, how)
    expect(state.log).toEqual(['first', 'in1 of 1', 'in2', 'own 1', 'last'])
    expect(state.talk.map(({ id, content }) => `${id} ${content as string}`)).toEqual(['m1 hi', 'm2 hm'])
    expect([state.set, state.outer, 'own' in state]).toEqual([7, 7, false])
    await sound(runId)
    if (ledger) {
      const child = (await ledger.getSteps(runId)).find(({ nodeName }) => nodeName === 'sub')
      expect(child?.childRunId).toBe(`${runId}/sub@s2`)
      expect(await ledger.getRun(child?.childRunId ?? '')).toMatchObject({
        status: 'completed',
        agent: 'inner',
        parentRunId: runId,
      })
      await sound(child?.childRunId ?? '')
    }
  })

  it('R3 a sub-graph in a loop is another child run each time', async () => {
    const graph = new StateGraph({ log: append<string>(), n: last(0) })
      .addNode('count', ({ n }) => ({ n: n + 1 }))
      .addNode('sub', inner)
      .addEdge(START, 'count')
      .addEdge('count', 'sub')
      .addConditionalEdges('sub', ({ n }) => (n < 3 ? 'count' : END), ['count', END])
      .compile({ name: 'loop', checkpointer: ledger })
    const { state, runId } = await graph.invoke({}, how)
    expect(state.log.filter((text) => text === 'in2')).toHaveLength(3)
    expect(state.log).toHaveLength(9)
    if (ledger) {
      const children = (await ledger.getSteps(runId)).flatMap(({ childRunId }) => childRunId ?? [])
      expect(children).toEqual([2, 4, 6].map((superstep) => `${runId}/sub@s${superstep}`))
    }
    await sound(runId)
  })

  it('R3 a message that a sub-graph takes out is gone outside too; one that it changes is changed in its place', async () => {
    const editor = new StateGraph({ talk: messages() })
      .addNode('edit', () => ({ talk: [Message.remove('a'), Message.ai('better', { id: 'b' })] }))
      .addEdge(START, 'edit')
      .compile({ name: 'editor' })
    const graph = new StateGraph({ talk: messages() })
      .addNode('sub', editor)
      .addEdge(START, 'sub')
      .compile({ name: 'edited', checkpointer: ledger })
    const talk = ['a', 'b', 'c'].map((id) => Message.human(id, { id }))
    const { state } = await graph.invoke({ talk }, how)
    expect(state.talk.map(({ id, content }) => `${id} ${content as string}`)).toEqual(['b better', 'c c'])
  })

  it('R3 a sub-graph can be sent to: each send is a child run with its own input', async () => {
    const worker = new StateGraph({ item: last(0), log: append<string>() })
      .addNode('do', ({ item }) => ({ log: `item ${item}` }))
      .addEdge(START, 'do')
      .compile({ name: 'worker' })
    const graph = new StateGraph({ log: append<string>() })
      .addNode('worker', worker)
      .addNode('plan', () => command({ send: [2, 1].map((item) => send('worker', { item })) }), {
        targets: ['worker'],
      })
      .addEdge(START, 'plan')
      .compile({ name: 'sent', checkpointer: ledger })
    const { state, runId, status } = await graph.invoke({ log: 'first' }, how)
    expect([status, state.log]).toEqual(['completed', ['first', 'item 2', 'item 1']])
    await sound(runId)
  })

  it('R3 retry and timeout hold for sub-graphs: another child each time, one that takes too long is stopped', async () => {
    let tries = 0
    const flaky = new StateGraph({ n: last(0) })
      .addNode('in', async (_state, run) => {
        if (++tries > 1) return { n: tries }
        await new Promise<void>((resolve) => run.signal.addEventListener('abort', () => resolve()))
        throw run.signal.reason
      })
      .addEdge(START, 'in')
      .compile({ name: 'flaky' })
    const graph = new StateGraph({ n: last(0) })
      .addNode('sub', flaky, { timeoutMs: 500, retry: { tries: 2, delayMs: 1 } })
      .addEdge(START, 'sub')
      .compile({ name: 'tried', checkpointer: ledger })
    const { state, log, runId } = await graph.invoke({}, { ...how, runId: 'tried' })
    expect(state.n).toBeGreaterThan(1)
    expect(log.steps.map(({ status, error }) => error?.code ?? status)).toEqual(['timeout', 'completed'])
    if (ledger) {
      expect((await ledger.getRun('tried/sub@s1'))?.status).toBe('stopped')
      expect((await ledger.getRun('tried/sub@s1~2'))?.status).toBe('completed')
    }
    await sound(runId)
  })

  it('R3 two sub-graphs of one superstep that write a last() channel are a conflict', async () => {
    const graph = new StateGraph({ set: last(0) })
      .addNode('s1', inner)
      .addNode('s2', inner)
      .addEdge(START, 's1')
      .addEdge(START, 's2')
      .compile({ name: 'clash', checkpointer: ledger })
    const { status, error } = await graph.invoke({}, how)
    expect([status, error?.code]).toEqual(['failed', 'conflict'])
  })

  it('R3 what fails in a sub-graph fails its node, with the inner error', async () => {
    const bad = new StateGraph({ n: last(0) })
      .addNode('bad', () => {
        throw Object.assign(new Error('inner trouble'), { code: 'E_IN' })
      })
      .addEdge(START, 'bad')
      .compile({ name: 'bad' })
    const graph = new StateGraph({ n: last(0) })
      .addNode('sub', bad)
      .addEdge(START, 'sub')
      .compile({ name: 'of bad', checkpointer: ledger })
    const { status, error, runId } = await graph.invoke({}, how)
    expect([status, error?.code, error?.message]).toEqual(['failed', 'E_IN', 'inner trouble'])
    await sound(runId)
  })
})

describe.each(KEPT_WORLDS)('R6 pauses in sub-graphs, %s', (_, open) => {
  const { ledger, how } = open()

  it('R6 a question inside a sub-graph, and inside one of that, is answered from the outermost run', async () => {
    const effects: string[] = []
    const deepest = new StateGraph({ log: append<string>() })
      .addNode('ask', async (_state, run) => {
        await run.effect('once', 1, () => effects.push('once'))
        return { log: await interrupt<string>('deep?') }
      })
      .addEdge(START, 'ask')
      .compile({ name: 'deepest' })
    const middle = new StateGraph({ log: append<string>() })
      .addNode('before', () => ({ log: 'middle' }))
      .addNode('deep', deepest)
      .addEdge(START, 'before')
      .addEdge('before', 'deep')
      .compile({ name: 'middle' })
    const graph = new StateGraph({ log: append<string>() })
      .addNode('first', () => ({ log: 'first' }))
      .addNode('sub', middle)
      .addNode('last', () => ({ log: 'last' }))
      .addEdge(START, 'first')
      .addEdge('first', 'sub')
      .addEdge('sub', 'last')
      .compile({ name: 'outermost', checkpointer: ledger })
    const paused = await graph.invoke({}, { ...how, runId: 'deep' })
    expect([paused.status, paused.pause?.question]).toEqual(['paused', { question: 'deep?' }])
    expect(await ledger.getRun('deep/sub@s2/deep@s2')).toMatchObject({ status: 'paused' })
    const done = await graph.resume({ runId: 'deep' }, { ...how, answer: 'yes' })
    expect([done.status, done.state.log]).toEqual(['completed', ['first', 'middle', 'yes', 'last']])
    expect(effects).toEqual(['once'])
    for (const runId of ['deep', 'deep/sub@s2', 'deep/sub@s2/deep@s2']) {
      expect(await ledger.getRun(runId)).toMatchObject({ status: 'completed', pauses: [] })
      expect(await flawsOf(ledger, runId)).toEqual([])
    }
  })

  it('R6 interruptBefore of a sub-graph pauses the outer run, and goes on without an answer', async () => {
    const sub = new StateGraph({ log: append<string>() })
      .addNode('in', () => ({ log: 'in' }))
      .addEdge(START, 'in')
      .compile({ name: 'gated', interruptBefore: ['in'] })
    const graph = new StateGraph({ log: append<string>() })
      .addNode('sub', sub)
      .addEdge(START, 'sub')
      .compile({ name: 'of gated', checkpointer: ledger })
    const { runId, status } = await graph.invoke({}, { ...how, runId: 'gated' })
    expect(status).toBe('paused')
    const done = await graph.resume({ runId }, how)
    expect([done.status, done.state.log]).toEqual(['completed', ['in']])
  })
})

describe('R3 a channel with its own merge rule shared with a sub-graph', () => {
  it('is counted once: what the sub-graph gives back takes the place of what it was given', async () => {
    const sum = () => channel<number>({ initial: 0, merge: (before, add) => before + add })
    const inner = new StateGraph({ total: sum() })
      .addNode('add', () => ({ total: 1 }))
      .addEdge(START, 'add')
      .compile({ name: 'inner' })
    const outer = new StateGraph({ total: sum() }).addNode('inner', inner).addEdge(START, 'inner')
    for (const checkpointer of [undefined, new MemorySaver()]) {
      const { state } = await outer.compile({ checkpointer, name: 'outer' }).invoke({ total: 5 })
      expect(state.total).toBe(6)
    }
  })
})

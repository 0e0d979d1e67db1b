import { describe, expect, it } from 'vitest'
import {
  append,
  command,
  END,
  last,
  type Run,
  send,
  START,
  StateGraph,
} from '../../packages/runtime/src/index.ts'
import { ALL_WORLDS, createLatch, flawsOf } from './worlds.ts'

const later = async (ms = 1): Promise<void> => {
  await new Promise((resolve) => void setTimeout(resolve, ms))
}

describe.each(ALL_WORLDS)('R3 the ways of a graph, %s', (_, open) => {
  const { ledger, how } = open()
  const options = (name: string) => ({ name, checkpointer: ledger })
  const sound = async (runId: string): Promise<void> => {
    if (ledger) expect(await flawsOf(ledger, runId)).toEqual([])
  }

  it('R3 a cycle goes round until its conditional edge says END', async () => {
    const graph = new StateGraph({ n: last(0), seen: append<number>() })
      .addNode('inc', ({ n }) => ({ n: n + 1, seen: n }))
      .addEdge(START, 'inc')
      .addConditionalEdges('inc', ({ n }) => (n < 5 ? 'inc' : END), ['inc', END])
      .compile(options('cycle'))
    const { state, status, runId } = await graph.invoke({ n: 0 }, how)
    expect({ status, state }).toEqual({ status: 'completed', state: { n: 5, seen: [0, 1, 2, 3, 4] } })
    await sound(runId)
  })

  it('R3 conditional edges from START choose where to begin', async () => {
    const graph = new StateGraph({ kind: last('a'), way: append<string>() })
      .addNode('a', () => ({ way: 'a' }))
      .addNode('b', () => ({ way: 'b' }))
      .addConditionalEdges(START, ({ kind }) => (kind === 'a' ? 'a' : ['a', 'b']), ['a', 'b'])
      .compile(options('begin'))
    expect((await graph.invoke({ kind: 'a' }, how)).state.way).toEqual(['a'])
    const both = await graph.invoke({ kind: 'both' }, how)
    expect(both.state.way).toEqual(['a', 'b'])
    await sound(both.runId)
  })

  it('R3 a gate writes nothing; booleans and labels become names, END is text', async () => {
    const graph = new StateGraph({ n: last(0) })
      .addNode('work', ({ n }) => ({ n: n + 1 }))
      .addGate('again', ({ n }) => n < 3, { true: 'work', false: END })
      .addEdge(START, 'work')
      .addEdge('work', 'again')
      .compile(options('gate'))
    const { state, log, runId } = await graph.invoke({}, how)
    expect(state).toEqual({ n: 3 })
    const decisions = log.steps.filter(({ nodeName }) => nodeName === 'again').map(({ decision }) => decision)
    expect(decisions).toEqual(['work', 'work', END])
    await sound(runId)
  })

  it('R3 targets of a gate that is itself ready wait one superstep for its word', async () => {
    const graph = new StateGraph({ way: append<string>() })
      .addNode('work', () => ({ way: 'work' }))
      .addNode('other', () => ({ way: 'other' }))
      .addGate('gate', () => 'work', ['work', 'other'])
      .addEdge(START, 'gate')
      .addEdge(START, 'work')
      .compile(options('waits'))
    const { log, state, runId } = await graph.invoke({}, how)
    expect(log.steps.map(({ nodeName, superstep }) => `${superstep} ${nodeName}`)).toEqual([
      '1 gate',
      '2 work',
    ])
    expect(state.way).toEqual(['work'])
    await sound(runId)
  })

  it('R3 a command updates and goes where it says, in place of the edges', async () => {
    const graph = new StateGraph({ way: append<string>() })
      .addNode('a', () => command({ update: { way: 'a' }, goto: 'c' }), { targets: ['c'] })
      .addNode('b', () => ({ way: 'b' }))
      .addNode('c', () => ({ way: 'c' }))
      .addEdge(START, 'a')
      .addEdge('a', 'b')
      .compile(options('goto'))
    const { state, runId } = await graph.invoke({}, how)
    expect(state.way).toEqual(['a', 'c'])
    await sound(runId)
  })

  it('R3 a command that ends the run ends it with its superstep; siblings keep what they wrote', async () => {
    const graph = new StateGraph({ way: append<string>() })
      .addNode('a', () => command({ update: { way: 'a' }, end: true }))
      .addNode('b', () => ({ way: 'b' }))
      .addNode('never', () => ({ way: 'never' }))
      .addEdge(START, 'a')
      .addEdge(START, 'b')
      .addEdge('b', 'never')
      .compile(options('ends'))
    const { state, status, runId } = await graph.invoke({}, how)
    expect([status, state.way]).toEqual(['completed', ['a', 'b']])
    await sound(runId)
  })

  it('R3 send fans out, does not end the run, and its results are in the order of the sends', async () => {
    const graph = new StateGraph({ pages: append<string>(), sum: last('') })
      .addNode('plan', () => command({ send: [3, 1, 2].map((ms) => send('read', { ms })) }), {
        targets: ['read'],
      })
      .addNode('read', async ({ ms }: { ms: number }) => {
        await later(ms * 3)
        return { pages: `page ${ms}` }
      })
      .addNode('sum', ({ pages }) => ({ sum: pages.join() }), { defer: true })
      .addEdge(START, 'plan')
      .addEdge('read', 'sum')
      .compile(options('fan-out'))
    const { state, log, runId } = await graph.invoke({}, how)
    expect(state).toEqual({ pages: ['page 3', 'page 1', 'page 2'], sum: 'page 3,page 1,page 2' })
    expect(log.nodeStats['sum']?.count).toBe(1)
    await sound(runId)
  })

  it('R3 a join waits for all its sources, however late one is', async () => {
    const graph = new StateGraph({ way: append<string>() })
      .addNode('short', () => ({ way: 'short' }))
      .addNode('long1', () => ({ way: 'long1' }))
      .addNode('long2', () => ({ way: 'long2' }))
      .addNode('join', () => ({ way: 'join' }))
      .addEdge(START, 'short')
      .addEdge(START, 'long1')
      .addEdge('long1', 'long2')
      .addEdge(['short', 'long2'], 'join')
      .compile(options('join'))
    const { state, runId } = await graph.invoke({}, how)
    expect(state.way).toEqual(['short', 'long1', 'long2', 'join'])
    await sound(runId)
  })

  it('R3 a deferred node runs once, after every branch that leads to it', async () => {
    const graph = new StateGraph({ way: append<string>() })
      .addNode('a', () => ({ way: 'a' }))
      .addNode('b1', () => ({ way: 'b1' }))
      .addNode('b2', () => ({ way: 'b2' }))
      .addNode('end', () => ({ way: 'end' }), { defer: true })
      .addEdge(START, 'a')
      .addEdge(START, 'b1')
      .addEdge('b1', 'b2')
      .addEdge('a', 'end')
      .addEdge('b2', 'end')
      .compile(options('deferred'))
    const { state, runId } = await graph.invoke({}, how)
    expect(state.way).toEqual(['a', 'b1', 'b2', 'end'])
    await sound(runId)
  })

  it('R3 parallel nodes run at once and merge in order of declaration, not of completion', async () => {
    const fastEnded = createLatch()
    const slow = async (): Promise<{ way: string }> => {
      await fastEnded.opened
      await later()
      return { way: 'slow' }
    }
    const graph = new StateGraph({ way: append<string>() })
      .addNode('slow', slow)
      .addNode('fast', () => {
        fastEnded.open()
        return { way: 'fast' }
      })
      .addEdge(START, 'fast')
      .addEdge(START, 'slow')
      .compile(options('parallel'))
    const { state, log, runId } = await graph.invoke({}, how)
    expect(state.way).toEqual(['slow', 'fast'])
    expect(log.steps.map(({ nodeName }) => nodeName)).toEqual(['fast', 'slow'])
    await sound(runId)
  })

  it('R3 a percent sign in a name is escaped in the ids of steps, and found again there', async () => {
    const graph = new StateGraph({ way: append<string>() })
      .addNode('50% now', () => ({ way: 'half' }))
      .addNode('slow', async () => {
        await later(3)
        return { way: 'slow' }
      })
      .addEdge(START, '50% now')
      .addEdge(START, 'slow')
      .compile(options('percent'))
    const { status, state, runId } = await graph.invoke({}, how)
    expect([status, state.way]).toEqual(['completed', ['half', 'slow']])
    await sound(runId)
  })

  it('R3 two nodes that write one last() channel in one superstep fail the run and name both', async () => {
    const graph = new StateGraph({ n: last(0) })
      .addNode('a', () => ({ n: 1 }))
      .addNode('b', () => ({ n: 2 }))
      .addEdge(START, 'a')
      .addEdge(START, 'b')
      .compile(options('both'))
    const { status, error, state } = await graph.invoke({}, how)
    expect([status, error?.code]).toEqual(['failed', 'conflict'])
    expect(error?.message).toMatch(/"a" and "b"/)
    expect(state.n).toBe(0)
  })

  it('R3 nodes work with a run: steps, effects and their own state inside', async () => {
    const body = async (_: unknown, run: Run): Promise<{ way: string }> => {
      const one = await run.effect('fetch', 'x', (input) => `${input}1`)
      return { way: await run.step('join', one, (text) => `${text}2`) }
    }
    const graph = new StateGraph({ way: append<string>() })
      .addNode('a', body)
      .addNode('b', body)
      .addEdge(START, 'a')
      .addEdge(START, 'b')
      .compile(options('inside'))
    const { state, runId } = await graph.invoke({}, how)
    expect(state.way).toEqual(['x12', 'x12'])
    await sound(runId)
  })
})

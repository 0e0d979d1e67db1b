import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createMemoryWorld } from '../../test/memory-ledger.ts'
import { append, END, interrupt, last, replay, START, StateGraph } from '../index.ts'
import type { Retention } from './checkpoint.ts'

/** Counts up to a limit, one superstep each. */
const counter = (limit: number) =>
  new StateGraph({ n: last(0), seen: append<string>() })
    .addNode('add', ({ n }) => ({ n: n + 1, seen: `at ${n + 1}` }))
    .addEdge(START, 'add')
    .addConditionalEdges('add', ({ n }) => (n < limit ? 'add' : END), ['add', END])

function world(retention: Retention, limit = 6) {
  const ledger = createMemoryWorld().open()
  const graph = counter(limit).compile({ checkpointer: ledger, retention, name: 'counter' })
  const supersteps = async (runId: string): Promise<number[]> =>
    (await graph.getStateHistory({ runId }).toArray()).map(({ superstep }) => superstep)
  return { ledger, graph, supersteps }
}

describe('R10 retention on a ledger', () => {
  it('R10 windowed keeps the last states of a run; others are refused as pruned, and all events stay', async () => {
    const { ledger, graph, supersteps } = world({ keep: 'windowed', window: 3 })
    const { runId, state } = await graph.invoke({})
    expect(state.n).toBe(6)
    expect(await supersteps(runId)).toEqual([4, 5, 6])
    expect((await graph.getState({ runId }, { superstep: 4 }))?.state.n).toBe(4)
    await expect(graph.getState({ runId }, { superstep: 3 })).rejects.toMatchObject({ code: 'pruned' })
    await expect(graph.fork({ runId, at: { superstep: 2 } })).rejects.toMatchObject({ code: 'pruned' })
    expect((await graph.fork({ runId, at: { superstep: 5 }, newRunId: 'fork' })).state.n).toBe(6)
    const refs = await Array.fromAsync(ledger.listCheckpoints(runId))
    expect(refs.map(({ superstep }) => superstep)).toEqual([4, 5, 6])
    const { ok, pruned } = await ledger.verify()
    expect(ok).toBe(true)
    expect(pruned).toMatchObject([{ runId, rule: 'windowed 3', states: 4 }])
    expect((await ledger.getRun(runId))?.events).toBe((await Array.fromAsync(ledger.read(runId))).length)
  })

  it('R10 latest: payloads of what went go with the next whole state, and replay says so', async () => {
    const { ledger, graph, supersteps } = world({ keep: 'latest' }, 300)
    const { runId } = await graph.invoke({}, { recursionLimit: 400 })
    expect(await supersteps(runId)).toEqual([300])
    const blank = (await Array.fromAsync(ledger.read(runId))).filter(({ ledger: at }) => at.erased)
    expect(blank.length).toBeGreaterThan(200)
    expect(blank.every(({ ledger: at }) => at.pruned)).toBe(true)
    expect((await graph.getState({ runId }))?.state.seen).toHaveLength(300)
    await expect(graph.getState({ runId }, { superstep: 10 })).rejects.toMatchObject({ code: 'pruned' })
    await expect(graph.getState({ runId }, { superstep: 299 })).rejects.toMatchObject({ code: 'pruned' })
    await expect(replay(graph, { ledger, runId })).rejects.toMatchObject({ code: 'pruned' })
    expect(await ledger.verify()).toMatchObject({ ok: true })
    expect((await ledger.rebuild()).runs).toBeGreaterThan(0)
    expect(await ledger.verify(undefined, { projections: true })).toMatchObject({ ok: true })
  })

  it('R10 where no payload has gone yet, replay is identical', async () => {
    const { ledger, graph } = world({ keep: 'latest' })
    const { runId } = await graph.invoke({})
    expect(await replay(graph, { ledger, runId })).toMatchObject({ verdict: 'identical' })
  })

  it('R10 the window is one of the thread: turns let the states of those before go', async () => {
    const { graph, supersteps } = world({ keep: 'windowed', window: 2 }, 1)
    const turns: string[] = []
    for (let i = 0; i < 5; i++) turns.push((await graph.invoke({ n: 0 }, { threadId: 't' })).runId)
    const all = await graph.getStateHistory({ threadId: 't' }).toArray()
    expect(all.map(({ runId }) => runId)).toEqual([turns[4], turns[4]])
    expect(all.at(-1)?.state.seen).toHaveLength(5)
    expect(await supersteps(turns[0] as string)).toEqual([])
    await expect(graph.getState({ runId: turns[0] as string })).rejects.toMatchObject({ code: 'pruned' })
  })

  it('R10 a thread of many turns goes on from its newest state after what it stood on has gone', async () => {
    const { ledger, graph } = world({ keep: 'latest' }, 1)
    for (let i = 0; i < 140; i++) await graph.invoke({ n: 0 }, { threadId: 't' })
    const first = (await ledger.listRuns({ threadId: 't', limit: 500 })).runs.at(-1)?.runId as string
    const events = await Array.fromAsync(ledger.read(first))
    expect(events.filter(({ ledger: at }) => at.erased).length).toBeGreaterThan(0)
    expect((await graph.getState({ threadId: 't' }))?.state.seen).toHaveLength(140)
    expect(await ledger.verify()).toMatchObject({ ok: true })
  })

  it('R10 a pause and a fork keep what they stand on, a hold keeps all', async () => {
    const ledger = createMemoryWorld().open()
    const graph = new StateGraph({ seen: append<string>() })
      .addNode('a', () => ({ seen: 'a' }))
      .addNode('b', () => ({ seen: 'b' }))
      .addNode('ask', async () => ({ seen: await interrupt<string>('?') }))
      .addEdge(START, 'a')
      .addEdge('a', 'b')
      .addEdge('b', 'ask')
      .compile({ checkpointer: ledger, retention: { keep: 'latest' } })
    const paused = await graph.invoke({}, { threadId: 't' })
    expect((await graph.getStateHistory({ threadId: 't' }).toArray()).map((each) => each.superstep)).toEqual([
      2,
    ])
    const fork = await graph.fork({ runId: paused.runId, update: { seen: 'forked' } })
    expect(fork.status).toBe('paused')
    await graph.resume({ runId: fork.runId }, { answer: 'there' })
    const { state } = await graph.resume({ runId: paused.runId }, { answer: 'here' })
    expect(state.seen).toEqual(['a', 'b', 'here'])

    const held = await graph.invoke({}, { threadId: 'held' })
    await ledger.hold({ threadId: 'held' })
    await graph.resume({ threadId: 'held' }, { answer: 'yes' })
    await graph.invoke({}, { threadId: 'held' })
    const kept = (await graph.getStateHistory({ runId: held.runId }).toArray()).map((each) => each.superstep)
    expect(kept).toEqual([2, 3])
  })

  it('R10 a sub-graph follows the retention of its graph, each of its runs with a window of its own', async () => {
    const ledger = createMemoryWorld().open()
    const inner = (retention?: Retention) => counter(5).compile({ name: 'inner', retention })
    const outer = (graph: ReturnType<typeof inner>) =>
      new StateGraph({ n: last(0), seen: append<string>() })
        .addNode('sub', graph)
        .addEdge(START, 'sub')
        .compile({ checkpointer: ledger, retention: { keep: 'latest' } })
    const statesBelow = async (runId: string): Promise<number[]> => {
      const [step] = await ledger.getSteps(runId)
      const refs = await Array.fromAsync(ledger.listCheckpoints(step?.childRunId as string))
      return refs.map(({ superstep }) => superstep)
    }
    const plain = await outer(inner()).invoke({}, { threadId: 't' })
    expect(plain.state.n).toBe(5)
    expect(await statesBelow(plain.runId)).toEqual([5])
    const own = await outer(inner({ keep: 'windowed', window: 3 })).invoke({ n: 0 }, { threadId: 'own' })
    expect(await statesBelow(own.runId)).toEqual([3, 4, 5])
    expect((await ledger.getState(own.runId))?.state['n']).toBe(5)
    expect(await ledger.verify()).toMatchObject({ ok: true })

    await ledger.hold({ threadId: 'held' })
    const held = await outer(inner()).invoke({ n: 0 }, { threadId: 'held' })
    expect(await statesBelow(held.runId)).toEqual([0, 1, 2, 3, 4, 5])
  })

  it('R10 ttl lets older states go with the next checkpoint of the thread', async () => {
    const made = createMemoryWorld()
    const ledger = made.open()
    const graph = counter(1).compile({ checkpointer: ledger, retention: { ttlMs: 60_000 } })
    vi.useFakeTimers({ toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    const first = await graph.invoke({ n: 0 }, { threadId: 't' })
    expect(await graph.getStateHistory({ threadId: 't' }).toArray()).toHaveLength(2)
    vi.setSystemTime(Date.now() + 61_000)
    await graph.invoke({ n: 0 }, { threadId: 't' })
    const left = await graph.getStateHistory({ threadId: 't' }).toArray()
    expect(left.some(({ runId }) => runId === first.runId)).toBe(false)
  })
})

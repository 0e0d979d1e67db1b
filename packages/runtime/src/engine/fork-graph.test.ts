import type { Ledger } from '@clew/ledger'
import { describe, expect, it } from 'vitest'
import { createMemoryWorld } from '../../test/memory-ledger.ts'
import { codeOf } from '../../test/travel-world.ts'
import {
  append,
  END,
  last,
  lineage,
  recordFork,
  replay,
  searchStates,
  START,
  StateGraph,
  threadStats,
} from '../index.ts'

const exportOf = async (ledger: Ledger, runId: string): Promise<string> =>
  (await Array.fromAsync(ledger.export({ runId }))).join('')

const counter = (ledger: Ledger, to: number) =>
  new StateGraph({ n: last(0) })
    .addNode('inc', (state) => ({ n: state.n + 1 }))
    .addEdge(START, 'inc')
    .addConditionalEdges('inc', (state) => (state.n < to ? 'inc' : END), ['inc', END])
    .compile({ checkpointer: ledger, recursionLimit: 5000, name: 'counter' })

describe('R7 forks of graphs on a ledger', () => {
  it('R7 O(1): two events, three with an edit, under 4 KB, whatever the length of the run; the source is untouched', async () => {
    const ledger = createMemoryWorld().open()
    for (const steps of [10, 2000]) {
      const graph = counter(ledger, steps)
      const { runId } = await graph.invoke({ n: 0 }, { threadId: `t${steps}` })
      const source = await exportOf(ledger, runId)
      const seqAt = async (superstep: number): Promise<number> => {
        const view = await graph.getState({ runId }, { superstep })
        return (await ledger.getEvent(view?.checkpointId ?? ''))?.ledger.seq ?? 0
      }
      for (const [at, edit, events] of [
        [{ superstep: steps - 3 }, {}, 2],
        [{ step: `inc@s${steps - 2}` }, { update: { n: steps - 1 } }, 3],
        [{ seq: await seqAt(steps - 3) }, {}, 2],
      ] as const) {
        const before = await ledger.stats()
        const forked = await graph.fork({ runId, at, ...edit, run: false })
        const after = await ledger.stats()
        expect(after.events - before.events).toBe(events)
        expect(after.bytes - before.bytes).toBeLessThan(4096)
        expect(forked.forkedFrom).toMatchObject({ runId, superstep: steps - 3 })
        expect((await ledger.getRun(forked.runId))?.forkedFrom).toMatchObject({ runId })
      }
      expect(await exportOf(ledger, runId)).toBe(source)
    }
    expect(await ledger.verify(undefined, { projections: true })).toMatchObject({ ok: true })
  })

  it('R7 every superstep can be forked, named and tried otherwise, however many steps ended in the one before it', async () => {
    for (const [nodes, effects] of [
      [1, 4],
      [1, 40],
      [3, 1],
      [6, 3],
    ] as const) {
      const ledger = createMemoryWorld().open()
      const wide = new StateGraph({ seen: append<string>(), n: last(0) })
        .addNode('inc', (state) => ({ n: state.n + 1 }))
        .addEdge(START, 'inc')
        .addNode('last', () => ({}))
      for (let node = 0; node < nodes; node++)
        wide
          .addNode(`w${node}`, async (_state, run) => {
            for (let i = 0; i < effects; i++) await run.effect('look', { i }, () => i)
            return { seen: `w${node}` }
          })
          .addEdge('inc', `w${node}`)
          .addEdge(`w${node}`, 'last')
      const graph = wide.compile({ checkpointer: ledger })
      const { runId } = await graph.invoke({})
      for (const superstep of [0, 1, 2, 3]) {
        const forked = await graph.fork({ runId, at: { superstep } })
        expect(forked).toMatchObject({ status: 'completed', forkedFrom: { superstep } })
        expect((await recordFork(ledger, runId, { at: { superstep } })).checkpoint?.superstep).toBe(superstep)
      }
      for (const [step, superstep] of [
        ['inc', 0],
        ['w0', 1],
        ['last', 2],
        ['last@s3', 2],
      ] as const) {
        const forked = await graph.fork({ runId, at: { step } })
        expect(forked).toMatchObject({ status: 'completed', forkedFrom: { superstep } })
        const otherwise = await replay(graph, { ledger, runId, mode: 'what-if', at: { step } })
        expect(otherwise.verdict).toBe('identical')
      }
    }
  })

  it('R7 an edited fork asks the conditional edges of the nodes that wrote last again, on the edited state', async () => {
    const ledger = createMemoryWorld().open()
    const { command, send } = await import('../index.ts')
    const graph = new StateGraph({
      n: last(0),
      way: last<'left' | 'right' | 'jump' | 'many'>('left'),
      seen: append<string>(),
    })
      .addNode('choose', () => ({ n: 1 }))
      .addNode('beside', () => ({}))
      .addNode('left', () => ({ seen: 'left' }))
      .addNode('right', () => ({ seen: 'right' }))
      .addNode('item', (item: { id: number }) => ({ seen: `item ${item.id}` }))
      .addNode('both', () => ({ seen: 'both' }))
      .addNode('jump', () => command({ goto: 'left' }))
      .addEdge(START, 'choose')
      .addEdge(START, 'beside')
      .addConditionalEdges(
        'choose',
        ({ way, n }) =>
          way === 'many' ? [1, 2].map((id) => send('item', { id: id * n })) : way === 'jump' ? 'jump' : way,
        ['left', 'right', 'item', 'jump'],
      )
      .addEdge(['beside', 'left'], 'both')
      .compile({ checkpointer: ledger, name: 'ways' })
    const { runId, state } = await graph.invoke({})
    expect(state.seen).toEqual(['left', 'both'])
    const seenWith = async (options: object): Promise<unknown> =>
      (await graph.fork({ runId, at: { superstep: 1 }, ...options })).state.seen
    expect(await seenWith({ update: { way: 'right' } })).toEqual(['right'])
    expect(await seenWith({ state: { way: 'many', n: 10 } })).toEqual(['item 10', 'item 20'])
    expect(await seenWith({ update: { seen: 'mine' } })).toEqual(['mine', 'left', 'both'])
    expect(await seenWith({ at: { step: 'left' }, update: { way: 'right' } })).toEqual(['left', 'both'])
    expect(await seenWith({ update: { way: 'right' }, asNode: 'left' })).toEqual(['both'])
    // At the input nothing has decided, and what a command chose stands.
    expect(await seenWith({ at: { superstep: 0 }, update: { way: 'right' } })).toEqual(['right'])
    const jumped = await graph.invoke({ way: 'jump' })
    const after = await graph.fork({ runId: jumped.runId, at: { superstep: 2 }, update: { way: 'right' } })
    expect(after.state.seen).toEqual(['left', 'both'])
    const otherwise = await replay(graph, {
      ledger,
      runId,
      mode: 'what-if',
      at: { superstep: 1 },
      update: { way: 'right' },
    })
    expect(otherwise.outcome.output).toMatchObject({ seen: ['right'] })
  })

  it('R4 R7 the history of a fork, and of a fork of it, begins with what it shares', async () => {
    const ledger = createMemoryWorld().open()
    const graph = counter(ledger, 6)
    const { runId } = await graph.invoke({ n: 0 })
    const first = await graph.fork({ runId, at: { superstep: 4 }, update: { n: 5 } })
    const second = await graph.fork({ runId: first.runId, at: { superstep: 2 }, update: { n: 5 } })
    const history = (of: string) => graph.getStateHistory({ runId: of }).toArray()
    const whole = await history(runId)
    expect((await history(first.runId)).map(({ superstep, state }) => [superstep, state.n])).toEqual([
      [0, 0],
      [1, 1],
      [2, 2],
      [3, 3],
      [4, 4],
      [5, 5],
      [6, 6],
    ])
    const line = await history(second.runId)
    expect(line.map(({ state, runId: owner }) => [state.n, owner])).toEqual([
      [0, runId],
      [1, runId],
      [2, runId],
      [5, second.runId],
      [6, second.runId],
    ])
    expect(line.slice(0, 3)).toEqual(whole.slice(0, 3))
    for (const [n, each] of line.entries()) expect(each.parentId).toBe(line[n - 1]?.checkpointId ?? null)
  })

  it('R4 a superstep that a run has not reached is refused', async () => {
    const ledger = createMemoryWorld().open()
    const graph = counter(ledger, 3)
    const { runId } = await graph.invoke({ n: 0 }, { threadId: 't' })
    expect((await ledger.getState(runId, { superstep: 3 }))?.state).toEqual({ n: 3 })
    for (const read of [
      () => ledger.getState(runId, { superstep: 4 }),
      () => graph.getState({ threadId: 't' }, { superstep: 99 }),
    ])
      await expect(read()).rejects.toMatchObject({ code: 'not_found', fields: { runId, last: 3 } })
    expect(await ledger.getState('nobody', { superstep: 4 })).toBeNull()
  })

  it('R7 another input from the same beginning, in place of the first', async () => {
    const ledger = createMemoryWorld().open()
    const graph = new StateGraph({ seen: append<string>() })
      .addNode('a', () => ({ seen: 'a' }))
      .addEdge(START, 'a')
      .compile({ checkpointer: ledger })
    await graph.invoke({ seen: 'one' }, { threadId: 't' })
    const { runId } = await graph.invoke({ seen: 'two' }, { threadId: 't' })
    const forked = await graph.fork({ runId, input: { seen: 'other' } })
    expect(forked.state.seen).toEqual(['one', 'a', 'other', 'a'])
    expect((await graph.getState({ runId: forked.runId }, { superstep: 0 }))?.state.seen).toEqual([
      'one',
      'a',
      'other',
    ])
    const [, , , last2, first] = await graph.getStateHistory({ threadId: 't' }).toArray()
    expect(first?.parentId).not.toBe(last2?.checkpointId)
    expect(await codeOf(graph.fork({ runId, input: { seen: 'x' }, at: { superstep: 1 } }))).toBe('bad_option')
    expect(await codeOf(graph.fork({ runId, input: { seen: 'x' }, update: { seen: 'y' } }))).toBe(
      'bad_option',
    )
  })

  it('R7 goes on with tasks that were sent, each with its own input', async () => {
    const ledger = createMemoryWorld().open()
    const { send } = await import('../index.ts')
    const graph = new StateGraph({ items: append<number>(), seen: append<string>() })
      .addNode('work', (item: { n: number }) => ({ seen: `${item.n}` }))
      .addNode('spread', () => ({}))
      .addEdge(START, 'spread')
      .addConditionalEdges('spread', (state) => state.items.map((n) => send('work', { n })), ['work'])
      .compile({ checkpointer: ledger })
    const { runId } = await graph.invoke({ items: [1, 2, 3] }, { threadId: 't' })
    const forked = await graph.fork({ runId, at: { step: 'work' }, update: { seen: 'before' } })
    expect(forked.state.seen).toEqual(['before', '1', '2', '3'])
  })

  it('R7 if the graph changed, a node that is still the same keeps what it did and new ways count', async () => {
    const ledger = createMemoryWorld().open()
    const ran: string[] = []
    const base = () =>
      new StateGraph({ seen: append<string>() })
        .addNode('a', () => (ran.push('a'), { seen: 'a' }))
        .addNode('b', () => (ran.push('b'), { seen: 'b' }))
        .addEdge(START, 'a')
        .addEdge('a', 'b')
    const before = base().compile({ checkpointer: ledger })
    const { runId } = await before.invoke({}, { threadId: 't' })
    const after = base()
      .addNode('c', () => (ran.push('c'), { seen: 'c' }))
      .addEdge('a', 'c')
      .compile({ checkpointer: ledger })
    expect(await codeOf(after.updateState({ threadId: 't' }, { seen: 'x' }, { superstep: 1 }))).toBe(
      'nothing',
    )
    ran.length = 0
    const forked = await after.fork({ runId, at: { step: 'b' } })
    expect([forked.status, forked.state.seen, ran.join('')]).toEqual(['completed', ['a', 'b', 'c'], 'bc'])
    expect(forked.warnings).toHaveLength(1)
    expect(forked.warnings[0]).toMatch(/changed/)
  })

  it('R7 if the graph changed, a node that is not the same counts as never run, with a warning', async () => {
    const ledger = createMemoryWorld().open()
    const ran: string[] = []
    const first = new StateGraph({ seen: append<string>() })
      .addNode('a', () => (ran.push('a'), { seen: 'a' }))
      .addNode('b', () => (ran.push('b'), { seen: 'b' }))
      .addNode('c', () => (ran.push('c'), { seen: 'c' }))
      .addEdge(START, 'a')
      .addEdge('a', 'b')
      .addEdge('b', 'c')
      .compile({ checkpointer: ledger })
    const { runId } = await first.invoke({}, { threadId: 't' })
    const second = new StateGraph({ seen: append<string>() })
      .addNode('a', () => (ran.push('a'), { seen: 'a' }))
      .addNode('c', () => (ran.push('c'), { seen: 'c' }))
      .addGate('b', () => 'c', ['c'])
      .addEdge(START, 'a')
      .addEdge('a', 'b')
      .compile({ checkpointer: ledger })
    expect(await codeOf(second.resume({ runId }))).toBe('not_resumable')
    ran.length = 0
    const forked = await second.fork({ runId, at: { step: 'c' } })
    expect([forked.status, forked.state.seen, ran.join('')]).toEqual(['completed', ['a', 'c'], 'c'])
    expect(forked.warnings.join()).toMatch(/Node b is not what it was in superstep 2/)
    expect(forked.forkedFrom.superstep).toBe(1)
  })

  it('R7 resume of a fork asks for the graph that the fork began with, not the source', async () => {
    const ledger = createMemoryWorld().open()
    const one = new StateGraph({ n: last(0) }).addNode('a', () => ({ n: 1 })).addEdge(START, 'a')
    const two = new StateGraph({ n: last(0) })
      .addNode('a', () => ({ n: 1 }))
      .addNode('b', () => ({ n: 2 }))
      .addEdge(START, 'a')
      .addEdge('a', 'b')
    const first = one.compile({ checkpointer: ledger })
    const second = two.compile({ checkpointer: ledger, interruptBefore: ['b'] })
    const { runId } = await first.invoke({}, { threadId: 't' })
    const forked = await second.fork({ runId, at: { superstep: 0 } })
    expect(forked.status).toBe('paused')
    expect(await codeOf(first.resume({ runId: forked.runId }))).toBe('not_resumable')
    expect((await second.resume({ runId: forked.runId })).state.n).toBe(2)
  })

  it('R7 a run that is at work on the thread stands in the way of a fork', async () => {
    const ledger = createMemoryWorld().open()
    let inside = ''
    const graph = new StateGraph({ n: last(0) })
      .addNode('a', async (_state, run) => {
        if (run.runId === 'second') inside = await codeOf(graph.fork({ runId: 'first' }))
        return { n: 1 }
      })
      .addEdge(START, 'a')
      .compile({ checkpointer: ledger })
    await graph.invoke({}, { threadId: 't', runId: 'first' })
    await graph.invoke({}, { threadId: 't', runId: 'second' })
    expect(inside).toBe('busy')
  })

  it('R7 retries count, and the record says of which run', async () => {
    const ledger = createMemoryWorld().open()
    let left = 2
    const graph = new StateGraph({ n: last(0) })
      .addNode('a', () => {
        if (left-- > 0) throw new Error('not yet')
        return { n: 1 }
      })
      .addEdge(START, 'a')
      .compile({ checkpointer: ledger })
    const first = await graph.invoke({}, { runId: 'r0' })
    const second = await graph.retry({ runId: 'r0', newRunId: 'r1' })
    const third = await graph.retry({ runId: 'r1', newRunId: 'r2' })
    expect([first.status, second.status, third.status]).toEqual(['failed', 'failed', 'completed'])
    const forks = await Array.fromAsync(ledger.read('r2', { types: ['system.workflow_forked'] }))
    expect(forks.at(-1)?.payload).toMatchObject({ retryOf: 'r1', retryIndex: 2 })
    const { runs, threadId } = await lineage(ledger, 'r2')
    expect([threadId, runs.map(({ runId, kind }) => [runId, kind])]).toEqual([
      null,
      [
        ['r0', 'start'],
        ['r1', 'retry'],
        ['r2', 'retry'],
      ],
    ])
  })

  it('R7 a new attempt at what failed leaves out what an edit of the state brings along', async () => {
    const ledger = createMemoryWorld().open()
    const graph = new StateGraph({ ok: last(false) })
      .addNode('a', (state) => {
        if (!state.ok) throw new Error('not ok')
        return {}
      })
      .addEdge(START, 'a')
      .compile({ checkpointer: ledger })
    const { runId } = await graph.invoke({})
    expect((await graph.retry({ runId, update: { ok: true } })).status).toBe('completed')
  })
})

describe('R4 queries over graphs on a ledger', () => {
  it('R4 lineage has the child runs of steps, and an unknown run has none', async () => {
    const ledger = createMemoryWorld().open()
    const inner = new StateGraph({ n: last(0) })
      .addNode('x', (state) => ({ n: state.n + 1 }))
      .addEdge(START, 'x')
      .compile({ name: 'inner' })
    const graph = new StateGraph({ n: last(0) })
      .addNode('in', inner)
      .addEdge(START, 'in')
      .compile({ checkpointer: ledger })
    const { runId } = await graph.invoke({}, { threadId: 't', runId: 'outer' })
    const { runs } = await lineage(ledger, runId)
    expect(runs).toMatchObject([
      { runId: 'outer', kind: 'start' },
      { runId: 'outer/in@s1', kind: 'child', from: { runId: 'outer', stepId: 'in@s1', superstep: 1 } },
    ])
    expect((await lineage(ledger, 'outer/in@s1')).runs).toEqual(runs)
    expect(await lineage(ledger, 'nobody')).toEqual({ threadId: null, runs: [] })
  })

  it('R4 search finds node names, errors and values, and the checkpoint that first has them', async () => {
    const ledger = createMemoryWorld().open()
    const graph = new StateGraph({ bird: last(''), fed: last('') })
      .addNode('observe', () => ({ bird: 'kingfisher' }))
      .addNode('feed', (state) => {
        if (state.fed === 'quicksand') throw new Error('the feeder is jammed')
        return {}
      })
      .addEdge(START, 'observe')
      .addEdge('observe', 'feed')
      .compile({ checkpointer: ledger })
    const { runId } = await graph.invoke({ fed: 'quicksand' }, { threadId: 't' })
    const at = async (superstep: number) => (await graph.getState({ runId }, { superstep }))?.checkpointId
    expect(await searchStates(ledger, 'kingfisher')).toMatchObject([
      { nodeName: 'observe', superstep: 1, checkpointId: await at(1) },
    ])
    expect((await searchStates(ledger, 'quicksand')).some(({ superstep }) => superstep === 0)).toBe(true)
    expect(await searchStates(ledger, 'jammed')).toEqual(
      expect.arrayContaining([expect.objectContaining({ nodeName: 'feed', checkpointId: null })]),
    )
    expect((await searchStates(ledger, 'observe')).map(({ nodeName }) => nodeName)).toContain('observe')
    expect(await searchStates(ledger, 'pelican')).toEqual([])
  })

  it('R4 stats count the checkpoints of turns and forks without reading them', async () => {
    const ledger = createMemoryWorld().open()
    const graph = counter(ledger, 5)
    const { runId } = await graph.invoke({ n: 0 }, { threadId: 't' })
    await graph.invoke({ n: 3 }, { threadId: 't' })
    await graph.fork({ runId, at: { superstep: 2 }, update: { n: 4 } })
    await graph.fork({ runId, input: { n: 4 } })
    await graph.invoke({ n: 4 }, { threadId: 'u' })
    const all = await graph.getStateHistory({ threadId: 't' }).toArray()
    expect(await threadStats(ledger, 't')).toMatchObject({ runs: 4, checkpoints: all.length })
    expect(await threadStats(ledger)).toMatchObject({ runs: 5, checkpoints: all.length + 2 })
    expect(await threadStats(ledger, 'nobody')).toMatchObject({ runs: 0, checkpoints: 0, firstAt: null })
  })
})

/** Proves D1 and D2 for the state of a graph: a merge rule that gives something else is a divergence wherever it is applied. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Ledger } from '@clew/ledger'
import {
  agent,
  append,
  channel,
  type CompiledGraph,
  END,
  last,
  replay,
  type ReplayReport,
  type ReplayTarget,
  START,
  StateGraph,
} from '@clew/runtime'
import { expectReplay } from 'clew/testing'
import { describe, expect, it } from 'vitest'
import { createMemoryWorld } from '../../packages/runtime/test/memory-ledger.ts'
import { flawsOfReplay } from './unchanged-lives.ts'

type Merge = (before: number, write: number) => number
const plus: Merge = (before, write) => before + write
const CHANGES: readonly (readonly [string, Merge])[] = [
  ['a - b in place of a + b', (before, write) => before - write],
  ['Math.random()', (before, write) => before + write + Math.random()],
  ['nothing that is written', (before) => before],
  ['undefined: back to the initial value', () => undefined as never],
]

const graceMs = 30
const judge = (target: ReplayTarget, ledger: Ledger, runId: string): Promise<ReplayReport> =>
  replay(target, { ledger, runId, graceMs })

/** Each makes a graph with this merge rule; `run` records a run of it. */
interface Shape {
  readonly make: (ledger: Ledger, merge: Merge) => CompiledGraph
  readonly run: (graph: CompiledGraph, ledger: Ledger) => Promise<string>
}

const invoked = async (graph: CompiledGraph): Promise<string> => (await graph.invoke({})).runId

const SHAPES: Readonly<Record<string, Shape>> = {
  'the only superstep': {
    make: (ledger, merge) =>
      new StateGraph({ sum: channel({ initial: 1, merge }) })
        .addNode('add', () => ({ sum: 2 }))
        .addEdge(START, 'add')
        .compile({ checkpointer: ledger, name: 'only' }),
    run: invoked,
  },
  'the last superstep, of parallel nodes': {
    make: (ledger, merge) =>
      new StateGraph({ sum: channel({ initial: 1, merge }), log: append<string>() })
        .addNode('first', () => ({ log: 'first' }))
        .addNode('left', async (_, run) => ({ sum: await run.effect('look', 2, (n) => n) }))
        .addNode('right', () => ({ sum: 3, log: 'right' }))
        .addEdge(START, 'first')
        .addEdge('first', 'left')
        .addEdge('first', 'right')
        .compile({ checkpointer: ledger, name: 'parallel' }),
    run: invoked,
  },
  'a superstep in the middle': {
    make: (ledger, merge) =>
      new StateGraph({ sum: channel({ initial: 1, merge }), log: append<string>() })
        .addNode('add', () => ({ sum: 2 }))
        .addNode('say', () => ({ log: 'said' }))
        .addEdge(START, 'add')
        .addEdge('add', 'say')
        .compile({ checkpointer: ledger, name: 'middle' }),
    run: invoked,
  },
  'a channel that is no input of what follows, as an effect alone does': {
    make: (ledger, merge) =>
      new StateGraph({ sum: channel({ initial: 1, merge }) })
        .addNode('add', async (_, run) => ({ sum: await run.effect('look', 2, (n) => n) }))
        .addNode('rest', () => ({}))
        .addEdge(START, 'add')
        .addEdge('add', 'rest')
        .compile({ checkpointer: ledger, name: 'rest' }),
    run: invoked,
  },
  'the input of the run': {
    make: (ledger, merge) =>
      new StateGraph({ sum: channel({ initial: 1, merge }), log: append<string>() })
        .addNode('say', () => ({ log: 'said' }))
        .addEdge(START, 'say')
        .compile({ checkpointer: ledger, name: 'input' }),
    run: async (graph) => (await graph.invoke({ sum: 5 })).runId,
  },
  'the last superstep of a sub-graph, in a channel of its own': {
    make: (ledger, merge) => {
      const inner = new StateGraph({ sum: channel({ initial: 1, merge }), log: append<string>() })
        .addNode('add', () => ({ sum: 2, log: 'added' }))
        .addEdge(START, 'add')
        .compile({ name: 'inner' })
      return new StateGraph({ log: append<string>() })
        .addNode('sub', inner)
        .addEdge(START, 'sub')
        .compile({ checkpointer: ledger, name: 'outer' })
    },
    run: invoked,
  },
  'a sub-graph of a sub-graph': {
    make: (ledger, merge) => {
      const leaf = new StateGraph({ sum: channel({ initial: 1, merge }) })
        .addNode('add', () => ({ sum: 2 }))
        .addEdge(START, 'add')
        .compile({ name: 'leaf' })
      const inner = new StateGraph({ log: append<string>() })
        .addNode('sub', leaf)
        .addEdge(START, 'sub')
        .compile({ name: 'inner' })
      return new StateGraph({ log: append<string>() })
        .addNode('sub', inner)
        .addNode('after', () => ({ log: 'after' }))
        .addEdge(START, 'sub')
        .addEdge('sub', 'after')
        .compile({ checkpointer: ledger, name: 'deep' })
    },
    run: invoked,
  },
  'a run that waits after a superstep': {
    make: (ledger, merge) =>
      new StateGraph({ sum: channel({ initial: 1, merge }) })
        .addNode('add', () => ({ sum: 2 }))
        .addNode('then', () => ({}))
        .addEdge(START, 'add')
        .addEdge('add', 'then')
        .compile({
          checkpointer: ledger,
          name: 'waits',
          interruptBefore: ['then'],
        }),
    run: invoked,
  },
  'a fork, in what it did itself': {
    make: (ledger, merge) =>
      new StateGraph({ sum: channel({ initial: 1, merge }), n: last(0) })
        .addNode('one', () => ({ n: 1 }))
        .addNode('add', () => ({ sum: 2 }))
        .addEdge(START, 'one')
        .addEdge('one', 'add')
        .compile({ checkpointer: ledger, name: 'forked' }),
    run: async (graph) => {
      const { runId } = await graph.invoke({})
      return (await graph.fork({ runId, at: { superstep: 1 } })).runId
    },
  },
  'what was merged after an edit of the state': {
    make: (ledger, merge) =>
      new StateGraph({ sum: channel({ initial: 1, merge }), log: append<string>() })
        .addNode('one', () => ({ log: 'one' }))
        .addNode('two', () => ({ log: 'two', sum: 3 }))
        .addEdge(START, 'one')
        .addEdge('one', 'two')
        .compile({
          checkpointer: ledger,
          name: 'edited',
          interruptBefore: ['two'],
        }),
    run: async (graph) => {
      const { runId } = await graph.invoke({})
      await graph.updateState({ runId }, { sum: 7 })
      await graph.resume({ runId })
      return runId
    },
  },
}

describe.each(Object.entries(SHAPES))('D2 the merged state, in %s', (_, { make, run }) => {
  const recorded = async (): Promise<{ ledger: Ledger; runId: string }> => {
    const ledger = createMemoryWorld().open()
    return { ledger, runId: await run(make(ledger, plus), ledger) }
  }

  it('D1 an unchanged graph is identical', async () => {
    const { ledger, runId } = await recorded()
    expect(await flawsOfReplay(make(ledger, plus), ledger, runId)).toEqual([])
  })

  it.each(CHANGES)('D2 a merge rule that gives %s is a divergence', async (__, merge) => {
    const { ledger, runId } = await recorded()
    const { verdict, divergences } = await judge(make(ledger, merge), ledger, runId)
    expect([verdict, divergences.length > 0]).toEqual(['diverged', true])
  })
})

/** Writes the sum in its last superstep only: what comes before it says nothing of the merge rule. */
const counter = (ledger: Ledger | undefined, merge: Merge) =>
  new StateGraph({ sum: channel({ initial: 1, merge }), n: last(0) })
    .addNode('add', ({ n }) => (n < 3 ? { n: n + 1 } : { n: n + 1, sum: 2 }))
    .addEdge(START, 'add')
    .addConditionalEdges('add', ({ n }) => (n < 4 ? 'add' : END), ['add', END])
    .compile({ checkpointer: ledger, name: 'counter' })

describe('D2 the merged state', () => {
  it.each([{ keep: 'latest' }, { keep: 'windowed', window: 2 }] as const)(
    'D1 of a run whose older states were pruned ($keep): identical if unchanged, found if changed',
    async (policy) => {
      const ledger = createMemoryWorld().open()
      const { runId } = await counter(ledger, plus).invoke({})
      expect(await ledger.pruneStates(runId, policy)).toBeGreaterThan(0)
      expect(await flawsOfReplay(counter(ledger, plus), ledger, runId)).toEqual([])
      for (const [, merge] of CHANGES)
        expect((await judge(counter(ledger, merge), ledger, runId)).verdict).toBe('diverged')
    },
  )

  it('D2 of each run of a map', async () => {
    const ledger = createMemoryWorld().open()
    await counter(ledger, plus).map([{ n: 3 }, { n: 1 }], { runId: 'items' })
    expect(await flawsOfReplay(counter(ledger, plus), ledger, 'items')).toEqual([])
    for (const [, merge] of CHANGES)
      expect((await judge(counter(ledger, merge), ledger, 'items')).verdict).toBe('diverged')
  })

  it('D2 of a graph that is the child of an agent', async () => {
    const ledger = createMemoryWorld().open()
    const parent = (merge: Merge) =>
      agent('parent', async (run) => {
        await run.child(counter(undefined, merge) as never, {})
        return 'done'
      })
    const { runId, status } = await parent(plus).start(ledger, null)
    expect(status).toBe('completed')
    expect(await flawsOfReplay(parent(plus), ledger, runId)).toEqual([])
    for (const [, merge] of CHANGES)
      expect((await judge(parent(merge), ledger, runId)).verdict).toBe('diverged')
  })

  it('D2 D6 when replay begins at a superstep', async () => {
    const ledger = createMemoryWorld().open()
    const { runId } = await counter(ledger, plus).invoke({})
    const from = { superstep: 3 }
    expect((await replay(counter(ledger, plus), { ledger, runId, from })).verdict).toBe('identical')
    for (const [, merge] of CHANGES)
      expect((await replay(counter(ledger, merge), { ledger, runId, from })).verdict).toBe('diverged')
  })

  it('D5 expectReplay finds it in the last superstep of a fixture', async () => {
    const ledger = createMemoryWorld().open()
    const { runId } = await counter(ledger, plus).invoke({})
    const folder = mkdtempSync(join(tmpdir(), 'clew-final-'))
    try {
      const file = join(folder, 'counter.ndjson')
      writeFileSync(file, (await Array.fromAsync(ledger.export({ runId }))).join(''))
      expect(await expectReplay(counter(undefined, plus), file)).toMatchObject([{ verdict: 'identical' }])
      for (const [, merge] of CHANGES)
        await expect(expectReplay(counter(undefined, merge), file)).rejects.toThrow(/diverge/i)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})

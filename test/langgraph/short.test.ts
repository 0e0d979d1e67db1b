import { Annotation, Command, END, MemorySaver, Send, START, StateGraph } from '@langchain/langgraph'
import {
  type BaseCheckpointSaver,
  type CheckpointTuple,
  emptyCheckpoint,
  uuid6,
} from '@langchain/langgraph-checkpoint'
import { openLedger } from 'clew'
import { ClewSaver } from 'clew/langgraph'
import { expect, it } from 'vitest'
import { collect, thread } from './graphs.ts'

const State = Annotation.Root({
  count: Annotation<number>,
  words: Annotation<string[]>({ reducer: (all, more) => all.concat(more), default: () => [] }),
})

/** Edges, conditional ones, commands, several at once, a join and packets. */
const GRAPHS = {
  chain: (checkpointer: BaseCheckpointSaver) =>
    new StateGraph(State)
      .addNode('one', () => ({ words: ['one'] }))
      .addNode('two', () => ({ words: ['two'], count: 2 }))
      .addNode('three', () => ({}))
      .addEdge(START, 'one')
      .addEdge('one', 'two')
      .addEdge('two', 'three')
      .compile({ checkpointer }),
  loop: (checkpointer: BaseCheckpointSaver) =>
    new StateGraph(State)
      .addNode('add', ({ count }) => ({ count: count + 1, words: [`word ${count}`] }))
      .addEdge(START, 'add')
      .addConditionalEdges('add', ({ count }) => (count < 4 ? 'add' : END), ['add', END])
      .compile({ checkpointer }),
  command: (checkpointer: BaseCheckpointSaver) =>
    new StateGraph(State)
      .addNode('go', () => new Command({ update: { count: 1 }, goto: 'there' }), { ends: ['there'] })
      .addNode('there', () => ({ count: 2 }))
      .addEdge(START, 'go')
      .compile({ checkpointer }),
  fan: (checkpointer: BaseCheckpointSaver) =>
    new StateGraph(State)
      .addNode('left', () => ({ words: ['left'] }))
      .addNode('right', () => ({ words: ['right'] }))
      .addNode('both', () => ({ count: 3 }))
      .addNode('each', ({ count }) => ({ words: [`each ${count}`] }))
      .addEdge(START, 'left')
      .addEdge(START, 'right')
      .addEdge(['left', 'right'], 'both')
      .addConditionalEdges('both', () => [new Send('each', { count: 1 }), new Send('each', { count: 2 })])
      .compile({ checkpointer }),
}

/** All that does not differ from run to run: ids and times. */
function told(tuples: readonly CheckpointTuple[]): unknown[] {
  const order = tuples.map(({ checkpoint }) => checkpoint.id)
  return tuples.map(({ checkpoint, metadata, parentConfig, pendingWrites = [] }) => ({
    // Theirs keeps the defaults of channels that have no version yet.
    values: Object.fromEntries(
      Object.entries(checkpoint.channel_values).filter(
        ([channel]) => checkpoint.channel_versions[channel] !== undefined,
      ),
    ),
    versions: checkpoint.channel_versions,
    seen: checkpoint.versions_seen,
    metadata,
    parent: order.indexOf(parentConfig?.configurable?.['checkpoint_id'] as string),
    writes: pendingWrites.map(([, channel, value]) => [channel, value]),
  }))
}

it.each(Object.entries(GRAPHS))(
  'A4 L8 %s: what a step tells in short another process reads in full, as from their own saver',
  async (_, graph) => {
    const ledger = await openLedger('memory:')
    const theirs = new MemorySaver()
    await graph(new ClewSaver(ledger)).invoke({ count: 0 }, { ...thread('t'), durability: 'sync' })
    await graph(theirs).invoke({ count: 0 }, { ...thread('t'), durability: 'sync' })
    const expected = told(await collect(theirs.list(thread('t'))))
    expect(told(await collect(new ClewSaver(ledger).list(thread('t'))))).toEqual(expected)
    const newest = await new ClewSaver(ledger).getTuple(thread('t'))
    expect(told(newest ? [newest] : [])).toMatchObject([{ ...(expected[0] as object), parent: -1 }])
    await ledger.close()
  },
)

it('A4 L8 the step of a node that ran alone tells versions by one number, and where an edge leads as its decision', async () => {
  const ledger = await openLedger('memory:')
  await GRAPHS.loop(new ClewSaver(ledger)).invoke({ count: 0 }, { ...thread('t'), durability: 'sync' })
  const { runs } = await ledger.listRuns()
  const steps = []
  for await (const { eventType, payload } of ledger.read(runs[0]?.runId ?? ''))
    if (eventType === 'execution.step_completed') {
      const { langgraph, ...told } = payload['checkpoint'] as { langgraph: object }
      expect(told).toMatchObject({ writes: { count: 'set' } })
      expect(told).not.toHaveProperty('operations')
      steps.push([payload['decision'], Object.keys(langgraph)])
    }
  expect(steps).toEqual([
    ['add', ['ran', 'hold', 'drop']],
    ['add', ['ran', 'hold']],
    ['add', ['ran']],
    ['add', ['ran']],
    [undefined, ['ran', 'drop']],
  ])
  await ledger.close()
})

it('A4 L8 a value is read back in whatever order its task wrote it, and however often', async () => {
  const ledger = await openLedger('memory:')
  const saver = new ClewSaver(ledger)
  const orders: [string, unknown][][] = [
    [
      ['branch:to:x', null],
      ['word', 'one'],
    ],
    [
      ['word', 'none'],
      ['word', 'two'],
    ],
    [
      ['word', 'three'],
      ['branch:to:x', null],
    ],
  ]
  const root = { ...emptyCheckpoint(), id: uuid6(0) }
  let config = await saver.put(thread('t'), root, { source: 'input', step: -1, parents: {} }, {})
  for (const [step, writes] of orders.entries()) {
    const word = writes.findLast(([channel]) => channel === 'word')?.[1]
    const versions = { word: step + 1 }
    const next = { ...root, id: uuid6(step + 1), channel_values: { word }, channel_versions: versions }
    const written = saver.putWrites(config, writes, `task ${step}`)
    config = await saver.put(config, next, { source: 'loop', step, parents: {} }, versions)
    await written
    const tuple = await new ClewSaver(ledger).getTuple(thread('t'))
    expect(tuple?.checkpoint.channel_values).toEqual({ word })
    const [run] = (await ledger.listRuns()).runs
    expect((await ledger.getState(run?.runId ?? ''))?.state).toEqual({ word })
  }
  await ledger.close()
})

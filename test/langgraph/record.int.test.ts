import { Command, END, interrupt, START, StateGraph } from '@langchain/langgraph'
import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint'
import type { Ledger } from 'clew'
import { ClewSaver } from 'clew/langgraph'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Talk, thread } from './graphs.ts'
import { createStore, STORES, type TestStore } from './stores.ts'

const DURABILITIES = ['sync', 'async', 'exit'] as const

/** Nodes that never wait for anything. */
const instant = (checkpointer: BaseCheckpointSaver) =>
  new StateGraph(Talk)
    .addNode('a', () => ({ lines: ['a'] }))
    .addNode('b', () => ({ lines: ['b'] }))
    .addNode('c', () => ({ lines: ['c'] }))
    .addNode('d', () => ({ lines: ['d'] }))
    .addNode('e', () => ({ lines: ['e'] }))
    .addEdge(START, 'a')
    .addEdge('a', 'b')
    .addEdge('b', 'c')
    .addEdge('c', 'd')
    .addEdge('d', 'e')
    .addEdge('e', END)
    .compile({ checkpointer })

const approval = (checkpointer: BaseCheckpointSaver) =>
  new StateGraph(Talk)
    .addNode('a', () => ({ lines: ['a'] }))
    .addNode('ask', () => ({ lines: [interrupt<string, string>('go?')] }))
    .addEdge(START, 'a')
    .addEdge('a', 'ask')
    .addEdge('ask', END)
    .compile({ checkpointer })

describe.each(STORES)('A4 the record on %s', (name) => {
  let store: TestStore
  let ledger: Ledger
  beforeEach(async () => {
    store = await createStore(name)
    ledger = await store.open()
  })
  afterEach(() => store.drop())

  it.each(['sync', 'async'] as const)('has every step of nodes that never wait (%s)', async (durability) => {
    const graph = instant(new ClewSaver(ledger))
    for (let i = 0; i < 25; i++) await graph.invoke({ lines: ['hi'] }, { ...thread(`t${i}`), durability })
    const { runs } = await ledger.listRuns({ limit: 100 })
    expect(runs.map(({ status }) => status)).toEqual(Array.from({ length: 25 }, () => 'completed'))
    for (const { runId } of runs)
      expect((await ledger.getSteps(runId)).map(({ nodeName }) => nodeName)).toEqual([
        'a',
        'b',
        'c',
        'd',
        'e',
      ])
  })

  it('has every step and question where checkpoints come long after their writes', async () => {
    class Late extends ClewSaver {
      override async put(...given: Parameters<ClewSaver['put']>): ReturnType<ClewSaver['put']> {
        for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
        return super.put(...given)
      }
    }
    await instant(new Late(ledger)).invoke({ lines: ['hi'] }, { ...thread('t'), durability: 'async' })
    await approval(new Late(ledger)).invoke({ lines: [] }, { ...thread('q'), durability: 'async' })
    const [asked, done] = (await ledger.listRuns()).runs
    expect(asked).toMatchObject({ status: 'paused', pauses: [{ question: 'go?' }] })
    const steps = await ledger.getSteps(done?.runId ?? '')
    expect(steps.map(({ nodeName, attempt }) => [nodeName, attempt])).toEqual(
      ['a', 'b', 'c', 'd', 'e'].map((node) => [node, 1]),
    )
    const resumed = await approval(new ClewSaver(await store.open())).invoke(
      new Command({ resume: 'yes' }),
      thread('q'),
    )
    expect(resumed.lines).toEqual(['a', 'yes'])
    expect((await ledger.verify(undefined, { projections: true })).ok).toBe(true)
  })

  it.each(DURABILITIES)('has every run that waits for an answer (%s)', async (durability) => {
    const graph = approval(new ClewSaver(ledger))
    for (let i = 0; i < 30; i++) await graph.invoke({ lines: [] }, { ...thread(`t${i}`), durability })
    const { runs } = await ledger.listRuns({ limit: 100 })
    expect(runs.map(({ status, pauses }) => [status, pauses.map(({ question }) => question)])).toEqual(
      Array.from({ length: 30 }, () => ['paused', ['go?']]),
    )
  })
})

import { Command, END, interrupt, START, StateGraph } from '@langchain/langgraph'
import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint'
import { asOwn } from '@clew/ledger'
import type { Ledger, RunSummary } from 'clew'
import { ClewSaver } from 'clew/langgraph'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
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

/** Its second node waits until the invocation is aborted. */
const patient = (checkpointer: BaseCheckpointSaver, isPatient: boolean) =>
  new StateGraph(Talk)
    .addNode('a', () => ({ lines: ['a'] }))
    .addNode('b', async (_, { signal }) => {
      if (isPatient)
        await new Promise((_resolve, reject) => {
          signal?.addEventListener('abort', () => reject(new Error('left')), { once: true })
        })
      return { lines: ['b'] }
    })
    .addEdge(START, 'a')
    .addEdge('a', 'b')
    .addEdge('b', END)
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

  it.each(['sync', 'async'] as const)(
    'R8 ends a run as stopped where its invocation is aborted, and the next one works (%s)',
    async (durability) => {
      for (const [at, input] of [null, { lines: ['again'] }].entries()) {
        const config = { ...thread(`t${at}`), durability }
        const graph = patient(new ClewSaver(ledger), true)
        const controller = new AbortController()
        const { signal } = controller
        const stream = await graph.stream({ lines: ['hi'] }, { ...config, streamMode: 'updates', signal })
        try {
          for await (const chunk of stream) if ('a' in chunk) controller.abort()
        } catch (error) {
          expect(String(error)).toMatch(/Abort/)
        }
        expect((await endOf(ledger, `t${at}`))?.status).toBe('stopped')
        const { lines } = await patient(new ClewSaver(await store.open()), false).invoke(input, config)
        expect(lines.slice(-2)).toEqual(['a', 'b'])
        const [last] = (await ledger.listRuns({ threadId: `t${at}` })).runs
        expect(last?.status).toBe('completed')
      }
    },
  )

  it('R8 tells to its end what goes on when the loop over its stream is left: the framework does not stop it', async () => {
    const graph = instant(new ClewSaver(ledger))
    const stream = await graph.stream({ lines: ['hi'] }, { ...thread('t'), streamMode: 'updates' })
    for await (const chunk of stream) if ('b' in chunk) break
    const run = await endOf(ledger, 't')
    expect(run?.status).toBe('completed')
    expect((await ledger.getSteps(run?.runId ?? '')).length).toBe(5)
    expect((await graph.invoke({ lines: ['again'] }, thread('t'))).lines).toHaveLength(12)
  })

  it.each(['sync', 'async'] as const)(
    'R8 the next invocation works at once after the loop over a stream is left (%s)',
    async (durability) => {
      for (let i = 0; i < 10; i++) {
        const config = { ...thread(`t${i}`), durability }
        const graph = instant(new ClewSaver(ledger))
        for await (const _ of await graph.stream({ lines: ['hi'] }, { ...config, streamMode: 'updates' }))
          break
        const { lines } = await graph.invoke({ lines: ['again'] }, config)
        expect(lines).toEqual(['hi', 'a', 'b', 'c', 'd', 'e', 'again', 'a', 'b', 'c', 'd', 'e'])
        const { runs } = await ledger.listRuns({ threadId: `t${i}` })
        expect(runs.map(({ status }) => status)).toEqual(['completed', 'completed'])
      }
    },
  )

  it('R8 a node that the left graph still waits for does not hold up the next invocation, which stops its run', async () => {
    const saver = new ClewSaver(ledger)
    const left = new AbortController()
    const stream = await patient(saver, true).stream(
      { lines: ['hi'] },
      { ...thread('t'), streamMode: 'updates', signal: left.signal },
    )
    for await (const _ of stream) break
    const { lines } = await patient(saver, false).invoke({ lines: ['again'] }, thread('t'))
    expect(lines).toEqual(['hi', 'a', 'again', 'a', 'b'])
    const { runs } = await ledger.listRuns({ threadId: 't' })
    expect(runs.map(({ status }) => status)).toEqual(['completed', 'stopped'])
    left.abort()
  })

  it.each(['sync', 'async'] as const)(
    'R6 lists a run as paused where its stream is left at the question (%s)',
    async (durability) => {
      const graph = approval(new ClewSaver(ledger))
      for (let i = 0; i < 10; i++) {
        const config = { ...thread(`t${i}`), durability, streamMode: 'updates' as const }
        for await (const chunk of await graph.stream({ lines: [] }, config))
          if ('__interrupt__' in chunk) break
      }
      // Reading waits for what is under way.
      for (let i = 0; i < 10; i++) await graph.getState(thread(`t${i}`))
      const { runs } = await ledger.listRuns({ status: 'paused' })
      expect(runs.map(({ pauses }) => pauses.length)).toEqual(Array.from({ length: 10 }, () => 1))
    },
  )

  it.each(['sync', 'async'] as const)(
    'R6 has all questions of parallel branches, and each answer (%s)',
    async (durability) => {
      const compile = async () =>
        new StateGraph(Talk)
          .addNode('one', () => ({ lines: [interrupt<string, string>('one?')] }))
          .addNode('two', () => ({ lines: [interrupt<string, string>('two?')] }))
          .addEdge(START, 'one')
          .addEdge(START, 'two')
          .addEdge('one', END)
          .addEdge('two', END)
          .compile({ checkpointer: new ClewSaver(await store.open()) })
      const config = { ...thread('t'), durability }
      await (await compile()).invoke({ lines: [] }, config)
      const open = async () =>
        (await ledger.listRuns({ status: 'paused' })).runs.flatMap(({ pauses }) => pauses)
      const [one, two] = await open()
      expect(new Set([one?.question, two?.question])).toEqual(new Set(['one?', 'two?']))
      await (await compile()).invoke(new Command({ resume: { [two?.pauseId ?? '']: 'second' } }), config)
      expect((await open()).map(({ question }) => question)).toEqual([one?.question])
      await (await compile()).invoke(new Command({ resume: { [one?.pauseId ?? '']: 'first' } }), config)
      expect(await open()).toEqual([])
      const [run] = (await ledger.listRuns({ threadId: 't' })).runs
      expect(run?.status).toBe('completed')
      const received = await Array.fromAsync(
        ledger.read(run?.runId ?? '', { types: ['ui.input_received'] }),
        (event) => asOwn(event)?.payload,
      )
      expect(received).toMatchObject([
        { pauseId: two?.pauseId, answer: 'second' },
        { pauseId: one?.pauseId, answer: 'first' },
      ])
    },
  )
})

/** What ends on its own does so a moment after the caller goes on. */
const endOf = (ledger: Ledger, threadId: string): Promise<RunSummary | undefined> =>
  vi.waitFor(
    async () => {
      const [run] = (await ledger.listRuns({ threadId })).runs
      expect(run?.endedAt).toEqual(expect.any(String))
      return run
    },
    { timeout: 60_000 },
  )

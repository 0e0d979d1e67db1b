import type { ClewEvent, Ledger, StepRecord } from '@clew/ledger'
import { AIMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { FakeListChatModel } from '@langchain/core/utils/testing'
import {
  Annotation,
  Command,
  END,
  interrupt,
  MemorySaver,
  Send,
  START,
  StateGraph,
} from '@langchain/langgraph'
import { ToolNode } from '@langchain/langgraph/prebuilt'
import { describe, expect, it, vi } from 'vitest'
import { createMemoryWorld } from '../../test/memory-ledger.ts'
import { ClewCallbackHandler } from './index.ts'

const State = Annotation.Root({
  notes: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
  messages: Annotation<AIMessage[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
})

/** A new object for each call, as after a restart. */
const config = (ledger: Ledger, thread = 't') => ({
  configurable: { thread_id: thread },
  callbacks: [new ClewCallbackHandler({ ledger })],
})

const brief = (steps: readonly StepRecord[]): string[] =>
  steps.map(
    ({ stepId, kind, status, superstep, attempt }) => `${stepId} ${kind} ${status} ${superstep}/${attempt}`,
  )

const newest = async (ledger: Ledger) => (await ledger.listRuns()).runs[0]

describe('a graph of LangGraph', () => {
  it('R2 nodes are steps under their names and supersteps, with what they call inside them', async () => {
    const ledger = createMemoryWorld().open()
    const hoot = new FakeListChatModel({ responses: ['hoot'] })
    const add = tool(({ a }: { a: number }) => a + 1, {
      name: 'add',
      description: 'adds',
      schema: { type: 'object', properties: { a: { type: 'number' } } },
    })
    const graph = new StateGraph(State)
      .addNode('think', async () => {
        await hoot.invoke('say')
        return {
          messages: [new AIMessage({ content: '', tool_calls: [{ name: 'add', args: { a: 1 }, id: 'c' }] })],
        }
      })
      .addNode('tools', new ToolNode([add]))
      .addEdge(START, 'think')
      .addConditionalEdges('think', () => 'tools', ['tools'])
      .addEdge('tools', END)
      .compile({ name: 'owls' })
    await graph.invoke({}, config(ledger))
    const run = await newest(ledger)
    expect(run).toMatchObject({ agent: 'owls', threadId: 't', status: 'completed' })
    expect(brief(await ledger.getSteps(run?.runId ?? ''))).toEqual([
      'think@s1 node completed 1/1',
      'think@s1/FakeListChatModel#0 model completed 1/1',
      // The function that chose the edge.
      'think@s1/RunnableLambda#0 chain completed 1/1',
      'tools@s2 node completed 2/1',
      'tools@s2/add#0 tool completed 2/1',
    ])
    const { nodes } = await ledger.taskGraph(run?.runId ?? '')
    expect(nodes.filter(({ parent }) => parent === null).map(({ name }) => name)).toEqual(['think', 'tools'])
    const [first] = await Array.fromAsync(ledger.read(run?.runId ?? ''))
    expect(first?.source.runtime).toBe('langgraph')
  })

  it('L9 nodes side by side have one cause; the superstep after them is led to by the last of them', async () => {
    const ledger = createMemoryWorld().open()
    const isOver = async (stepId: string): Promise<boolean> =>
      (await ledger.getSteps((await newest(ledger))?.runId ?? '')).some(
        (step) => step.stepId === stepId && step.status === 'completed',
      )
    const graph = new StateGraph(State)
      .addNode('deal', () => ({}))
      .addNode('work', async ({ notes }) => {
        while (notes[0] === 'slow' && !(await isOver('work@s2.1')))
          await new Promise((resolve) => setTimeout(resolve, 1))
        return {}
      })
      .addNode('join', () => ({}))
      .addEdge(START, 'deal')
      .addConditionalEdges(
        'deal',
        () => ['slow', 'fast'].map((note) => new Send('work', { notes: [note], messages: [] })),
        ['work'],
      )
      .addEdge('work', 'join')
      .addEdge('join', END)
      .compile()
    await graph.invoke({}, config(ledger))
    const runId = (await newest(ledger))?.runId ?? ''
    const events = await Array.fromAsync(ledger.read(runId))
    const byId = new Map(events.map((event) => [event.eventId, event]))
    const led = events
      .filter(
        ({ eventType, payload }) => eventType === 'execution.step_started' && payload['kind'] === 'node',
      )
      .map((start) => {
        const cause = byId.get(start.causationId ?? '') as ClewEvent
        return [start.payload['stepId'], cause.eventType, cause.payload['stepId']]
      })
    expect(led).toEqual([
      ['deal@s1', 'system.workflow_started', undefined],
      ['work@s2.0', 'execution.step_completed', 'deal@s1'],
      ['work@s2.1', 'execution.step_completed', 'deal@s1'],
      ['join@s3', 'execution.step_completed', 'work@s2.0'],
    ])
  })

  it('R6 a question pauses the run; the answer goes on with the same run and the same step, also after a restart', async () => {
    const ledger = createMemoryWorld().open()
    const hoot = new FakeListChatModel({ responses: ['hoot'] })
    const graph = new StateGraph(State)
      .addNode('ask', async () => {
        await hoot.invoke('before')
        const answer = interrupt({ question: 'publish?' }) as string
        return { notes: [answer] }
      })
      .addNode('after', () => ({}))
      .addEdge(START, 'ask')
      .addEdge('ask', 'after')
      .addEdge('after', END)
      .compile({ checkpointer: new MemorySaver() })
    await graph.invoke({}, config(ledger))
    const paused = await newest(ledger)
    expect(paused).toMatchObject({
      status: 'paused',
      pauses: [{ stepId: 'ask@s1', question: { question: 'publish?' } }],
    })
    expect(brief(await ledger.getSteps(paused?.runId ?? ''))[0]).toBe('ask@s1 node paused 1/1')
    // Another thread is not this one.
    await graph.invoke({}, config(ledger, 'other'))

    await graph.invoke(new Command({ resume: 'yes' }), config(ledger))
    expect(await ledger.getRun(paused?.runId ?? '')).toMatchObject({
      status: 'completed',
      pauses: [],
      error: null,
    })
    expect(brief(await ledger.getSteps(paused?.runId ?? ''))).toEqual([
      'ask@s1 node completed 1/1',
      'ask@s1/FakeListChatModel#0 model completed 1/1',
      'ask@s1/FakeListChatModel#0 model completed 1/2',
      'after@s2 node completed 2/1',
    ])
    const { entries } = await ledger.transcript(paused?.runId ?? '')
    expect(entries.find(({ kind }) => kind === 'question')).toMatchObject({ answer: { value: 'yes' } })
    expect((await ledger.listRuns()).runs).toHaveLength(2)
    expect((await ledger.verify(undefined, { projections: true })).ok).toBe(true)
  })

  it('R6 two questions in one node, one after the other, and two at once answered by their ids', async () => {
    const ledger = createMemoryWorld().open()
    const twice = new StateGraph(State)
      .addNode('ask', () => ({ notes: [interrupt('one?'), interrupt('two?')] }))
      .addEdge(START, 'ask')
      .addEdge('ask', END)
      .compile({ checkpointer: new MemorySaver() })
    await twice.invoke({}, config(ledger))
    await twice.invoke(new Command({ resume: 'a' }), config(ledger))
    const middle = await newest(ledger)
    expect(middle).toMatchObject({ status: 'paused', pauses: [{ question: 'two?' }] })
    const end = await twice.invoke(new Command({ resume: 'b' }), config(ledger))
    expect(end.notes).toEqual(['a', 'b'])
    expect(await newest(ledger)).toMatchObject({ runId: middle?.runId, status: 'completed' })

    const ask = (name: string) => () => ({ notes: [`${name} ${interrupt(`${name}?`)}`] })
    const both = new StateGraph(State)
      .addNode('left', ask('left'))
      .addNode('right', ask('right'))
      .addEdge(START, 'left')
      .addEdge(START, 'right')
      .compile({ checkpointer: new MemorySaver() })
    await both.invoke({}, config(ledger, 'both'))
    const paused = await newest(ledger)
    expect(paused?.pauses.map(({ question }) => question)).toEqual(['left?', 'right?'])
    const [first, second] = paused?.pauses ?? []
    await both.invoke(new Command({ resume: { [first?.pauseId ?? '']: 'ok' } }), config(ledger, 'both'))
    expect(await newest(ledger)).toMatchObject({ status: 'paused', pauses: [{ pauseId: second?.pauseId }] })
    await both.invoke(new Command({ resume: { [second?.pauseId ?? '']: 'ok' } }), config(ledger, 'both'))
    expect(await newest(ledger)).toMatchObject({ runId: paused?.runId, status: 'completed', pauses: [] })
    expect((await ledger.getSteps(paused?.runId ?? '')).map(({ status }) => status)).toEqual([
      'completed',
      'completed',
    ])
  })

  it('R2 a node that the framework tries again is the same step, one attempt on', async () => {
    const ledger = createMemoryWorld().open()
    let tries = 0
    const graph = new StateGraph(State)
      .addNode(
        'flaky',
        () => {
          if (++tries < 3) throw new Error('not yet')
          return {}
        },
        { retryPolicy: { maxAttempts: 3, initialInterval: 1, jitter: false, logWarning: false } },
      )
      .addEdge(START, 'flaky')
      .addEdge('flaky', END)
      .compile()
    await graph.invoke({}, config(ledger))
    expect(brief(await ledger.getSteps((await newest(ledger))?.runId ?? ''))).toEqual([
      'flaky@s1 node failed 1/1',
      'flaky@s1 node failed 1/2',
      'flaky@s1 node completed 1/3',
    ])
  })

  it('R3 the nodes of a sub-graph lie in the node that is the sub-graph', async () => {
    const ledger = createMemoryWorld().open()
    const inner = new StateGraph(State)
      .addNode('look', () => ({ notes: ['seen'] }))
      .addEdge(START, 'look')
      .addEdge('look', END)
      .compile()
    const outer = new StateGraph(State)
      .addNode('scout', inner)
      .addEdge(START, 'scout')
      .addEdge('scout', END)
      .compile()
    await outer.invoke({}, config(ledger))
    const steps = brief(await ledger.getSteps((await newest(ledger))?.runId ?? ''))
    expect(steps[0]).toBe('scout@s1 node completed 1/1')
    expect(steps.at(-1)).toMatch(/^scout@s1\/.*look@s1 node completed 1\/1$/)
  })

  it('R0 a node that throws fails its step and the run; one that is stopped, stops it', async () => {
    const ledger = createMemoryWorld().open()
    const stop = new AbortController()
    const graph = new StateGraph(State)
      .addNode('bad', ({ notes }) => {
        if (notes.length === 0) throw new RangeError('no notes')
        setImmediate(() => stop.abort())
        return new Promise((resolve) => setTimeout(() => resolve({}), 1_000).unref())
      })
      .addEdge(START, 'bad')
      .compile()
    await expect(graph.invoke({}, config(ledger))).rejects.toThrow('no notes')
    expect(await newest(ledger)).toMatchObject({
      status: 'failed',
      error: { name: 'RangeError', message: 'no notes' },
    })
    await expect(graph.invoke({ notes: ['x'] }, { ...config(ledger), signal: stop.signal })).rejects.toThrow()
    // The framework lets go of the caller before it has told its callbacks.
    const run = await vi.waitFor(async () => {
      const found = await newest(ledger)
      expect(found?.status).toBe('stopped')
      return found
    }, 60_000)
    const steps = await ledger.getSteps(run?.runId ?? '')
    expect(steps.every(({ status }) => status !== 'running')).toBe(true)
  })
})

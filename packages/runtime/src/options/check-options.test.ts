import { describe, expect, it } from 'vitest'
import { createMemoryWorld } from '../../test/memory-ledger.ts'
import {
  agent,
  type Budget,
  type CompileOptions,
  last,
  type NodeOptions,
  START,
  StateGraph,
} from '../index.ts'

const ledger = createMemoryWorld().open()
const graph = (node: NodeOptions = {}, name = 'a') =>
  new StateGraph({ n: last(0) }).addNode(name, () => ({ n: 1 }), node).addEdge(START, name)

const POLICIES: readonly [string, NodeOptions][] = [
  ['allows 0 tries', { retry: 0 }],
  ['allows -1 tries', { retry: { tries: -1 } }],
  ['allows NaN tries', { retry: Number.NaN }],
  ['allows 1.5 tries', { retry: 1.5 }],
  ['retry.delayMs', { retry: { tries: 2, delayMs: -1 } }],
  ['retry.mostMs', { retry: { tries: 2, mostMs: Number.NaN } }],
  ['retry.factor', { retry: { tries: 2, factor: 0.5 } }],
  ['retry.jitter', { retry: { tries: 2, jitter: 2 } }],
  ['timeoutMs', { timeoutMs: 0 }],
  ['timeoutMs', { timeoutMs: -5 }],
  ['timeoutMs', { timeoutMs: Number.NaN }],
  ['timeoutMs', { timeoutMs: Number.POSITIVE_INFINITY }],
  ['cache.ttlMs', { cache: { ttlMs: -1 } }],
]
const LONG = 'x'.repeat(201)

describe('options that make no sense are refused with bad_option', () => {
  it.each(POLICIES)('R3 %s: %o of a node, at its definition', (named, options) => {
    expect(() => graph(options)).toThrow(expect.objectContaining({ code: 'bad_option' }))
    expect(() => graph(options)).toThrow(named)
  })

  it.each(POLICIES)('R3 %s: %o of a step, before anything of it is done', async (named, options) => {
    let calls = 0
    const eager = agent('eager', (run) => run.step('s', null, () => ++calls, options))
    const { error, runId } = await eager.start(ledger, null)
    expect([error?.code, calls, (await ledger.getSteps(runId)).length]).toEqual(['bad_option', 0, 0])
    expect(error?.message).toContain(named)
  })

  it.each<[string, Budget]>([
    ['steps', { steps: -1 }],
    ['tokens', { tokens: Number.NaN }],
    ['cost', { cost: -0.1 }],
    ['timeMs', { timeMs: -1 }],
  ])('R3 budget.%s: of agents, graphs, runs, maps', async (name, budget) => {
    const refused = expect.objectContaining({
      code: 'bad_option',
      message: expect.stringContaining(`budget.${name}`),
    })
    const fine = agent('fine', () => 1)
    expect(() => agent('a', () => 1, { budget })).toThrow(refused)
    expect(() => graph().compile({ budget })).toThrow(refused)
    await expect(fine.start(ledger, null, { budget, runId: `b-${name}` })).rejects.toThrow(refused)
    expect(await ledger.getRun(`b-${name}`)).toBeNull()
    await expect(graph().compile().invoke({}, { budget })).rejects.toThrow(refused)
    await expect(fine.map(ledger, [1], { budget, runId: `m-${name}` })).rejects.toThrow(refused)
    expect(await ledger.getRun(`m-${name}`)).toBeNull()
    const asked = await agent('fine', (run) => run.interrupt('?')).start(ledger, null)
    await expect(fine.resume(ledger, asked.runId, { budget, answer: 1 })).rejects.toThrow(refused)
  })

  it('R3 a budget of time without end does not stop the run at once', async () => {
    const calm = agent('calm', (run) => run.effect('x', null, () => 1))
    const budget = { timeMs: Number.POSITIVE_INFINITY }
    expect((await calm.start(ledger, null, { budget })).status).toBe('completed')
  })

  it.each(['', ' ', LONG])(
    'R2 a name like %j of an agent, a graph, a node, a step, an effect, a child',
    async (name) => {
      const refused = expect.objectContaining({ code: 'bad_option' })
      expect(() => agent(name, () => 1)).toThrow(refused)
      expect(() => graph().compile({ name })).toThrow(refused)
      expect(() => graph({}, name)).toThrow(/name/)
      for (const call of ['step', 'effect'] as const) {
        const nameless = agent('nameless', (run) => run[call](name, null, () => 1))
        expect((await nameless.start(ledger, null)).error?.code).toBe('bad_option')
      }
      const parent = agent('parent', (run) =>
        run.child(
          agent('x', () => 1),
          null,
          { name },
        ),
      )
      expect((await parent.start(ledger, null)).error?.code).toBe('bad_option')
    },
  )

  it.each([0, -1, Number.NaN])(
    'R3 recursionLimit %d, of compile, invoke and stream',
    async (recursionLimit) => {
      const options: CompileOptions = { recursionLimit }
      expect(() => graph().compile(options)).toThrow(expect.objectContaining({ code: 'bad_option' }))
      for (const checkpointer of [ledger, undefined]) {
        const compiled = graph().compile({ checkpointer })
        await expect(compiled.invoke({}, { recursionLimit })).rejects.toMatchObject({ code: 'bad_option' })
        await expect(compiled.stream({}, { recursionLimit }).result).rejects.toMatchObject({
          code: 'bad_option',
        })
      }
    },
  )

  it('R6 a time-out of a question that is no time', async () => {
    const hasty = agent('hasty', (run) => run.interrupt({ question: '?', timeoutMs: 0 }))
    expect((await hasty.start(ledger, null)).error).toMatchObject({ code: 'bad_option' })
  })

  it('R5 invoke(null) without a thread has nothing to go on with, and runs nothing', async () => {
    let calls = 0
    const counting = new StateGraph({ n: last(0) }).addNode('a', () => ({ n: ++calls })).addEdge(START, 'a')
    const refused = { code: 'bad_option' }
    await expect(counting.compile({ checkpointer: ledger }).invoke(null)).rejects.toMatchObject(refused)
    await expect(counting.compile({ checkpointer: ledger }).invoke(null)).rejects.toThrow(
      'no thread is named',
    )
    await expect(counting.compile({ checkpointer: ledger }).stream(null).result).rejects.toMatchObject(
      refused,
    )
    await expect(counting.compile().invoke(null)).rejects.toMatchObject(refused)
    await expect(counting.compile().invoke(null, { threadId: 't' })).rejects.toMatchObject(refused)
    expect(calls).toBe(0)
    expect((await counting.compile().invoke({})).state).toEqual({ n: 1 })
  })
})

import { describe, expect, it } from 'vitest'
import { codeOf } from '../../test/travel-world.ts'
import { append, interrupt, last, START, StateGraph } from '../index.ts'
import type { Checkpoint, Checkpointer } from './checkpoint.ts'
import { MemorySaver } from './memory-saver.ts'

/** JSON texts in a map, and hooks to look at or spoil what is put. */
function createTexts() {
  const texts = new Map<string, string>()
  const puts: Checkpoint[] = []
  let onPut: (checkpoint: Checkpoint) => Promise<void> | void = () => {}
  const read = (): Checkpoint[] => [...texts.values()].map((text) => JSON.parse(text) as Checkpoint)
  const open = (): Checkpointer => ({
    async put(checkpoint) {
      await onPut(checkpoint)
      puts.push(JSON.parse(JSON.stringify(checkpoint)) as Checkpoint)
      texts.set(checkpoint.id, JSON.stringify(checkpoint))
    },
    get: async ({ threadId, checkpointId }) =>
      read().findLast((each) => each.threadId === threadId && (checkpointId ?? each.id) === each.id) ?? null,
    list: async ({ threadId }) => read().filter((each) => each.threadId === threadId),
  })
  return {
    open,
    puts,
    texts,
    watch(hook: typeof onPut) {
      onPut = hook
    },
  }
}

const counting = (ran: string[], gate: Promise<void> = Promise.resolve()) =>
  new StateGraph({ seen: append<string>() })
    .addNode('quick', () => {
      ran.push('quick')
      return { seen: 'quick' }
    })
    .addNode('slow', async (_state, run) => {
      ran.push('slow')
      await run.effect('pay', {}, () => {
        ran.push('pay')
        return 1
      })
      await gate
      return { seen: 'slow' }
    })
    .addEdge(START, 'quick')
    .addEdge(START, 'slow')

describe('R4 a checkpointer of your own', () => {
  it('R4 what a node wrote, and what an effect gave, is durable when it ends, not only at the end of its superstep', async () => {
    const kept = createTexts()
    const ran: string[] = []
    const never = new Promise<void>(() => {})
    const stop = new AbortController()
    const first = counting(ran, never).compile({ checkpointer: kept.open() })
    const running = first.invoke({}, { threadId: 't', signal: stop.signal })
    const ended = (): number =>
      ((kept.puts.at(-1)?.metadata['events'] ?? []) as { eventType: string }[]).filter(
        ({ eventType }) => eventType === 'execution.step_completed',
      ).length
    await expect.poll(ended).toBe(2)
    // The process is gone: another one has only what was put.
    const second = counting(ran).compile({ checkpointer: kept.open() })
    const { status, state } = await second.invoke(null, { threadId: 't' })
    expect([status, state.seen]).toEqual(['completed', ['quick', 'slow']])
    expect(ran).toEqual(['quick', 'slow', 'pay', 'slow'])
    stop.abort()
    await running
  })

  it('R10 the end of each superstep is put before the next one begins', async () => {
    const kept = createTexts()
    const order: string[] = []
    kept.watch(async ({ superstep }) => {
      order.push(`put ${superstep} begins`)
      await new Promise((resolve) => setTimeout(resolve, 5))
      order.push(`put ${superstep} ends`)
    })
    const graph = new StateGraph({ n: last(0) })
      .addNode('a', () => (order.push('a'), { n: 1 }))
      .addNode('b', () => (order.push('b'), { n: 2 }))
      .addEdge(START, 'a')
      .addEdge('a', 'b')
      .compile({ checkpointer: kept.open(), durability: 'async' })
    await graph.invoke({}, { threadId: 't' })
    expect(order.slice(0, 6)).toEqual(['put 0 begins', 'put 0 ends', 'a', 'put 1 begins', 'put 1 ends', 'b'])
    expect(kept.puts.map(({ superstep, metadata }) => [superstep, metadata['status']])).toEqual([
      [0, 'running'],
      [1, 'running'],
      [2, 'running'],
      [2, 'completed'],
    ])
  })

  it('R4 a put that fails is the error of the run, which goes on later from what was kept', async () => {
    const kept = createTexts()
    const ran: string[] = []
    kept.watch(({ superstep }) => {
      if (superstep === 1) throw new Error('the disk is full')
    })
    const graph = (checkpointer: Checkpointer) =>
      new StateGraph({ n: last(0) })
        .addNode('a', () => (ran.push('a'), { n: 1 }))
        .addNode('b', (state) => (ran.push('b'), { n: state.n + 1 }))
        .addEdge(START, 'a')
        .addEdge('a', 'b')
        .compile({ checkpointer })
    const spoilt = graph(kept.open())
    await expect(spoilt.invoke({}, { threadId: 't' })).rejects.toMatchObject({
      code: 'store_failed',
      fields: { threadId: 't' },
      cause: { message: 'the disk is full' },
    })
    expect(await spoilt.getState({ threadId: 't' })).toMatchObject({ superstep: 0, next: ['a'] })
    kept.watch(() => {})
    const { status, state } = await spoilt.invoke(null, { threadId: 't' })
    expect([status, state.n, ran]).toEqual(['completed', 2, ['a', 'a', 'b']])
  })

  it('P1 secrets are taken out before a checkpoint is put', async () => {
    const kept = createTexts()
    const secret = `sk-proj-${'a1B2c3D4e5F6g7H8'.repeat(3)}`
    const graph = new StateGraph({ text: last(''), key: last('') })
      .addNode('a', async (_state, run) => {
        await run.effect('call', { token: secret }, () => ({ answer: secret }))
        return { text: `my key is ${secret}` }
      })
      .addEdge(START, 'a')
      .compile({ checkpointer: kept.open() })
    await graph.invoke({ key: secret }, { threadId: 't' })
    const all = kept.puts.map((each) => JSON.stringify(each)).join()
    expect(all).toContain('my key is')
    expect(all).not.toContain(secret)
  })

  it('E1 values that JSON lacks come back as they were', async () => {
    const kept = createTexts()
    const open = () =>
      new StateGraph({ at: last<Date | null>(null), map: last<unknown>(null), answer: last('') })
        .addNode('make', () => ({ at: new Date(5), map: new Map([['k', new Set([1])]]) }))
        .addNode('ask', async (state) => ({
          answer: `${await interrupt<string>('?')} ${state.at?.getTime()}`,
        }))
        .addEdge(START, 'make')
        .addEdge('make', 'ask')
        .compile({ checkpointer: kept.open() })
    await open().invoke({}, { threadId: 't' })
    const { state } = await open().resume({ threadId: 't' }, { answer: 'yes' })
    expect(state).toEqual({ at: new Date(5), map: new Map([['k', new Set([1])]]), answer: 'yes 5' })
    expect((await open().getState({ threadId: 't' }, { superstep: 1 }))?.state.at).toEqual(new Date(5))
  })

  it('R9 three invocations at once on one thread of one process lose nothing', async () => {
    const kept = createTexts()
    const graph = new StateGraph({ seen: append<string>() })
      .addNode('a', async () => {
        await new Promise((resolve) => setTimeout(resolve, 5))
        return {}
      })
      .addEdge(START, 'a')
      .compile({ checkpointer: kept.open() })
    await Promise.all(
      ['x', 'y', 'z'].map((seen) => graph.invoke({ seen }, { threadId: 't', onBusy: 'wait' })),
    )
    const { state } = (await graph.getState({ threadId: 't' })) as { state: { seen: readonly string[] } }
    expect([...state.seen].sort()).toEqual(['x', 'y', 'z'])
    expect(await codeOf(Promise.all([1, 2].map(() => graph.invoke({}, { threadId: 't' }))))).toBe('busy')
  })

  it('R4 what another process did since is taken up', async () => {
    const kept = createTexts()
    const graph = (checkpointer: Checkpointer) =>
      new StateGraph({ seen: append<string>() })
        .addNode('a', () => ({}))
        .addEdge(START, 'a')
        .compile({ checkpointer })
    const here = graph(kept.open())
    await here.invoke({ seen: 'here' }, { threadId: 't' })
    await graph(kept.open()).invoke({ seen: 'there' }, { threadId: 't' })
    const { state } = await here.invoke({ seen: 'here again' }, { threadId: 't' })
    expect(state.seen).toEqual(['here', 'there', 'here again'])
  })

  it('R4 a run without a thread is kept under its own id', async () => {
    const kept = createTexts()
    const open = () =>
      new StateGraph({ seen: append<string>() })
        .addNode('ask', async () => ({ seen: await interrupt<string>('?') }))
        .addEdge(START, 'ask')
        .compile({ checkpointer: kept.open() })
    const { runId } = await open().invoke({})
    expect(kept.puts[0]?.threadId).toBe(runId)
    expect((await open().resume({ runId }, { answer: 'yes' })).state.seen).toEqual(['yes'])
  })

  it('R4 an older run of a thread is not gone on with by its id, but can be forked', async () => {
    const kept = createTexts()
    const ran: string[] = []
    const open = () =>
      new StateGraph({ seen: append<string>() })
        .addNode('a', () => (ran.push('a'), { seen: 'a' }))
        .addNode('b', () => (ran.push('b'), { seen: 'b' }))
        .addEdge(START, 'a')
        .addEdge('a', 'b')
        .compile({ checkpointer: kept.open() })
    const first = await open().invoke({}, { threadId: 't' })
    await open().invoke({}, { threadId: 't' })
    const forked = await open().fork({ runId: first.runId, threadId: 't', at: { step: 'b' } })
    expect([forked.state.seen, ran.join('')]).toEqual([['a', 'b'], 'ababb'])
  })

  it('R4 a checkpoint that was made by hand is gone on from', async () => {
    const kept = createTexts()
    const graph = new StateGraph({ n: last(0) })
      .addNode('a', (state) => ({ n: state.n + 1 }))
      .addNode('b', (state) => ({ n: state.n * 10 }))
      .addEdge(START, 'a')
      .addEdge('a', 'b')
    const made: Checkpoint = {
      id: 'by hand',
      parentId: null,
      threadId: 't',
      runId: 'r',
      superstep: 1,
      state: { n: 4 },
      next: ['b'],
      createdAt: '2026-11-15T00:00:00.000Z',
      metadata: {},
    }
    await kept.open().put(made)
    expect((await graph.compile({ checkpointer: kept.open() }).invoke(null, { threadId: 't' })).state.n).toBe(
      40,
    )
    const saver = new MemorySaver()
    await saver.put(made)
    await saver.put(made)
    const inMemory = graph.compile({ checkpointer: saver })
    expect(await saver.get({ threadId: 't' })).toMatchObject({ id: 'by hand', state: { n: 4 }, next: ['b'] })
    expect((await inMemory.invoke(null, { threadId: 't' })).state.n).toBe(40)
    expect((await inMemory.getState({ threadId: 't' }, { checkpointId: 'by hand' }))?.state.n).toBe(4)
  })

  it('R4 what is no checkpointer is refused by name of what it lacks', async () => {
    const graph = new StateGraph({ n: last(0) }).addNode('a', () => ({})).addEdge(START, 'a')
    expect(() => graph.compile({ checkpointer: { put: async () => {} } as never })).toThrow(/no method get/)
  })
})

describe('R4 MemorySaver', () => {
  it('R4 has put, get, list and the queries', async () => {
    const saver = new MemorySaver()
    const graph = new StateGraph({ n: last(0), word: last('') })
      .addNode('think', () => ({ n: 1, word: 'nightjar' }))
      .addEdge(START, 'think')
      .compile({ checkpointer: saver })
    const { runId } = await graph.invoke({}, { threadId: 't' })
    const all = await Array.fromAsync(saver.list({ threadId: 't' }))
    expect(all.map(({ superstep, next, parentId }) => [superstep, next.join(), parentId])).toEqual([
      [0, 'think', null],
      [1, '', all[0]?.id],
    ])
    expect(await saver.get({ threadId: 't' })).toEqual(all[1])
    expect(await saver.get({ threadId: 't', checkpointId: all[0]?.id })).toEqual(all[0])
    expect(await saver.get({ threadId: 'u', checkpointId: all[0]?.id })).toBeNull()
    expect(await saver.get({ threadId: 'u' })).toBeNull()
    expect((await saver.getSteps(runId)).map(({ nodeName }) => nodeName)).toEqual(['think'])
    expect((await saver.listRuns({ threadId: 't' })).runs.map((run) => run.runId)).toEqual([runId])
    expect(await saver.search('nightjar')).toMatchObject([
      { runId, nodeName: 'think', superstep: 1, checkpointId: all[1]?.id },
    ])
    expect(await saver.stats('t')).toMatchObject({ runs: 1, checkpoints: 2, growth: null })
    expect((await saver.lineage(runId)).runs).toMatchObject([{ runId, kind: 'start', from: null }])
  })

  it('R4 a history can be copied from one saver into another', async () => {
    const [from, to] = [new MemorySaver(), new MemorySaver()]
    const graph = new StateGraph({ seen: append<string>() })
      .addNode('a', () => ({ seen: 'a' }))
      .addEdge(START, 'a')
    await graph.compile({ checkpointer: from }).invoke({ seen: '1' }, { threadId: 't' })
    for await (const checkpoint of from.list({ threadId: 't' })) await to.put(checkpoint)
    const { state } = await graph.compile({ checkpointer: to }).invoke({ seen: '2' }, { threadId: 't' })
    expect(state.seen).toEqual(['1', 'a', '2', 'a'])
  })
})

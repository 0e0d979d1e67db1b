import type { ClewError, Ledger } from '@clew/ledger'
import { describe, expect, it } from 'vitest'
import {
  append,
  channel,
  END,
  interrupt,
  last,
  Message,
  messages,
  START,
  StateGraph,
} from '../../packages/runtime/src/index.ts'
import { createMemoryWorld } from '../../packages/runtime/test/memory-ledger.ts'
import { createLatch, flawsOf, KEPT_WORLDS } from './worlds.ts'

const codeOf = (error: unknown): string => (error as ClewError).code
const eventsOf = async (ledger: Ledger): Promise<number> => ledger.lastPosition()

describe.each(KEPT_WORLDS)('R5 threads of a graph, %s', (_, open) => {
  const { ledger, how } = open()

  const chat = (name = 'chat') =>
    new StateGraph({ messages: messages(), turns: last(0) })
      .addNode('reply', ({ messages: all, turns }) => ({
        messages: Message.ai(`reply to ${all.at(-1)?.content as string}`),
        turns: turns + 1,
      }))
      .addEdge(START, 'reply')
      .addEdge('reply', END)
      .compile({ name, checkpointer: ledger })

  it('R5 after a run that failed, invoke(null) goes on where it failed, and new input is refused with the call that helps', async () => {
    const threadId = `failing ${_.length}`
    let isBroken = true
    const graph = new StateGraph({ seen: append<string>() })
      .addNode('a', () => ({ seen: 'a' }))
      .addNode('b', () => {
        if (isBroken) throw new Error('not yet')
        return { seen: 'b' }
      })
      .addEdge(START, 'a')
      .addEdge('a', 'b')
      .compile({ checkpointer: ledger })
    const failed = await graph.invoke({ seen: 'in' }, { threadId, ...how })
    expect(failed.status).toBe('failed')
    const refused = { code: 'unfinished', fields: { runId: failed.runId, status: 'failed' } }
    for (const attempt of [
      () => graph.invoke({ seen: 'new' }, { threadId, ...how }),
      () => graph.stream({ seen: 'new' }, { threadId }).result,
    ])
      await expect(attempt()).rejects.toMatchObject({
        ...refused,
        hint: expect.stringContaining('retry({ runId })') as string,
      })
    await expect(graph.resume({ threadId }, how)).rejects.toMatchObject({
      code: 'not_resumable',
      hint: expect.stringContaining('retry') as string,
    })
    const again = await graph.invoke(null, { threadId, ...how })
    expect([again.status, again.state.seen]).toEqual(['failed', ['in', 'a']])
    const streamed = graph.stream(null, { threadId, mode: 'steps' })
    for await (const item of streamed) expect(item).toMatchObject({ type: 'step', name: 'b' })
    expect((await streamed.result).status).toBe('failed')
    isBroken = false
    const done = await graph.invoke(null, { threadId, ...how })
    expect([done.status, done.state.seen]).toEqual(['completed', ['in', 'a', 'b']])
    expect((await graph.invoke({ seen: 'next' }, { threadId, ...how })).state.seen).toEqual([
      'in',
      'a',
      'b',
      'next',
      'a',
      'b',
    ])
  })

  it('R5 new input is taken on the state that a failed run left when the call says so', async () => {
    const threadId = `given up ${_.length}`
    const graph = new StateGraph({ seen: append<string>() })
      .addNode('a', ({ seen }) => {
        if (seen.at(-1) === 'bad') throw new Error('bad')
        return { seen: 'a' }
      })
      .addEdge(START, 'a')
      .compile({ checkpointer: ledger })
    await graph.invoke({ seen: 'bad' }, { threadId, ...how })
    const next = await graph.invoke({ seen: 'good' }, { threadId, afterFailure: 'continue', ...how })
    expect(next.state.seen).toEqual(['bad', 'good', 'a'])
  })

  it('R5 after a run ended, the next invocation on the thread starts a new turn with the new input merged in', async () => {
    const graph = chat()
    const first = await graph.invoke({ messages: Message.human('one') }, { ...how, threadId: 'talk' })
    const second = await graph.invoke({ messages: Message.human('two') }, { ...how, threadId: 'talk' })
    const texts = second.state.messages.map(({ content }) => content)
    expect(texts).toEqual(['one', 'reply to one', 'two', 'reply to two'])
    expect([second.state.turns, second.runId === first.runId]).toEqual([2, false])
    expect(new Set(second.state.messages.map(({ id }) => id)).size).toBe(4)
    expect(await flawsOf(ledger, second.runId)).toEqual([])
    const other = await graph.invoke({ messages: Message.human('three') }, { ...how, threadId: 'other talk' })
    expect(other.state.messages).toHaveLength(2)
  })

  it('R5 another view of the ledger, which has nothing in memory, sees the same thread', async () => {
    const world = createMemoryWorld()
    const make = (kept: Ledger) => chat('views').withCheckpointer(kept)
    await make(world.open()).invoke({ messages: Message.human('one') }, { ...how, threadId: 't' })
    await make(world.open()).invoke({ messages: Message.human('two') }, { ...how, threadId: 't' })
    const { state } = await make(world.open()).invoke(
      { messages: Message.human('three') },
      { ...how, threadId: 't' },
    )
    expect([state.turns, state.messages.length]).toEqual([3, 6])
  })

  it('R5 140 turns fold to the same state, whatever the depth', async () => {
    const graph = new StateGraph({ seen: append<number>(), n: last(0) })
      .addNode('a', ({ n }) => ({ seen: n, n: n + 1 }))
      .addEdge(START, 'a')
      .compile({ name: 'deep', checkpointer: ledger })
    let runId = ''
    for (let turn = 0; turn < 140; turn++)
      runId = (await graph.invoke({}, { ...how, threadId: 'deep' })).runId
    const folded = await ledger.getState(runId)
    expect(folded?.state).toEqual({ seen: Array.from({ length: 140 }, (_item, at) => at), n: 140 })
    expect(folded?.versions).toEqual({ seen: 140, n: 140 })
  })

  it('R5 new input on a paused thread is refused and nothing is written', async () => {
    const graph = new StateGraph({ way: append<string>() })
      .addNode('ask', async () => ({ way: await interrupt<string>('?') }))
      .addEdge(START, 'ask')
      .compile({ name: 'asks', checkpointer: ledger })
    const { runId } = await graph.invoke({ way: 'one' }, { ...how, threadId: 'paused' })
    const before = await eventsOf(ledger)
    await expect(graph.invoke({ way: 'two' }, { ...how, threadId: 'paused' })).rejects.toMatchObject({
      code: 'unfinished',
    })
    await expect(graph.invoke(null, { ...how, threadId: 'paused' })).rejects.toMatchObject({
      code: 'not_resumable',
    })
    expect(await eventsOf(ledger)).toBe(before)
    expect((await ledger.listRuns({ threadId: 'paused' })).runs.map((run) => run.runId)).toEqual([runId])
    const done = await graph.resume({ threadId: 'paused' }, { ...how, answer: 'yes' })
    expect(done.state.way).toEqual(['one', 'yes'])
  })

  /** Three at once, the first held up until the others have been tried. */
  async function three(onBusy: 'reject' | 'wait'): Promise<PromiseSettledResult<string>[]> {
    const begun = createLatch()
    const goOn = createLatch()
    const graph = new StateGraph({ said: append<string>(), done: append<string>() })
      .addNode('work', async ({ said }) => {
        begun.open()
        await goOn.opened
        return { done: `done ${said.at(-1)}` }
      })
      .addEdge(START, 'work')
      .compile({ name: `three ${onBusy}`, checkpointer: ledger })
    const threadId = `three ${onBusy}`
    const say = (text: string) =>
      graph.invoke({ said: text }, { ...how, threadId, onBusy }).then(({ state }) => state.done.join())
    const first = say('1')
    await begun.opened
    const others = [say('2'), say('3')]
    if (onBusy === 'reject') await Promise.allSettled(others)
    goOn.open()
    return Promise.allSettled([first, ...others])
  }

  it('R9 three concurrent invocations on one thread: two clear errors, nothing lost', async () => {
    const [first, ...others] = await three('reject')
    expect(first).toEqual({ status: 'fulfilled', value: 'done 1' })
    for (const other of others) {
      expect(other.status).toBe('rejected')
      if (other.status === 'rejected') expect(codeOf(other.reason)).toBe('busy')
    }
    expect((await ledger.listRuns({ threadId: 'three reject' })).runs).toHaveLength(1)
  })

  it('R9 three concurrent invocations that wait: all three, in order, nothing lost', async () => {
    const results = await three('wait')
    expect(results).toEqual([
      { status: 'fulfilled', value: 'done 1' },
      { status: 'fulfilled', value: 'done 1,done 2' },
      { status: 'fulfilled', value: 'done 1,done 2,done 3' },
    ])
  })

  it('R5 a graph that has changed is refused on resume, and nothing is written', async () => {
    const builder = () =>
      new StateGraph({ way: append<string>() })
        .addNode('ask', async () => ({ way: await interrupt<string>('?') }))
        .addNode('a', () => ({ way: 'a' }))
        .addEdge(START, 'ask')
    const old = builder().addEdge('ask', 'a').compile({ name: 'changes', checkpointer: ledger })
    const changed = builder()
      .addNode('b', () => ({ way: 'b' }))
      .addEdge('ask', 'b')
      .addEdge('b', 'a')
      .compile({ name: 'changes', checkpointer: ledger })
    const { runId } = await old.invoke({}, how)
    const before = await eventsOf(ledger)
    await expect(changed.resume({ runId }, { ...how, answer: 'x' })).rejects.toThrow(/has changed/)
    const renamed = builder().addEdge('ask', 'a').compile({ name: 'another', checkpointer: ledger })
    await expect(renamed.resume({ runId }, { ...how, answer: 'x' })).rejects.toMatchObject({
      code: 'not_resumable',
    })
    expect(await eventsOf(ledger)).toBe(before)
    expect((await old.resume({ runId }, { ...how, answer: 'x' })).state.way).toEqual(['x', 'a'])
  })

  it('R5 an unknown run or thread, a slash in an id, and an id that is taken are refused', async () => {
    const graph = chat('ids')
    await expect(graph.resume({ runId: 'nobody' }, how)).rejects.toMatchObject({ code: 'not_found' })
    await expect(graph.resume({ threadId: 'nobody' }, how)).rejects.toMatchObject({ code: 'not_found' })
    await expect(graph.invoke({}, { ...how, runId: 'a/b' })).rejects.toMatchObject({ code: 'bad_option' })
    await graph.invoke({}, { ...how, runId: 'taken' })
    await expect(graph.invoke({}, { ...how, runId: 'taken' })).rejects.toMatchObject({ code: 'conflict' })
    await expect(graph.resume({ runId: 'taken' }, how)).rejects.toThrow(/has completed/)
  })

  it('R3 messages merge by id: a known one is replaced in its place, a removed one is gone', async () => {
    const graph = new StateGraph({ talk: messages() })
      .addNode('edit', () => ({
        talk: [Message.ai('better', { id: 'b' }), Message.remove('a'), Message.ai('new', { id: 'c' })],
      }))
      .addEdge(START, 'edit')
      .compile({ name: 'merge', checkpointer: ledger })
    const input = [Message.human('x', { id: 'a' }), Message.ai('y', { id: 'b' })]
    const { state, runId } = await graph.invoke({ talk: input }, how)
    const told = [state.talk, (await ledger.getState(runId))?.state['talk'] as typeof state.talk]
    for (const talk of told)
      expect(talk.map(({ id, content }) => `${id} ${content as string}`)).toEqual(['b better', 'c new'])
  })

  it('R3 a channel with its own merge rule folds without calling it', async () => {
    const graph = new StateGraph({
      sum: channel({ initial: 10, merge: (before: number, write: number) => before + write }),
    })
      .addNode('a', () => ({ sum: 1 }))
      .addNode('b', () => ({ sum: 2 }))
      .addEdge(START, 'a')
      .addEdge(START, 'b')
      .compile({ name: 'sum', checkpointer: ledger })
    const { state, runId } = await graph.invoke({}, { ...how, threadId: 'sum' })
    expect([state.sum, (await ledger.getState(runId))?.state]).toEqual([13, { sum: 13 }])
    expect((await graph.invoke({ sum: 100 }, { ...how, threadId: 'sum' })).state.sum).toBe(116)
  })

  it('P2 a secret in the state is not stored, and a resume that would need it is blocked, naming where', async () => {
    const key = `sk-ant-api03-${'a1B2c3D4e5'.repeat(9)}`
    const seen: string[] = []
    const graph = new StateGraph({ key: last(''), way: append<string>() })
      .addNode('make', () => ({ key }))
      .addNode('use', ({ key: given }) => {
        seen.push(given)
        return { way: 'used' }
      })
      .addNode('ask', async () => ({ way: await interrupt<string>('?') }))
      .addNode('end', ({ key: given }) => {
        seen.push(given)
        return { way: 'end' }
      })
      .addEdge(START, 'make')
      .addEdge('make', 'use')
      .addEdge('use', 'ask')
      .addEdge('ask', 'end')
      .compile({ name: 'secret', checkpointer: ledger })
    const paused = await graph.invoke({}, how)
    const texts: string[] = []
    for await (const event of ledger.read(paused.runId)) texts.push(JSON.stringify(event))
    expect(texts.join('\n')).not.toContain(key)
    const done =
      paused.status === 'paused'
        ? await graph.resume({ runId: paused.runId }, { ...how, answer: 'go' })
        : paused
    expect(done.status).toBe('blocked')
    expect(done.divergence).toMatchObject({
      kind: 'redacted',
      expected: expect.stringContaining('key') as string,
    })
    for (const given of seen) expect(given).toBe(key)
  })
})

describe('P2 the next turn of a thread, in another process', () => {
  const key = ['sk', 'ant', 'api03', 'a'.repeat(80)].join('-')

  it('P2 is not given a placeholder as a value, unless the input overwrites it; the path is named, nothing is written', async () => {
    const world = createMemoryWorld()
    const seen: string[] = []
    const graph = (ledger: Ledger) =>
      new StateGraph({ key: last(''), way: append<string>() })
        .addNode('use', ({ key: given }) => {
          seen.push(given)
          return { way: given.slice(0, 2) }
        })
        .addEdge(START, 'use')
        .addEdge('use', END)
        .compile({ name: 'secret', checkpointer: ledger })
    const first = graph(world.open())
    await first.invoke({ key }, { threadId: 't' })
    // Here it is still at hand.
    expect((await first.invoke({}, { threadId: 't' })).status).toBe('completed')
    const ledger = world.open()
    const [before, second] = [await eventsOf(ledger), graph(ledger)]
    const refused: unknown = await second
      .invoke({ way: 'x' }, { threadId: 't' })
      .catch((error: unknown) => error)
    expect(refused).toMatchObject({ code: 'not_resumable', fields: { threadId: 't', path: '$.key' } })
    expect([await eventsOf(ledger), await ledger.leases.list()]).toEqual([before, []])
    expect((await second.invoke({ key: 'new' }, { threadId: 't' })).status).toBe('completed')
    expect(seen).toEqual([key, key, 'new'])
  })
})

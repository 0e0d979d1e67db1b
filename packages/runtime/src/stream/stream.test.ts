import { describe, expect, it } from 'vitest'
import { createMemoryWorld } from '../../test/memory-ledger.ts'
import { append, END, interrupt, isPauseItem, last, Message, messages, START, StateGraph } from '../index.ts'

const WORLDS = [
  ['without a ledger', () => ({ ledger: undefined, how: {} })],
  ['in memory', () => ({ ledger: createMemoryWorld().open(), how: {} })],
  ['suspended at every await', () => ({ ledger: createMemoryWorld().open(), how: { suspendAlways: true } })],
] as const

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const list: Item[] = []
  for await (const item of items) list.push(item)
  return list
}

const inner = new StateGraph({ talk: messages(), way: append<string>() })
  .addNode('think', (_state, run) => {
    run.token('he')
    run.token('llo')
    run.emit({ half: 1 })
    return { talk: Message.ai('hello', { id: 'm1' }), way: 'think' }
  })
  .addEdge(START, 'think')
  .compile({ name: 'inner' })

describe.each(WORLDS)('R12 streams of a graph, %s', (_, open) => {
  const { ledger, how } = open()
  const graph = new StateGraph({ talk: messages(), n: last(0), way: append<string>() })
    .addNode('a', ({ n }) => ({ n: n + 1, way: 'a' }))
    .addNode('b', async () => ({ way: 'b' }))
    .addNode('sub', inner)
    .addNode('end', () => {})
    .addGate('gate', () => 'end', ['end', END])
    .addEdge(START, 'a')
    .addEdge(START, 'b')
    .addEdge(['a', 'b'], 'sub')
    .addEdge('sub', 'gate')
    .compile({ name: 'streamed', checkpointer: ledger })

  it('R12 values: the state after the input, then after each superstep', async () => {
    const states = await collect(graph.stream({ n: 1 }, { ...how, mode: 'values' }))
    expect(states.map(({ n, way }) => [n, way.join('')])).toEqual([
      [1, ''],
      [2, 'ab'],
      [2, 'abthink'],
      [2, 'abthink'],
      [2, 'abthink'],
    ])
  })

  it('R12 a stream in mode updates yields what the node wrote, not the state before it', async () => {
    const stream = graph.stream({ n: 1 }, how)
    expect(await collect(stream)).toEqual([
      { a: { n: 2, way: 'a' } },
      { b: { way: 'b' } },
      { sub: { talk: [expect.objectContaining({ content: 'hello' })], way: ['think'] } },
      { end: null },
    ])
    expect((await stream.result).status).toBe('completed')
  })

  it('R12 messages: tokens as they come, with step, node and superstep; whole messages once', async () => {
    const stream = graph.stream({ talk: Message.human('hi', { id: 'm0' }) }, { ...how, mode: 'messages' })
    const items = await collect(stream)
    const { runId } = await stream.result
    const place = { stepId: 'think@s1', node: 'think', superstep: 1, namespace: ['sub@s2'] }
    expect(items).toEqual([
      { type: 'token', text: 'he', runId: `${runId}/sub@s2`, ...place },
      { type: 'token', text: 'llo', runId: `${runId}/sub@s2`, ...place },
      {
        type: 'message',
        message: { id: 'm1', role: 'ai', content: 'hello' },
        runId: `${runId}/sub@s2`,
        ...place,
      },
    ])
  })

  it('R12 steps: each as it begins and ends, those of sub-graphs with their run', async () => {
    const items = await collect(graph.stream({}, { ...how, mode: 'steps' }))
    const told = items.map((item) =>
      isPauseItem(item) ? '' : `${item.namespace.join()} ${item.stepId} ${item.status}`,
    )
    for (const [name, space] of [
      ['a@s1', ''],
      ['b@s1', ''],
      ['sub@s2', ''],
      ['think@s1', 'sub@s2'],
      ['end@s4', ''],
    ] as const) {
      const [running, completed] = ['running', 'completed'].map((status) =>
        told.indexOf(`${space} ${name} ${status}`),
      )
      expect([name, (running ?? -1) >= 0, (completed ?? -1) > (running ?? -1)]).toEqual([name, true, true])
    }
    expect(told.filter((text) => text === ' a@s1 completed')).toHaveLength(1)
    expect(Object.keys(items[0] ?? {})).not.toContain('fields')
  })

  it('R12 custom: what run.emit tells', async () => {
    expect(await collect(graph.stream({}, { ...how, mode: 'custom' }))).toEqual([{ half: 1 }])
  })

  it('R12 a list of modes tells each item with its mode', async () => {
    const items = await collect(graph.stream({ n: 1 }, { ...how, mode: ['values', 'updates', 'custom'] }))
    expect(items.map(([mode]) => mode).join(' ')).toBe(
      'values updates updates values custom updates values values updates values',
    )
  })

  it('R12 with children, values and updates of sub-graphs too, each with the run they come from', async () => {
    const stream = graph.stream({}, { ...how, mode: 'updates', children: true })
    const items = await collect(stream)
    const { runId } = await stream.result
    expect(
      items.map(([, update, origin]) => [Object.keys(update)[0], origin.runId, origin.namespace]),
    ).toEqual([
      ['a', runId, []],
      ['b', runId, []],
      ['think', `${runId}/sub@s2`, ['sub@s2']],
      ['sub', runId, []],
      ['end', runId, []],
    ])
  })

  it('R12 an unknown mode is an error before anything runs', async () => {
    await expect(collect(graph.stream({}, { mode: 'all' as 'values' }))).rejects.toMatchObject({
      code: 'bad_option',
    })
    await expect(graph.stream({}, { mode: [] }).result).rejects.toMatchObject({ code: 'bad_option' })
  })

  it('R12 leaving the loop stops the run; what it had told before stands', async () => {
    let worked = 0
    const endless = new StateGraph({ n: last(0) })
      .addNode('inc', async ({ n }) => {
        worked++
        await new Promise((resolve) => void setTimeout(resolve, 1))
        return { n: n + 1 }
      })
      .addEdge(START, 'inc')
      .addEdge('inc', 'inc')
      .compile({ name: 'endless', checkpointer: ledger, recursionLimit: 100_000 })
    const stream = endless.stream({}, { ...how, mode: 'values' })
    for await (const { n } of stream) if (n === 3) break
    const result = await stream.result
    expect([result.status, result.error?.message]).toEqual(['stopped', 'the reader of its stream left'])
    const before = worked
    await new Promise((resolve) => void setTimeout(resolve, 10))
    expect(worked).toBe(before)
    if (ledger) expect((await ledger.getRun(result.runId))?.status).toBe('stopped')
  })

  it('R12 an AbortSignal ends the stream with a stopped run, without an error', async () => {
    const abort = new AbortController()
    const waiting = new StateGraph({ n: last(0) })
      .addNode('wait', async (_state, run) => {
        await new Promise<void>((resolve) => run.signal.addEventListener('abort', () => resolve()))
      })
      .addEdge(START, 'wait')
      .compile({ name: 'waiting', checkpointer: ledger })
    const stream = waiting.stream({}, { ...how, mode: 'steps', signal: abort.signal })
    for await (const item of stream)
      if (!isPauseItem(item) && item.status === 'running') abort.abort('enough')
    expect((await stream.result).status).toBe('stopped')
  })

  it('R12 a failed run ends its stream; its result says why', async () => {
    const bad = new StateGraph({ n: last(0) })
      .addNode('a', () => ({ n: 1 }))
      .addNode('bad', () => {
        throw new Error('no')
      })
      .addEdge(START, 'a')
      .addEdge('a', 'bad')
      .compile({ name: 'bad', checkpointer: ledger })
    const stream = bad.stream({}, how)
    expect(await collect(stream)).toEqual([{ a: { n: 1 } }])
    expect(await stream.result).toMatchObject({ status: 'failed', error: { message: 'no' } })
  })
})

describe('R12 streams and the record', () => {
  const ledger = createMemoryWorld().open()
  const asking = new StateGraph({ way: append<string>() })
    .addNode('a', () => ({ way: 'a' }))
    .addNode('ask', async (_state, run) => {
      await run.effect('once', 1, () => 1)
      return { way: await interrupt<string>('ok?') }
    })
    .addEdge(START, 'a')
    .addEdge('a', 'ask')
    .compile({ name: 'asking', checkpointer: ledger })

  it('R6 streams report a pause as a pause, not as an error, and end', async () => {
    const stream = asking.stream({}, { threadId: 't' })
    const items = await collect(stream)
    const pause = items.at(-1)
    expect([items[0], isPauseItem(pause)]).toEqual([{ a: { way: 'a' } }, true])
    if (isPauseItem(pause)) expect(pause.pause?.question).toEqual({ question: 'ok?' })
    expect((await stream.result).status).toBe('paused')
    const listed = await collect(asking.stream({}, { mode: ['values', 'events'] }))
    expect(listed.at(-1)?.[0]).toBe('pause')
    expect(listed.filter(([mode]) => mode === 'pause')).toHaveLength(1)
  })

  it('R12 restored work emits no execution items on resume', async () => {
    const { runId } = await asking.invoke({})
    const steps = await collect(
      asking.streamResume({ runId }, { answer: 'x', mode: ['steps', 'values', 'updates'] }),
    )
    const told = steps.map(([mode, data]) =>
      mode === 'steps' && !isPauseItem(data)
        ? `${data.stepId} ${data.status}`
        : `${mode} ${JSON.stringify(data)}`,
    )
    expect(told).toEqual([
      'ask@s2/interrupt#0 completed',
      'updates {"ask":{"way":"x"}}',
      'ask@s2 completed',
      'values {"way":["a","x"]}',
    ])
  })

  it('R12 invoke(null) as a stream goes on with the thread; new input on it is refused in the loop', async () => {
    const gated = new StateGraph({ way: append<string>() })
      .addNode('a', () => ({ way: 'a' }))
      .addEdge(START, 'a')
      .compile({ name: 'gated', checkpointer: ledger, interruptBefore: ['a'] })
    await gated.invoke({}, { threadId: 'gated' })
    const refused = gated.stream({}, { threadId: 'gated' })
    await expect(collect(refused)).rejects.toMatchObject({ code: 'unfinished' })
    expect(await collect(gated.stream(null, { threadId: 'gated' }))).toEqual([{ a: { way: 'a' } }])
  })

  it('R12 events: as they are stored, each once and in order', async () => {
    const stream = asking.stream({}, { mode: 'events' })
    const told = await collect(stream)
    const { runId } = await stream.result
    const stored = await collect(ledger.read(runId))
    expect(told.map(({ eventId, ledger: { seq } }) => [seq, eventId])).toEqual(
      stored.map(({ eventId, ledger: { seq } }) => [seq, eventId]),
    )
  })

  it('R12 an item is told when it is committed, not before', async () => {
    const stream = asking.stream({}, { mode: ['updates', 'events'] })
    const completed = new Set<unknown>()
    for await (const [mode, data] of stream) {
      if (mode === 'events' && data.eventType === 'execution.step_completed')
        completed.add(data.payload['stepId'])
      if (mode === 'updates' && !isPauseItem(data))
        expect(completed.has(`${Object.keys(data)[0]}@s1`)).toBe(true)
    }
    expect(completed.size).toBe(2)
  })

  it('R12 a slow reader loses nothing and holds up nothing', async () => {
    const busy = new StateGraph({ n: last(0) })
      .addNode('inc', ({ n }, run) => {
        run.emit(n)
        return { n: n + 1 }
      })
      .addEdge(START, 'inc')
      .addConditionalEdges('inc', ({ n }) => (n < 3000 ? 'inc' : END), ['inc', END])
      .compile({ name: 'busy', recursionLimit: 5000 })
    const stream = busy.stream({}, { mode: 'custom' })
    expect((await stream.result).state.n).toBe(3000)
    expect(await collect(stream)).toEqual(Array.from({ length: 3000 }, (_, n) => n))
    expect(await stream.next()).toMatchObject({ done: true, value: { status: 'completed' } })
  })
})

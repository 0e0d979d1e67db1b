import type { Ledger } from '@clew/ledger'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createMemoryWorld } from '../../test/memory-ledger.ts'
import { agent, append, END, interrupt, last, requestStop, START, StateGraph } from '../index.ts'

const WORLDS = [
  ['without a ledger', () => ({ ledger: undefined, how: {} })],
  ['in memory', () => ({ ledger: createMemoryWorld().open(), how: {} })],
  ['suspended at every await', () => ({ ledger: createMemoryWorld().open(), how: { suspendAlways: true } })],
] as const

const wait = (ms: number) => new Promise((resolve) => void setTimeout(resolve, ms))

/** Fails on every seventh, and ends in another order than it begins. */
const reader = (
  ledger: Ledger | undefined,
  ran: number[] = [],
  fails = (n: number): boolean => n % 7 === 0,
) =>
  new StateGraph({ n: last(0), text: append<string>() })
    .addNode('read', async ({ n }) => {
      ran.push(n)
      await wait((n * 13) % 5)
      if (fails(n)) throw Object.assign(new Error(`page ${n}`), { code: 'E_READ' })
      return { text: `text ${n}` }
    })
    .addEdge(START, 'read')
    .addEdge('read', END)
    .compile({ name: 'reader', checkpointer: ledger })

describe.each(WORLDS)('R8 maps, %s', (_, open) => {
  const { ledger, how } = open()

  it('R8 500 items with failures: results in the order of items, whatever the order of completion', async () => {
    const items = Array.from({ length: 500 }, (_item, n) => ({ n }))
    const told: number[] = []
    const result = await reader(ledger).map(items, {
      ...how,
      concurrency: 16,
      onProgress: ({ item, done, total }) => {
        expect([done, total]).toEqual([told.length + 1, 500])
        told.push(item.index)
      },
    })
    expect(result.status).toBe('partial')
    expect(result.items.map(({ index }) => index)).toEqual(items.map(({ n }) => n))
    expect(result.column('text').map((text) => text?.[0])).toEqual(
      items.map(({ n }) => (n % 7 === 0 ? undefined : `text ${n}`)),
    )
    expect(result.errors().map(({ error }) => error?.code)).toEqual(
      Array.from({ length: 72 }, () => 'E_READ'),
    )
    expect(told).not.toEqual(told.toSorted((a, b) => a - b))
    expect(result.items[1]?.log?.steps).toHaveLength(1)
    if (!ledger) return
    const run = await ledger.getRun(result.runId ?? '')
    expect(run).toMatchObject({ status: 'partial', agent: 'reader map', steps: 500, errors: 72 })
    expect(result.items[3]?.runId).toBe(`${result.runId}/reader.i3`)
    expect(await ledger.getRun(`${result.runId}/reader.i3`)).toMatchObject({
      status: 'completed',
      agent: 'reader',
      parentRunId: result.runId,
    })
    expect((await ledger.verify(undefined, { projections: true })).problems).toEqual([])
  })

  it('R8 never more at work than the concurrency', async () => {
    let now = 0
    let most = 0
    const graph = new StateGraph({ n: last(0) })
      .addNode('work', async () => {
        most = Math.max(most, ++now)
        await wait(1)
        now--
        return { n: 1 }
      })
      .addEdge(START, 'work')
      .compile({ name: 'at work', checkpointer: ledger })
    const result = await graph.map(
      Array.from({ length: 20 }, () => ({})),
      { concurrency: 3 },
    )
    expect([result.status, most]).toEqual(['completed', 3])
    await expect(graph.map([{}], { concurrency: 0 })).rejects.toMatchObject({ code: 'bad_option' })
  })

  it('R8 zipped inputs go side by side, with the rest the same in each item', async () => {
    const graph = new StateGraph({ page: last(''), depth: last(0), model: last(''), out: last('') })
      .addNode('a', ({ page, depth, model }) => ({ out: `${page}${depth}${model}` }))
      .addEdge(START, 'a')
      .compile({ name: 'zipped', checkpointer: ledger })
    const result = await graph.map({ page: ['a', 'b'], depth: [1, 2], model: 'small' }, how)
    expect(result.column('out')).toEqual(['a1small', 'b2small'])
    await expect(graph.map({ page: ['a'], depth: [1, 2] }, how)).rejects.toThrow(/cannot be zipped/)
  })

  it('R8 no items: completed', async () => {
    expect((await reader(ledger).map([], how)).status).toBe('completed')
  })

  it('R8 stopOnError begins nothing after the first failure; the rest is unstarted and the map stopped', async () => {
    const ran: number[] = []
    const items = [1, 2, 7, 3, 4, 5, 6, 8, 9].map((n) => ({ n }))
    const result = await reader(ledger, ran).map(items, { ...how, concurrency: 1, stopOnError: true })
    expect(result.items.map(({ status }) => status)).toEqual([
      'completed',
      'completed',
      'failed',
      ...Array.from({ length: 6 }, () => 'unstarted'),
    ])
    expect([result.status, [...new Set(ran)]]).toEqual(['stopped', [1, 2, 7]])
    if (ledger) expect((await ledger.getRun(result.runId ?? ''))?.status).toBe('stopped')
  })

  it('R8 a signal stops the map: what is at work ends as stopped, the rest is not begun', async () => {
    const abort = new AbortController()
    const graph = new StateGraph({ n: last(0) })
      .addNode('work', async ({ n }, run) => {
        if (n < 2) return
        await new Promise<void>((resolve) => {
          run.signal.addEventListener('abort', () => resolve())
          abort.abort(new Error('enough'))
        })
      })
      .addEdge(START, 'work')
      .compile({ name: 'signalled', checkpointer: ledger })
    const items = [0, 1, 2, 3, 4].map((n) => ({ n }))
    const result = await graph.map(items, { ...how, concurrency: 1, signal: abort.signal })
    expect(result.items.map(({ status }) => status)).toEqual([
      'completed',
      'completed',
      'stopped',
      'unstarted',
      'unstarted',
    ])
    expect(result.status).toBe('stopped')
  })
})

describe('R8 maps and the record', () => {
  const ledger = createMemoryWorld().open()
  const asking = agent('asking', async (run, { n }: { n: number }) =>
    n === 1 ? run.interrupt<string>({ question: 'one?', options: ['yes', 'no'] }) : `${n}`,
  )

  it('R6 R8 an item that pauses makes the map paused, with its question; answers go to the item', async () => {
    const items = [0, 1, 2].map((n) => ({ n }))
    const first = await asking.map(ledger, items, { runId: 'asks' })
    expect([first.status, first.outputs()]).toEqual(['paused', ['0', undefined, '2']])
    const pauseId = first.items[1]?.pauses[0]?.pauseId ?? ''
    expect(await ledger.getRun('asks')).toMatchObject({ status: 'paused', pauses: [{ pauseId }] })
    const before = await ledger.lastPosition()
    await expect(asking.map(ledger, items, { runId: 'asks' })).rejects.toMatchObject({
      code: 'not_resumable',
    })
    await expect(
      asking.map(ledger, items, { runId: 'asks', answers: { [pauseId]: 'maybe' } }),
    ).rejects.toMatchObject({
      code: 'bad_answer',
    })
    await expect(asking.map(ledger, items, { runId: 'asks', answers: { nobody: 1 } })).rejects.toThrow(
      /not open/,
    )
    expect(await ledger.lastPosition()).toBe(before)
    const done = await asking.map(ledger, items, { runId: 'asks', answers: { [pauseId]: 'yes' } })
    expect([done.status, done.outputs()]).toEqual(['completed', ['0', 'yes', '2']])
    expect(done.items.map(({ restored }) => restored)).toEqual([true, false, true])
    expect(await ledger.getRun('asks')).toMatchObject({ status: 'completed', pauses: [] })
    await expect(asking.map(ledger, items, { runId: 'asks' })).rejects.toThrow(/has ended as completed/)
  })

  it('R6 R8 a question of an item whose time is over gets its default; a later answer is refused', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    const timed = agent('timed', (run, { n }: { n: number }) =>
      run.interrupt({ question: `${n}?`, timeoutMs: 60_000 * n, default: 'late' }),
    )
    const items = [1, 10].map((n) => ({ n }))
    const first = await timed.map(ledger, items, { runId: 'timed' })
    const [soon, later] = first.items.map(({ pauses }) => pauses[0]?.pauseId ?? '')
    vi.setSystemTime(Date.now() + 120_000)
    await expect(
      timed.map(ledger, items, { runId: 'timed', answers: { [soon ?? '']: 'yes' } }),
    ).rejects.toMatchObject({ code: 'too_late' })
    const second = await timed.map(ledger, items, { runId: 'timed' })
    expect(second.outputs()).toEqual(['late', undefined])
    const third = await timed.map(ledger, items, { runId: 'timed', answers: { [later ?? '']: 'yes' } })
    expect(third.outputs()).toEqual(['late', 'yes'])
  })

  it('R8 an item that was answered as a run of its own is found so', async () => {
    const items = [0, 1].map((n) => ({ n }))
    const first = await asking.map(ledger, items, { runId: 'aside' })
    await asking.resume(ledger, first.items[1]?.runId ?? '', { answer: 'no' })
    const done = await asking.map(ledger, items, { runId: 'aside' })
    expect([done.status, done.outputs()]).toEqual(['completed', ['0', 'no']])
    expect((await ledger.getRun('aside'))?.pauses).toEqual([])
  })

  it('R8 retryOf takes completed items over and runs the others again, leaving the first map as it was', async () => {
    const ran: number[] = []
    const items = Array.from({ length: 15 }, (_, n) => ({ n }))
    const first = await reader(ledger, ran).map(items)
    ran.length = 0
    const again = await reader(ledger, ran, (n) => n === 14).map(items, { retryOf: first.runId ?? '' })
    expect([ran, again.status]).toEqual([[0, 7, 14], 'partial'])
    expect(again.items.filter(({ restored }) => restored)).toHaveLength(12)
    expect(again.items[1]?.runId).toBe(first.items[1]?.runId)
    expect((await ledger.getRun(first.runId ?? ''))?.status).toBe('partial')
    await expect(reader(ledger).map(items, { retryOf: 'nobody' })).rejects.toMatchObject({
      code: 'not_found',
    })
  })

  it('R8 all failed is failed; a stop from outside is stopped; an id of something else is refused', async () => {
    const failed = await reader(ledger, [], () => true).map([{ n: 1 }, { n: 2 }])
    expect(await ledger.getRun(failed.runId ?? '')).toMatchObject({
      status: 'failed',
      error: { code: 'items_failed', message: '2 of 2 items failed' },
    })
    const slow = agent('slow', async (run) => {
      await new Promise<void>((resolve) => run.signal.addEventListener('abort', () => resolve()))
    })
    const running = slow.map(ledger, [null, null], { runId: 'slow map', concurrency: 1 })
    while (!(await ledger.getRun('slow map/slow.i0'))) await wait(1)
    await requestStop(ledger, 'slow map', { reason: 'enough' })
    expect((await running).items.map(({ status }) => status)).toEqual(['stopped', 'unstarted'])
    expect((await ledger.getRun('slow map'))?.status).toBe('stopped')
    await asking.start(ledger, { n: 0 }, { runId: 'other' })
    await expect(asking.map(ledger, [], { runId: 'other' })).rejects.toMatchObject({ code: 'conflict' })
    await expect(asking.map(ledger, [], { runId: 'a/b' })).rejects.toMatchObject({ code: 'bad_option' })
  })

  it('R8 a map on a thread is no turn of it: the state of the conversation stays', async () => {
    const graph = new StateGraph({ n: last(0) })
      .addNode('inc', ({ n }) => ({ n: n + 1 }))
      .addEdge(START, 'inc')
      .compile({ name: 'counter', checkpointer: ledger })
    await graph.invoke({}, { threadId: 'mapped' })
    await graph.map([{}, {}], { threadId: 'mapped' })
    expect((await graph.invoke({}, { threadId: 'mapped' })).state.n).toBe(2)
  })

  it('R8 an input that cannot be stored is refused before anything is begun', async () => {
    const before = await ledger.lastPosition()
    await expect(asking.map(ledger, [{ n: 0 }, { n: (() => 1) as never }])).rejects.toMatchObject({
      code: 'bad_value',
    })
    expect(await ledger.lastPosition()).toBe(before)
  })
})

it('R8 an interrupt in a map without a ledger fails its item', async () => {
  const graph = new StateGraph({ way: last('') })
    .addNode('ask', async () => ({ way: await interrupt<string>('?') }))
    .addEdge(START, 'ask')
    .compile()
  const result = await graph.map([{}])
  expect([result.status, result.items[0]?.error?.message]).toEqual([
    'failed',
    expect.stringMatching(/cannot pause/),
  ])
})

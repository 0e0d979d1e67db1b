import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { END, START, StateGraph } from '@langchain/langgraph'
import { type Ledger, openLedger } from 'clew'
import { ClewSaver } from 'clew/langgraph'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { collect, talk, Talk, thread } from './graphs.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void
function heapAfterCollection(): number {
  collectGarbage()
  return process.memoryUsage().heapUsed
}

let ledger: Ledger
beforeEach(async () => {
  ledger = await openLedger('memory:')
})
afterEach(() => ledger.close())

describe('A4 threads', () => {
  it('deleteThread leaves nothing, nothing comes back, and the thread can begin again', async () => {
    const saver = new ClewSaver(ledger)
    const graph = talk(saver)
    await graph.invoke({ lines: ['old'] }, thread('t'))
    const old = (await graph.getState(thread('t'))).config
    await graph.invoke({ lines: ['other'] }, thread('u'))
    const other = new ClewSaver(ledger)
    await other.getTuple(thread('t'))
    await saver.deleteThread('t')
    for (const each of [saver, other, new ClewSaver(ledger)]) {
      expect(await each.getTuple(thread('t'))).toBeUndefined()
      expect(await each.getTuple(old)).toBeUndefined()
      expect(await collect(each.list(thread('t')))).toEqual([])
      expect(
        (await collect(each.list({}))).every(({ config }) => config.configurable?.['thread_id'] === 'u'),
      ).toBe(true)
    }
    const late = saver.putWrites(old, [['lines', ['late']]], 'task')
    await expect(late).rejects.toMatchObject({ code: 'ended' })
    const put = saver.put(
      old,
      {
        v: 4,
        id: '1f1e0f3c-f2aa-67f0-8000-dac0da83f160',
        ts: new Date().toISOString(),
        channel_values: {},
        channel_versions: {},
        versions_seen: {},
      },
      { source: 'loop', step: 9, parents: {} },
      {},
    )
    await expect(put).rejects.toMatchObject({ code: 'ended' })
    expect(await new ClewSaver(ledger).getTuple(thread('t'))).toBeUndefined()
    await graph.invoke({ lines: ['new'] }, thread('t'))
    expect((await talk(new ClewSaver(ledger)).getState(thread('t'))).values).toMatchObject({
      lines: ['new', 'hear', 'think calm', 'speak'],
    })
  })

  it('a thousand checkpoints are listed in their order and in constant room', async () => {
    const graph = new StateGraph(Talk)
      .addNode('add', ({ lines }) => ({ lines: [`line ${lines.length} ${'.'.repeat(100)}`] }))
      .addEdge(START, 'add')
      .addConditionalEdges('add', ({ lines }) => (lines.length < 998 ? 'add' : END), ['add', END])
      .compile({ checkpointer: new ClewSaver(ledger) })
    await graph.invoke({ lines: [] }, { ...thread('t'), recursionLimit: 2000 })
    const saver = new ClewSaver(ledger)
    let count = 0
    let last = 'g'
    const heap: number[] = []
    for await (const { checkpoint, metadata, parentConfig } of saver.list(thread('t'))) {
      if (count === 50 || count === 950) heap.push(heapAfterCollection())
      expect(checkpoint.id < last).toBe(true)
      last = checkpoint.id
      const lines = (checkpoint.channel_values['lines'] ?? []) as string[]
      expect(lines.length).toBe(Math.max(0, Number(metadata?.step)))
      expect(parentConfig === undefined).toBe(metadata?.step === -1)
      count++
    }
    expect(count).toBe(1000)
    // All states together have half a million lines, 4 MB in references alone.
    expect((heap[1] ?? 0) - (heap[0] ?? 0)).toBeLessThan(2_000_000)
    const [third] = await collect(
      saver.list(thread('t'), { limit: 1, before: thread('t', { checkpoint_id: last + 'z' }) }),
    )
    expect(third?.checkpoint.id).toBe(last)
  })

  it('many turns are read by another process however far back their states go', async () => {
    const graph = talk(new ClewSaver(ledger))
    for (let turn = 0; turn < 150; turn++) await graph.invoke({ lines: [`turn ${turn}`] }, thread('t'))
    const { lines } = (await talk(new ClewSaver(ledger)).getState(thread('t'))).values as typeof Talk.State
    expect(lines.length).toBe(600)
    expect(lines[597]).toBe('hear')
    const history = await collect(talk(new ClewSaver(ledger)).getStateHistory(thread('t'), { limit: 20 }))
    expect((history[19]?.values as Partial<typeof Talk.State> | undefined)?.lines?.length).toBe(600 - 16)
  })

  it.each([
    ['', /thread_id/],
    ['x'.repeat(5000), /thread_id/],
    ['\ud800', /thread_id/],
  ])('a thread_id that cannot be one is refused in a sentence: %j', async (id, message) => {
    await expect(new ClewSaver(ledger).getTuple(thread(id))).rejects.toThrow(message)
  })

  it.each([
    '__proto__',
    'constructor',
    '../../etc',
    'a/b#c@d',
    '4111111111111111',
    'ann@example.com',
    'línea\n2',
    '|',
    ':',
    '%00',
  ])('a strange thread_id is a thread like any other: %j', async (id) => {
    const graph = talk(new ClewSaver(ledger))
    await graph.invoke({ lines: ['hi'] }, thread(id))
    await graph.invoke({ lines: ['hi'] }, thread(`${id}2`))
    const again = talk(new ClewSaver(ledger))
    expect(((await again.getState(thread(id))).values as typeof Talk.State).lines).toEqual([
      'hi',
      'hear',
      'think calm',
      'speak',
    ])
    expect((await collect(again.getStateHistory(thread(id)))).length).toBe(5)
  })

  it('an unknown checkpoint is undefined, and no thread is a sentence', async () => {
    const saver = new ClewSaver(ledger)
    expect(await saver.getTuple(thread('t', { checkpoint_id: 'nothing' }))).toBeUndefined()
    const checkpoint = {
      v: 4,
      id: 'a',
      ts: 'now',
      channel_values: {},
      channel_versions: {},
      versions_seen: {},
    }
    await expect(saver.put({}, checkpoint, { source: 'input', step: -1, parents: {} }, {})).rejects.toThrow(
      'has no thread_id. Name the thread',
    )
    await expect(saver.putWrites(thread('t'), [['a', 1]], 'task')).rejects.toThrow('has no checkpoint_id')
  })
})

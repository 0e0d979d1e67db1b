import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { AIMessage, HumanMessage, ToolMessage } from '@langchain/core/messages'
import { Document } from '@langchain/core/documents'
import {
  Annotation,
  Command,
  DeltaValue,
  END,
  entrypoint,
  interrupt,
  MemorySaver,
  MessagesAnnotation,
  START,
  StateGraph,
  StateSchema,
  task,
} from '@langchain/langgraph'
import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint'
import { type Codec, type Ledger, openLedger } from 'clew'
import { ClewSaver } from 'clew/langgraph'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { asking, collect, talk, Talk, thread } from './graphs.ts'

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

const rootRuns = async (): Promise<Awaited<ReturnType<Ledger['listRuns']>>['runs']> =>
  (await ledger.listRuns()).runs.filter(({ parentRunId }) => parentRunId === null).toReversed()

describe('A4 forks', () => {
  it('R7 an update of an old checkpoint is a branch of its own, also after resuming and reading again', async () => {
    const graph = talk(new ClewSaver(ledger))
    await graph.invoke({ lines: ['hi'] }, thread('t'))
    const history = await collect(graph.getStateHistory(thread('t')))
    const old = history.find(({ next }) => next[0] === 'think')
    const forked = await graph.updateState(old?.config ?? {}, { mood: 'wild' }, 'hear')
    expect((await graph.getState(thread('t'))).next).toEqual(['think'])
    const result = await graph.invoke(null, forked)
    expect(result).toEqual({ lines: ['hi', 'hear', 'think wild', 'speak'], mood: 'wild' })

    for (const saver of [new ClewSaver(ledger), new ClewSaver(ledger)]) {
      const again = talk(saver)
      expect((await again.getState(thread('t'))).values).toEqual(result)
      const first = history.find(({ next }) => next.length === 0)
      expect((await again.getState(first?.config ?? {})).values).toEqual({
        lines: ['hi', 'hear', 'think calm', 'speak'],
        mood: 'calm',
      })
      expect((await collect(again.getStateHistory(thread('t')))).length).toBe(history.length + 3)
    }
    const [source, fork, ...others] = await rootRuns()
    expect(others).toEqual([])
    expect(fork?.forkedFrom?.runId).toBe(source?.runId)
    expect([source?.status, fork?.status]).toEqual(['completed', 'completed'])
    expect((await ledger.getState(source?.runId ?? ''))?.state['mood']).toBe('calm')
    expect((await ledger.getState(fork?.runId ?? ''))?.state['mood']).toBe('wild')
    const diff = await ledger.diff(source?.runId ?? '', fork?.runId ?? '')
    expect(JSON.stringify(diff)).toContain('think wild')
    expect((await ledger.verify()).ok).toBe(true)
  })

  it('R7 two updates of the same checkpoint are two branches', async () => {
    const graph = talk(new ClewSaver(ledger))
    await graph.invoke({ lines: ['hi'] }, thread('t'))
    const old = (await collect(graph.getStateHistory(thread('t')))).find(({ next }) => next[0] === 'think')
    const one = await graph.updateState(old?.config ?? {}, { mood: 'one' }, 'hear')
    const two = await graph.updateState(old?.config ?? {}, { mood: 'two' }, 'hear')
    const again = talk(new ClewSaver(ledger))
    expect((await again.invoke(null, one)).lines).toContain('think one')
    expect((await again.invoke(null, two)).lines).toContain('think two')
  })

  it('R7 replaying from an old checkpoint without a change leaves the first line alone', async () => {
    const graph = talk(new ClewSaver(ledger))
    await graph.invoke({ lines: ['hi'] }, thread('t'))
    const old = (await collect(graph.getStateHistory(thread('t')))).find(({ next }) => next[0] === 'think')
    expect((await graph.invoke(null, old?.config)).lines).toEqual(['hi', 'hear', 'think calm', 'speak'])
    const runs = await rootRuns()
    expect(runs.map(({ forkedFrom }) => forkedFrom?.runId ?? null)).toEqual([null, runs[0]?.runId])
  })

  it('R7 a copy of a checkpoint has its values, not those of its parent', async () => {
    const graph = talk(new ClewSaver(ledger))
    await graph.invoke({ lines: ['hi'] }, thread('t'))
    const old = (await collect(graph.getStateHistory(thread('t')))).find(({ next }) => next[0] === 'think')
    const copy = await graph.updateState(old?.config ?? {}, null, '__copy__')
    expect((await talk(new ClewSaver(ledger)).getState(copy)).values).toEqual(old?.values)
  })

  it('A4 delta channels do not mix branches', async () => {
    const Delta = new StateSchema({
      lines: new DeltaValue(
        z.array(z.string()).default(() => []),
        { reducer: (all, writes) => all.concat(...writes) },
      ),
    })
    const compile = () =>
      new StateGraph(Delta)
        .addNode('one', () => ({ lines: ['one'] }))
        .addNode('two', ({ lines }) => ({ lines: [`two after ${lines.length}`] }))
        .addEdge(START, 'one')
        .addEdge('one', 'two')
        .addEdge('two', END)
        .compile({ checkpointer: new ClewSaver(ledger) })
    const graph = compile()
    await graph.invoke({ lines: ['hi'] }, thread('t'))
    const old = (await collect(graph.getStateHistory(thread('t')))).find(({ next }) => next[0] === 'two')
    const left = await graph.updateState(old?.config ?? {}, { lines: ['left'] }, 'one')
    const right = await graph.updateState(old?.config ?? {}, { lines: ['right', 'again'] }, 'one')
    const again = compile()
    expect((await again.invoke(null, left)).lines).toEqual(['hi', 'one', 'left', 'two after 3'])
    expect((await compile().invoke(null, right)).lines).toEqual([
      'hi',
      'one',
      'right',
      'again',
      'two after 4',
    ])
    const states = await collect(compile().getStateHistory(thread('t')))
    expect(
      states.find(
        ({ config }) =>
          config.configurable?.['checkpoint_id'] === old?.config.configurable?.['checkpoint_id'],
      )?.values.lines,
    ).toEqual(['hi', 'one'])
    await again.invoke({ lines: ['next'] }, thread('t'))
    expect((await compile().getState(thread('t'))).values.lines.slice(-3)).toEqual([
      'next',
      'one',
      'two after 7',
    ])
  })
})

describe('A4 concurrency', () => {
  it('R9 of three invocations at once one goes on and the others are told: nothing vanishes', async () => {
    const graph = talk(new ClewSaver(ledger))
    await graph.invoke({ lines: ['first'] }, thread('t'))
    const said = ['a', 'b', 'c']
    const settled = await Promise.allSettled(said.map((line) => graph.invoke({ lines: [line] }, thread('t'))))
    const done = said.filter((_, i) => settled[i]?.status === 'fulfilled')
    const errors = settled.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []))
    expect(done.length).toBe(1)
    for (const error of errors) expect(error).toMatchObject({ code: 'conflict' })
    const { lines } = (await talk(new ClewSaver(ledger)).getState(thread('t'))).values as typeof Talk.State
    expect(lines).toEqual(['first', 'hear', 'think calm', 'speak', ...done, 'hear', 'think calm', 'speak'])
    await graph.invoke({ lines: ['later'] }, thread('t'))
    expect((await ledger.verify()).ok).toBe(true)
  })

  it('R9 three first invocations of a new thread', async () => {
    const graph = talk(new ClewSaver(ledger))
    const settled = await Promise.allSettled(
      ['a', 'b', 'c'].map((line) => graph.invoke({ lines: [line] }, thread('t'))),
    )
    expect(settled.filter(({ status }) => status === 'fulfilled').length).toBe(1)
  })

  it('R9 two savers that do not know of each other', async () => {
    const graphs = [talk(new ClewSaver(ledger)), talk(new ClewSaver(ledger))]
    await graphs[0]?.invoke({ lines: ['first'] }, thread('t'))
    await graphs[1]?.getState(thread('t'))
    const settled = await Promise.allSettled(
      graphs.map((graph, i) => graph.invoke({ lines: [`${i}`] }, thread('t'))),
    )
    const done = settled.flatMap(({ status }, i) => (status === 'fulfilled' ? [`${i}`] : []))
    expect(done.length).toBe(1)
    for (const graph of graphs) {
      const { lines } = (await graph.getState(thread('t'))).values as typeof Talk.State
      expect(lines.slice(4)).toEqual([...done, 'hear', 'think calm', 'speak'])
    }
  })
})

class Money {
  readonly cents: number
  constructor(cents: number) {
    this.cents = cents
  }
}
const moneyCodec: Codec = {
  tag: 'money',
  matches: (value) => value instanceof Money,
  encode: (value) => (value as Money).cents,
  decode: (data) => new Money(data as number),
}

describe('A4 values', () => {
  const Any = Annotation.Root({ value: Annotation<unknown>, seen: Annotation<number> })
  const keep = (saver: ClewSaver) =>
    new StateGraph(Any)
      .addNode('keep', () => ({ seen: 1 }))
      .addEdge(START, 'keep')
      .addEdge('keep', END)
      .compile({ checkpointer: saver })

  const error = Object.assign(new TypeError('broken', { cause: 'rain' }), { code: 'E_RAIN' })
  it.each<[string, unknown]>([
    ['BigInt', 12345678901234567890n],
    ['Date', new Date('2026-11-15T10:00:00.000Z')],
    ['URL', new URL('https://example.com/a?b=c')],
    [
      'Map',
      new Map<unknown, unknown>([
        ['a', 1n],
        [{ b: 1 }, new Date(0)],
      ]),
    ],
    ['Set', new Set([1, 'two', new URL('https://example.com')])],
    ['NaN', Number.NaN],
    ['minus zero', -0],
    ['infinity', [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]],
    ['undefined', { a: undefined, list: [undefined, 1] }],
    ['bytes', new Uint8Array([0, 1, 255])],
    ['RegExp', /a.b/giu],
    ['message', new HumanMessage({ content: 'hi', id: 'm1', name: 'Ann' })],
    [
      'messages',
      [
        new AIMessage({ content: '', tool_calls: [{ name: 't', args: { x: 1 }, id: 'c' }] }),
        new ToolMessage({ content: 'done', tool_call_id: 'c', artifact: { big: [1] } }),
      ],
    ],
    ['document', new Document({ pageContent: 'owls', metadata: { page: 3 }, id: 'd' })],
    [
      'what looks like a serialised object',
      {
        lc: 1,
        type: 'constructor',
        id: ['langchain_core', 'messages', 'HumanMessage'],
        kwargs: { content: 'no' },
      },
    ],
    ['what looks like our own tags', { $langgraph: 'undefined', $clew: 'bigint', value: '1' }],
    ['a key that is no property', JSON.parse('{"__proto__": {"a": 1}, "constructor": 2}')],
    ['empty things', [{}, [], '', null, 0, false]],
  ])('%s comes back as it was', async (_, value) => {
    const graph = keep(new ClewSaver(ledger))
    await graph.invoke({ value }, thread('t'))
    const hot = (await graph.getState(thread('t'))).values as typeof Any.State
    const cold = (await keep(new ClewSaver(ledger)).getState(thread('t'))).values as typeof Any.State
    expect(hot.value).toStrictEqual(value)
    expect(cold.value).toStrictEqual(value)
    for (const { values } of await collect(keep(new ClewSaver(ledger)).getStateHistory(thread('t'))))
      if (values.value !== undefined) expect(values.value).toStrictEqual(value)
  })

  it('an Error keeps its name, message, code and cause', async () => {
    await keep(new ClewSaver(ledger)).invoke({ value: error }, thread('t'))
    const { value } = (await keep(new ClewSaver(ledger)).getState(thread('t'))).values as typeof Any.State
    expect(value).toBeInstanceOf(Error)
    expect(value).toMatchObject({ name: 'TypeError', message: 'broken', code: 'E_RAIN', cause: 'rain' })
  })

  it('a class comes back by its codec, and a change of it is not missed', async () => {
    const withCodec = await openLedger('memory:', { codecs: [moneyCodec] })
    const graph = new StateGraph(Any)
      .addNode('keep', ({ value }) => ({ value: new Money((value as Money).cents + 1) }))
      .addEdge(START, 'keep')
      .addEdge('keep', END)
      .compile({ checkpointer: new ClewSaver(withCodec) })
    await graph.invoke({ value: new Money(5) }, thread('t'))
    const first = (await graph.getState(thread('t'))).values as typeof Any.State
    expect(first.value).toStrictEqual(new Money(6))
    expect(((await graph.getState(thread('t'))).values as typeof Any.State).value).not.toBe(first.value)
    await withCodec.close()
  })

  it.each<[string, unknown, RegExp]>([
    ['a class without a codec', { deep: [new Money(1)] }, /value\.deep\[0\] is an instance of Money/],
    ['a function', { deep: { call: () => 1 } }, /deep\.call is a function/],
  ])('%s is refused by its place, and the thread stays usable', async (_, value, message) => {
    const graph = keep(new ClewSaver(ledger))
    await expect(graph.invoke({ value }, thread('t'))).rejects.toThrow(message)
    await graph.invoke({ value: 1 }, thread('t'))
    expect(((await graph.getState(thread('t'))).values as typeof Any.State).value).toBe(1)
    await expect(graph.invoke({ value }, thread('t'))).rejects.toThrow(message)
    await graph.invoke({ value: 2 }, thread('t'))
    expect(((await graph.getState(thread('t'))).values as typeof Any.State).value).toBe(2)
  })

  it('a message that a node changed in place and gave back is stored as changed', async () => {
    const compile = () =>
      new StateGraph(MessagesAnnotation)
        .addNode('mark', ({ messages }) => {
          const [first] = messages
          if (first) first.content = 'changed'
          return { messages: first ? [first] : [] }
        })
        .addEdge(START, 'mark')
        .addEdge('mark', END)
        .compile({ checkpointer: new ClewSaver(ledger) })
    await compile().invoke(
      {
        messages: [
          new HumanMessage({ content: 'as it was', id: 'a' }),
          new HumanMessage({ content: 'other', id: 'b' }),
        ],
      },
      { ...thread('t'), durability: 'sync' },
    )
    const states = await collect(compile().getStateHistory(thread('t')))
    const texts = states.map(({ values }) =>
      (values.messages as HumanMessage[] | undefined)?.map(({ content }) => content),
    )
    expect(texts[0]).toEqual(['changed', 'other'])
    expect(texts[1]).toEqual(['as it was', 'other'])
  })

  it('what a reader does to a state changes neither the record nor what the next reader gets', async () => {
    const graph = keep(new ClewSaver(ledger))
    await graph.invoke({ value: { list: [{ a: 1 }] } }, thread('t'))
    const { value } = (await graph.getState(thread('t'))).values as { value: { list: { a: number }[] } }
    value.list.push({ a: 2 })
    if (value.list[0]) value.list[0].a = 3
    expect(((await graph.getState(thread('t'))).values as typeof Any.State).value).toEqual({
      list: [{ a: 1 }],
    })
  })
})

describe('P1 what redaction takes out', () => {
  it('is gone for every reader alike, and the thread goes on', async () => {
    const secret = `ghp_${'a1B2'.repeat(9)}`
    const graph = talk(new ClewSaver(ledger))
    await graph.invoke({ lines: [`my key is ${secret}`] }, thread('t'))
    const hot = (await graph.getState(thread('t'))).values as typeof Talk.State
    const cold = (await talk(new ClewSaver(ledger)).getState(thread('t'))).values as typeof Talk.State
    expect(hot).toEqual(cold)
    expect(JSON.stringify(hot)).not.toContain(secret)
    await graph.invoke({ lines: ['more'] }, thread('t'))
    const { lines } = (await talk(new ClewSaver(ledger)).getState(thread('t'))).values as typeof Talk.State
    expect(lines.length).toBe(8)
  })
})

describe('A4 failures', () => {
  /** A ledger of which one append fails. */
  const failing = (at: number): Ledger => {
    let count = 0
    return new Proxy(ledger, {
      get: (target, name, receiver) =>
        name === 'append'
          ? (...given: Parameters<Ledger['append']>) =>
              ++count === at ? Promise.reject(new Error('the disk is gone')) : target.append(...given)
          : Reflect.get(target, name, receiver),
    })
  }

  it.each(
    (['sync', 'async'] as const).flatMap((durability) =>
      [1, 2, 3, 4, 5].map((at) => [durability, at] as const),
    ),
  )('L5 one failing write fails the run, and the next one works (%s, append %i)', async (durability, at) => {
    const graph = talk(new ClewSaver(failing(at), { failureHoldMs: 50 }))
    await expect(graph.invoke({ lines: ['hi'] }, { ...thread('t'), durability })).rejects.toThrow(
      'the disk is gone',
    )
    const before = await graph.getState(thread('t'))
    expect((await talk(new ClewSaver(ledger)).getState(thread('t'))).values).toEqual(before.values)
    const isKept = before.config.configurable?.['checkpoint_id'] !== undefined
    await graph.invoke(isKept ? null : { lines: ['hi'] }, { ...thread('t'), durability })
    const { lines } = (await talk(new ClewSaver(ledger)).getState(thread('t'))).values as typeof Talk.State
    expect(lines).toEqual(['hi', 'hear', 'think calm', 'speak'])
    expect((await ledger.verify()).ok).toBe(true)
  })

  it.each([6, 7, 8])('L5 the same in a later turn (append %i)', async (at) => {
    const graph = talk(new ClewSaver(failing(at), { failureHoldMs: 50 }))
    const config = { ...thread('t'), durability: 'sync' as const }
    await graph.invoke({ lines: ['hi'] }, config)
    await expect(graph.invoke({ lines: ['two'] }, config)).rejects.toThrow('the disk is gone')
    const isBegun = (await graph.getState(thread('t'))).next.length > 0
    await graph.invoke(isBegun ? null : { lines: ['two'] }, config)
    const { lines } = (await talk(new ClewSaver(ledger)).getState(thread('t'))).values as typeof Talk.State
    expect(lines.slice(4)).toEqual(['two', 'hear', 'think calm', 'speak'])
  })

  it('L5 a write that fails while a node is still at work ends the invocation, not the process', async () => {
    const slow = new StateGraph(Talk)
      .addNode('hear', () => ({ lines: ['hear'] }))
      .addNode('think', async () => {
        await new Promise((resolve) => setTimeout(resolve, 150))
        return { lines: ['think'] }
      })
      .addEdge(START, 'hear')
      .addEdge('hear', 'think')
      .addEdge('think', END)
      .compile({ checkpointer: new ClewSaver(failing(5)) })
    await expect(slow.invoke({ lines: ['hi'] }, thread('t'))).rejects.toThrow('the disk is gone')
    expect((await slow.invoke(null, thread('t'))).lines).toEqual(['hi', 'hear', 'think'])
  })

  it('R0 a node that throws fails the run, and resuming ends it', async () => {
    let isBroken = true
    const compile = () =>
      new StateGraph(Talk)
        .addNode('hear', () => ({ lines: ['hear'] }))
        .addNode('think', () => {
          if (isBroken) throw new TypeError('no idea')
          return { lines: ['think'] }
        })
        .addEdge(START, 'hear')
        .addEdge('hear', 'think')
        .addEdge('think', END)
        .compile({ checkpointer: new ClewSaver(ledger) })
    await expect(compile().invoke({ lines: [] }, thread('t'))).rejects.toThrow('no idea')
    const [run] = await rootRuns()
    expect(run).toMatchObject({ status: 'failed', error: { name: 'TypeError', message: 'no idea' } })
    isBroken = false
    await compile().invoke(null, thread('t'))
    const steps = await ledger.getSteps(run?.runId ?? '')
    expect(steps.map(({ nodeName, attempt, status }) => [nodeName, attempt, status])).toEqual([
      ['hear', 1, 'completed'],
      ['think', 1, 'failed'],
      ['think', 2, 'completed'],
    ])
    expect((await ledger.getRun(run?.runId ?? ''))?.status).toBe('completed')
  })
})

describe('R6 interrupts', () => {
  it('two in one node get their own answers, also from another saver', async () => {
    const graph = asking(new ClewSaver(ledger))
    await graph.invoke({ lines: [] }, thread('t'))
    expect((await rootRuns())[0]).toMatchObject({ status: 'paused', pauses: [{ question: 'first?' }] })
    const other = asking(new ClewSaver(ledger))
    await other.invoke(new Command({ resume: 'yes' }), thread('t'))
    expect((await rootRuns())[0]).toMatchObject({ status: 'paused', pauses: [{ question: 'second?' }] })
    const third = asking(new ClewSaver(ledger))
    expect((await third.invoke(new Command({ resume: 'no' }), thread('t'))).lines).toEqual(['yes no'])
    const runs = await rootRuns()
    expect(runs.map(({ status, pauses }) => [status, pauses.length])).toEqual([['completed', 0]])
  })

  it('one inside a sub-graph is resumed in its own run', async () => {
    const compile = () => {
      const inner = new StateGraph(Talk)
        .addNode('within', () => ({ lines: [`heard ${interrupt<string, string>('well?')}`] }))
        .addEdge(START, 'within')
        .addEdge('within', END)
        .compile()
      return new StateGraph(Talk)
        .addNode('outer', inner)
        .addEdge(START, 'outer')
        .addEdge('outer', END)
        .compile({ checkpointer: new ClewSaver(ledger) })
    }
    await compile().invoke({ lines: ['hi'] }, thread('t'))
    const result = await compile().invoke(new Command({ resume: 'fine' }), thread('t'))
    expect(result.lines).toEqual(['hi', 'hi', 'heard fine'])
    const { runs } = await ledger.listRuns()
    const child = runs.find(({ parentRunId }) => parentRunId !== null)
    const [root] = await rootRuns()
    expect([child?.parentRunId, child?.agent, child?.status]).toEqual([root?.runId, 'outer', 'completed'])
    expect(runs.length).toBe(2)
  })

  it('answers to an old checkpoint give what the framework makes of them with its own saver', async () => {
    const answered = async (next: () => BaseCheckpointSaver): Promise<unknown[]> => {
      await asking(next()).invoke({ lines: [] }, thread('t'))
      await asking(next()).invoke(new Command({ resume: 'a' }), thread('t'))
      const asked = (await asking(next()).getState(thread('t'))).config
      await asking(next()).invoke(new Command({ resume: 'b' }), thread('t'))
      for (const answer of ['c', 'd']) await asking(next()).invoke(new Command({ resume: answer }), asked)
      const states = await collect(asking(next()).getStateHistory(thread('t')))
      return states.map(({ values, next: nodes }) => [values, nodes])
    }
    const memory = new MemorySaver()
    expect(await answered(() => new ClewSaver(ledger))).toEqual(await answered(() => memory))
    const runs = await rootRuns()
    expect(runs.slice(1).every(({ forkedFrom }) => forkedFrom?.runId === runs[0]?.runId)).toBe(true)
  })
})

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

describe('A4 other ways to run', () => {
  it('durability exit: one checkpoint an invocation, also with a question in between and with delta channels', async () => {
    const config = { ...thread('t'), durability: 'exit' as const }
    expect((await talk(new ClewSaver(ledger)).invoke({ lines: ['hi'] }, config)).lines).toHaveLength(4)
    expect((await talk(new ClewSaver(ledger)).invoke({ lines: ['more'] }, config)).lines).toHaveLength(8)
    const asked = { ...thread('q'), durability: 'exit' as const }
    await asking(new ClewSaver(ledger)).invoke({ lines: [] }, asked)
    await asking(new ClewSaver(ledger)).invoke(new Command({ resume: 'a' }), asked)
    expect((await asking(new ClewSaver(ledger)).invoke(new Command({ resume: 'b' }), asked)).lines).toEqual([
      'a b',
    ])
    const Delta = new StateSchema({
      lines: new DeltaValue(
        z.array(z.string()).default(() => []),
        { reducer: (all, writes) => all.concat(...writes) },
      ),
    })
    const delta = () =>
      new StateGraph(Delta)
        .addNode('one', () => ({ lines: ['one'] }))
        .addEdge(START, 'one')
        .addEdge('one', END)
        .compile({ checkpointer: new ClewSaver(ledger) })
    const exit = { ...thread('d'), durability: 'exit' as const }
    await delta().invoke({ lines: ['hi'] }, exit)
    expect((await delta().invoke({ lines: ['ho'] }, exit)).lines).toEqual(['hi', 'one', 'ho', 'one'])
    expect((await delta().getState(exit)).values.lines).toEqual(['hi', 'one', 'ho', 'one'])
  })

  it('the functional API: tasks are given back, and the run ends', async () => {
    const done: number[] = []
    const flow = () => {
      const double = task('double', async (value: number) => {
        done.push(value)
        return value * 2
      })
      return entrypoint({ name: 'flow', checkpointer: new ClewSaver(ledger) }, async (value: number) => {
        const twice = await double(value)
        const answer = interrupt<string, string>(`keep ${twice}?`)
        return `${twice} ${answer}`
      })
    }
    await flow().invoke(4, thread('t'))
    expect(await flow().invoke(new Command({ resume: 'yes' }), thread('t'))).toBe('8 yes')
    expect(done).toEqual([4])
    expect((await rootRuns()).map(({ status }) => status)).toEqual(['completed'])
  })
})

describe('V2 the ledger sees the graph', () => {
  it('names nodes, supersteps, states and turns', async () => {
    const graph = talk(new ClewSaver(ledger, { agent: 'talker' }))
    await graph.invoke({ lines: ['hi'] }, thread('t'))
    await graph.invoke({ lines: ['more'] }, thread('t'))
    const [one, two] = await rootRuns()
    expect([one, two].map((run) => [run?.agent, run?.threadId, run?.status, run?.steps])).toEqual([
      ['talker', 't', 'completed', 3],
      ['talker', 't', 'completed', 3],
    ])
    const steps = await ledger.getSteps(one?.runId ?? '')
    expect(
      steps.map(({ nodeName, superstep, decision, values }) => [nodeName, superstep, decision, values]),
    ).toEqual([
      ['hear', 2, 'think', { lines: ['hear'], mood: 'calm' }],
      ['think', 3, 'speak', { lines: ['think calm'] }],
      ['speak', 4, null, { lines: ['speak'] }],
    ])
    expect(await ledger.getState(one?.runId ?? '', { superstep: 2 })).toMatchObject({
      state: { lines: ['hi', 'hear'], mood: 'calm' },
      next: ['think'],
      superstep: 2,
    })
    expect((await ledger.getState(two?.runId ?? ''))?.state['lines']).toHaveLength(8)
    const checkpoints = await collect(ledger.listCheckpoints(two?.runId ?? ''))
    expect(checkpoints.map(({ next }) => next)).toEqual([['__start__'], ['hear'], ['think'], ['speak'], []])
    const tuples = await collect(new ClewSaver(ledger).list(thread('t')))
    expect(checkpoints.map(({ checkpointId }) => checkpointId).toReversed()).toEqual(
      tuples.slice(0, 5).map(({ checkpoint }) => checkpoint.id),
    )
    expect((await ledger.verify(undefined, { projections: true })).ok).toBe(true)
  })
})

import { AIMessage, HumanMessage, ToolMessage } from '@langchain/core/messages'
import { Document } from '@langchain/core/documents'
import { Annotation, END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { type Codec, type Ledger, openLedger } from 'clew'
import { ClewSaver } from 'clew/langgraph'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { collect, talk, type Talk, thread } from './graphs.ts'

let ledger: Ledger
beforeEach(async () => {
  ledger = await openLedger('memory:')
})
afterEach(() => ledger.close())

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

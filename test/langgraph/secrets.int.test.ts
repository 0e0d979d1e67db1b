import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AIMessage, type BaseMessage, HumanMessage } from '@langchain/core/messages'
import {
  Annotation,
  Command,
  END,
  interrupt,
  MessagesAnnotation,
  Send,
  START,
  StateGraph,
} from '@langchain/langgraph'
import { type Ledger, openLedger } from 'clew'
import { ClewSaver, type ClewSaverOptions, ClewStore } from 'clew/langgraph'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { thread } from './graphs.ts'

const KEY = ['sk', 'ant', 'api03', 'a1B2c3D4e5'.repeat(9)].join('-')
const CODE = 'CODE-123456'
const REDACT = { rules: [{ kind: 'code', pattern: /CODE-\d{6}/ }] }
const INSIDE = /^use \[redacted:[a-z0-9-]+:\w+\] now$/

const folder = mkdtempSync(join(tmpdir(), 'clew-secrets-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let count = 0

const Notes = Annotation.Root({
  note: Annotation<unknown>,
  way: Annotation<string[]>({ reducer: (all, more) => all.concat(more), default: () => [] }),
})

describe.each([
  ['memory', () => 'memory:'],
  ['SQLite', () => `sqlite:${join(folder, `${count++}.db`)}`],
])('P2 secrets in the state of a graph, %s', (_, url) => {
  let ledger: Ledger
  beforeEach(async () => {
    ledger = await openLedger(url(), { redact: REDACT })
  })
  afterEach(() => ledger.close())

  const stored = async (): Promise<string> => (await Array.fromAsync(ledger.export())).join('')

  /** Two nodes: the first gives back what it is told to. */
  const noting = (make: () => object, options?: ClewSaverOptions) =>
    new StateGraph(Notes)
      .addNode('make', make)
      .addNode('after', () => ({ way: ['after'] }))
      .addEdge(START, 'make')
      .addEdge('make', 'after')
      .addEdge('after', END)
      .compile({ checkpointer: new ClewSaver(ledger, options) })

  it('P2 a key inside a sentence of a message is stored redacted and the conversation goes on', async () => {
    const seen: BaseMessage[][] = []
    const chat = () =>
      new StateGraph(MessagesAnnotation)
        .addNode('answer', ({ messages }) => {
          seen.push(messages)
          return { messages: [new AIMessage(`heard ${messages.length}`)] }
        })
        .addEdge(START, 'answer')
        .addEdge('answer', END)
        .compile({ checkpointer: new ClewSaver(ledger) })
    await chat().invoke({ messages: [new HumanMessage(`use ${KEY} now`)] }, thread('t'))
    await chat().invoke({ messages: [new HumanMessage('and then?')] }, thread('t'))
    expect(seen[1]?.map(({ content }) => content)).toEqual([
      expect.stringMatching(INSIDE),
      'heard 1',
      'and then?',
    ])
    expect(await stored()).not.toContain(KEY)
  })

  const refused = (path: string, kind = 'code') => ({
    code: 'bad_value',
    fields: { path, kind },
    message: expect.stringMatching(/secrets: 'redact'.*Nothing was written/) as string,
  })

  it.each(['sync', 'async', 'exit'] as const)(
    'P2 a whole value is refused and the error reaches the caller of invoke, durability %s',
    async (durability) => {
      const options = { ...thread('t'), durability }
      const inputs = noting(() => ({ way: ['made'] })).invoke({ note: { deep: [CODE] } }, options)
      await expect(inputs).rejects.toMatchObject(
        refused(expect.stringMatching(/\.note\.deep\[0\]$/) as string),
      )
      await expect(noting(() => ({ note: CODE })).invoke({ way: ['a'] }, options)).rejects.toMatchObject(
        refused('$.note'),
      )
      await expect(
        noting(() => ({ note: { [CODE]: 1 } })).invoke({ way: ['a'] }, options),
      ).rejects.toMatchObject({ code: 'bad_value' })
      const text = await stored()
      expect(text).not.toContain(CODE)
      expect(text).not.toContain('[redacted:')
      // The thread is as good as before.
      const done = await noting(() => ({ note: `use ${CODE} now` })).invoke({ way: ['b'] }, options)
      expect(done.way.slice(-2)).toEqual(['b', 'after'])
      const cold = await noting(() => ({})).getState(thread('t'))
      expect((cold.values as typeof Notes.State).note).toMatch(INSIDE)
    },
  )

  it('P2 also an update from outside, an answer, and what is sent to a node', async () => {
    const asking = () =>
      new StateGraph(Notes)
        .addNode('ask', () => ({ note: interrupt<string, string>('Code?') }))
        .addEdge(START, 'ask')
        .addEdge('ask', END)
        .compile({ checkpointer: new ClewSaver(ledger) })
    await asking().invoke({ way: ['a'] }, thread('t'))
    await expect(asking().updateState(thread('t'), { note: CODE })).rejects.toMatchObject({
      code: 'bad_value',
    })
    await expect(asking().invoke(new Command({ resume: CODE }), thread('t'))).rejects.toMatchObject({
      code: 'bad_value',
      fields: { kind: 'code' },
    })
    const done = await asking().invoke(new Command({ resume: `use ${CODE} now` }), thread('t'))
    expect(done.note).toBe(`use ${CODE} now`)
    const sending = new StateGraph(Notes)
      .addNode('fan', () => ({}))
      .addNode('use', () => ({ way: ['used'] }))
      .addEdge(START, 'fan')
      .addConditionalEdges('fan', () => [new Send('use', { note: CODE })], ['use'])
      .addEdge('use', END)
      .compile({ checkpointer: new ClewSaver(ledger) })
    await expect(sending.invoke({ way: ['a'] }, thread('u'))).rejects.toMatchObject({ code: 'bad_value' })
    expect(await stored()).not.toContain(CODE)
  })

  it("P2 with secrets: 'redact' it is stored as its placeholder, which is what is read back", async () => {
    const options = { secrets: 'redact' } as const
    const done = await noting(() => ({ note: CODE }), options).invoke({ way: ['a'] }, thread('t'))
    expect(done.way).toEqual(['a', 'after'])
    const { values } = await noting(() => ({}), options).getState(thread('t'))
    expect((values as typeof Notes.State).note).toMatch(/^\[redacted:code:\w+\]$/)
    // What is a placeholder already is no secret: the thread goes on, also without the option.
    const next = await noting(() => ({ way: ['made'] })).invoke({ way: ['b'] }, thread('t'))
    expect(next.way).toEqual(['a', 'after', 'b', 'made', 'after'])
  })

  it('P2 a store does the same, for the whole batch', async () => {
    const store = new ClewStore(ledger)
    const put = (key: string, note: string) => ({ namespace: ['a'], key, value: { note } })
    const batch = store.batch([put('fine', 'x'), put('bad', CODE)])
    await expect(batch).rejects.toMatchObject({
      code: 'bad_value',
      fields: { path: '$.value.note', kind: 'code' },
    })
    expect(await store.search(['a'])).toEqual([])
    await store.batch([put('text', `use ${CODE} now`)])
    expect((await new ClewStore(ledger).get(['a'], 'text'))?.value['note']).toMatch(INSIDE)
    const lenient = new ClewStore(ledger, { secrets: 'redact' })
    await lenient.batch([put('whole', CODE)])
    expect((await lenient.get(['a'], 'whole'))?.value['note']).toMatch(/^\[redacted:code:\w+\]$/)
  })

  it('P2 an error that a node throws is told as it is', async () => {
    const failing = noting(() => {
      throw new Error(CODE)
    })
    await expect(failing.invoke({ way: ['a'] }, thread('t'))).rejects.toThrow(CODE)
    expect(await stored()).not.toContain(CODE)
  })
})

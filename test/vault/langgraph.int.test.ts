import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Annotation, END, START, StateGraph } from '@langchain/langgraph'
import { type Ledger, openLedger } from 'clew'
import { ClewSaver, ClewStore } from 'clew/langgraph'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

const KEY = ['sk', 'ant', `api03-${'aB3dE5gH7jK9'.repeat(7)}AbCdEf-AA`].join('-')

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'clew-vault-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

async function opened<T>(vault: boolean, work: (ledger: Ledger) => Promise<T>): Promise<T> {
  const ledger = await openLedger(`sqlite:${join(folder, 'clew.db')}`, { vault })
  try {
    return await work(ledger)
  } finally {
    await ledger.close()
  }
}
const holding = (text: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .filter(({ parentPath, name }) => readFileSync(join(parentPath, name)).includes(text))
    .map(({ name }) => name)

const State = Annotation.Root({
  key: Annotation<string>(),
  said: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
})
const graphOn = (ledger: Ledger, saw: unknown[]) =>
  new StateGraph(State)
    .addNode('read', () => ({ key: KEY, said: [`the key is ${KEY}, keep it`] }))
    .addNode('use', (state) => {
      saw.push([state.key, state.said])
      return { said: ['used'] }
    })
    .addEdge(START, 'read')
    .addEdge('read', 'use')
    .addEdge('use', END)
    .compile({ checkpointer: new ClewSaver(ledger), interruptBefore: ['use'] })
const thread = { configurable: { thread_id: 't' } }

describe('P2 LangGraph on a ledger with a vault', () => {
  it('a graph that is taken up by another process has its secrets back, and the file does not', async () => {
    await opened(true, async (ledger) => void (await graphOn(ledger, []).invoke({ said: ['hi'] }, thread)))
    const saw: unknown[] = []
    await opened(true, async (ledger) => {
      const list = await Array.fromAsync(new ClewSaver(ledger).list(thread))
      expect(list[0]?.checkpoint.channel_values['key']).toBe(KEY)
      await graphOn(ledger, saw).invoke(null, thread)
    })
    expect(saw).toEqual([[KEY, ['hi', `the key is ${KEY}, keep it`]]])
    expect(holding(KEY.slice(20))).toEqual([])
    await opened(false, async (ledger) => {
      const tuple = await new ClewSaver(ledger).getTuple(thread)
      expect(tuple?.checkpoint.channel_values['key']).toMatch(/^\[redacted:/)
    })
  })

  it('a store takes items with secrets and gives them back, at once and to another process', async () => {
    const place = [['users', 'ann'], 'login'] as const
    const value = { password: 'correct-horse-battery-9', note: `use ${KEY}` }
    await opened(true, async (ledger) => {
      const store = new ClewStore(ledger)
      await store.put([...place[0]], place[1], value)
      expect((await store.get([...place[0]], place[1]))?.value).toEqual(value)
    })
    await opened(true, async (ledger) => {
      const store = new ClewStore(ledger)
      expect((await store.get([...place[0]], place[1]))?.value).toEqual(value)
    })
    for (const text of [KEY.slice(20), 'correct-horse']) expect(holding(text)).toEqual([])
    await opened(false, async (ledger) => {
      const store = new ClewStore(ledger)
      const item = await store.get([...place[0]], place[1])
      expect(JSON.stringify(item?.value)).toContain('[redacted:')
      await expect(store.put([...place[0]], 'other', value)).rejects.toMatchObject({ code: 'bad_value' })
    })
  })
})

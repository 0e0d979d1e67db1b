import { afterEach, describe, expect, it, vi } from 'vitest'
import {
  agent,
  append,
  last,
  restoreFetch,
  type Run,
  START,
  StateGraph,
  type TapeOptions,
} from '@clew/runtime'
import { createMemoryWorld } from '../../packages/runtime/test/memory-ledger.ts'
import { said } from './lives.ts'
import { json, startServer } from './server.ts'

const openServer = () => startServer((seen, response) => json(response, { asked: seen.body }))

interface Varied {
  readonly query: string
  readonly header: string
  readonly body: unknown
}

/** Starts with one request and resumes with another. */
async function changed(recordFetch: true | TapeOptions, first: Varied, second: Varied) {
  await using server = await startServer((_seen, response) => json(response, { fine: true }))
  const ledger = createMemoryWorld().open()
  const asks = [first, second]
  const varying = agent(
    'varying',
    async (run) => {
      const { query, header, body } = asks.shift() as Varied
      const response = await fetch(`${server.url}/?${query}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'anthropic-beta': header },
        body: JSON.stringify(body),
      })
      await run.interrupt('go on?')
      return response.json()
    },
    { recordFetch },
  )
  const { runId } = await varying.start(ledger, null)
  const result = await varying.resume(ledger, runId, { answer: 'yes' })
  expect(server.seen.length).toBe(1)
  return result
}

const base: Varied = {
  query: 'q=owls&at=1',
  header: 'a',
  body: { model: 'm', metadata: { id: 1 }, messages: [{ text: 'hi', at: 1 }] },
}

describe('which recorded request it is', () => {
  it('D2 a changed prompt, header or query is another request, and nothing is sent', async () => {
    for (const change of [
      { body: { ...(base.body as object), model: 'other' } },
      { header: 'b' },
      { query: 'q=owls&at=2' },
    ]) {
      const { status, divergence } = await changed(true, base, { ...base, ...change })
      expect([status, divergence?.kind, divergence?.stepId]).toEqual(['blocked', 'input', 'fetch#0'])
    }
  })

  it('D4 volatile parts may differ, and only they', async () => {
    const volatile = {
      query: ['at'],
      headers: ['Anthropic-Beta'],
      body: ['$.metadata.id', '$.messages[*].at'],
    }
    const second = {
      query: 'q=owls&at=2',
      header: 'b',
      body: { model: 'm', metadata: { id: 2 }, messages: [{ text: 'hi', at: 2 }] },
    }
    expect(said(await changed({ volatile }, base, second))).toEqual(['completed', undefined])
    const other = { ...second, body: { ...second.body, messages: [{ text: 'ho', at: 2 }] } }
    expect((await changed({ volatile }, base, other)).divergence?.kind).toBe('input')
  })

  it('D2 a new secret in the place of an old one is the same request, other words beside it are not', async () => {
    const key = (tail: string): string =>
      ['sk', 'proj', `${tail}Aq3v8Zk1Lm9Xc7Rt5Yb2Nw4Ps6Du0Ef8Gh1J`].join('-')
    const withKey = (tail: string, text: string): Varied => ({
      query: `api_key=${key(tail)}`,
      header: 'a',
      body: { text: `${text} ${key(tail)}` },
    })
    expect(said(await changed(true, withKey('a', 'use'), withKey('b', 'use')))).toEqual([
      'completed',
      undefined,
    ])
    expect((await changed(true, withKey('a', 'use'), withKey('b', 'drop'))).divergence?.kind).toBe('input')
  })

  it('D4 boundaries of forms are made up anew each time and do not count', async () => {
    await using server = await openServer()
    const ledger = createMemoryWorld().open()
    let lives = 0
    const posting = agent(
      'posting',
      async (run) => {
        const boundary = `----made-up-${lives++}`
        const body = `--${boundary}\r\ncontent-disposition: form-data; name="a"\r\n\r\n1\r\n--${boundary}--\r\n`
        const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` }
        await (await fetch(server.url, { method: 'POST', headers, body })).text()
        await run.interrupt('go on?')
        return lives
      },
      { recordFetch: true },
    )
    const { runId } = await posting.start(ledger, null)
    expect(said(await posting.resume(ledger, runId, { answer: 'yes' }))).toEqual(['completed', undefined])
  })

  it('D4 options that cannot be used are refused when the agent is made', () => {
    const make = (recordFetch: unknown) => () =>
      agent('odd', async () => null, { recordFetch: recordFetch as TapeOptions })
    expect(make({ safety: 'careful' })).toThrow('safety')
    expect(make({ speed: 'slow' })).toThrow('speed')
    expect(make({ mostBytes: 0 })).toThrow('mostBytes')
    expect(make({ volatile: { body: ['no path'] } })).toThrow('no path')
  })
})

describe('the global fetch', () => {
  afterEach(() => {
    restoreFetch()
    vi.unstubAllGlobals()
  })

  it('D3 is replaced by choice, once, and given back', async () => {
    restoreFetch()
    const original = globalThis.fetch
    agent('plain', async () => null)
    expect(globalThis.fetch).toBe(original)
    agent('taped', async () => null, { recordFetch: true })
    const front = globalThis.fetch
    expect(front).not.toBe(original)
    expect(front.name).toBe('fetch')
    agent('taped', async () => null, { recordFetch: true })
    expect(globalThis.fetch).toBe(front)
    restoreFetch()
    expect(globalThis.fetch).toBe(original)
  })

  it('D4 what somebody puts in its place is taped as well, and taken out again by them', async () => {
    restoreFetch()
    const asking = agent('asking', async () => (await fetch('http://nowhere.test/')).text(), {
      recordFetch: true,
    })
    const front = globalThis.fetch
    vi.stubGlobal('fetch', async () => new Response('from the stub'))
    const ledger = createMemoryWorld().open()
    const { output, runId } = await asking.start(ledger, null)
    expect(output).toBe('from the stub')
    expect((await ledger.getSteps(runId)).map(({ nodeName }) => nodeName)).toEqual(['fetch', 'fetch body'])
    vi.unstubAllGlobals()
    expect(globalThis.fetch).toBe(front)
  })

  it('D4 a client that got hold of fetch before is found out, instead of running unrecorded', async () => {
    await using server = await openServer()
    restoreFetch()
    const early = globalThis.fetch
    const ledger = createMemoryWorld().open()
    const past = async () => (await early(server.url)).text()
    const taped = await agent('taped', past, { recordFetch: true }).start(ledger, null)
    expect([taped.status, taped.error?.code]).toEqual(['failed', 'bad_option'])
    expect(taped.error?.message).toContain(`${server.url} went past the tape`)
    const inEffect = (run: Run) => run.effect('ask', null, past)
    const fine = await agent('fine', inEffect, { recordFetch: true }).start(ledger, null)
    expect(said(fine)).toEqual(['completed', undefined])
    const ignored = await agent('ignored', past, { recordFetch: { ignore: () => true } }).start(ledger, null)
    expect(said(ignored)).toEqual(['completed', undefined])
  })
})

describe('graphs', () => {
  it('D4 nodes, gates and the graphs in them are on tape', async () => {
    await using server = await openServer()
    const ledger = createMemoryWorld().open()
    const ask = async (what: string): Promise<string> =>
      ((await (await fetch(server.url, { method: 'POST', body: what })).json()) as { asked: string }).asked
    const inner = new StateGraph({ words: append<string>() })
      .addNode('inner', async () => ({ words: [await ask('inner')] }))
      .addEdge(START, 'inner')
      .compile({ name: 'inside' })
    const graph = new StateGraph({ words: append<string>(), turns: last(0) })
      .addNode('think', async ({ turns }) => ({ words: [await ask(`think ${turns}`)], turns: turns + 1 }))
      .addNode('sub', inner)
      .addNode('stop', async (_state, run) => {
        await run.interrupt('go on?')
        return { words: [await ask('stop')] }
      })
      .addEdge(START, 'think')
      .addConditionalEdges(
        'think',
        async ({ turns }) => ((await ask('gate')) && turns < 2 ? 'think' : 'sub'),
        ['think', 'sub'],
      )
      .addEdge('sub', 'stop')
      .compile({ checkpointer: ledger, recordFetch: true })
    const paused = await graph.invoke({})
    expect(paused.status).toBe('paused')
    const { status, state } = await graph.resume({ runId: paused.runId }, { answer: 'yes' })
    expect([status, state.words]).toEqual(['completed', ['think 0', 'think 1', 'inner', 'stop']])
    expect(server.seen.length).toBe(6)
    const names = (await ledger.getSteps(paused.runId)).map(({ stepId }) => stepId)
    expect(names).toEqual(
      expect.arrayContaining(['think@s1/fetch#0', 'think@s1/fetch#1', 'think@s1/fetch body@0']),
    )
    const { runs } = await ledger.listRuns({})
    const child = runs.find(({ runId }) => runId !== paused.runId)
    const below = (await ledger.getSteps(child?.runId ?? '')).map(({ nodeName }) => nodeName)
    expect(below).toContain('fetch')
  })
})

import { agent, type Run } from '@clew/runtime'
import { describe, expect, it } from 'vitest'
import { openLedger, openServer, PNG } from './all-answers.ts'
import { chunksOf, liveTwice, thrownBy } from './lives.ts'

const WRONG: RequestInit = { method: 'GET', body: 'no' }

describe('what a response is', () => {
  it('D4 status, headers, address and body come from the record, not from the network', async () => {
    await using server = await openServer()
    const { live, resumed } = await liveTwice(openLedger(), server, async () => {
      const response = await fetch(`${server.url}/json?b=1#c`, { method: 'POST', body: 'x' })
      const { status, ok, statusText, url, redirected, type } = response
      const headers = Object.fromEntries(response.headers)
      return { status, ok, statusText, url, redirected, type, headers, body: await response.json() }
    })
    expect(live).toMatchObject({
      status: 200,
      ok: true,
      statusText: 'OK',
      url: `${server.url}/json?b=1`,
      redirected: false,
      type: 'basic',
      body: { hello: 'wörld', asked: 'x' },
    })
    expect(live.headers['content-type']).toBe('application/json')
    expect(resumed).toEqual(live)
    expect(server.seen.length).toBe(1)
  })

  it('D4 chunks stay chunks, live and from the record', async () => {
    await using server = await openServer()
    const { live, resumed } = await liveTwice(openLedger(), server, async () => [
      await chunksOf(await fetch(`${server.url}/stream`)),
      await chunksOf(await fetch(`${server.url}/cut-character`)),
    ])
    expect(live.map((chunks) => chunks.join(''))).toEqual(['one two three', 'a – b – c'])
    expect(live[0]?.length).toBeGreaterThan(1)
    expect(resumed).toEqual(live)
  })

  it('D4 bodies of all kinds: bytes, packed, empty, none at all', async () => {
    await using server = await openServer()
    const { live, resumed } = await liveTwice(openLedger(), server, async () => {
      const bytes = await (await fetch(`${server.url}/binary`)).bytes()
      const text = await (await fetch(`${server.url}/gzip`)).text()
      const none = await fetch(`${server.url}/nothing`)
      const empty = await fetch(`${server.url}/empty`)
      const head = await fetch(`${server.url}/json`, { method: 'HEAD' })
      return {
        bytes: [...bytes],
        text,
        none: [none.status, none.body, await none.text()],
        empty: [empty.status, empty.body === null, await empty.text()],
        head: [head.status, head.body, head.headers.get('content-type')],
      }
    })
    expect(live).toEqual({
      bytes: [...PNG],
      text: 'unpacked',
      none: [204, null, ''],
      empty: [200, false, ''],
      head: [200, null, 'application/json'],
    })
    expect(resumed).toEqual(live)
  })

  it('D4 redirects, clones and readers that bring their own memory', async () => {
    await using server = await openServer()
    const { live, resumed } = await liveTwice(openLedger(), server, async () => {
      const moved = await fetch(`${server.url}/moved`)
      const copy = moved.clone()
      const manual = await fetch(`${server.url}/moved`, { redirect: 'manual' })
      const reader = (await fetch(`${server.url}/gzip`)).body?.getReader({ mode: 'byob' })
      const first = await reader?.read(new Uint8Array(4))
      const rest = await reader?.read(new Uint8Array(100))
      const last = await reader?.read(new Uint8Array(4))
      return {
        moved: [moved.redirected, moved.url, await moved.text()],
        copy: [copy.redirected, copy.url, await copy.text()],
        manual: [manual.status, manual.headers.get('location')],
        read: [first?.value, rest?.value].map((part) => Buffer.from(part ?? []).toString()),
        done: last?.done,
      }
    })
    expect(live.moved).toEqual(live.copy)
    expect(live).toMatchObject({
      moved: [true, `${server.url}/json`, JSON.stringify({ hello: 'wörld', asked: '' })],
      manual: [302, '/json'],
      read: ['unpa', 'cked'],
      done: true,
    })
    expect(resumed).toEqual(live)
  })

  it('D4 the code is given only headers that are kept, at once and not first on resume', async () => {
    await using server = await openServer()
    const ledger = openLedger()
    const headersOf = async () => Object.keys(Object.fromEntries((await fetch(`${server.url}/echo`)).headers))
    const plain = await agent('plain', headersOf, { recordFetch: true }).start(ledger, null)
    expect(plain.output).toEqual(expect.arrayContaining(['content-type', 'date']))
    expect(plain.output).not.toContain('x-own')
    const more = { recordFetch: { headers: ['X-Own'] } }
    const own = await agent('own', headersOf, more).start(ledger, null)
    expect(own.output).toContain('x-own')
    expect(own.output).not.toContain('set-cookie')
  })
})

describe('how it is asked for', () => {
  it('D4 requests, addresses and bodies of all kinds are sent as they are, and recognised', async () => {
    await using server = await openServer()
    const url = `${server.url}/echo`
    const lines = (...parts: string[]) =>
      new ReadableStream({
        start(controller) {
          for (const part of parts) controller.enqueue(new TextEncoder().encode(part))
          controller.close()
        },
      })
    const { live, resumed } = await liveTwice(openLedger(), server, async () => {
      const form = new FormData()
      form.set('name', 'owl')
      form.set('file', new File(['feathers'], 'owl.txt', { type: 'text/plain' }))
      const request = new Request(url, { method: 'PUT', body: 'kept', headers: { 'x-sent': 'by request' } })
      const asked = [
        () => fetch(new URL(url), { method: 'POST', body: new URLSearchParams({ a: '1' }) }),
        () => fetch(request.clone()),
        () => fetch(request, { headers: { 'x-sent': 'by init' }, method: 'POST' }),
        () => fetch(url, { method: 'POST', body: new Blob(['blob']) }),
        () => fetch(url, { method: 'POST', body: new TextEncoder().encode('bytes') }),
        () => fetch(url, { method: 'POST', body: lines('a', 'b'), duplex: 'half' }),
        () => fetch(url, { method: 'POST', body: form }),
      ]
      const came: string[] = []
      for (const ask of asked) came.push(await (await ask()).text())
      return came
    })
    expect(live.slice(0, 6)).toEqual([
      'POST - a=1',
      'PUT by request kept',
      'POST by init kept',
      'POST - blob',
      'POST - bytes',
      'POST - ab',
    ])
    expect(live[6]).toMatch(/name="name"\s+owl[\s\S]+filename="owl.txt"[\s\S]+feathers/)
    expect(resumed).toEqual(live)
  })

  it('D4 calls are counted in the order of the code, also behind a body that takes time to read', async () => {
    await using server = await openServer()
    const ledger = openLedger()
    const { runId } = await liveTwice(ledger, server, () =>
      Promise.all([
        fetch(`${server.url}/echo`, { method: 'POST', body: new Blob(['slow']) }),
        fetch(`${server.url}/echo`, { method: 'POST', body: 'fast' }),
      ]).then(async ([slow, fast]) => [await slow.text(), await fast.text()]),
    )
    const bodies = await recordedRequests(ledger, runId)
    expect(bodies.map(({ body }) => body)).toEqual(['slow', 'fast'])
  })

  it('D4 a request that cannot be made fails as it does without a tape, and is not recorded', async () => {
    await using server = await openServer()
    const ledger = openLedger()
    const { live, resumed, runId } = await liveTwice(ledger, server, async () => [
      await thrownBy(() => fetch('no address')),
      await thrownBy(() => fetch(server.url, WRONG)),
    ])
    expect(live.map(({ name }) => name)).toEqual(['TypeError', 'TypeError'])
    expect(resumed).toEqual(live)
    expect(await recordedRequests(ledger, runId)).toEqual([])
  })

  it('D4 a request is recorded with its query, its JSON as a value and no other headers than the kept ones', async () => {
    await using server = await openServer()
    const ledger = openLedger()
    const { runId } = await liveTwice(ledger, server, async () =>
      (
        await fetch(`${server.url}/json?q=owls&q=mice`, {
          method: 'post',
          headers: { 'content-type': 'application/json', accept: '*/*', 'x-secret-thing': 'hidden' },
          body: JSON.stringify({ model: 'm', messages: [{ content: 'hi' }] }),
        })
      ).text(),
    )
    expect(await recordedRequests(ledger, runId)).toEqual([
      {
        method: 'POST',
        url: `${server.url}/json`,
        query: [
          ['q', 'owls'],
          ['q', 'mice'],
        ],
        headers: { accept: '*/*', 'content-type': 'application/json' },
        body: { model: 'm', messages: [{ content: 'hi' }] },
      },
    ])
  })
})

async function recordedRequests(
  ledger: ReturnType<typeof openLedger>,
  runId: string,
): Promise<Record<string, unknown>[]> {
  const requests: Record<string, unknown>[] = []
  for await (const { payload } of ledger.read(runId, { types: ['execution.step_started'] }))
    if (payload['name'] === 'fetch') requests.push(payload['input'] as Record<string, unknown>)
  return requests
}

describe('where it is not taped', () => {
  it('D4 inside an effect, outside of runs, without a ledger and where it is ignored', async () => {
    await using server = await openServer()
    const ledger = openLedger()
    const code = async (run: Run) => {
      const own = await run.effect('own', null, async () =>
        (await fetch(`${server.url}/echo`)).headers.get('x-own'),
      )
      const ignored = (await fetch(`${server.url}/echo?telemetry`)).headers.get('x-own')
      return { own, ignored }
    }
    const ignore = ({ method, url }: { method: string; url: string }) =>
      method === 'GET' && url.endsWith('?telemetry')
    const { output, runId, error } = await agent('partly', code, { recordFetch: { ignore } }).start(
      ledger,
      null,
    )
    expect(error).toBeNull()
    expect(output).toEqual({ own: 'mine', ignored: 'mine' })
    expect((await ledger.getSteps(runId)).map(({ nodeName }) => nodeName)).toEqual(['own'])
    expect((await fetch(`${server.url}/echo`)).headers.get('x-own')).toBe('mine')
    const untaped = await agent('untaped', code).start(ledger, null)
    expect(untaped.output).toEqual({ own: 'mine', ignored: 'mine' })
  })
})

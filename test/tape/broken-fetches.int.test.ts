import { agent, type Run } from '@clew/runtime'
import { describe, expect, it } from 'vitest'
import { createLatch } from '../runtime/worlds.ts'
import { openLedger, openServer } from './all-answers.ts'
import { liveTwice, thrownBy } from './lives.ts'
import { json, startServer } from './server.ts'

describe('what goes wrong', () => {
  it('D4 a lost connection, before and in the middle of a body, is the error it was', async () => {
    await using server = await openServer()
    const gone = await openServer()
    await gone.close()
    const { live, resumed } = await liveTwice(openLedger(), server, async () => {
      const refused = await thrownBy(() => fetch(gone.url))
      const response = await fetch(`${server.url}/broken`)
      const reader = response.body?.getReader()
      const first = await reader?.read()
      const cut = await thrownBy(async () => reader?.read())
      return { refused, first: Buffer.from(first?.value ?? []).toString(), cut }
    })
    expect(live).toMatchObject({
      refused: { name: 'TypeError', message: 'fetch failed', code: 'ECONNREFUSED', isTypeError: true },
      first: 'half a ',
      cut: { name: 'TypeError', message: 'terminated', code: 'UND_ERR_SOCKET', isTypeError: true },
    })
    expect(resumed).toEqual(live)
  })

  it('D4 aborts keep their name and, live, their reason', async () => {
    await using server = await openServer()
    const { live, resumed } = await liveTwice(openLedger(), server, async () => {
      const before = await thrownBy(() => fetch(server.url, { signal: AbortSignal.abort() }))
      const timed = await thrownBy(() => fetch(`${server.url}/silent`, { signal: AbortSignal.timeout(50) }))
      const controller = new AbortController()
      const reader = (await fetch(`${server.url}/endless`, { signal: controller.signal })).body?.getReader()
      const first = Buffer.from((await reader?.read())?.value ?? []).toString()
      controller.abort()
      const during = await thrownBy(async () => reader?.read())
      const own = new AbortController()
      const asking = fetch(`${server.url}/silent`, { signal: own.signal })
      own.abort(new RangeError('my own reason'))
      return { before, timed, first, during, own: await thrownBy(() => asking) }
    })
    expect(live).toMatchObject({
      before: { name: 'AbortError', isAbort: true },
      timed: { name: 'TimeoutError', isAbort: true },
      first: 'for ever ',
      during: { name: 'AbortError', isAbort: true },
      own: { name: 'RangeError', message: 'my own reason' },
    })
    expect(resumed).toEqual(live)
  })

  it('D4 a body that is too long breaks off with what to do instead', async () => {
    await using server = await openServer()
    const { live, resumed } = await liveTwice(
      openLedger(),
      server,
      async () => thrownBy(async () => (await fetch(`${server.url}/stream`)).text()),
      { mostBytes: 6 },
    )
    expect(live).toMatchObject({ message: 'terminated', code: 'too_large' })
    expect(resumed).toEqual(live)
  })

  it('D4 a failure that is given back tells libraries not to wait again, unless at original speed', async () => {
    for (const speed of ['at once', 'original'] as const) {
      await using server = await startServer((_seen, response) => {
        response.setHeader('retry-after', '20')
        json(response, { error: 'busy' }, 429)
      })
      const { live, resumed } = await liveTwice(
        openLedger(),
        server,
        async () => {
          const { status, headers } = await fetch(server.url)
          return [status, headers.get('retry-after'), headers.get('retry-after-ms')]
        },
        { speed },
      )
      expect(live).toEqual([429, '20', null])
      expect(resumed).toEqual([429, '20', speed === 'at once' ? '1' : null])
    }
  })

  it('R3 a failed answer is not fed to the next attempt of the step around it, a good one is', async () => {
    let asked = 0
    await using server = await startServer((seen, response) => {
      if (seen.url === '/good') return json(response, { good: true })
      asked++
      if (asked === 1) return json(response, { error: 'busy' }, 503)
      if (asked > 2) return json(response, { asked })
      response.writeHead(200).write('{')
      return void setTimeout(() => response.destroy(), 20)
    })
    const code = (run: Run) =>
      run.step(
        'ask',
        null,
        async () => {
          await (await fetch(`${server.url}/good`)).text()
          const response = await fetch(`${server.url}/flaky`)
          if (!response.ok) throw new Error(`status ${response.status}`)
          return response.json()
        },
        { retry: { tries: 3, delayMs: 1 } },
      )
    const { live, resumed } = await liveTwice(openLedger(), server, code)
    expect(live).toEqual({ asked: 3 })
    expect(resumed).toEqual(live)
    expect(server.seen.filter(({ url }) => url === '/good').length).toBe(1)
  })
})

describe('bodies that are not read to their end', () => {
  it('D4 do not hold up a pause or the end, and are kept as far as they came', async () => {
    await using server = await openServer()
    const ledger = openLedger()
    const { live, resumed } = await liveTwice(ledger, server, async () => {
      const unread = await fetch(`${server.url}/stream`)
      const cancelled = await fetch(`${server.url}/endless`)
      const reader = cancelled.body?.getReader()
      const first = Buffer.from((await reader?.read())?.value ?? []).toString()
      await reader?.cancel()
      return { status: unread.status, first }
    })
    expect(live).toEqual({ status: 200, first: 'for ever ' })
    expect(resumed).toEqual(live)
  })

  it('D4 end with the code that asked for them, with the chunks that it had seen', async () => {
    await using server = await openServer()
    const ledger = openLedger()
    const peek = async (): Promise<string> => {
      const reader = (await fetch(`${server.url}/endless`)).body?.getReader()
      return Buffer.from((await reader?.read())?.value ?? []).toString()
    }
    const peeking = agent('peeking', async (run) => [await run.step('peek', null, peek), await peek()], {
      recordFetch: true,
    })
    const { output, runId } = await peeking.start(ledger, null)
    expect(output).toEqual(['for ever ', 'for ever '])
    const steps = (await ledger.getSteps(runId)).filter(({ nodeName }) => nodeName === 'fetch body')
    const ends: unknown[] = []
    for await (const { payload } of ledger.read(runId, { types: ['execution.step_completed'] }))
      if (String(payload['stepId']).includes('fetch body')) ends.push(payload['output'])
    expect(steps.map(({ status }) => status)).toEqual(['completed', 'completed'])
    for (const end of ends)
      expect(end).toMatchObject({ ended: 'left', chunks: [[expect.any(Number), 'for ever ']] })
  })
})

describe('steps that are given up', () => {
  it('R3 hang up: a body whose step ran out of time is not read on', async () => {
    const hungUp = createLatch()
    await using server = await startServer((_seen, response) => {
      response.on('close', hungUp.open)
      response.writeHead(200).write('for ever')
    })
    const slow = agent(
      'slow',
      (run) => run.step('read', null, async () => (await fetch(server.url)).text(), { timeoutMs: 500 }),
      { recordFetch: true },
    )
    const { status, error } = await slow.start(openLedger(), null)
    expect([status, error?.code]).toEqual(['failed', 'timeout'])
    await hungUp.opened
  })
})

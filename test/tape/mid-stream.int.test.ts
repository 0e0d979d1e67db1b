import { describe, expect, it } from 'vitest'
import { agent, type Run } from '@clew/runtime'
import { createMemoryWorld } from '../../packages/runtime/test/memory-ledger.ts'
import { createLife } from '../runtime/mortal-ledger.ts'
import { createLatch } from '../runtime/worlds.ts'
import { liveTwice, said } from './lives.ts'
import { json, startServer } from './server.ts'

const SAID = [
  ['a', '1'],
  ['b', '1'],
  ['b', '2'],
  ['a', '2'],
  ['b', '3'],
] as const

/** Sends one chunk whenever it is told to. */
async function startTeller() {
  const lines = new Map<string, { tell(text: string): Promise<void>; end(): void }>()
  const asked = new Map<string, ReturnType<typeof createLatch>>()
  const latchOf = (name: string) => {
    const known = asked.get(name) ?? createLatch()
    asked.set(name, known)
    return known
  }
  const server = await startServer((seen, response) => {
    response.writeHead(200, { 'content-type': 'text/plain' }).flushHeaders()
    lines.set(seen.url.slice(1), {
      tell: (text) => new Promise((resolve) => void response.write(text, () => resolve())),
      end: () => void response.end(),
    })
    latchOf(seen.url.slice(1)).open()
  })
  return Object.assign(server, {
    async line(name: string) {
      await latchOf(name).opened
      return lines.get(name) as { tell(text: string): Promise<void>; end(): void }
    },
  })
}

const readerOf = async (url: string) => {
  const reader = (await fetch(url)).body?.getReader()
  return async (): Promise<string | null> => {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined }
    return done ? null : Buffer.from(value ?? []).toString()
  }
}

describe('code that acts on what streams in', () => {
  it('D4 a step begun in mid-stream is begun at the same chunk again', async () => {
    await using server = await startTeller()
    const asked: string[] = []
    const tool = async (word: string): Promise<string> => {
      asked.push(word)
      const line = await server.line('talk')
      if (word === 'one') await line.tell('two')
      else line.end()
      return word.toUpperCase()
    }
    const code = async (run: Run) => {
      const read = await readerOf(`${server.url}/talk`)
      const came: string[] = []
      if (asked.length === 0) await (await server.line('talk')).tell('one')
      for (let word = await read(); word !== null; word = await read())
        came.push(await run.effect('tool', { word }, () => tool(word)))
      return came
    }
    const { live, resumed } = await liveTwice(createMemoryWorld().open(), server, code)
    expect(live).toEqual(['ONE', 'TWO'])
    expect(resumed).toEqual(live)
    expect(asked).toEqual(['one', 'two'])
  })

  it('D3 two streams and a step beside them are interleaved as they were', async () => {
    await using server = await startTeller()
    let isLive = true
    let order: string[] = []
    const code = async (run: Run) => {
      order = []
      const follow = async (name: string): Promise<void> => {
        const read = await readerOf(`${server.url}/${name}`)
        for (let word = await read(); word !== null; word = await read()) {
          order.push(`${name} ${word}`)
          // Numbered by the order of the calls: it must be the same again.
          await run.effect('note', null, () => order.length)
        }
      }
      const beside = run.step('beside', null, async (_none, inner) => {
        for (const at of [0, 1, 2]) await inner.effect('inner', { at }, () => at)
        return 'done'
      })
      const told = isLive ? tell() : undefined
      await Promise.all([follow('a'), follow('b'), beside.then((end) => order.push(end)), told])
      isLive = false
      return order
    }
    const tell = async (): Promise<void> => {
      const [a, b] = [await server.line('a'), await server.line('b')]
      for (const [name, word] of SAID) {
        await (name === 'a' ? a : b).tell(word)
        // Not before the code has seen this one.
        while (!order.includes(`${name} ${word}`)) await new Promise((resolve) => void setImmediate(resolve))
      }
      b.end()
      a.end()
    }
    const ledger = createMemoryWorld().open()
    const { live, resumed, runId } = await liveTwice(ledger, server, code)
    expect(live.filter((each) => each !== 'done')).toEqual(SAID.map((each) => each.join(' ')))
    expect(resumed).toEqual(live)
    const notes: unknown[] = []
    for await (const { payload } of ledger.read(runId, { types: ['execution.step_completed'] }))
      if (String(payload['stepId']).startsWith('note')) notes.push(payload['output'])
    expect(notes.length).toBe(5)
  })
})

describe('deaths', () => {
  const words = ['one ', 'two ', 'three']
  const startWords = () =>
    startServer((_seen, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' })
      for (const word of words) response.write(word)
      response.end()
    })

  it('R5 killed at any append, a taped run comes to the same end', async () => {
    await using server = await startWords()
    const talking = agent(
      'talking',
      async (run) => {
        const first = await (await fetch(`${server.url}/1`)).text()
        const upper = await run.step('upper', first, async (text) => {
          const again = await fetch(`${server.url}/2`, { method: 'POST', body: text })
          return (await again.text()).toUpperCase()
        })
        return { first, upper, third: await (await fetch(`${server.url}/3`)).text() }
      },
      { recordFetch: true },
    )
    for (let at = 0; ; at++) {
      const world = createMemoryWorld()
      const runId = `killed-${at}`
      const life = createLife(world.open(), { append: at >> 1, committed: at % 2 === 1 })
      const first = await Promise.race([talking.start(life.ledger, null, { runId }), life.died])
      if ((await world.open().getRun(runId))?.status === 'completed') break
      const result =
        first !== 'died'
          ? first
          : (await world.open().getRun(runId))
            ? await talking.resume(world.open(), runId)
            : await talking.start(world.open(), null, { runId })
      expect([at, ...said(result)]).toEqual([at, 'completed', undefined])
      expect(result.output).toEqual({
        first: 'one two three',
        upper: 'ONE TWO THREE',
        third: 'one two three',
      })
      expect(at).toBeLessThan(60)
    }
  })

  it('R10 a request that is no read is not sent again: a person says what it came to', async () => {
    await using server = await startServer((_seen, response) => json(response, { paid: true }))
    const pay = agent(
      'pay',
      async () => {
        const response = await fetch(`${server.url}/pay`, { method: 'POST', body: 'owl' })
        return { status: response.status, body: await response.json() }
      },
      { recordFetch: { safety: ({ method }) => (method === 'POST' ? 'write' : 'read') } },
    )
    const world = createMemoryWorld()
    // It is paid, and the process dies before that is on record.
    const life = createLife(world.open(), { append: 2, committed: false })
    await Promise.race([pay.start(life.ledger, null, { runId: 'pays' }), life.died])
    expect([life.isDead, server.seen.length]).toEqual([true, 1])
    const asked = await pay.resume(world.open(), 'pays')
    expect(asked.status).toBe('paused')
    expect(asked.pause?.question['unknown']).toBe('outcome')
    const answer = { choice: 'done', output: { status: 201, body: { paid: 'by hand' } } }
    const done = await pay.resume(world.open(), 'pays', { answer })
    expect(said(done)).toEqual(['completed', undefined])
    expect(done.output).toEqual({ status: 201, body: { paid: 'by hand' } })
    expect(server.seen.length).toBe(1)
    const other = await pay.start(world.open(), null)
    expect(other.output).toEqual({ status: 200, body: { paid: true } })
    const names = (await world.open().getSteps(other.runId)).map(({ nodeName }) => nodeName)
    expect(names).toEqual(['fetch'])
  })

  it('R5 a body is asked for again, and one with another status breaks off', async () => {
    let status = 200
    await using server = await startServer((_seen, response) => void response.writeHead(status).end('words'))
    const reading = agent('reading', async () => (await fetch(server.url)).text(), { recordFetch: true })
    for (const [then, expected] of [
      [200, ['completed', undefined]],
      [500, ['failed', 'terminated']],
    ] as const) {
      const ledger = createMemoryWorld().open()
      status = 200
      // Given up after its first step: the answer is on record, its body is not.
      const listener = {
        step: ({ name, status: now }: { name: string; status: string }) => {
          if (name === 'fetch' && now === 'completed') status = then
        },
      }
      const result = await reading.start(ledger, null, { suspendAlways: true, listener })
      expect(said(result)).toEqual(expected)
    }
  })
})

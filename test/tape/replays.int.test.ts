import { describe, expect, it } from 'vitest'
import { agent, replay, type Run, type TapeOptions } from '@clew/runtime'
import { createMemoryWorld } from '../../packages/runtime/test/memory-ledger.ts'
import { said } from './lives.ts'
import { type Library, loadTalk } from './model-agents.ts'
import { startModelServer } from './model-server.ts'
import { json, startServer, stream } from './server.ts'

const LIBRARIES: readonly Library[] = ['openai', 'anthropic', 'ai']

describe.each(LIBRARIES)('a replay of a talk by %s', (library) => {
  it.each([true, false])('D4 is identical, with the server gone (streamed: %s)', async (isStreamed) => {
    await using server = await startModelServer([503])
    const ledger = createMemoryWorld().open()
    const talking = await loadTalk(library)
    const ended = await talking.start(ledger, { url: server.url, isStreamed })
    const { runId, output } = ended
    expect(said(ended)).toEqual(['completed', undefined])
    const sent = server.seen.length
    await server.close()
    const report = await replay(talking, { ledger, runId })
    expect(report.divergences).toEqual([])
    expect([report.verdict, report.outcome.output]).toEqual(['identical', output])
    expect([sent, server.seen.length]).toEqual([3, 3])
  })

  it('D4 of a run that was given up after each step is identical as well', async () => {
    await using server = await startModelServer()
    const ledger = createMemoryWorld().open()
    const talking = await loadTalk(library)
    const how = { suspendAlways: true }
    const { runId } = await talking.start(ledger, { url: server.url, isStreamed: true }, how)
    await server.close()
    expect((await replay(talking, { ledger, runId })).divergences).toEqual([])
  })
})

describe('a replay of taped requests', () => {
  const words = (run: Run, read: (text: string) => unknown) => async (url: string) => {
    const found: unknown[] = []
    const response = await fetch(url)
    const decoder = new TextDecoder()
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>)
      found.push(await run.effect('note', { text: decoder.decode(chunk) }, ({ text }) => read(text)))
    return found
  }

  it('D4 gives chunks at the places where they came, beside other steps', async () => {
    await using server = await startServer((seen, response) =>
      stream(response, [`${seen.url}1`, `${seen.url}2`, `${seen.url}3`], { gapMs: 12 }),
    )
    const ledger = createMemoryWorld().open()
    const talking = agent(
      'talking',
      async (run) => {
        const read = words(run, (text) => text.length)
        const beside = run.step('beside', null, async (_none, inner) => {
          const came: number[] = []
          for (const at of [1, 2, 3, 4]) came.push(await inner.effect('inner', { at }, () => at))
          return came
        })
        return Promise.all([read(`${server.url}/a`), beside, read(`${server.url}/b`)])
      },
      { recordFetch: true },
    )
    const { runId, output } = await talking.start(ledger, null)
    await server.close()
    for (let round = 0; round < 3; round++) {
      const report = await replay(talking, { ledger, runId })
      expect([report.divergences, report.outcome.output]).toEqual([[], output])
    }
  })

  it('D4 never sends anything: a request that is not on the tape is a divergence', async () => {
    await using server = await startServer((_seen, response) => json(response, { fine: true }))
    const ledger = createMemoryWorld().open()
    const make = (paths: readonly string[], recordFetch: true | TapeOptions = true) =>
      agent(
        'asking',
        async () => {
          const came: unknown[] = []
          for (const path of paths) came.push(await (await fetch(server.url + path)).json())
          return came.length
        },
        { recordFetch },
      )
    const { runId } = await make(['/a', '/b']).start(ledger, null)
    const compare = async (paths: readonly string[]) => {
      const { verdict, divergences } = await replay(make(paths), { ledger, runId })
      return [verdict, divergences[0]?.kind, divergences[0]?.stepId]
    }
    expect(await compare(['/a', '/b'])).toEqual(['identical', undefined, undefined])
    expect(await compare(['/a', '/other'])).toEqual(['diverged', 'input', 'fetch#1'])
    expect(await compare(['/a', '/b', '/c'])).toEqual(['diverged', 'extra', 'fetch#2'])
    expect((await compare(['/a']))[0]).toBe('diverged')
    expect(server.seen.length).toBe(2)
    const telling = make(['/a', '/b', '/telemetry'], { ignore: ({ url }) => url.endsWith('/telemetry') })
    const ignored = await replay(telling, { ledger, runId })
    expect([ignored.verdict, server.seen.length]).toEqual(['diverged', 2])
  })

  it('D4 ends bodies that the code left open where it left them', async () => {
    await using server = await startServer((_seen, response) => {
      response.writeHead(200).write('first')
    })
    const ledger = createMemoryWorld().open()
    const peek = async (): Promise<string> => {
      const reader = (await fetch(server.url)).body?.getReader()
      return Buffer.from((await reader?.read())?.value ?? []).toString()
    }
    const peeking = agent('peeking', async (run) => [await run.step('peek', null, peek), await peek()], {
      recordFetch: true,
    })
    const { runId, output } = await peeking.start(ledger, null)
    await server.close()
    const report = await replay(peeking, { ledger, runId })
    expect([report.divergences, report.outcome.output]).toEqual([[], output])
  })

  it('P2 a redacted response is compared as it is kept: a replay hands the placeholder on', async () => {
    const secret = ['sk', 'proj', 'Aq3v8Zk1Lm9Xc7Rt5Yb2Nw4Ps6Du0Ef8Gh1J'].join('-')
    await using server = await startServer((_seen, response) => json(response, { key: secret, fine: true }))
    const ledger = createMemoryWorld().open()
    const asking = agent('asking', async () => (await fetch(server.url)).json(), {
      recordFetch: true,
    })
    const { runId, output } = await asking.start(ledger, null)
    expect(output).toEqual({ key: secret, fine: true })
    await server.close()
    const report = await replay(asking, { ledger, runId })
    expect(report.divergences).toEqual([])
    expect(report.outcome.output).toMatchObject({ key: expect.stringMatching(/^\[redacted:/), fine: true })
  })

  it('R3 goes through the attempts of a step that asked again', async () => {
    let asked = 0
    await using server = await startServer((_seen, response) =>
      asked++ < 2 ? json(response, { error: 'busy' }, 500) : json(response, { asked }),
    )
    const ledger = createMemoryWorld().open()
    const trying = agent(
      'trying',
      (run) =>
        run.step(
          'ask',
          null,
          async () => {
            const response = await fetch(server.url)
            if (!response.ok) throw new Error(`status ${response.status}`)
            return response.json()
          },
          { retry: { tries: 3, delayMs: 1 } },
        ),
      { recordFetch: true },
    )
    const { runId, output } = await trying.start(ledger, null)
    expect(output).toEqual({ asked: 3 })
    await server.close()
    const report = await replay(trying, { ledger, runId })
    expect([report.divergences, report.outcome.output]).toEqual([[], output])
  })
})

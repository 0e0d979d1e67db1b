import { once } from 'node:events'
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { gzipSync } from 'node:zlib'
import { type Ledger, openLedger } from 'clew'
import { createServer, type Limits } from 'clew/server'
import { fromOtlpTraces } from 'clew/otel'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { SendAtOnce } from './send-at-once.ts'

const MB = 1024 * 1024

/** Source code that was not written for this test, and does not repeat itself: packages that are installed here. */
function sourceCode(bytes: number): string {
  const folder = join(import.meta.dirname, '../../node_modules')
  let code = ''
  for (const file of globSync('{vite,vitest,playwright-core,ai,fast-check}/**/*.js', {
    cwd: folder,
  }).sort()) {
    code += readFileSync(join(folder, file), 'utf8')
    if (code.length >= bytes) return code.slice(0, bytes)
  }
  throw new Error(`the packages have ${code.length} characters of code, less than ${bytes}`)
}

let nth = 0
/** Each span in a trace of its own, so that no two bodies meet. */
function span(attributes: object[]): object {
  nth++
  return {
    traceId: nth.toString(16).padStart(32, '0'),
    spanId: nth.toString(16).padStart(16, '0'),
    name: 'large',
    startTimeUnixNano: '1763190000000000000',
    endTimeUnixNano: '1763190000000000009',
    attributes,
  }
}
const textOf = (value: string): object => ({ key: 'text', value: { stringValue: value } })
const bodyOf = (spans: readonly object[]): string =>
  JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] })

interface Served {
  readonly url: string
  readonly ledger: Ledger
  post(body: string, type?: string, path?: string): Promise<{ status: number; text: string }>
}

async function serveFile(limits: Partial<Limits> = {}): Promise<Served> {
  const folder = mkdtempSync(join(tmpdir(), 'clew-large-'))
  const ledger = await openLedger(`sqlite:${folder}/clew.db`)
  const mounted = await createServer(ledger, { tokens: false, log: 'silent', limits })
  const server = createHttpServer(mounted.handler)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  onTestFinished(async () => {
    server.closeAllConnections()
    server.close()
    await mounted.close()
    await ledger.close()
    rmSync(folder, { recursive: true })
  })
  return {
    url,
    ledger,
    async post(body, type = 'application/json', path = '/v1/traces') {
      const headers = { 'content-type': type, 'content-encoding': 'gzip' }
      const answer = await fetch(url + path, { method: 'POST', headers, body: gzipSync(body) })
      return { status: answer.status, text: await answer.text() }
    },
  }
}

/**
 * Processor time in milliseconds that this thread spent in one go at most while `work` ran. Other than by the clock, time in
 * which a busy machine ran other threads does not count.
 */
async function longestPiece(work: () => Promise<unknown>): Promise<number> {
  let before = process.threadCpuUsage()
  let longest = 0
  const look = (): void => {
    const { user, system } = process.threadCpuUsage(before)
    before = process.threadCpuUsage()
    longest = Math.max(longest, (user + system) / 1000)
  }
  const timer = setInterval(look, 1)
  await work()
  look()
  clearInterval(timer)
  return longest
}

describe('A2 one large body does not stop the server', () => {
  let code = ''
  beforeAll(() => {
    code = sourceCode(8 * MB)
  })

  it.each([
    ['8 MB of source code in one span', () => [span([textOf(code.slice(0, 7.9 * MB))])]],
    [
      '40 MB of words',
      () => Array.from({ length: 6 }, () => span([textOf('of words and more '.repeat(400_000))])),
    ],
    [
      '5,000 small spans',
      () => Array.from({ length: 5000 }, (_, n) => span([{ key: 'n', value: { intValue: n } }])),
    ],
    [
      'a span of 50,000 attributes',
      () => [span(Array.from({ length: 50_000 }, (_, n) => ({ key: `k${n}`, value: { intValue: n } })))],
    ],
  ])('%s: the server answers others meanwhile, and does a small part of the work', async (_, make) => {
    const body = bodyOf(make())
    const own = await openLedger('memory:')
    const here = await longestPiece(() => own.append(fromOtlpTraces(JSON.parse(body) as object).events))
    await own.close()

    const { url, post } = await serveFile()
    // The thread is started by the first large body.
    expect(await post(bodyOf([span([textOf('first')])]))).toEqual({ status: 200, text: '{}' })
    const packed = gzipSync(body)
    let isAnswered = false
    let health = 0
    const there = await longestPiece(async () => {
      const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
      const sent = fetch(`${url}/v1/traces`, { method: 'POST', headers, body: packed }).then(
        async (answer) => [answer.status, await answer.text()],
      )
      void sent.finally(() => (isAnswered = true))
      while (!isAnswered) {
        expect((await fetch(`${url}/healthz`)).status).toBe(200)
        health++
        await sleep(5)
      }
      expect(await sent).toEqual([200, '{}'])
    })
    expect(health).toBeGreaterThan(3)
    expect(there).toBeLessThan(here / 3)
  })

  it('bodies too small for the thread, many at once: others are answered between two of them', async () => {
    const bodies = Array.from({ length: 30 }, () => bodyOf(Array.from({ length: 300 }, () => span([]))))
    const own = await openLedger('memory:')
    const here = await longestPiece(() =>
      own.append(bodies.flatMap((body) => fromOtlpTraces(JSON.parse(body) as object).events)),
    )
    await own.close()

    const { url, ledger } = await serveFile()
    const requests = bodies.map(
      (body) =>
        `POST /v1/traces HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    )
    const state = new SharedArrayBuffer(4)
    const workerData: SendAtOnce = { port: Number(new URL(url).port), requests, state }
    const client = new Worker(new URL('./send-at-once.ts', import.meta.url), { workerData })
    await once(client, 'message')
    // The server does nothing until all has come, and then finds it in one turn of its event loop.
    const flag = new Int32Array(state)
    Atomics.store(flag, 0, 1)
    Atomics.notify(flag, 0)
    Atomics.wait(flag, 0, 1)
    const there = await longestPiece(() => once(client, 'exit'))
    expect((await ledger.stats()).runs).toBe(30 * 300)
    expect(there).toBeLessThan(here / 3)
  })

  it('8 MB of source code as one event, a line of events, and records of AG-UI', async () => {
    const { post, ledger } = await serveFile()
    const large = code.slice(0, 3 * MB)
    const note = (runId: string): string =>
      JSON.stringify({ event_type: 'execution.note', correlation_id: runId, payload: { large } })
    expect(await post(note('document'), 'application/json', '/v1/events')).toMatchObject({ status: 200 })
    expect(await post(note('line'), 'application/x-ndjson', '/v1/events')).toMatchObject({ status: 200 })
    const agUi = [
      { type: 'RUN_STARTED', threadId: 't', runId: 'ag-ui' },
      { type: 'TEXT_MESSAGE_START', messageId: 'm', role: 'assistant' },
      { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: large },
      { type: 'TEXT_MESSAGE_END', messageId: 'm' },
      { type: 'RUN_FINISHED', threadId: 't', runId: 'ag-ui' },
    ]
    expect(await post(JSON.stringify(agUi), 'application/json', '/v1/ag-ui')).toMatchObject({ status: 200 })
    for (const runId of ['document', 'line', 'ag-ui']) expect(await ledger.getRun(runId)).not.toBeNull()
  })

  it('a span of more than 8 MiB is refused, as JSON and as protobuf, and its neighbours are taken', async () => {
    const { post, ledger } = await serveFile()
    const large = span([textOf(`${code}${code}`)])
    const small = span([textOf('small')])
    const { status, text } = await post(bodyOf([large, small]))
    expect([status, JSON.parse(text)]).toEqual([
      200,
      {
        partialSuccess: {
          rejectedSpans: '1',
          errorMessage: expect.stringContaining('more than 8388608'),
        },
      },
    ])
    expect((await ledger.listRuns()).runs).toHaveLength(1)
  })

  it('millions of empty spans are refused without being read', async () => {
    const { post } = await serveFile()
    const empty = `{"resourceSpans":[{"scopeSpans":[{"spans":[${'{},'.repeat(1_000_000)}{}]}]}]}`
    expect((await post(empty)).status).toBe(413)
  })

  it('more large bodies at once than the limit get 429 and when to come back', async () => {
    const { url } = await serveFile({ largeBodies: 2 })
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
    const body = gzipSync(bodyOf([span([textOf(code.slice(0, MB))])]))
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => fetch(`${url}/v1/traces`, { method: 'POST', headers, body })),
    )
    const statuses = answers.map(({ status }) => status)
    expect(new Set(statuses)).toEqual(new Set([200, 429]))
    for (const answer of answers)
      if (answer.status === 429) expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
  })

  it('a refused body is answered as it is by the server itself', async () => {
    const { post } = await serveFile({ unpackedBytes: 2 * MB })
    expect((await post(`{"resourceSpans":"${'x'.repeat(3 * MB)}"}`)).status).toBe(413)
    expect(await post('{"resourceSpans":')).toMatchObject({ status: 400 })
    expect(await post('x', 'text/plain')).toMatchObject({ status: 415 })
    expect(await post('{}', 'application/json', '/v1/events')).toMatchObject({ status: 400 })
  })
})

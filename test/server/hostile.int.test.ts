import { request } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { recordRun, serve, type Served } from './served.ts'

describe('bad requests', () => {
  let served: Served
  beforeAll(async () => {
    served = await serve(
      { limits: { bodyBytes: 64 * 1024, unpackedBytes: 256 * 1024, requestTimeoutMs: 1000 } },
      (ledger) => recordRun(ledger, 'run-1'),
    )
  })
  afterAll(() => served.close())

  const post = (path: string, body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
    served.fetch(path, { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } })
  const codeOf = async (response: Response): Promise<[number, string]> => {
    const { error } = (await response.json()) as { error: { code: string } }
    return [response.status, error.code]
  }

  /** Sent as it stands: `fetch` would tidy the path up. */
  function raw(
    path: string,
    headers: Record<string, string> = {},
  ): Promise<{ status: number; body: string }> {
    const { port } = served.server
    return new Promise((resolve, reject) => {
      const asked = request({ host: '127.0.0.1', port, path, headers }, (answer) => {
        void text(answer).then((body) => resolve({ status: answer.statusCode ?? 0, body }), reject)
      })
      asked.on('error', reject)
      asked.end()
    })
  }

  const IDS = [
    '..%2f..%2fetc%2fpasswd',
    '%2e%2e%2f%2e%2e%2f',
    '..%5c..%5cwindows',
    '%00',
    'run-1%00',
    '%0d%0aset-cookie:x=1',
    '%ff%fe',
    '%',
    '%zz',
    "'%20OR%201=1--",
    '%F0%9F%A6%89',
    '__proto__',
    'constructor',
    '%3Cscript%3E',
    'x'.repeat(10_000),
  ]

  it.each(IDS.map((id) => [id.slice(0, 30), id] as const))(
    'A2 the id %s is looked up, not found, and does no harm',
    async (_, id) => {
      for (const path of [
        `/v1/runs/${id}`,
        `/v1/runs/${id}/steps`,
        `/v1/events/${id}`,
        `/v1/runs/run-1/steps/${id}`,
      ]) {
        const { status, body } = await raw(path)
        expect([path.slice(0, 60), status]).toEqual([path.slice(0, 60), 404])
        expect(body.length).toBeLessThan(2000)
      }
    },
  )

  it('A2 an id with a slash in it is one id', async () => {
    await recordRun(served.ledger, 'a/b?c#d')
    const answer = await served.fetch(`/v1/runs/${encodeURIComponent('a/b?c#d')}`)
    expect(((await answer.json()) as { run: { runId: string } }).run.runId).toBe('a/b?c#d')
  })

  it('A2 paths that climb lead nowhere', async () => {
    for (const path of [
      '/../../etc/passwd',
      '//etc/passwd',
      '/v1/../../x',
      '/assets/..%2f..%2fpackage.json',
      '/%2e%2e/x',
    ])
      expect([path, (await raw(path)).status]).toEqual([path, 404])
  })

  it('A2 a method that is not taken is told which are', async () => {
    for (const [method, path, allow] of [
      ['DELETE', '/v1/runs', 'GET, POST'],
      ['GET', '/v1/verify', 'POST'],
      ['PATCH', '/v1/runs/run-1', 'GET'],
      ['POST', '/healthz', 'GET'],
    ] as const) {
      const answer = await served.fetch(path, { method })
      expect([path, answer.headers.get('allow')]).toEqual([path, allow])
      expect(await codeOf(answer)).toEqual([405, 'wrong_method'])
    }
  })

  it('A2 what a query or a body has too much is named', async () => {
    expect(await codeOf(await served.fetch('/v1/runs?lmit=3'))).toEqual([400, 'bad_option'])
    expect(await codeOf(await served.fetch('/v1/runs?limit=3&limit=4'))).toEqual([400, 'bad_option'])
    expect(await codeOf(await served.fetch('/v1/runs?limit=0'))).toEqual([400, 'bad_option'])
    expect(await codeOf(await served.fetch('/v1/runs?limit=1e9'))).toEqual([400, 'bad_option'])
    expect(await codeOf(await served.fetch('/v1/runs?status=nonsense'))).toEqual([400, 'bad_option'])
    expect(await codeOf(await served.fetch('/v1/runs?cursor=nonsense'))).toEqual([400, 'bad_option'])
    expect(await codeOf(await post('/v1/verify', '{"nonsense":1}'))).toEqual([400, 'bad_option'])
    expect(await codeOf(await post('/v1/verify', '{"__proto__":{"runId":"x"}}'))).toEqual([400, 'bad_option'])
    expect(await codeOf(await post('/v1/runs/run-1/stop', '{"runId":"run-2"}'))).toEqual([400, 'bad_option'])
  })

  it('A2 the last of two equal keys counts, as everywhere in JSON', async () => {
    const answer = await post('/v1/verify', '{"runId":"nowhere","runId":"run-1"}')
    expect(await answer.json()).toMatchObject({ ok: true, checked: 5 })
  })

  it('A2 a body that is no JSON, or not said to be, is refused', async () => {
    for (const body of ['{', '[1]', '"x"', 'null', '\u0000', '{"a":1}x'])
      expect([body, await codeOf(await post('/v1/verify', body))]).toEqual([body, [400, 'bad_payload']])
    expect(await codeOf(await post('/v1/verify', new Uint8Array([0x7b, 0xff, 0x7d])))).toEqual([
      400,
      'bad_payload',
    ])
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data',
      'application/jsonx',
    ])
      expect(await codeOf(await post('/v1/verify', '{}', { 'content-type': type }))).toEqual([
        415,
        'wrong_media',
      ])
    expect(await codeOf(await post('/v1/verify', '{}', { 'content-encoding': 'rot13' }))).toEqual([
      415,
      'wrong_media',
    ])
    expect(await codeOf(await post('/v1/verify', 'xx', { 'content-encoding': 'gzip' }))).toEqual([
      400,
      'bad_payload',
    ])
  })

  it('A2 a body may be packed, and a bomb does not go off', async () => {
    const packed = (body: string) => post('/v1/verify', gzipSync(body), { 'content-encoding': 'gzip' })
    expect((await packed('{"runId":"run-1"}')).status).toBe(200)
    expect(await codeOf(await packed(`{"runId":"${'x'.repeat(1e6)}"}`))).toEqual([413, 'too_large'])
  })

  it('A2 a body that is too large is not read to its end', async () => {
    expect(await codeOf(await post('/v1/verify', 'x'.repeat(70_000)))).toEqual([413, 'too_large'])
    let sent = 0
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 16_384
        controller.enqueue(new Uint8Array(16_384))
      },
    })
    const answer = await served
      .fetch('/v1/verify', {
        method: 'POST',
        body: endless,
        duplex: 'half',
        headers: { 'content-type': 'application/json' },
      })
      .then(
        (response) => response.status,
        () => 'cut off',
      )
    expect(['cut off', 413]).toContain(answer)
    expect(sent).toBeLessThan(50 * 1024 * 1024)
  })

  it('A2 nobody holds a connection by sending a byte now and then', async () => {
    const socket = connect(served.server.port, '127.0.0.1')
    socket.on('error', () => {})
    socket.write(
      'POST /v1/verify HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{',
    )
    const drip = setInterval(() => socket.write(' '), 200)
    const answer = await text(socket).catch(() => '')
    clearInterval(drip)
    expect(answer === '' || answer.startsWith('HTTP/1.1 408')).toBe(true)
  })
})

describe('pages of others', () => {
  let served: Served
  beforeAll(async () => {
    served = await serve({ origin: 'https://app.example.org' }, (ledger) => recordRun(ledger, 'run-1'))
  })
  afterAll(() => served.close())

  it('A2 only the origin that was allowed may read, and is asked before it writes', async () => {
    const allowed = { origin: 'https://app.example.org' }
    const answer = await served.fetch('/v1/runs', { headers: allowed })
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([200, allowed.origin])
    const preflight = await served.fetch('/v1/verify', {
      method: 'OPTIONS',
      headers: { ...allowed, 'access-control-request-method': 'POST' },
    })
    expect([preflight.status, preflight.headers.get('access-control-allow-headers')]).toEqual([
      204,
      expect.stringContaining('authorization'),
    ])
    const other = await served.fetch('/v1/runs', { headers: { origin: 'https://evil.example' } })
    expect([other.status, other.headers.get('access-control-allow-origin')]).toEqual([403, null])
    const asked = await served.fetch('/v1/verify', {
      method: 'OPTIONS',
      headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
    })
    expect([asked.status, asked.headers.get('access-control-allow-origin')]).toEqual([403, null])
  })
})

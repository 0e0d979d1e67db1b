import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, zstdDecompressSync } from 'node:zlib'
import type { WireEvent } from '@clew/ledger'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Operation } from '../../packages/clew/src/operations/operation.ts'
import { operations } from '../../packages/clew/src/operations.ts'
import { recordRun, serve, type Served } from './served.ts'

const all: readonly Operation[] = operations

interface Document {
  readonly openapi: string
  readonly paths: Readonly<
    Record<
      string,
      Readonly<Record<string, { operationId: string; parameters?: { name: string; in: string }[] }>>
    >
  >
}

describe('routes of operations', () => {
  let served: Served
  let document: Document
  beforeAll(async () => {
    served = await serve({ version: '1.2.3' }, async (ledger) => {
      for (let i = 0; i < 30; i++) await recordRun(ledger, `run-${i}`)
      await recordRun(ledger.in('other'), 'run-elsewhere')
    })
    document = (await (await served.fetch('/openapi.json')).json()) as Document
  })
  afterAll(() => served.close())
  const json = async <T>(path: string): Promise<T> => (await (await served.fetch(path)).json()) as T

  it('A1 every operation that says rest has its place, and every place is in the document', () => {
    for (const { name, surfaces, rest } of all) {
      expect([name, rest !== undefined]).toEqual([name, surfaces.includes('rest')])
      for (const path of rest ? [rest.path, rest.also ?? rest.path] : [])
        expect([name, Object.hasOwn(document.paths[path] ?? {}, rest?.method ?? '')]).toEqual([name, true])
    }
  })

  it('A1 the document says 3.1, names each operation once, and each parameter of a path', () => {
    expect(document.openapi).toBe('3.1.0')
    const ids = Object.values(document.paths).flatMap((methods) =>
      Object.values(methods).map(({ operationId }) => operationId),
    )
    expect(new Set(ids).size).toBe(ids.length)
    for (const [path, methods] of Object.entries(document.paths))
      for (const { parameters = [] } of Object.values(methods)) {
        const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
        const given = parameters.filter((each) => each.in === 'path').map(({ name }) => name)
        expect([path, new Set(given)]).toEqual([path, new Set(named)])
      }
  })

  it('A1 answers as the operation does', async () => {
    for (const [path, name, input] of [
      ['/v1/runs?limit=3&agent=tester', 'runs', { limit: 3, agent: 'tester' }],
      ['/v1/runs/run-7', 'show', { runId: 'run-7', steps: 60 }],
      ['/v1/runs/run-7/steps', 'steps', { runId: 'run-7', limit: 100 }],
      ['/v1/runs/run-7/steps/plan%230', 'step', { runId: 'run-7', stepId: 'plan#0' }],
      ['/v1/runs/run-7/transcript?format=text', 'transcript', { runId: 'run-7', format: 'text' }],
      ['/v1/runs/run-7/diff?otherRunId=run-8', 'diff', { runId: 'run-7', otherRunId: 'run-8', full: false }],
      ['/v1/events/run-7:3', 'event', { eventId: 'run-7:3' }],
      ['/v1/cost?by=agent', 'cost', { by: 'agent' }],
    ] as const) {
      const operation = all.find((each) => each.name === name)
      if (operation?.kind !== 'answer') throw new Error(name)
      const expected: unknown = await operation.run(served.ledger, input)
      expect([path, await json(path)]).toEqual([path, JSON.parse(JSON.stringify(expected))])
    }
  })

  it('A1 one step by reference has what went in and what came out', async () => {
    expect(await json('/v1/runs/run-7/steps/plan%230')).toMatchObject({
      step: { stepId: 'plan#0', status: 'completed' },
      input: { q: 1 },
      values: { a: 2 },
      attempts: 1,
    })
    expect((await served.fetch('/v1/runs/run-7/steps/plan%230?attempt=2')).status).toBe(404)
  })

  it('A1 runs come in pages that join without a gap', async () => {
    const seen: string[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const page: { runs: { runId: string }[]; nextCursor: string | null } = await json(
        `/v1/runs?limit=7${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
      )
      seen.push(...page.runs.map(({ runId }) => runId))
      cursor = page.nextCursor
    }
    expect(seen).toEqual(Array.from({ length: 30 }, (_, i) => `run-${29 - i}`))
  })

  it('A1 events come in pages, or as lines for who takes them', async () => {
    const first = await json<{ events: WireEvent[]; nextCursor: string }>('/v1/runs/run-1/events?limit=3')
    const rest = await json<{ events: WireEvent[]; nextCursor: null }>(
      `/v1/runs/run-1/events?afterSeq=${first.nextCursor}`,
    )
    expect([...first.events, ...rest.events].map((event) => event.ledger.seq)).toEqual([1, 2, 3, 4, 5])
    expect([first.nextCursor, rest.nextCursor]).toEqual(['3', null])
    const lines = await served.fetch('/v1/runs/run-1/events', { headers: { accept: 'application/x-ndjson' } })
    const events = (await lines.text())
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as WireEvent)
    expect(events).toEqual([...first.events, ...rest.events])
  })

  it('E1 values that JSON lacks travel as they are stored', async () => {
    const when = new Date(0)
    await served.ledger.record({
      eventType: 'execution.message',
      correlationId: 'rich',
      payload: { when, big: 10n, tagged: { $clew: 'mine', value: 1 } },
    })
    const { events } = await json<{ events: WireEvent[] }>('/v1/runs/rich/events')
    const [line = ''] = await Array.fromAsync(served.ledger.export({ runId: 'rich' }))
    expect(events[0]?.payload).toEqual((JSON.parse(line) as WireEvent).payload)
    expect(events[0]?.payload).toMatchObject({ when: { $clew: 'date' }, big: { $clew: 'bigint' } })
  })

  it('A2 a workspace is named by query or header, and is apart', async () => {
    const ids = async (path: string, headers = {}): Promise<string[]> => {
      const answer = await served.fetch(path, { headers })
      return ((await answer.json()) as { runs: { runId: string }[] }).runs.map(({ runId }) => runId)
    }
    expect(await ids('/v1/runs?workspace=other')).toEqual(['run-elsewhere'])
    expect(await ids('/v1/runs', { 'clew-workspace': 'other' })).toEqual(['run-elsewhere'])
    expect(await ids('/v1/runs?limit=1')).not.toEqual(['run-elsewhere'])
    expect((await served.fetch('/v1/runs/run-elsewhere')).status).toBe(404)
    for (const name of ['', 'a b', '../x', 'x'.repeat(200)])
      expect((await served.fetch(`/v1/runs?workspace=${encodeURIComponent(name)}`)).status).toBe(404)
  })

  it('A1 what a caller has already is not sent again, and what is long is packed as it takes it', async () => {
    const path = '/v1/runs?limit=20'
    const plain = await served.fetch(path, { headers: { 'accept-encoding': 'identity' } })
    const etag = plain.headers.get('etag') as string
    const text = await plain.text()
    expect(etag).toMatch(/^W\/".+"$/)
    const again = await served.fetch(path, { headers: { 'if-none-match': `"x", ${etag}` } })
    expect([again.status, await again.text()]).toEqual([304, ''])
    await recordRun(served.ledger, 'run-30')
    expect((await served.fetch(path, { headers: { 'if-none-match': etag } })).status).toBe(200)
    const { get } = await import('node:http')
    const packed = (encoding: string): Promise<[string | undefined, Buffer]> =>
      new Promise((resolve, reject) => {
        get(
          `${served.server.url}/v1/runs?limit=20`,
          { headers: { 'accept-encoding': encoding } },
          (answer) => {
            const chunks: Buffer[] = []
            answer.on('data', (chunk: Buffer) => chunks.push(chunk))
            answer.on('end', () => resolve([answer.headers['content-encoding'], Buffer.concat(chunks)]))
          },
        ).on('error', reject)
      })
    const [zstd, gzip, none] = [
      await packed('gzip, zstd'),
      await packed('gzip;q=0.5'),
      await packed('zstd;q=0, br'),
    ]
    expect([zstd[0], gzip[0], none[0]]).toEqual(['zstd', 'gzip', undefined])
    expect(zstdDecompressSync(zstd[1]).toString()).toBe(none[1].toString())
    expect(gunzipSync(gzip[1]).toString()).toBe(none[1].toString())
    expect(text.length).toBeGreaterThan(1024)
  })

  it('R9 stops a run, and says so when there is nothing to stop', async () => {
    const stop = await served.fetch('/v1/runs/run-3/stop', { method: 'POST' })
    expect([stop.status, ((await stop.json()) as { error: { code: string } }).error.code]).toEqual([
      409,
      expect.any(String),
    ])
    const replay = await served.fetch('/v1/runs/run-3/replay', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"mode":"reconstruct"}',
    })
    expect(await replay.json()).toMatchObject({ verdict: 'identical' })
  })

  it('A2 metrics count by route and never by id', async () => {
    await served.fetch('/v1/runs/run-7')
    const text = await (await served.fetch('/metrics')).text()
    expect(text).toContain('clew_http_requests_total{method="GET",route="/v1/runs/{runId}",status="200"}')
    expect(text).toMatch(/^clew_append_waiting 0$/m)
    expect(text).not.toContain('run-7')
  })

  it('A2 the page of routes is whole and brings nothing from elsewhere', async () => {
    const text = await (await served.fetch('/docs')).text()
    for (const path of Object.keys(document.paths)) expect(text).toContain(path)
    expect(text).not.toMatch(/<script|https?:\/\/(?!json-schema)/)
  })
})

describe('the page', () => {
  let folder: string
  let served: Served
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'clew-page-'))
    await mkdir(join(folder, 'dist', 'assets'), { recursive: true })
    const put = (name: string, text: string): Promise<void> => writeFile(join(folder, name), text)
    await put('secret.txt', 'not for you')
    await put(
      'dist/index.html',
      '<!doctype html><script>theme()</script><script src="/assets/a.js"></script>',
    )
    await put('dist/assets/index-Ab3dEf9h.js', `console.log(${JSON.stringify('x'.repeat(3000))})`)
    await put('dist/favicon.svg', '<svg/>')
    served = await serve({ page: join(folder, 'dist') })
  })
  afterAll(async () => {
    await served.close()
    await rm(folder, { recursive: true })
  })

  it('U2 each address of the page gives the page, and no other does', async () => {
    for (const path of ['/', '/runs/run-1', '/compare/a/b', '/streams/x?trace=1']) {
      const answer = await served.fetch(path)
      expect([path, answer.status, await answer.text()]).toEqual([
        path,
        200,
        expect.stringContaining('theme()'),
      ])
    }
    for (const path of [
      '/v1/nothing',
      '/api/nothing',
      '/assets/none.js',
      '/none.png',
      '/%2e%2e%2fsecret.txt',
      '/..%2fsecret.txt',
    ])
      expect([path, (await served.fetch(path)).status]).toEqual([path, 404])
  })

  it('A2 files with a hash in their name are kept for good, others are asked for again, and only own scripts run', async () => {
    const hashed = await served.fetch('/assets/index-Ab3dEf9h.js')
    expect([hashed.headers.get('cache-control'), hashed.headers.get('content-type')]).toEqual([
      'public, max-age=31536000, immutable',
      'text/javascript; charset=utf-8',
    ])
    const page = await served.fetch('/')
    expect(page.headers.get('cache-control')).toBe('no-cache')
    expect(page.headers.get('content-security-policy')).toMatch(
      /script-src 'self' 'wasm-unsafe-eval' 'sha256-[\w+/]+=*'/,
    )
    const etag = page.headers.get('etag') as string
    expect((await served.fetch('/', { headers: { 'if-none-match': etag } })).status).toBe(304)
  })
})

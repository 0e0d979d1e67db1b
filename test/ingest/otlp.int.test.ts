import { gzipSync } from 'node:zlib'
import { context, trace } from '@opentelemetry/api'
import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-proto'
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs'
import { BatchSpanProcessor, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { ClewError } from 'clew'
import { decodeOtlpTraces, encodeTracesJson, encodeTracesProtobuf } from 'clew/otel'
import { describe, expect, it } from 'vitest'
import { interruptQuietTraces } from '../../packages/server/src/ingest/quiet-traces.ts'
import { serve, type Served } from './served.ts'

const PROTOBUF = 'application/x-protobuf'
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'

const span = (nth: number, more: object = {}) => ({
  traceId: TRACE,
  spanId: nth.toString(16).padStart(16, '0'),
  name: `span ${nth}`,
  startTimeUnixNano: String(1_763_190_000_000_000_000n + BigInt(nth)),
  endTimeUnixNano: String(1_763_190_001_000_000_000n + BigInt(nth)),
  ...more,
})
const bodyOf = (...spans: object[]) => ({
  resourceSpans: [{ resource: {}, scopeSpans: [{ scope: {}, spans }] }],
})
const protobufOf = (...spans: object[]) =>
  new Uint8Array(encodeTracesProtobuf(decodeOtlpTraces(bodyOf(...spans))))

describe('exporters of OpenTelemetry', () => {
  it.each([
    ['JSON', (url: string) => new JsonExporter({ url })],
    ['JSON, packed', (url: string) => new JsonExporter({ url, compression: 'gzip' as never })],
    ['protobuf', (url: string) => new ProtobufExporter({ url })],
    ['protobuf, packed', (url: string) => new ProtobufExporter({ url, compression: 'gzip' as never })],
  ])('A3 send traces as %s, children first, span by span', async (_, createExporter) => {
    const { url, ledger } = await serve()
    const exporter = createExporter(`${url}/v1/traces`)
    const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] })
    const tracer = provider.getTracer('ferry')
    const root = tracer.startSpan('invoke_agent boatman', {
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.name': 'boatman',
        'gen_ai.conversation.id': 't1',
      },
    })
    const around = trace.setSpan(context.active(), root)
    const attributes = {
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': 'gpt-4o',
      'gen_ai.usage.input_tokens': 7,
    }
    const chat = tracer.startSpan('chat gpt-4o', { attributes }, around)
    const http = tracer.startSpan('GET', {}, trace.setSpan(around, chat))
    const { traceId } = root.spanContext()
    http.end()
    chat.end()
    await provider.forceFlush()
    const early = await ledger.getRun(traceId)
    expect(early).toMatchObject({ status: 'running', threadId: null, steps: 2 })
    root.end()
    await provider.shutdown()
    const run = await ledger.getRun(traceId)
    expect(run).toMatchObject({
      status: 'completed',
      agent: 'boatman',
      threadId: 't1',
      steps: 3,
      inputTokens: 7,
    })
    expect((await ledger.listRuns({ threadId: 't1' })).runs).toHaveLength(1)
    const steps = await ledger.getSteps(traceId)
    const byName = Object.fromEntries(steps.map((step) => [step.nodeName, step]))
    expect(byName['GET']?.parentStepId).toBe(byName['chat gpt-4o']?.stepId)
    expect(byName['chat gpt-4o']?.parentStepId).toBe(byName['invoke_agent boatman']?.stepId)
    expect(await ledger.verify()).toMatchObject({ ok: true })
  })

  it('A3 send logs', async () => {
    const { url, ledger } = await serve()
    const exporter = new OTLPLogExporter({ url: `${url}/v1/logs` })
    const provider = new LoggerProvider({ processors: [new BatchLogRecordProcessor({ exporter })] })
    const attributes = {
      'session.id': 's1',
      'gen_ai.evaluation.name': 'kind',
      'gen_ai.evaluation.score.value': 0.5,
    }
    provider.getLogger('ferry').emit({ eventName: 'gen_ai.evaluation.result', attributes, body: 'ok' })
    provider.getLogger('ferry').emit({ body: 'the ferry left', attributes: { 'session.id': 's1' } })
    await provider.shutdown()
    const types = (await Array.fromAsync(ledger.read('s1'))).map((event) => event.eventType)
    expect(types.toSorted()).toEqual(['integration.otel_log', 'system.evaluation', 'system.otel.source'])
  })

  it('A2 cannot write the system runs of Clew by calling them their session', async () => {
    const { post, ledger } = await serve()
    const record = (session: string) => ({
      body: { stringValue: 'who erased what' },
      attributes: [{ key: 'session.id', value: { stringValue: session } }],
    })
    const logRecords = [record('clew:audit'), record('mine')]
    const body = JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] })
    const answer = await post('/v1/logs', 'application/json', body)
    expect(answer.json).toMatchObject({ partialSuccess: { rejectedLogRecords: '1' } })
    expect([await ledger.getRun('clew:audit'), (await ledger.getRun('mine'))?.runId]).toEqual([null, 'mine'])
  })

  it('A2 come again when the store was full, and nothing is lost or there twice', async () => {
    let refused = 0
    const { url, ledger } = await serve({
      instead: (real) => ({
        ...real,
        append: (...given) =>
          refused++ < 2
            ? Promise.reject(new ClewError('store_full', 'The ledger has no room left', 'Free some.'))
            : real.append(...given),
      }),
    })
    const provider = new TracerProvider({
      spanProcessors: [
        new BatchSpanProcessor({ exporter: new ProtobufExporter({ url: `${url}/v1/traces` }) }),
      ],
    })
    for (let n = 0; n < 20; n++) provider.getTracer('t').startSpan(`s${n}`).end()
    await provider.shutdown()
    expect(refused).toBeGreaterThan(2)
    expect((await ledger.listRuns({ limit: 100 })).runs).toHaveLength(20)
  })
})

describe('a trace whose root span does not come', () => {
  const child = span(2, { parentSpanId: span(1).spanId })
  const sendTo =
    ({ post }: Served) =>
    (...spans: object[]) =>
      post('/v1/traces', 'application/json', JSON.stringify(bodyOf(...spans)))
  const statusIn = async ({ ledger }: Served) => (await ledger.getRun(TRACE))?.status

  it('T7 is interrupted when nothing has come for long, says why, and nothing else is touched', async () => {
    const served = await serve()
    const { ledger } = served
    await sendTo(served)(child)
    await ledger.record({ eventType: 'system.workflow_started', correlationId: 'of-somebody', payload: {} })
    await serve({ over: ledger })
    expect(await statusIn(served)).toBe('running')
    await serve({ over: ledger, limits: { traceQuietMs: 0 } })
    await expect.poll(() => statusIn(served)).toBe('interrupted')
    const last = (await Array.fromAsync(ledger.read(TRACE))).at(-1)
    expect(last?.payload['reason']).toMatch(/root span has not come/)
    expect((await ledger.getRun('of-somebody'))?.status).toBe('running')
    expect(await ledger.verify(undefined, { projections: true })).toMatchObject({ ok: true })
  })

  it('T7 runs on when another span comes, and is completed by its root, however late', async () => {
    const served = await serve()
    const send = sendTo(served)
    await send(child)
    await interruptQuietTraces(served.ledger, 0)
    expect(await statusIn(served)).toBe('interrupted')
    await send(span(3, { parentSpanId: span(1).spanId }))
    expect(await statusIn(served)).toBe('running')
    expect(await interruptQuietTraces(served.ledger, 0)).toEqual([TRACE])
    expect(await interruptQuietTraces(served.ledger, 0)).toEqual([])
    await send(span(1))
    expect(await served.ledger.getRun(TRACE)).toMatchObject({ status: 'completed', steps: 3 })
    expect(await interruptQuietTraces(served.ledger, 0)).toEqual([])
    expect(await served.ledger.verify(undefined, { projections: true })).toMatchObject({ ok: true })
  })

  it('T7 is left alone while a run of ours has its id and its lease', async () => {
    const served = await serve()
    await sendTo(served)(child)
    const lease = await served.ledger.leases.acquire({ workspace: 'default', runId: TRACE }, null)
    expect(await interruptQuietTraces(served.ledger, 0)).toEqual([])
    await served.ledger.leases.release(lease)
    expect(await interruptQuietTraces(served.ledger, 0)).toEqual([TRACE])
  })
})

describe('POST /v1/traces', () => {
  it('A3 answers in the form of the request: empty when all is taken, else how many are not, and why', async () => {
    const { post, ledger } = await serve()
    expect(
      await post('/v1/traces', 'application/json; charset=utf-8', JSON.stringify(bodyOf(span(1)))),
    ).toMatchObject({
      status: 200,
      type: 'application/json',
      json: {},
    })
    const all = await post('/v1/traces', PROTOBUF, protobufOf(span(1), span(2)))
    expect(all).toMatchObject({ status: 200, type: PROTOBUF, text: '' })
    const some = await post(
      '/v1/traces',
      'application/json',
      JSON.stringify(bodyOf(span(3), { name: 'no ids' })),
    )
    expect(some.json).toEqual({
      partialSuccess: { rejectedSpans: '1', errorMessage: expect.stringContaining('traceId') },
    })
    const bytes = await fetchBytes(await serve(), protobufOf(span(3), span(4, { traceId: '00'.repeat(16) })))
    expect([...bytes.subarray(0, 1)]).toEqual([0x0a])
    expect([...bytes.subarray(2, 4)]).toEqual([0x08, 1])
    expect((await ledger.getRun(TRACE))?.steps).toBe(3)
  })

  it('L4 a span that says something else when it comes again does not cost its neighbours', async () => {
    const { post, ledger } = await serve()
    await post('/v1/traces', PROTOBUF, protobufOf(span(1)))
    const again = await post(
      '/v1/traces',
      'application/json',
      JSON.stringify(bodyOf(span(1, { name: 'another name' }), span(2), span(3))),
    )
    expect(again.json).toMatchObject({ partialSuccess: { rejectedSpans: '1' } })
    const names = (await ledger.getSteps(TRACE)).map((step) => step.nodeName)
    expect(names.toSorted()).toEqual(['span 1', 'span 2', 'span 3'])
  })

  it.each([
    [
      'logs as JSON',
      'application/json',
      '{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":{"stringValue":"secret"}}]}]}]}',
      400,
    ],
    ['logs as protobuf', PROTOBUF, logsProtobuf(), 400],
    ['protobuf that breaks off', PROTOBUF, protobufOf(span(1)).subarray(0, 20), 400],
    ['bytes of nothing', PROTOBUF, new Uint8Array(64).fill(0xff), 400],
    ['JSON that is none', 'application/json', '{"resourceSpans":', 400],
    ['another content type', 'text/plain', 'secret', 415],
    ['what is packed and is not', PROTOBUF, 'secret', 400],
    ['a packed bomb', PROTOBUF, gzipSync(new Uint8Array(8 * 1024 * 1024)), 413],
    ['a body over the limit', PROTOBUF, new Uint8Array(2 * 1024 * 1024), 413],
  ])('A3 refuses %s', async (what, type, body, status) => {
    const { post, ledger } = await serve({
      limits: { bodyBytes: 1024 * 1024, unpackedBytes: 4 * 1024 * 1024 },
    })
    const headers = what.includes('packed') ? { 'content-encoding': 'gzip' } : undefined
    const answer = await post('/v1/traces', type, body, headers)
    expect(answer.status).toBe(status)
    expect(answer.type).toBe(type === PROTOBUF ? PROTOBUF : 'application/json')
    expect(answer.text).not.toContain('secret')
    if (what.startsWith('logs')) expect(answer.text).toContain('/v1/logs')
    expect((await ledger.listRuns()).runs).toEqual([])
  })

  it('A2 answers 413 to 100 MB before they are sent', async () => {
    const { url } = await serve()
    const { request } = await import('node:http')
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const headers = { 'content-type': PROTOBUF, 'content-length': String(100 * 1024 * 1024) }
      const sent = request(`${url}/v1/traces`, { method: 'POST', headers }, (answer) => {
        resolve(answer.statusCode)
        sent.destroy()
      })
      sent.on('error', reject)
      sent.write(new Uint8Array(1024))
    })
    expect(status).toBe(413)
  })

  it.each(['store_full', 'store_locked', 'store_unreachable'] as const)(
    'A2 answers %s with 503 and when to come back',
    async (code) => {
      const { post } = await serve({
        instead: (real) => ({
          ...real,
          append: () => Promise.reject(new ClewError(code, 'The ledger cannot be written', 'Wait.')),
        }),
      })
      for (const [type, body] of [
        [PROTOBUF, protobufOf(span(1))],
        ['application/json', JSON.stringify(bodyOf(span(1)))],
      ] as const)
        expect(await post('/v1/traces', type, body)).toMatchObject({
          status: 503,
          type,
          retryAfter: expect.stringMatching(/^\d+$/),
        })
    },
  )

  it('A3 takes 5,000 spans of one body in any order', async () => {
    const { post, ledger } = await serve()
    const spans = Array.from({ length: 5000 }, (_, n) =>
      span(n + 1, n > 0 ? { parentSpanId: span(n).spanId } : {}),
    )
    const body = gzipSync(JSON.stringify(bodyOf(...spans.toReversed())))
    expect(await post('/v1/traces', 'application/json', body, { 'content-encoding': 'gzip' })).toMatchObject({
      status: 200,
      json: {},
    })
    expect(await ledger.getRun(TRACE)).toMatchObject({ steps: 5000, status: 'completed' })
  })

  it('A3 traces go out again as they came in', () => {
    const traces = decodeOtlpTraces(bodyOf(span(1)))
    expect(decodeOtlpTraces(encodeTracesJson(traces))).toEqual(traces)
  })
})

/** `ExportLogsServiceRequest` with one record: its time stands where a span has its trace id. */
function logsProtobuf(): Uint8Array<ArrayBuffer> {
  const record = [0x09, 1, 0, 0, 0, 0, 0, 0, 0]
  const within = (field: number, bytes: number[]): number[] => [field * 8 + 2, bytes.length, ...bytes]
  return new Uint8Array(within(1, within(2, within(2, record))))
}

async function fetchBytes({ url }: { url: string }, body: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const answer = await fetch(`${url}/v1/traces`, {
    method: 'POST',
    headers: { 'content-type': PROTOBUF },
    body,
  })
  return new Uint8Array(await answer.arrayBuffer())
}

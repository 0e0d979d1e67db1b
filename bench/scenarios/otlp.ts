import { openLedger } from 'clew'
import {
  encodeTracesJson,
  encodeTracesProtobuf,
  fromOtlpTraces,
  type OtlpSpan,
  type OtlpTraces,
} from 'clew/otel'
import { type Figure, inTempFolder, prose, rate, seconds, sideBySide } from '../measure.ts'

export const SPANS = 10_000
/** As exporters batch them. */
const BATCH = 500

/** Spans of 1 KB in traces of 20, as an exporter sends them: what decoding and mapping cost, and with the commit. */
export async function otlpFigures(): Promise<Figure[]> {
  const plain = plainExports()
  const calls = exports((at) => ({
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': 'gpt-4o',
    'gen_ai.usage.input_tokens': 100 + at,
    'gen_ai.usage.output_tokens': 20,
    'gen_ai.input.messages': messages('user', prose(250, at)),
    'gen_ai.output.messages': messages('assistant', prose(200, at + 1)),
  }))
  const [ofPlain, ofCalls] = [await mapping('spans of 1 KB', plain), await mapping('calls of models', calls)]
  return [ofPlain, ofCalls, await committing(plain)]
}

/** Spans of 1 KB of which nobody knows what they mean: one event each. */
export const plainExports = (): OtlpTraces[] =>
  exports((at) => ({
    'http.request.method': 'GET',
    'url.full': `https://example.org/${prose(250, at)}`,
    'http.response.status_code': 200,
    'server.address': 'example.org',
    'server.port': 443,
    'user_agent.original': prose(150, at + 1),
    'code.function.name': 'fetch_pages',
    note: prose(220, at + 2),
  }))

const messages = (role: string, content: string): string =>
  JSON.stringify([{ role, parts: [{ type: 'text', content }] }])

function exports(attributesOf: (at: number) => OtlpSpan['attributes']): OtlpTraces[] {
  const spans = Array.from({ length: SPANS }, (_, at) => toSpan(at, attributesOf(at)))
  return Array.from({ length: SPANS / BATCH }, (_, nth) => ({
    resourceSpans: [
      {
        resource: { attributes: { 'service.name': 'bench' }, droppedAttributesCount: 0 },
        scopeSpans: [
          {
            scope: { name: 'bench', version: '1', attributes: {}, droppedAttributesCount: 0 },
            spans: spans.slice(nth * BATCH, (nth + 1) * BATCH),
            schemaUrl: '',
          },
        ],
        schemaUrl: '',
      },
    ],
  }))
}

const START = 1_763_190_000_000_000_000n

function toSpan(at: number, attributes: OtlpSpan['attributes']): OtlpSpan {
  const root = at - (at % 20)
  const id = (nth: number): string => (nth + 1).toString(16).padStart(16, '0')
  return {
    traceId: (root + 1).toString(16).padStart(32, '0'),
    spanId: id(at),
    traceState: '',
    parentSpanId: at === root ? '' : id(root),
    flags: 257,
    name: 'GET example.org',
    kind: 3,
    startTimeUnixNano: START + BigInt(at) * 1000n,
    endTimeUnixNano: START + BigInt(at) * 1000n + 750_000n,
    attributes,
    droppedAttributesCount: 0,
    events: [],
    droppedEventsCount: 0,
    links: [],
    droppedLinksCount: 0,
    status: { code: 0, message: '' },
  }
}

async function mapping(what: string, given: readonly OtlpTraces[]): Promise<Figure> {
  const bodies = given.map(encodeTracesProtobuf)
  const texts = given.map((traces) => JSON.stringify(encodeTracesJson(traces)))
  const { ours, floor } = await sideBySide(
    7,
    () => seconds(() => bodies.forEach((body) => fromOtlpTraces(body))),
    () => seconds(() => texts.forEach((text) => JSON.parse(text))),
  )
  return {
    name: `OTLP protobuf to events, ${what}`,
    ours: rate(SPANS, ours),
    beside: `JSON.parse of the same as OTLP/JSON ${rate(SPANS, floor)}`,
    ratio: floor / ours,
  }
}

async function committing(given: readonly OtlpTraces[]): Promise<Figure> {
  const bodies = given.map(encodeTracesProtobuf)
  const time = await inTempFolder(async (folder) => {
    const times: number[] = []
    for (let round = 0; round < 5; round++) {
      const ledger = await openLedger(`sqlite:${folder}/otlp-${round}.db`)
      times.push(
        await seconds(async () => {
          for (const body of bodies) await ledger.append(fromOtlpTraces(body).events)
        }),
      )
      await ledger.close()
    }
    return Math.min(...times)
  })
  return {
    name: 'OTLP protobuf to SQLite, committed, spans of 1 KB in batches of 500',
    ours: rate(SPANS, time),
    beside: 'promise 10,000/s',
    ratio: SPANS / time,
    least: 10_000,
    unit: '/s',
  }
}

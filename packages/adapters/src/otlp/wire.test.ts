import { ClewError } from '@clew/ledger'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  decodeOtlpLogs,
  decodeOtlpTraces,
  encodeTracesJson,
  encodeTracesProtobuf,
  fromOtlpLogs,
  fromOtlpTraces,
  type OtlpAttributes,
  type OtlpSpan,
  type OtlpTraces,
  type OtlpValue,
} from './index.ts'
import { createWireWriter, type WireWriter } from './wire-writer.ts'

const text = fc.string({ unit: 'grapheme', maxLength: 12 })
const { value: anyValue } = fc.letrec<{ value: OtlpValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    text,
    fc.boolean(),
    fc.maxSafeInteger(),
    fc.double(),
    fc
      .bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
      .map((value) => (Number.isSafeInteger(Number(value)) ? Number(value) : value)),
    fc.constant(null),
    fc.uint8Array({ maxLength: 5 }),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(text, tie('value'), { maxKeys: 3, noNullPrototype: true }) as fc.Arbitrary<OtlpAttributes>,
  ),
}))
const attributes = fc.dictionary(fc.oneof(text, fc.constant('__proto__'), fc.constant('7')), anyValue, {
  maxKeys: 4,
  noNullPrototype: true,
}) as fc.Arbitrary<OtlpAttributes>
const hex = (bytes: number) =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((id) => Buffer.from(id).toString('hex'))
const nano = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })
const small = fc.nat(3)
const resource = fc.record({ attributes, droppedAttributesCount: small })
const span: fc.Arbitrary<OtlpSpan> = fc.record({
  traceId: hex(16),
  spanId: hex(8),
  traceState: text,
  parentSpanId: fc.oneof(hex(8), fc.constant('')),
  flags: fc.nat(0xffff_ffff),
  name: text,
  kind: fc.nat(5),
  startTimeUnixNano: nano,
  endTimeUnixNano: nano,
  attributes,
  droppedAttributesCount: small,
  events: fc.array(fc.record({ timeUnixNano: nano, name: text, attributes, droppedAttributesCount: small }), {
    maxLength: 2,
  }),
  droppedEventsCount: small,
  links: fc.array(
    fc.record({
      traceId: hex(16),
      spanId: hex(8),
      traceState: text,
      flags: fc.nat(0xffff_ffff),
      attributes,
      droppedAttributesCount: small,
    }),
    { maxLength: 2 },
  ),
  droppedLinksCount: small,
  status: fc.record({ code: fc.nat(2), message: text }),
})
const traces: fc.Arbitrary<OtlpTraces> = fc.record({
  resourceSpans: fc.array(
    fc.record({
      resource,
      scopeSpans: fc.array(
        fc.record({
          scope: fc.record({ name: text, version: text, attributes, droppedAttributesCount: small }),
          spans: fc.array(span, { maxLength: 3 }),
          schemaUrl: text,
        }),
        { maxLength: 2 },
      ),
      schemaUrl: text,
    }),
    { maxLength: 2 },
  ),
})

/** Events, or the one error that hostile input gives. */
function attempt(read: () => unknown): 'read' | 'refused' {
  try {
    read()
    return 'read'
  } catch (error) {
    expect(error).toBeInstanceOf(ClewError)
    expect(error).toMatchObject({ code: expect.stringMatching(/^(?:broken_import|too_large)$/) })
    return 'refused'
  }
}

describe('A3 OTLP is the same in both encodings', () => {
  it('protobuf gives back what was encoded', () => {
    fc.assert(
      fc.property(traces, (given) => {
        expect(decodeOtlpTraces(encodeTracesProtobuf(given))).toEqual(given)
      }),
      { numRuns: 150 },
    )
  })

  it('JSON gives back what was encoded, as an object, as text and as bytes', () => {
    fc.assert(
      fc.property(traces, (given) => {
        const json = encodeTracesJson(given)
        expect(decodeOtlpTraces(json)).toEqual(given)
        expect(decodeOtlpTraces(JSON.stringify(json))).toEqual(given)
        expect(decodeOtlpTraces(new TextEncoder().encode(JSON.stringify(json)))).toEqual(given)
      }),
      { numRuns: 80 },
    )
  })

  it('JSON may have enums by name, numbers as numbers, and attributes as a plain object', () => {
    const [group] = decodeOtlpTraces({
      resourceSpans: [
        {
          resource: { attributes: { 'service.name': 'a', n: { intValue: 5 }, list: [1, { x: 'y' }] } },
          scopeSpans: [
            {
              spans: [
                {
                  traceId: 'AB'.repeat(16),
                  spanId: 'CD'.repeat(8),
                  kind: 'SPAN_KIND_SERVER',
                  startTimeUnixNano: 1_000,
                  status: { code: 'STATUS_CODE_ERROR' },
                  unknownField: {},
                },
              ],
            },
          ],
        },
      ],
    }).resourceSpans
    expect(group?.resource.attributes).toEqual({ 'service.name': 'a', n: 5, list: [1, { x: 'y' }] })
    expect(group?.scopeSpans[0]?.spans[0]).toMatchObject({
      traceId: 'ab'.repeat(16),
      kind: 2,
      startTimeUnixNano: 1000n,
      status: { code: 2 },
    })
    const { resourceLogs } = decodeOtlpLogs({
      resourceLogs: [{ scopeLogs: [{ logRecords: [{ severityNumber: 'SEVERITY_NUMBER_WARN2' }] }] }],
    })
    expect(resourceLogs[0]?.scopeLogs[0]?.logRecords[0]?.severityNumber).toBe(14)
  })

  it('passes by fields that it does not know, of each wire type', () => {
    const writer = createWireWriter()
    const known = encodeTracesProtobuf({ resourceSpans: [] })
    writer.text(99, 'new')
    writer.varint(98, 2n ** 63n)
    writer.fixed32(97, 1)
    writer.fixed64(96, 1n)
    expect(decodeOtlpTraces(new Uint8Array([...known, ...writer.finish()]))).toEqual({ resourceSpans: [] })
  })
})

describe('A3 hostile bodies are refused with one clear error', () => {
  it('any truncation names the byte', () => {
    const found = fc
      .sample(traces, { numRuns: 40, seed: 7 })
      .find(({ resourceSpans }) =>
        resourceSpans.some(({ scopeSpans }) => scopeSpans.some(({ spans }) => spans.length > 1)),
      )
    const good = encodeTracesProtobuf({ resourceSpans: found?.resourceSpans.slice(0, 1) ?? [] })
    expect(good.length).toBeGreaterThan(100)
    for (let length = 1; length < good.length; length++)
      expect(attempt(() => fromOtlpTraces(good.slice(0, length)))).toBe('refused')
  })

  it.each([
    ['a text', (writer: WireWriter) => writer.text(5, 'x'.repeat(20)), 20],
    ['an id', (writer: WireWriter) => writer.bytes(1, new Uint8Array(16)), 16],
    ['a time', (writer: WireWriter) => writer.fixed64(7, 1n), undefined],
    ['a flag', (writer: WireWriter) => writer.fixed32(16, 1), undefined],
    ['an unknown field', (writer: WireWriter) => writer.text(99, 'x'.repeat(20)), 20],
  ])('%s that reaches beyond its span, into what follows', (_, write, length) => {
    const writer = createWireWriter()
    write(writer)
    const whole = writer.finish()
    // The span ends in the middle of its field; the bytes that are missing stand behind it.
    const size = length === undefined ? whole.length - 2 : whole.length - 5
    const body = new Uint8Array([0x0a, size + 4 + 40, 0x12, size + 2 + 40, 0x12, size, ...whole])
    const padded = new Uint8Array([...body.slice(0, 6 + size), ...new Uint8Array(40)])
    expect(() => decodeOtlpTraces(padded)).toThrow(/bytes are announced and \d+ are left/)
  })

  it('any flipped bit, in traces and read as logs', () => {
    fc.assert(
      fc.property(traces, fc.nat(), fc.nat(7), (given, at, bit) => {
        const bytes = encodeTracesProtobuf(given)
        if (bytes.length === 0) return
        const place = at % bytes.length
        bytes[place] = (bytes[place] as number) ^ (1 << bit)
        attempt(() => fromOtlpTraces(bytes))
        attempt(() => fromOtlpLogs(bytes, { runId: 'r' }))
      }),
      { numRuns: 200 },
    )
  })

  it('any bytes and any JSON', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), fc.jsonValue(), (bytes, value) => {
        attempt(() => fromOtlpTraces(bytes, { format: 'protobuf' }))
        attempt(() => fromOtlpTraces(JSON.stringify(value)))
        attempt(() =>
          fromOtlpTraces({ resourceSpans: [{ resource: value, scopeSpans: [{ spans: [value, {}] }] }] }),
        )
        attempt(() => fromOtlpLogs({ resourceLogs: [{ scopeLogs: [{ logRecords: [value] }] }] }))
      }),
      { numRuns: 200 },
    )
  })

  it('says at which byte', () => {
    expect(() => decodeOtlpTraces(new Uint8Array([0x0a, 0x05, 0x01]))).toThrow(
      /broken at byte 2: 5 bytes are announced and 1 are left/,
    )
    expect(() => decodeOtlpTraces(new Uint8Array([0x0a, 0xff]))).toThrow(/at byte 1: a number ends too early/)
    expect(() => decodeOtlpTraces('{"resourceSpans": [}')).toThrow(/of 20 characters is no JSON/)
    expect(() => decodeOtlpTraces('{"resourceSpans": hunter2')).not.toThrow(/hunter2/)
  })

  it('does not follow values that nest without end', () => {
    let writer = createWireWriter()
    writer.text(1, 'deep')
    let inner = writer.finish()
    for (let level = 0; level < 5_000; level++) {
      writer = createWireWriter()
      const from = writer.size()
      writer.bytes(1, inner)
      writer.message(5, from)
      inner = writer.finish()
    }
    writer = createWireWriter()
    for (const field of [2, 1, 1, 1]) {
      writer.bytes(field, inner)
      inner = writer.finish()
      writer = createWireWriter()
    }
    expect(() => decodeOtlpTraces(inner)).toThrow(/nests deeper than 64 levels/)
    const nested = (levels: number): object =>
      levels === 0 ? {} : { arrayValue: { values: [nested(levels - 1)] } }
    const { problems } = fromOtlpTraces({
      resourceSpans: [{ scopeSpans: [{ spans: [{ attributes: [{ key: 'a', value: nested(100) }] }] }] }],
    })
    expect(problems).toEqual([{ index: 0, reason: expect.stringContaining('at most 64 levels deep') }])
  })

  it('does not take more than it can hold', () => {
    expect(() => decodeOtlpTraces(new Uint8Array(64 * 1024 * 1024 + 1))).toThrow(/more than 67108864/)
    // Two bytes each on the wire, and a span each in memory.
    const empty = new Uint8Array(320_000)
    for (let at = 0; at < empty.length; at += 2) empty[at] = 0x12
    const writer = createWireWriter()
    writer.bytes(2, empty)
    writer.message(1, 0)
    expect(() => decodeOtlpTraces(writer.finish())).toThrow(/more parts than any export/)
  })

  it('knows logs that were sent to the path of traces', () => {
    const writer = createWireWriter()
    writer.fixed64(1, 5n)
    for (const field of [2, 2, 1]) writer.message(field, 0)
    expect(() => decodeOtlpTraces(writer.finish())).toThrow(
      /field 1 of Span has the wire type 1.*\/v1\/logs/s,
    )
    expect(() => decodeOtlpTraces({ resourceLogs: [] })).toThrow(/holds logs and not traces/)
    expect(() => decodeOtlpLogs({ resourceSpans: [] })).toThrow(/Send traces to \/v1\/traces/)
  })
})

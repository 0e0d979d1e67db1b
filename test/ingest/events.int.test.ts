import { gzipSync } from 'node:zlib'
import { foreignType, toCloudEvent, toWire } from 'clew'
import { describe, expect, it } from 'vitest'
import { ids, note, serve } from './served.ts'

const JSON_TYPE = 'application/json'
const LINES = 'application/x-ndjson'
const id = (n: number): string => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`
const numbered = (n: number, runId = 'r') => ({ event_id: id(n), ...note(runId, { n }) })
const text = (value: unknown): string => JSON.stringify(value)

describe('POST /v1/events', () => {
  it('A3 takes one event, a list, and a list with what must hold for it, and answers with places', async () => {
    const { post } = await serve()
    expect((await post('/v1/events', JSON_TYPE, text(numbered(1)))).json).toEqual({
      results: [{ eventId: id(1), runId: 'r', seq: 1, position: 1 }],
      refused: 0,
    })
    const list = await post('/v1/events', JSON_TYPE, text([numbered(2), numbered(3, 'other')]))
    expect(list.json).toMatchObject({ results: [{ seq: 2 }, { runId: 'other', seq: 1 }] })
    const stale = { events: [numbered(4)], options: { expectedSeq: 1 } }
    expect(await post('/v1/events', JSON_TYPE, text(stale))).toMatchObject({
      status: 409,
      json: { error: { code: 'wrong_seq', fields: { seq: 2 } } },
    })
    const fits = { events: [numbered(4)], options: { expectedSeq: 2 } }
    expect((await post('/v1/events', JSON_TYPE, text(fits))).json).toMatchObject({ results: [{ seq: 3 }] })
  })

  it('L4 answers what is sent again with its first place, and other content with a conflict', async () => {
    const { post, ledger } = await serve()
    const first = await post('/v1/events', JSON_TYPE, text([numbered(1), numbered(2)]))
    expect((await post('/v1/events', JSON_TYPE, text([numbered(1), numbered(2)]))).json).toEqual(first.json)
    const other = await post(
      '/v1/events',
      JSON_TYPE,
      text([numbered(3), { ...numbered(1), payload: { n: 9 } }]),
    )
    expect(other).toMatchObject({ status: 409, json: { error: { code: 'conflict' } } })
    expect(await ids(ledger, 'r')).toEqual([id(1), id(2)])
  })

  it.each([
    ['an item of another kind', [numbered(1), 7], 'event', 1],
    [
      'a type out of order',
      [numbered(1), numbered(2), { ...numbered(3), event_type: 'no' }],
      'event_type',
      2,
    ],
    ['a field that is no field', [{ ...numbered(1), workspace: 'x' }, numbered(2)], 'workspace', 0],
    ['an id with control characters', [numbered(1), note('a\u0000b')], 'correlation_id', 1],
    ['an id of 10 KB', [numbered(1), note('x'.repeat(10_000))], 'correlation_id', 1],
  ])('E4 names field and item of %s, and writes nothing of the batch', async (_, events, field, item) => {
    const { post, ledger } = await serve()
    const answer = await post('/v1/events', JSON_TYPE, text(events))
    expect(answer).toMatchObject({ status: 400, json: { error: { fields: { field, item } } } })
    expect((await ledger.listRuns()).runs).toEqual([])
  })

  it.each([
    ['no JSON', JSON_TYPE, '{"a":', 400],
    ['bytes that are no UTF-8', JSON_TYPE, new Uint8Array([0x22, 0xff, 0x22]), 400],
    ['nothing', JSON_TYPE, '', 400],
    ['a type that nobody knows', 'text/plain', 'hello', 415],
    ['options that are none', JSON_TYPE, '{"events":[],"options":{"epoc":1}}', 400],
    ['a query of another format', JSON_TYPE, '{}', 400],
    ['a list that is too long', JSON_TYPE, text(Array.from({ length: 10_001 }, () => 0)), 413],
  ])('A3 refuses %s', async (what, type, body, status) => {
    const { post } = await serve()
    const path = what.includes('query') ? '/v1/events?format=xml' : '/v1/events'
    expect(await post(path, type, body)).toMatchObject({
      status,
      json: { error: { hint: expect.any(String) } },
    })
  })

  it('E1 takes back what was read, values that JSON lacks included', async () => {
    const { post, ledger } = await serve()
    const at = new Date(5)
    const event = await ledger.record({
      eventType: foreignType('ui.note'),
      correlationId: 'r',
      payload: { at, big: 5n },
    })
    const [line = ''] = await Array.fromAsync(ledger.export({ runId: 'r' }))
    const other = await serve()
    expect(await other.post('/v1/events', JSON_TYPE, line)).toMatchObject({ status: 200 })
    expect((await other.ledger.getEvent(event.eventId))?.payload).toEqual({ at, big: 5n })
    expect(await post('/v1/events', JSON_TYPE, line)).toMatchObject({
      status: 200,
      json: { results: [{ seq: 1 }] },
    })
  })

  it('P1 redacts what comes over HTTP', async () => {
    const { post, ledger } = await serve()
    await post('/v1/events', JSON_TYPE, text(note('r', { key: `sk-ant-api03-${'a1B2'.repeat(24)}` })))
    const [event] = await Array.fromAsync(ledger.read('r'))
    expect(JSON.stringify(event?.payload)).not.toContain('a1B2a1B2')
  })

  it('A2 keeps workspaces apart', async () => {
    const { post, ledger } = await serve()
    await post('/v1/events?workspace=other', JSON_TYPE, text(numbered(1)))
    expect(await ledger.getRun('r')).toBeNull()
    expect((await ledger.in('other').getRun('r'))?.events).toBe(1)
    expect((await post('/v1/events?workspace=clew:server', JSON_TYPE, text(numbered(1)))).status).toBe(404)
  })
})

describe('lines', () => {
  it('A3 E4 are each written or refused by themselves, in their order, packed or not', async () => {
    const { post, ledger } = await serve()
    const lines = [numbered(1), '{broken', numbered(2), { ...numbered(3), event_type: 'x' }, numbered(1)]
    const body = lines.map((line) => (typeof line === 'string' ? line : text(line))).join('\n\n')
    const plain = await post('/v1/events', LINES, body)
    expect(plain).toMatchObject({
      status: 200,
      json: {
        refused: 2,
        results: [
          { seq: 1 },
          { error: { code: 'bad_payload' } },
          { seq: 2 },
          { error: { fields: { field: 'event_type' } } },
          { seq: 1, eventId: id(1) },
        ],
      },
    })
    expect(plain.text).not.toContain('broken')
    const packed = await post('/v1/events', LINES, gzipSync(body), { 'content-encoding': 'gzip' })
    expect(packed.json).toEqual(plain.json)
    expect(await ids(ledger, 'r')).toEqual([id(1), id(2)])
  })

  it('L5 are written while the stream goes on', async () => {
    const { post, ledger } = await serve()
    const follow = ledger.follow({ runId: 'r' })
    const seen: string[] = []
    const next = async (): Promise<void> => void seen.push((await follow.next()).value.eventId)
    const encoder = new TextEncoder()
    let sent = 0
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        // The next line is sent only when the one before it can be read from the ledger.
        if (sent > 0) await next()
        if (sent === 5) return controller.close()
        controller.enqueue(encoder.encode(`${text(numbered(++sent))}\n`))
      },
    })
    const answer = await post('/v1/events', LINES, body)
    expect(answer.json).toMatchObject({ refused: 0, results: { length: 5 } })
    expect(seen).toEqual([1, 2, 3, 4, 5].map(id))
    await follow.return(undefined)
  })

  it('A3 may take longer than a request that is no stream', async () => {
    const { post } = await serve({ limits: { requestTimeoutMs: 2000 } })
    const encoder = new TextEncoder()
    let sent = 0
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        await new Promise((resolve) => setTimeout(resolve, sent === 0 ? 0 : 700))
        if (sent === 4) return controller.close()
        controller.enqueue(encoder.encode(`${text(numbered(++sent))}\n`))
      },
    })
    expect((await post('/v1/events', LINES, body)).json).toMatchObject({ results: { length: 4 } })
  })

  it('A2 a store that fails ends them with 503, and all can be sent again', async () => {
    const { ClewError } = await import('clew')
    let left = 2
    const { post, ledger } = await serve({
      instead: (real) => ({
        ...real,
        appendWire: (...given) =>
          left-- > 0
            ? real.appendWire(...given)
            : Promise.reject(new ClewError('store_full', 'The ledger has no room left', 'Free some.')),
      }),
    })
    const body = [1, 2, 3, 4].map((n) => text(numbered(n))).join('\n')
    expect(await post('/v1/events', LINES, body)).toMatchObject({
      status: 503,
      retryAfter: expect.any(String),
    })
    left = Number.POSITIVE_INFINITY
    expect((await post('/v1/events', LINES, body)).json).toMatchObject({ refused: 0 })
    expect(await ids(ledger, 'r')).toEqual([1, 2, 3, 4].map(id))
  })
})

describe('CloudEvents', () => {
  it('E5 an event of others is one event in binary and in structured mode, whatever the order of its attributes', async () => {
    const { post, ledger } = await serve()
    const attributes = {
      specversion: '1.0',
      id: 'e-1',
      source: '/shop',
      type: 'order.placed',
      subject: 'order-7',
      time: '2026-11-15T07:00:00Z',
    }
    const headers = Object.fromEntries(
      Object.entries(attributes).map(([name, value]) => [`ce-${name}`, encodeURIComponent(value)]),
    )
    const structured = 'application/cloudevents+json'
    const answers = [
      await post('/v1/events', structured, JSON.stringify({ ...attributes, data: { n: 1 } })),
      await post('/v1/events', 'application/json', '{"n":1}', headers),
      await post('/v1/events', structured, JSON.stringify({ data: { n: 1 }, ...reversed(attributes) })),
    ]
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    expect((await ledger.getRun('order-7'))?.events).toBe(1)
  })

  it('E5 come back as what they were, as a document, in a batch and by headers', async () => {
    const { ledger } = await serve()
    const event = await ledger.record({
      eventType: foreignType('ui.note'),
      correlationId: 'r',
      payload: { a: [1, 'ü'] },
    })
    const cloud = toCloudEvent(toWire(event))
    const { data, datacontenttype: _, ...attributes } = cloud as unknown as Record<string, string>
    const headers = Object.fromEntries(
      Object.entries(attributes).map(([name, value]) => [`ce-${name}`, encodeURIComponent(value)]),
    )
    for (const [type, body, extra] of [
      ['application/cloudevents+json; charset=utf-8', text(cloud), {}],
      ['application/cloudevents-batch+json', text([cloud]), {}],
      [JSON_TYPE, text(data), headers],
    ] as const) {
      const other = await serve()
      const answer = await other.post('/v1/events', type, body, extra)
      expect(answer).toMatchObject({ status: 200, json: { results: [{ eventId: event.eventId, seq: 1 }] } })
      expect((await other.ledger.getEvent(event.eventId))?.payload).toEqual(event.payload)
    }
  })

  it('E4 a batch with one that cannot be taken is refused with its place', async () => {
    const { post, ledger } = await serve()
    const good = { specversion: '1.0', id: '1', source: '/s', type: 't', subject: 'r' }
    const answer = await post(
      '/v1/events',
      'application/cloudevents-batch+json',
      text([good, { ...good, source: 4 }]),
    )
    expect(answer).toMatchObject({
      status: 400,
      json: { error: { code: 'bad_envelope', fields: { item: 1 } } },
    })
    expect(await ledger.getRun('r')).toBeNull()
  })
})

describe('AG2', () => {
  const events = [
    { type: 'text', content: { uuid: 'u1', sender: 'user', recipient: 'boatman', content: 'When?' } },
    {
      type: 'tool_call',
      content: {
        uuid: 'u2',
        sender: 'boatman',
        recipient: 'user',
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'timetable', arguments: '{"day":"Sunday"}' } },
        ],
      },
    },
    {
      type: 'tool_response',
      content: {
        uuid: 'u3',
        sender: 'user',
        recipient: 'boatman',
        tool_responses: [{ tool_call_id: 'c1', content: '09:05' }],
      },
    },
    { type: 'text', content: { uuid: 'u4', sender: 'boatman', recipient: 'user', content: 'At 09:05.' } },
    { type: 'run_completion', content: { uuid: 'u5', history: [], summary: 'At 09:05.', cost: {} } },
  ]

  it('A3 its stream of lines becomes a run, also when it is cut and sent again', async () => {
    const { post, ledger } = await serve()
    const path = '/v1/events?format=ag2&runId=ferry&agent=boatman'
    const lines = events.map(text)
    await post(path, LINES, lines.slice(0, 3).join('\n'))
    expect((await ledger.getRun('ferry'))?.status).toBe('running')
    const answer = await post(path, LINES, lines.join('\n'))
    expect(answer.json).toMatchObject({ received: 5, runs: ['ferry'], refused: [] })
    const run = await ledger.getRun('ferry')
    expect(run).toMatchObject({ status: 'completed', agent: 'boatman', toolCalls: 1, messages: 3 })
    expect(run?.events).toBe((answer.json as { events: number }).events)
  })

  it('A3 names records that are none, and wants to know the run', async () => {
    const { post } = await serve()
    expect((await post('/v1/events?format=ag2', LINES, '{}')).status).toBe(400)
    const answer = await post('/v1/events?format=ag2&runId=r', LINES, `${text(events[0])}\n{"type":4}\n[`)
    expect(answer.json).toMatchObject({ received: 3, refused: [{ item: 1 }, { item: 2 }] })
  })
})

const reversed = (fields: object): object => Object.fromEntries(Object.entries(fields).toReversed())

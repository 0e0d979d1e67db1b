import { ClewError, type ClewEvent, toCloudEvent, toWire } from '@clew/ledger'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createMemoryWorld } from '../../test/memory-ledger.ts'
import { fromCloudEvents } from './index.ts'

const OWN = {
  specversion: '1.0',
  id: '019a8f4e-0000-7000-8000-000000000001',
  source: 'clew:agent/clew',
  type: 'execution.message',
  time: '2026-11-15T07:00:00.123Z',
  correlationid: 'run-1',
  causationid: '019a8f4e-0000-7000-8000-000000000000',
  data: { role: 'user', content: 'Hello' },
}
const FOREIGN = {
  specversion: '1.0',
  id: '42',
  source: '/shop',
  type: 'com.example.order.created',
  subject: 'order-7',
  amount: '9.90',
  data: { total: 9.9 },
}

describe('E5 A3 CloudEvents from anywhere', () => {
  it('gives back what Clew wrote', async () => {
    const ledger = createMemoryWorld().open()
    const { events } = fromCloudEvents(OWN)
    await ledger.append(events)
    const stored: ClewEvent[] = []
    for await (const event of ledger.read('run-1')) stored.push(event)
    const [wire] = stored.map(toWire)
    expect(fromCloudEvents(JSON.stringify([wire].map((event) => event && toCloudEvent(event))))).toEqual({
      events,
      received: 1,
      problems: [],
    })
    await ledger.close()
  })

  it('takes one, a batch, text and bytes', () => {
    const one = fromCloudEvents(OWN)
    expect(one.events).toMatchObject([
      {
        eventId: OWN.id,
        eventType: OWN.type,
        timestamp: OWN.time,
        source: { origin: 'agent', runtime: 'clew' },
        correlationId: 'run-1',
        causationId: OWN.causationid,
        payload: OWN.data,
      },
    ])
    expect(fromCloudEvents([OWN])).toEqual(one)
    expect(fromCloudEvents(new TextEncoder().encode(JSON.stringify([OWN])))).toEqual(one)
    expect(fromCloudEvents([OWN, OWN])).toEqual({ ...one, received: 2 })
  })

  it('takes binary mode: attributes as headers, data as the body', () => {
    const headers = {
      'Content-Type': 'application/json; charset=utf-8',
      'Ce-Specversion': '1.0',
      'ce-id': OWN.id,
      'ce-source': ['clew:agent/clew'],
      'ce-type': OWN.type,
      'ce-time': OWN.time,
      'ce-correlationid': 'run%201',
    }
    const { events } = fromCloudEvents(new TextEncoder().encode('{"role":"user"}'), headers)
    expect(events).toMatchObject([{ correlationId: 'run 1', payload: { role: 'user' } }])
    const bytes = fromCloudEvents(new Uint8Array([1, 2]), { ...headers, 'Content-Type': 'image/png' })
    expect(bytes.events[0]?.payload).toMatchObject({ cloudEvent: { data_base64: 'AQI=' } })
    const text = fromCloudEvents('hi', { ...headers, 'Content-Type': 'text/plain' })
    expect(text.events[0]?.payload).toMatchObject({ data: 'hi' })
  })

  it('keeps events of others whole, under the same id each time', () => {
    const { events } = fromCloudEvents(FOREIGN)
    expect(events).toEqual(fromCloudEvents([FOREIGN]).events)
    const { data, ...attributes } = FOREIGN
    expect(events).toMatchObject([
      {
        eventType: 'integration.cloud_event',
        correlationId: 'order-7',
        payload: { name: FOREIGN.type, cloudEvent: attributes, data },
      },
    ])
    const traced = {
      ...FOREIGN,
      subject: undefined,
      traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
    }
    expect(fromCloudEvents(traced).events[0]?.correlationId).toBe('a'.repeat(32))
    const other = fromCloudEvents({ ...FOREIGN, source: '/other' })
    expect(other.events[0]?.eventId).not.toBe(events[0]?.eventId)
  })

  it('E5 the same event in binary and in structured mode is one event', async () => {
    const ledger = createMemoryWorld().open()
    const attributes = { specversion: '1.0', id: '42', source: '/shop', type: 'order', subject: 'order-7' }
    const json = { ...attributes, priority: 5, urgent: true, note: 'größer', data: { total: 9.9 } }
    const headers = {
      ...Object.fromEntries(Object.entries(attributes).map(([name, value]) => [`ce-${name}`, value])),
      'ce-priority': '5',
      'ce-urgent': 'true',
      'ce-note': 'gr%C3%B6%C3%9Fer',
    }
    const text = { ...attributes, id: '43', datacontenttype: 'text/plain', data: 'hi' }
    const same = [
      fromCloudEvents(json),
      fromCloudEvents({ ...json, datacontenttype: 'application/json' }),
      fromCloudEvents('{"total":9.9}', headers),
      fromCloudEvents('{"total":9.9}', { ...headers, 'content-type': 'application/json' }),
      fromCloudEvents('{"total":9.9}', { ...headers, 'content-type': 'application/json; charset=utf-8' }),
      fromCloudEvents(text),
      fromCloudEvents('hi', { ...headers, 'ce-id': '43', 'content-type': 'text/plain' }),
    ]
    for (const { events } of same.slice(0, 5)) {
      expect(events).toEqual(same[0]?.events)
      await ledger.append(events)
    }
    const [asText, inHeaders] = same.slice(5)
    expect(asText?.events[0]?.payload).toMatchObject({ data: 'hi' })
    expect(inHeaders?.events[0]?.eventId).toBe(asText?.events[0]?.eventId)
    expect((await ledger.getRun('order-7'))?.events).toBe(1)
    await ledger.close()
  })

  it('E4 says how to name the run of an event that names none', () => {
    const { problems } = fromCloudEvents({ ...FOREIGN, subject: undefined })
    expect(problems).toMatchObject([{ index: 0, reason: expect.stringContaining('names no run') }])
    for (const way of ['correlationid', 'ce-correlationid', 'subject', 'traceparent'])
      expect(problems[0]?.hint).toContain(way)
  })

  it('E4 names what it cannot take by its place and takes the rest', () => {
    const { events, problems, received } = fromCloudEvents([
      OWN,
      { ...OWN, specversion: '0.3' },
      { ...FOREIGN, subject: undefined },
      { ...OWN, source: 'clew:agent/%' },
      5,
      { ...FOREIGN, subject: 'a\u0000b' },
      FOREIGN,
    ])
    expect([events.length, received]).toEqual([2, 7])
    expect(problems.map((problem) => problem.index)).toEqual([1, 2, 3, 4, 5])
    expect(() => fromCloudEvents('{')).toThrow(ClewError)
  })

  it('answers anything with events that a ledger takes, or with an error of its own', async () => {
    const any = fc.record(
      {
        specversion: fc.constant('1.0'),
        id: fc.oneof(fc.uuid(), fc.string()),
        source: fc.oneof(fc.constant('clew:agent/x'), fc.string()),
        type: fc.oneof(fc.constantFrom('system.a', 'execution.note', 'ui.b.c'), fc.string()),
        correlationid: fc.oneof(fc.constant('r'), fc.string()),
        causationid: fc.oneof(fc.uuid(), fc.jsonValue()),
        time: fc.oneof(fc.constantFrom('2026-11-15T07:00:00Z', '2026-99-15T07:00:00Z'), fc.jsonValue()),
        data: fc.jsonValue(),
      },
      { requiredKeys: ['specversion', 'id', 'source', 'type'] },
    )
    await fc.assert(
      // One id with two contents is a conflict, and rightly refused.
      fc.asyncProperty(fc.uniqueArray(any, { maxLength: 5, selector: ({ id }) => id }), async (batch) => {
        const ledger = createMemoryWorld().open()
        await ledger.append(fromCloudEvents(batch).events)
        await ledger.close()
      }),
      { numRuns: 150 },
    )
  })
})

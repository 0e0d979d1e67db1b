import {
  type ForeignType,
  foreignType,
  OWN_EVENT_TYPES,
  primitiveOf,
  type RecordInput,
} from '../catalogue/catalogue.ts'
import { fromCloudEvent, toCloudEvent } from '../event/cloud-events.ts'
import type { EventInput } from '../event/envelope.ts'
import { isUuid } from '../event/ids.ts'
import { fromWire, toWire } from '../event/wire.ts'
import { assert, assertEqual } from './assert.ts'
import { note, readAll, seqs, type StoreTest, upTo } from './world.ts'

const FIELDS = ['eventId', 'eventType', 'timestamp', 'source', 'correlationId', 'causationId', 'payload']
const PLACE = ['workspace', 'seq', 'position', 'recordedAt', 'hash', 'schemaVersion']

const whole: RecordInput<ForeignType> = {
  eventId: '018f4e2a-7b1c-7d3e-8f90-a1b2c3d4e5f6',
  eventType: foreignType('integration.mail_sent'),
  // Nanoseconds and an offset: text of the producer, kept as it came.
  timestamp: '2031-02-28T23:59:59.123456789+05:30',
  source: { origin: 'integration', runtime: 'a runtime of its own — 例' },
  correlationId: 'run/with/slashes and spaces é',
  causationId: '018f4e2a-7b1c-7d3e-8f90-000000000000',
  payload: { b: 1, a: { snake_case: 1, camelCase: 2, event_id: 'not the envelope' }, ledger: { seq: 9 } },
}

export const envelopeTests: readonly StoreTest[] = [
  {
    rule: 'E1',
    title: 'an event reads back with the fields it came with, and with no others',
    async run(world) {
      const ledger = await world.open()
      const answer = await ledger.record(whole)
      const [read] = await readAll(ledger, whole.correlationId)
      assert(read, 'the event is there')
      assertEqual(Object.keys(read), [...FIELDS, 'ledger'], 'fields of the event')
      assertEqual(Object.keys(read.ledger), PLACE, 'fields of its place')
      const { ledger: _, ...envelope } = read
      assertEqual(envelope, { ...whole, ...pick(whole) }, 'the envelope')
      assertEqual(read, answer, 'what is read and what was answered')
      assertEqual(await ledger.getEvent(read.eventId), read, 'the same by its id')
      const wire = JSON.parse(JSON.stringify(toWire(read))) as ReturnType<typeof toWire>
      assertEqual(fromWire(wire), read, 'the way over JSON and back')
    },
  },
  {
    rule: 'E1',
    title: 'what a producer leaves out gets its one sensible value',
    async run(world) {
      const ledger = await world.open()
      await ledger.record({ eventType: foreignType('ui.click'), correlationId: 'r' })
      const [event] = await readAll(ledger, 'r')
      assert(event && isUuid(event.eventId), 'an id is made')
      assertEqual(event.source, { origin: 'system', runtime: 'custom' }, 'source')
      assertEqual([event.causationId, event.payload], [null, {}], 'cause and payload')
      assert(Math.abs(Date.parse(event.timestamp) - world.ports.now()) < 60_000, 'timestamp is now')
    },
  },
  {
    rule: 'E2',
    title: "the producer's time orders nothing",
    async run(world) {
      const ledger = await world.open()
      const years = [2030, 1999, 2044, 2001, 2030]
      for (const year of years)
        await ledger.record({ ...note('r', { year }), timestamp: `${year}-01-01T00:00:00Z` })
      const events = await readAll(ledger, 'r')
      assertEqual(
        events.map((event) => event.payload['year']),
        years,
        'order of appending',
      )
      assertEqual(seqs(events), upTo(5), 'seq')
    },
  },
  {
    rule: 'E3',
    title: 'own and unknown types are kept as they came, each under one primitive',
    async run(world) {
      const ledger = await world.open()
      const own = OWN_EVENT_TYPES.filter((type) => type !== 'system.workflow_forked')
      const types = [...own, 'execution.x', 'system.any-thing.at_all.v2', 'ui.Camel', 'integration.0']
      const replay = { sourceRunId: 's', mode: 're-execute', verdict: 'identical' }
      const chat = { streamId: 'c', messageId: 'm', threadStreamId: 't', sessionId: 's' }
      const score = { target: 'run', value: 1 }
      const schedule = { action: 'pause', nominalAt: 'n', runId: 'x', reason: 'late', fromAt: 'f', toAt: 't' }
      const payload = {
        stepId: 'a#0',
        name: 'a',
        agent: 'owl',
        queue: 'q',
        ...replay,
        ...chat,
        ...score,
        ...schedule,
        unknownField: [1],
      }
      await ledger.append(types.map((eventType) => ({ eventType, correlationId: 'r', payload })))
      const events = await readAll(ledger, 'r')
      assertEqual(
        events.map((event) => event.eventType),
        types,
        'types',
      )
      for (const event of events) {
        assertEqual(event.payload, payload, `payload of ${event.eventType}`)
        assert(primitiveOf(event.eventType) !== undefined, 'a primitive')
      }
      const some = await readAll(ledger, 'r', { types: ['ui.Camel', 'execution.x'] })
      assertEqual(
        some.map((event) => event.eventType),
        ['execution.x', 'ui.Camel'],
        'read by types, in order of seq',
      )
    },
  },
  {
    rule: 'E5',
    title: 'an event that went through CloudEvents is the same event',
    async run(world) {
      const ledger = await world.open()
      const first = await ledger.record(whole)
      const { ledger: _, ...wire } = toWire(first)
      const back = fromCloudEvent(JSON.parse(JSON.stringify(toCloudEvent(wire))))
      assertEqual(back, wire, 'the envelope')
      const { ledger: place, ...again } = fromWire({ ...back, ledger: toWire(first).ledger })
      assertEqual((await ledger.append([again]))[0]?.ledger, place, 'its place')
      assertEqual((await readAll(ledger, whole.correlationId)).length, 1, 'events')
    },
  },
]

/** The fields in the order in which an envelope has them. */
function pick(input: EventInput): Record<string, unknown> {
  return Object.fromEntries(FIELDS.map((field) => [field, input[field as keyof EventInput]]))
}

import { describe, expect, it } from 'vitest'
import { fromCloudEvent, toCloudEvent } from './cloud-events.ts'
import { checkInput, checkWire } from './envelope.ts'
import { ClewError } from '../errors.ts'
import { fromWire, toWire, type WireEvent } from './wire.ts'

const ID = '0198f0aa-0000-7000-8000-000000000001'
const CAUSE = '0198f0aa-0000-7000-8000-000000000002'

const wire: WireEvent = {
  event_id: ID,
  event_type: 'execution.tool_call',
  timestamp: '2026-11-15T07:17:00.123Z',
  source: { origin: 'agent', runtime: 'lang graph/α' },
  correlation_id: 'run 1/α',
  causation_id: CAUSE,
  payload: { snake_case: 1, camelCase: { event_id: 'not ours' }, '2': 'b', a: [null] },
  ledger: {
    workspace: 'default',
    seq: 3,
    position: 9,
    recorded_at: '2026-11-15T07:17:00.200Z',
    hash: 'a'.repeat(64),
    schema_version: 0,
  },
}

function refusal(work: () => unknown): ClewError {
  try {
    work()
  } catch (error) {
    if (error instanceof ClewError) return error
  }
  throw new Error('was not refused')
}

describe('the envelope', () => {
  it('E4 what was found good in one event counts for nothing else in the next', () => {
    const [frozen, loose] = [Object.freeze({ ...wire.source }), { ...wire.source }]
    for (const source of [frozen, loose])
      for (let i = 0; i < 2; i++) expect(checkWire({ ...wire, source }).source).toEqual(wire.source)
    const fieldOf = (change: object): unknown =>
      refusal(() => checkWire({ ...wire, ...change })).fields['field']
    Object.assign(loose, { runtime: 'a\u0000' })
    expect(fieldOf({ source: loose })).toBe('source.runtime')
    expect(fieldOf({ source: Object.freeze({ ...frozen, more: 1 }) })).toBe('source.more')
    expect(fieldOf({ correlation_id: undefined })).toBe('correlation_id')
    expect(fieldOf({ correlation_id: `${wire.correlation_id}\n` })).toBe('correlation_id')
    expect(checkWire({ ...wire, causation_id: ID }).causationId).toBe(ID)
    expect(fieldOf({ causation_id: `${ID.slice(0, -1)}x` })).toBe('causation_id')
    const { event_id: _, ...without } = wire
    checkWire(without)
    expect(refusal(() => checkWire({ ...without, event_id: null })).fields['field']).toBe('event_id')
  })

  it('E1 the two spellings convert both ways without loss', () => {
    const event = fromWire(wire)
    expect(event.eventType).toBe('execution.tool_call')
    expect(event.ledger.recordedAt).toBe('2026-11-15T07:17:00.200Z')
    expect(JSON.stringify(toWire(event))).toBe(JSON.stringify(wire))
  })

  it.each([
    { erased: true as const },
    { pruned: true as const },
    { erased: true as const, pruned: true as const },
  ])('E2 that a payload is gone, and why, is said in both spellings: %j', (marks) => {
    const gone = { ...wire, payload: {}, ledger: { ...wire.ledger, ...marks } }
    expect(fromWire(gone).ledger).toMatchObject(marks)
    expect(toWire(fromWire(gone))).toEqual(gone)
  })

  it('E2 conversion never touches a payload', () => {
    expect(fromWire(wire).payload).toBe(wire.payload)
    expect(Object.keys(fromWire(wire).payload)).toEqual(['2', 'snake_case', 'camelCase', 'a'])
  })

  it('E5 an envelope goes to CloudEvents and back without loss', () => {
    const { ledger: _, ...envelope } = wire
    expect(fromCloudEvent(JSON.parse(JSON.stringify(toCloudEvent(envelope))))).toEqual(envelope)
    const rootless = { ...envelope, causation_id: null }
    expect(toCloudEvent(rootless)).not.toHaveProperty('causationid')
    expect(fromCloudEvent(toCloudEvent(rootless))).toEqual(rootless)
  })

  it('E5 a CloudEvent from elsewhere keeps its source, and a broken one is refused by field', () => {
    const foreign = { ...toCloudEvent(wire), source: '/sensors/7' }
    expect(fromCloudEvent(foreign).source).toEqual({ origin: 'integration', runtime: '/sensors/7' })
    expect(refusal(() => fromCloudEvent({ ...foreign, specversion: '0.3' })).fields['field']).toBe(
      'specversion',
    )
    expect(refusal(() => fromCloudEvent({ ...foreign, id: 7 })).fields['field']).toBe('id')
  })

  const good = { eventType: 'execution.message', correlationId: 'run-1', payload: {} }
  const bad: [string, unknown, string][] = [
    ['no object', 7, 'event'],
    ['a type outside the four prefixes', { ...good, eventType: 'foo.bar' }, 'eventType'],
    ['a bare prefix', { ...good, eventType: 'execution' }, 'eventType'],
    ['no type', { ...good, eventType: undefined }, 'eventType'],
    ['an id that is no UUID', { ...good, eventId: 'e1' }, 'eventId'],
    ['a cause that is no UUID', { ...good, causationId: 3 }, 'causationId'],
    ['an empty run id', { ...good, correlationId: '' }, 'correlationId'],
    ['a run id with control characters', { ...good, correlationId: 'a\nb' }, 'correlationId'],
    ['a run id with half a character', { ...good, correlationId: 'a\ud800' }, 'correlationId'],
    ['a run id without end', { ...good, correlationId: 'x'.repeat(513) }, 'correlationId'],
    ['a time in words', { ...good, timestamp: 'yesterday' }, 'timestamp'],
    ['a time that does not exist', { ...good, timestamp: '2026-13-45T00:00:00Z' }, 'timestamp'],
    ['an unknown origin', { ...good, source: { origin: 'moon', runtime: 'x' } }, 'source.origin'],
    ['a source without runtime', { ...good, source: { origin: 'agent' } }, 'source.runtime'],
    [
      'a source with more',
      { ...good, source: { origin: 'agent', runtime: 'x', version: 1 } },
      'source.version',
    ],
    ['a payload that is no object', { ...good, payload: [1] }, 'payload'],
    ['an unknown field', { ...good, colour: 'red' }, 'colour'],
  ]
  it.each(bad)('E4 refuses %s by field, found and expected', (_, input, field) => {
    const error = refusal(() => checkInput(input))
    expect(error.code).toBe('bad_envelope')
    expect(error.fields['field']).toBe(field)
    expect(error.fields['expected']).toBeTruthy()
    expect(error.fields['found']).toBeTruthy()
  })

  it('E4 names the field as the sender spelled it', () => {
    expect(
      refusal(() => checkWire({ event_type: 'execution.message', correlation_id: 3 })).fields['field'],
    ).toBe('correlation_id')
    expect(refusal(() => checkWire({ eventType: 'execution.message' })).fields['field']).toBe('eventType')
  })

  it('P3 an error does not repeat what may be a secret', () => {
    const secret = 'hunter2 hunter2'
    expect(JSON.stringify(refusal(() => checkInput({ ...good, timestamp: secret })))).not.toContain(secret)
  })
})

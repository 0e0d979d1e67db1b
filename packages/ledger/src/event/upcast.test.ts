import { describe, expect, it } from 'vitest'
import type { ClewEvent } from './envelope.ts'
import { SCHEMA_VERSION } from '../hash/chain.ts'
import { type Upcast, upcastEvent, UPCASTS } from './upcast.ts'

const event = (schemaVersion: number): ClewEvent => ({
  eventId: '0198f0aa-0000-7000-8000-000000000001',
  eventType: 'execution.message',
  timestamp: '2026-11-15T07:17:00.123Z',
  source: { origin: 'agent', runtime: 'clew' },
  correlationId: 'run-1',
  causationId: null,
  payload: { text: 'hello' },
  ledger: {
    workspace: 'default',
    seq: 1,
    position: 1,
    recordedAt: '2026-11-15T07:17:00.200Z',
    hash: '',
    schemaVersion,
  },
})
const upcasts: Upcast[] = [
  (old) => ({ ...old, payload: { content: old.payload['text'] } }),
  (old) => ({ ...old, payload: { ...old.payload, role: 'user' } }),
]

describe('schema versions', () => {
  it('E3 an event of an older version is read through every step up to the current one', () => {
    expect(upcastEvent(event(0), upcasts, 2).payload).toEqual({ content: 'hello', role: 'user' })
    expect(upcastEvent(event(1), upcasts, 2).payload).toEqual({ text: 'hello', role: 'user' })
    expect(upcastEvent(event(2), upcasts, 2)).toEqual(event(2))
  })

  it('D5 there is a way from every version to the current one and to the next', () => {
    for (let current = 0; current <= Math.max(1, SCHEMA_VERSION); current++)
      for (let version = 0; version <= current; version++)
        expect(upcastEvent(event(version), UPCASTS, current)).toMatchObject({
          eventType: 'execution.message',
        })
    expect(UPCASTS.length).toBeGreaterThanOrEqual(SCHEMA_VERSION)
  })

  it('E2 what the ledger says of an event stays as it was recorded: its hash covers the version', () => {
    expect(upcastEvent(event(0), UPCASTS, 1).ledger).toEqual(event(0).ledger)
  })

  it('E3 an event of a newer version is refused, not guessed at', () => {
    expect(() => upcastEvent(event(3), upcasts, 2)).toThrow('Update Clew')
  })
})

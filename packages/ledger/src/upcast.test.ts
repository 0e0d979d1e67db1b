import { describe, expect, it } from 'vitest'
import type { ClewEvent } from './envelope.ts'
import { type Upcast, upcastEvent } from './upcast.ts'

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

  it('E3 an event of a newer version is refused, not guessed at', () => {
    expect(() => upcastEvent(event(3), upcasts, 2)).toThrow('Update Clew')
  })
})

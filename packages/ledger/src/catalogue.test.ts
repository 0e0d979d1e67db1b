import { describe, expect, it } from 'vitest'
import {
  assertPayload,
  needsEpoch,
  OWN_EVENT_TYPES,
  payloadSchemas,
  PRIMITIVES,
  primitiveOf,
} from './catalogue.ts'
import { ClewError } from './errors.ts'

describe('the event catalogue', () => {
  it('E3 every own type has a primitive and a schema', () => {
    const schemas = payloadSchemas()
    for (const type of OWN_EVENT_TYPES) {
      expect(PRIMITIVES).toContain(primitiveOf(type))
      expect(schemas[type]).toMatchObject({ type: 'object' })
    }
  })

  it('E3 an unknown type belongs to the primitive of its prefix', () => {
    expect(primitiveOf('execution.dreamt')).toBe('execution.state_change')
    expect(primitiveOf('system.rebooted')).toBe('system.workflow_event')
    expect(primitiveOf('ui.scrolled')).toBe('ui.interaction')
    expect(primitiveOf('integration.mail.sent')).toBe('integration.call')
  })

  it('E3 further fields and unknown types are kept, a known field of a wrong type is refused by name', () => {
    expect(() =>
      assertPayload('execution.message', { role: 'user', content: [1], vendor: { any: 'thing' } }),
    ).not.toThrow()
    expect(() => assertPayload('execution.dreamt', { role: 7 })).not.toThrow()
    try {
      assertPayload('execution.step_started', { stepId: 'a#0', name: 'a', usage: 1, attempt: 'two' })
      expect.unreachable()
    } catch (error) {
      expect(error).toBeInstanceOf(ClewError)
      expect((error as ClewError).fields['field']).toBe('payload.attempt')
    }
  })

  it('R9 execution and life-cycle events need the epoch, answers and administration do not', () => {
    for (const type of [
      'execution.step_started',
      'system.workflow_completed',
      'execution.checkpoint',
      'system.state_transitioned',
    ])
      expect(needsEpoch(type), type).toBe(true)
    for (const type of [
      'ui.input_received',
      'system.payload_erased',
      'system.access',
      'system.workflow_interrupted',
      'integration.call',
    ])
      expect(needsEpoch(type), type).toBe(false)
  })
})

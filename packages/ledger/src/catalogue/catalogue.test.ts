import { describe, expect, it } from 'vitest'
import { assertPayload, needsEpoch, OWN_EVENT_TYPES, payloadSchemas, primitiveOf } from './catalogue.ts'
import { PRIMITIVES } from './primitive.ts'
import { ClewError } from '../errors.ts'

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

  it('L1 the value of an operation stands in it or comes from a step, never both and never neither', () => {
    const check = (operation: object) => () =>
      assertPayload('execution.step_completed', { stepId: 'a@s1', checkpoint: { operations: [operation] } })
    for (const fine of [
      { op: 'set', channel: 'x', value: null },
      { op: 'set', channel: 'x', from: 'a@s1' },
      { op: 'append', channel: 'x', from: 'a@s1' },
      { op: 'patch', channel: 'x', from: 'a@s1', remove: ['k'] },
      { op: 'patch', channel: 'x', remove: ['k'] },
    ])
      expect(check(fine)).not.toThrow()
    for (const [operation, says] of [
      [{ op: 'set', channel: 'x' }, 'either value or from'],
      [{ op: 'set', channel: 'x', value: 1, from: 'a@s1' }, 'either value or from'],
      [{ op: 'append', channel: 'x' }, 'either items or from'],
      [{ op: 'patch', channel: 'x', set: {}, from: 'a@s1' }, 'either set or from'],
    ] as const)
      expect(check(operation)).toThrow(
        `payload.checkpoint.operations[0] of execution.step_completed is not an operation with ${says}`,
      )
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
      'system.stop_requested',
    ])
      expect(needsEpoch(type), type).toBe(false)
  })
})

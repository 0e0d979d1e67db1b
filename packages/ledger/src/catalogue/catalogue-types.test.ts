import { describe, expect, it } from 'vitest'
import { nodePorts } from '../../test/node-ports.ts'
import { asErasable, asOwn, foreignType, isOwn } from './catalogue.ts'
import { createLedger } from '../create-ledger.ts'
import type { ClewEvent } from '../event/envelope.ts'
import { createInProcessStore } from '../in-process/in-process-store.ts'

const openLedger = () =>
  createLedger({ store: createInProcessStore(nodePorts), ports: nodePorts, secret: 's', heads: {} as never })

/** The compiler proves these: an error that it does not find makes `tsc` fail. */
describe('the types of events', () => {
  it('E3 record knows own types and their payloads, and foreign ones only by foreignType', async () => {
    const ledger = openLedger()
    const correlationId = 'r'
    // @ts-expect-error -- misspelt
    await ledger.record({ eventType: 'execution.mesage', correlationId, payload: { role: 'user' } })
    const notText = { eventType: 'execution.message', correlationId, payload: { role: 7 } } as const
    // @ts-expect-error -- a known field of another type
    await expect(ledger.record(notText)).rejects.toMatchObject({ code: 'bad_payload' })
    const withoutStep = { eventType: 'execution.step_started', correlationId } as const
    // @ts-expect-error -- a payload without what its type needs
    await expect(ledger.record(withoutStep)).rejects.toMatchObject({ code: 'bad_payload' })
    // @ts-expect-error -- an own type is not foreign
    foreignType('execution.message')
    // @ts-expect-error -- a type belongs to one of four families
    foreignType('dream.begun')

    await ledger.record({ eventType: foreignType('execution.dreamt'), correlationId, payload: { of: 'x' } })
    // Payloads are open: further fields pass.
    await ledger.record({
      eventType: 'execution.message',
      correlationId,
      payload: { role: 'user', vendor: 1 },
    })
    await ledger.append([{ eventType: 'execution.mesage', correlationId, payload: { role: 7 } }])
    expect((await ledger.getRun('r'))?.events).toBe(4)
  })

  it('E3 a switch over asOwn knows the fields of each type, and no others', async () => {
    const ledger = openLedger()
    const event: ClewEvent = await ledger.record({
      eventType: 'execution.step_started',
      correlationId: 'r',
      payload: { stepId: 'a#0', name: 'a' },
    })
    const own = asOwn(event)
    if (own?.eventType !== 'execution.step_started') throw new Error('not narrowed')
    const stepId: string = own.payload.stepId
    expect(stepId).toBe('a#0')
    // @ts-expect-error -- misspelt
    expect(own.payload.stepID).toBeUndefined()
  })

  it('E3 asOwn leaves out foreign types, and P5 erased payloads, whose type asErasable still tells', async () => {
    const ledger = openLedger()
    const correlationId = 'r'
    const foreign = await ledger.record({ eventType: foreignType('ui.click'), correlationId })
    const own = await ledger.record({ eventType: 'system.workflow_completed', correlationId })
    const erased = { ...own, payload: {}, ledger: { ...own.ledger, erased: true as const } }
    expect(asOwn(foreign)).toBeUndefined()
    expect(asErasable(foreign)).toBeUndefined()
    expect(asOwn(own)).toBe(own)
    expect(asOwn(erased)).toBeUndefined()
    expect(asErasable(erased)).toBe(erased)
  })

  it('E3 isOwn knows the fields of the named types; each may be missing, for the payload may be erased', async () => {
    const ledger = openLedger()
    const event: ClewEvent = await ledger.record({
      eventType: 'execution.step_failed',
      correlationId: 'r',
      payload: { stepId: 'a#0', retryInMs: 5 },
    })
    expect(isOwn(event, 'execution.step_completed')).toBe(false)
    if (!isOwn(event, 'execution.step_completed', 'execution.step_failed')) throw new Error('not narrowed')
    const retryInMs: number | undefined = event.payload.retryInMs
    expect(retryInMs).toBe(5)
    // @ts-expect-error -- an erased payload has no step id
    const stepId: string = event.payload.stepId
    expect(stepId).toBe('a#0')
    // @ts-expect-error -- a field of neither type
    expect(event.payload.dueAt).toBeUndefined()
    // @ts-expect-error -- misspelt
    expect(isOwn(event, 'execution.step_fialed')).toBe(false)
  })
})

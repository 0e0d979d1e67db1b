import { type ForeignType, foreignType, type RecordInput } from '../catalogue/catalogue.ts'
import { describe, expect, it } from 'vitest'
import { nodePorts } from '../../test/node-ports.ts'
import { createLedger } from '../create-ledger.ts'
import type { Ledger, LedgerOptions } from '../ledger.ts'
import { createInProcessStore } from '../in-process/in-process-store.ts'
import type { Store } from '../store/store.ts'
import { readPolicies } from './workspace-policy.ts'

const SEAT = { redact: { rules: [{ kind: 'seat', path: '$.seat' }] } }
const ORDER = { redact: { rules: [{ kind: 'order', pattern: 'ORD-\\d{6}' }] } }

/** Two who have the same ledger open, as two processes do, and a clock that stands unless it is turned. */
async function openTwo(options: LedgerOptions = {}, readMs = 0) {
  let nowMs = 1_700_000_000_000
  const ports = { ...nodePorts, now: () => nowMs }
  const shared = createInProcessStore(ports)
  const heads: string[] = []
  const store: Store = {
    ...shared,
    findRuns(query) {
      heads.push(...(query.ids ?? []))
      nowMs += readMs
      return shared.findRuns(query)
    },
  }
  const open = async (own: LedgerOptions): Promise<Ledger> =>
    createLedger(
      {
        store,
        ports,
        secret: 'a secret that is long enough',
        heads: { verify: async () => false },
        policies: await readPolicies(store),
      },
      own,
    )
  const [admin, writer] = [await open({}), await open(options)]
  heads.length = 0
  return { admin, writer, heads, turn: (ms: number) => void (nowMs += ms) }
}

const said = (payload: Record<string, unknown> = { seat: '4711' }): RecordInput<ForeignType> => ({
  eventType: foreignType('execution.note'),
  correlationId: 'r',
  payload,
})
const seatOf = async (ledger: Ledger, event = said()): Promise<unknown> =>
  (await ledger.record(event)).payload['seat']
const GONE = /^\[redacted:seat:/

describe('P1 a redaction policy that somebody else sets', () => {
  it('P1 is in force here a second later, in every way in, without opening the ledger again', async () => {
    const { admin, writer, turn } = await openTwo()
    expect(await seatOf(writer)).toBe('4711')
    await admin.setPolicy(SEAT)
    turn(1000)
    expect(await seatOf(writer)).toMatch(GONE)
    await admin.setPolicy(ORDER)
    turn(1000)
    const [event] = await writer.append([said({ text: 'ORD-123456', seat: '4711' })])
    expect(event?.payload['text']).toMatch(/^\[redacted:order:/)
    expect(event?.payload['seat']).toBe('4711')
    await admin.setPolicy(SEAT)
    turn(1000)
    const note = {
      runId: 'r',
      stepId: 's',
      attempt: 1,
      stepType: 'thinking',
      version: 1,
      at: '2026-11-15T00:00:00.000Z',
    }
    await writer.progress.put([{ ...note, content: { seat: '4711' } }])
    expect((await writer.progress.read()).notes[0]?.content).toEqual({ seat: expect.stringMatching(GONE) })
    await admin.in('other').setPolicy(SEAT)
    expect(await seatOf(writer.in('other'))).toMatch(GONE)
    await admin.setPolicy({})
    turn(1000)
    const line = JSON.stringify({
      event_id: '0193f6a0-0000-7000-8000-000000000001',
      event_type: 'execution.note',
      timestamp: '2026-11-15T00:00:00.000Z',
      source: { origin: 'system', runtime: 'custom' },
      correlation_id: 'q',
      causation_id: null,
      payload: { seat: '4711' },
    })
    await admin.setPolicy(SEAT)
    turn(1000)
    await writer.import([line], { rehash: true })
    for await (const { payload } of writer.read('q')) expect(payload['seat']).toMatch(GONE)
  })

  it('P1 is asked for by the way by whoever writes all the time, and not with every event', async () => {
    const { admin, writer, heads, turn } = await openTwo()
    await admin.setPolicy(SEAT)
    heads.length = 0
    for (let n = 0; n < 100; n++) await writer.record(said())
    expect(heads).toEqual([])
    turn(500)
    await writer.record(said())
    await expect.poll(() => seatOf(writer)).toMatch(GONE)
    expect(heads).toEqual(['clew:audit'])
    turn(-5000)
    await writer.record(said())
    expect(heads).toEqual(['clew:audit', 'clew:audit'])
  })

  it('P1 L9 what was given counts as it was when it was given: payload, order, cause and time', async () => {
    const { admin, writer, turn } = await openTwo()
    await admin.setPolicy(SEAT)
    turn(60_000)
    const payload = { seat: '4711', when: new Date(0), list: [1] }
    const cause = (await admin.record(said())).eventId
    const first = nodePorts.context.run(cause, () => writer.record(said(payload)))
    const second = writer.record(said({ n: 2 }))
    payload.list.push(2)
    turn(50)
    const [one, two] = await Promise.all([first, second])
    expect(one.payload).toEqual({ seat: expect.stringMatching(GONE), when: new Date(0), list: [1] })
    expect([one.causationId, one.timestamp]).toEqual([cause, new Date(1_700_000_060_000).toISOString()])
    expect(two.ledger.seq).toBe(one.ledger.seq + 1)
  })

  it('L3 writes stand in the order of their calls, at whatever instant the answer about the policy comes', async () => {
    for (let microtasks = 0; microtasks < 60; microtasks++) {
      const { writer, turn } = await openTwo()
      turn(60_000)
      const first = writer.append([said({ n: 1 })])
      for (let n = 0; n < microtasks; n++) await Promise.resolve()
      const second = microtasks % 2 ? writer.append([said({ n: 2 })]) : writer.record(said({ n: 2 }))
      await Promise.all([first, second])
      const order = (await Array.fromAsync(writer.read('r'))).map(({ payload }) => payload['n'])
      expect([microtasks, order]).toEqual([microtasks, [1, 2]])
    }
  })

  it('P1 is asked for once per write where a read takes longer than a policy may be old', async () => {
    const { admin, writer, heads, turn } = await openTwo({}, 5000)
    await admin.setPolicy(SEAT)
    turn(60_000)
    heads.length = 0
    expect(await seatOf(writer)).toMatch(GONE)
    expect((await writer.append([said()]))[0]?.payload['seat']).toMatch(GONE)
    expect(heads.filter((runId) => runId === 'clew:audit')).toHaveLength(2)
  })

  it('P1 does not count for who has switched redaction off', async () => {
    const { admin, writer, heads, turn } = await openTwo({ redact: false })
    await admin.setPolicy(SEAT)
    heads.length = 0
    turn(60_000)
    expect(await seatOf(writer)).toBe('4711')
    expect(heads).toEqual([])
  })
})

import { describe, expect, it } from 'vitest'
import { nodePorts } from '../../test/node-ports.ts'
import { createLedger } from '../create-ledger.ts'
import type { Ledger } from '../ledger.ts'
import { createInProcessStore } from '../in-process/in-process-store.ts'
import type { Price } from './cost.ts'

const heads = { verify: () => Promise.resolve(true) }
let cents = 1
const price: Price = (model) =>
  model === 'unknown' ? null : { amount: cents / 100, source: 'test', version: `v${cents}` }
const store = createInProcessStore(nodePorts)
const open = (workspace: string, priced = true): Ledger =>
  createLedger({ store, ports: nodePorts, secret: 's', heads, ...(priced && { price }) }, { workspace })
const message = (payload: Record<string, unknown>, eventId?: string) => ({
  eventType: 'execution.message' as const,
  correlationId: 'r',
  ...(eventId && { eventId }),
  payload: { role: 'assistant', content: 'x', ...payload },
})
const usage = { inputTokens: 10, outputTokens: 1 }

describe('what is frozen on an event', () => {
  it('V7 price, source and version, last in the payload; null when the price is unknown', async () => {
    const ledger = open('frozen')
    const known = await ledger.record(message({ model: 'm', usage }))
    expect(known.payload['cost']).toEqual({ amount: 0.01, currency: 'USD', source: 'test', version: 'v1' })
    expect(Object.keys(known.payload).at(-1)).toBe('cost')
    const unknown = await ledger.record(message({ model: 'unknown', usage }))
    expect(unknown.payload['cost']).toEqual({ amount: null, currency: 'USD', source: null, version: null })
    expect((await ledger.verify()).ok).toBe(true)
  })

  it('V7 nothing without usage or model, and a cost of the producer is kept', async () => {
    const ledger = open('kept')
    expect((await ledger.record(message({ model: 'm' }))).payload).not.toHaveProperty('cost')
    expect((await ledger.record(message({ usage }))).payload).not.toHaveProperty('cost')
    const own = { amount: 7, currency: 'USD' }
    expect((await ledger.record(message({ model: 'm', usage, cost: own }))).payload['cost']).toEqual(own)
    expect((await open('kept', false).record(message({ model: 'm', usage }))).payload).not.toHaveProperty(
      'cost',
    )
  })

  it('V7 foreign usage gets its own names and keeps what it had', async () => {
    const raw = { input_tokens: 2, output_tokens: 9, cache_read_input_tokens: 100 }
    const { payload } = await open('raw').record(message({ usage: raw }))
    expect(payload['usage']).toEqual({
      ...raw,
      inputTokens: 102,
      outputTokens: 9,
      cacheReadTokens: 100,
      cacheTokens: 'inclusive',
    })
  })

  it('L4 a retry after a change of prices is the same event, at the price of its first time', async () => {
    const ledger = open('retry')
    const id = '0198f0aa-0000-7000-8000-000000000001'
    cents = 1
    const first = await ledger.record(message({ model: 'm', usage }, id))
    cents = 5
    const again = await ledger.record(message({ model: 'm', usage }, id))
    expect(again.ledger.seq).toBe(first.ledger.seq)
    for await (const event of ledger.read('r'))
      expect(event.payload['cost']).toMatchObject({ amount: 0.01, version: 'v1' })
    // And as it was read back.
    await expect(ledger.record({ ...message({}, id), payload: first.payload })).resolves.toBeDefined()
    cents = 1
  })

  it('L11 an import keeps what was frozen, and its hashes', async () => {
    const source = open('from')
    cents = 3
    await source.record(message({ model: 'm', usage }))
    const lines = await Array.fromAsync(source.export())
    cents = 4
    const target = createLedger(
      { store: createInProcessStore(nodePorts), ports: nodePorts, secret: 's', heads, price },
      { workspace: 'from' },
    )
    await target.import(lines)
    expect((await target.cost()).total.amount).toBe(0.03)
    cents = 1
  })
})

describe('cost over runs', () => {
  it('V7 takes runs, agents, threads and times, and bills a fork for its own calls only', async () => {
    const ledger = open('many')
    for (const [runId, agent] of [
      ['one', 'a'],
      ['two', 'b'],
    ] as const) {
      await ledger.record({
        eventType: 'system.workflow_started',
        correlationId: runId,
        payload: { agent, threadId: `t-${runId}` },
      })
      await ledger.record({
        ...message({ model: 'm', usage }),
        correlationId: runId,
        timestamp: '2026-01-02T00:00:00.000Z',
      })
      await ledger.record({
        ...message({ model: 'n', usage }),
        correlationId: runId,
        timestamp: '2026-01-03T00:00:00.000Z',
      })
    }
    await ledger.record({
      eventType: 'system.workflow_forked',
      correlationId: 'fork',
      payload: { sourceRunId: 'one', sourceSeq: 3 },
    })
    await ledger.record({
      ...message({ model: 'm', usage }),
      correlationId: 'fork',
      timestamp: '2026-01-04T00:00:00.000Z',
    })
    const keys = async (filter: Parameters<Ledger['cost']>[0]) =>
      (await ledger.cost(filter)).groups.map(({ key, amount }) => [key, amount])
    expect(await keys({ by: 'agent' })).toEqual([
      ['a', 0.03],
      ['b', 0.02],
    ])
    expect(await keys({ by: 'day' })).toEqual([
      ['2026-01-02', 0.02],
      ['2026-01-03', 0.02],
      ['2026-01-04', 0.01],
    ])
    expect(await keys({ by: 'run', runId: 'fork' })).toEqual([['fork', 0.01]])
    expect(await keys({ agent: 'b', since: '2026-01-03' })).toEqual([['n', 0.01]])
    expect(await keys({ threadId: 't-two' })).toHaveLength(2)
    expect((await ledger.cost({ runId: 'one', agent: 'b' })).total.modelCalls).toBe(0)
    await expect(ledger.cost({ runId: 'nobody' })).rejects.toThrow('There is no run nobody')
  })
})

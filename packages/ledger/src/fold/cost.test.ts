import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { makeEvents } from '../../test/make-events.ts'
import { projectRun } from '../projections/projections.ts'
import { costFold } from './cost.ts'
import { foldEvents } from './fold.ts'

const usage = { inputTokens: 100, outputTokens: 10 }
const dollars = (amount: number | null) => ({ amount, currency: 'USD', source: 's', version: 'v' })
const message = (more: Record<string, unknown>): [string, Record<string, unknown>] => [
  'execution.message',
  { role: 'assistant', usage, model: 'm', ...more },
]
const started = (stepId: string, more = {}): [string, Record<string, unknown>] => [
  'execution.step_started',
  { stepId, name: stepId, ...more },
]
const completed = (stepId: string, more = {}): [string, Record<string, unknown>] => [
  'execution.step_completed',
  { stepId, ...more },
]
const report = (...list: [string, Record<string, unknown>][]) => foldEvents(costFold(), makeEvents(list))
const calls = (...list: [string, Record<string, unknown>][]) => {
  const { total } = report(...list)
  // The row of the run follows the same rule as the report.
  expect(projectRun(makeEvents(list))).toMatchObject({
    modelCalls: total.modelCalls,
    inputTokens: total.inputTokens,
    outputTokens: total.outputTokens,
    cost: total.amount,
    unpricedCalls: total.unpricedCalls,
  })
  return total.modelCalls
}

describe('what counts', () => {
  it('V7 a call that its step tells again counts once', () => {
    expect(calls(started('a#0'), message({ stepId: 'a#0' }), completed('a#0', { usage }))).toBe(1)
    expect(calls(started('a#0'), completed('a#0', { usage }))).toBe(1)
  })

  it('V7 nor do the steps around it and the run tell it again', () => {
    const list: [string, Record<string, unknown>][] = [
      ['system.workflow_started', {}],
      started('a#0'),
      started('a#0/b#0'),
      started('a#0/b#0/c#0'),
      completed('a#0/b#0/c#0', { usage }),
      completed('a#0/b#0', { usage }),
      completed('a#0', { usage }),
      ['system.workflow_completed', { usage }],
    ]
    expect(calls(...list)).toBe(1)
    expect(calls(['system.workflow_started', {}], ['system.workflow_completed', { usage }])).toBe(1)
  })

  it('V7 each attempt is paid for', () => {
    expect(
      calls(
        started('a#0'),
        message({ stepId: 'a#0' }),
        ['execution.step_failed', { stepId: 'a#0', usage }],
        started('a#0', { attempt: 2 }),
        completed('a#0', { attempt: 2, usage }),
      ),
    ).toBe(2)
  })

  it('V7 what a child run did is billed there', () => {
    expect(calls(started('a#0', { childRunId: 'child' }), completed('a#0', { usage }))).toBe(0)
    expect(calls(started('a#0'), completed('a#0', { usage, childRunId: 'child' }))).toBe(0)
  })

  it('V7 an event that arrives after its step was billed does not count again', () => {
    expect(calls(started('a#0'), completed('a#0', { usage }), message({ stepId: 'a#0' }))).toBe(1)
    expect(
      calls(started('a#0'), started('a#0/b#0'), completed('a#0', { usage }), message({ stepId: 'a#0/b#0' })),
    ).toBe(1)
  })

  it('V7 events outside of steps, in unknown steps, or of unknown types count each', () => {
    expect(calls(message({}), message({ stepId: 'nowhere' }), ['execution.custom', { usage }])).toBe(3)
  })

  it('V7 steps that name each other as parents do not hang', () => {
    expect(
      calls(
        started('a', { parentStepId: 'b' }),
        started('b', { parentStepId: 'a' }),
        message({ stepId: 'a' }),
        completed('b', { usage }),
      ),
    ).toBe(1)
  })
})

describe('money', () => {
  it('V7 sums do not drift, and an unknown price is never 0', () => {
    const { total, unpriced } = report(
      ...Array.from({ length: 10 }, () => message({ cost: dollars(0.1) })),
      message({ model: 'new-model', provider: 'p', cost: dollars(null) }),
      message({ model: 'new-model', provider: 'p' }),
    )
    expect(total).toMatchObject({ amount: 1, complete: false, unpricedCalls: 2, modelCalls: 12 })
    expect(unpriced).toEqual([
      { model: 'new-model', provider: 'p', modelCalls: 2, inputTokens: 200, outputTokens: 20 },
    ])
    expect(report(message({})).total).toMatchObject({ amount: null, complete: false })
    expect(report(message({ cost: dollars(0) })).total).toMatchObject({ amount: 0, complete: true })
  })

  it('V7 other money is never added to dollars', () => {
    const { total, otherCurrencies } = report(
      message({ cost: { amount: 2, currency: 'EUR' } }),
      message({ cost: 0.5 }),
    )
    expect(total).toMatchObject({ amount: 0.5, unpricedCalls: 1, complete: false })
    expect(otherCurrencies).toEqual([{ currency: 'EUR', amount: 2, modelCalls: 1 }])
  })

  it.each([Number.NaN, Number.POSITIVE_INFINITY, 1e300, '12', {}, [], true])(
    'V7 a cost of %j is none',
    (cost) => {
      expect(report(message({ cost })).total).toMatchObject({ amount: null, unpricedCalls: 1 })
    },
  )

  it('V7 says how many events were erased, with whatever they told', () => {
    const [event] = makeEvents([message({ cost: dollars(1) })])
    if (!event) throw new Error('no event')
    const erased = { ...event, payload: {}, ledger: { ...event.ledger, erased: true as const } }
    expect(foldEvents(costFold(), [erased])).toMatchObject({
      erasedEvents: 1,
      total: { modelCalls: 0, amount: null },
    })
  })

  it('V7 adds up by model, agent, thread, run and day', () => {
    const list = makeEvents([
      ['system.workflow_started', { agent: 'research', threadId: 't-1' }],
      message({ cost: dollars(0.25), model: 'small' }),
      message({ cost: dollars(0.5), model: 'large' }),
      message({ cost: dollars(0.5), model: 'large' }),
    ])
    const keys = (by: 'run' | 'model' | 'agent' | 'thread' | 'day') =>
      foldEvents(costFold({ by }), list).groups.map(({ key, amount }) => [key, amount])
    expect(keys('model')).toEqual([
      ['large', 1],
      ['small', 0.25],
    ])
    expect(keys('agent')).toEqual([['research', 1.25]])
    expect(keys('thread')).toEqual([['t-1', 1.25]])
    expect(keys('run')).toEqual([['run-1', 1.25]])
    expect(keys('day')).toEqual([['2027-01-15', 1.25]])
  })
})

const ids = fc.constantFrom('a#0', 'a#0/b#0', 'a#0/b#0/c#0', 'd#0', 'lost')
const anyEvent = fc.oneof(
  fc
    .tuple(ids, fc.option(ids, { nil: undefined }), fc.integer({ min: 1, max: 2 }))
    .map(([stepId, parentStepId, attempt]): [string, Record<string, unknown>] => [
      'execution.step_started',
      { stepId, name: 's', attempt, ...(parentStepId && { parentStepId }) },
    ]),
  fc
    .tuple(ids, fc.boolean(), fc.boolean(), fc.integer({ min: 1, max: 2 }))
    .map(([stepId, has, child, attempt]): [string, Record<string, unknown>] => [
      'execution.step_completed',
      { stepId, attempt, ...(has && { usage }), ...(child && { childRunId: 'x' }) },
    ]),
  fc
    .tuple(fc.option(ids, { nil: undefined }), fc.constantFrom(0.1, 0.000000001, null, 'x'))
    .map(([stepId, cost]): [string, Record<string, unknown>] => message({ cost, ...(stepId && { stepId }) })),
  fc.constant<[string, Record<string, unknown>]>(['system.workflow_completed', { usage }]),
)

it('V7 folding on from any cut gives what folding from scratch gives', () => {
  fc.assert(
    fc.property(fc.array(anyEvent, { maxLength: 30 }), fc.nat(30), (list, cut) => {
      const events = makeEvents(list)
      const fold = costFold({ by: 'run' })
      let state = fold.begin()
      for (const event of events.slice(0, cut)) state = fold.apply(state, event)
      fold.view(state)
      for (const event of events.slice(cut)) state = fold.apply(state, event)
      expect(fold.view(state)).toEqual(foldEvents(costFold({ by: 'run' }), events))
      if (events.length > 0) calls(...list)
    }),
  )
})

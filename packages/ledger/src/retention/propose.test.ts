import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatPolicy } from './format-policy.ts'
import type { Growth } from './growth.ts'
import { parsePolicy, type RetentionPolicyInput } from './policy.ts'
import { proposePolicy } from './propose.ts'

const NONE = { short: 0, session: 0, long: 0 }
const growing = (bytesPerDay: number | null): Growth => {
  const rate = bytesPerDay === null ? null : { days: 7, eventsPerDay: 1, runsPerDay: 1, bytesPerDay }
  return { days: [], week: rate, month: rate, bytesIn30Days: null, isExact: true }
}
const proposed = (bytesPerDay: number | null, inForce: RetentionPolicyInput | null = null) =>
  proposePolicy({ growth: growing(bytesPerDay), inForce, memory: NONE })

describe('R10 the proposed policy', () => {
  it('R10 short-term memory ends with its run + 24 h, session memory after 30 idle days', () => {
    expect(proposed(null)?.policy).toEqual({
      rules: [
        { name: 'short-term memory', match: { layer: 'short' }, olderThan: '24h' },
        { name: 'session memory', match: { layer: 'session' }, olderThan: '30d' },
      ],
    })
  })

  it.each([
    [1e3, '1y'],
    [20e6, '180d'],
    [50e6, '90d'],
    [100e6, '30d'],
    [10e9, '30d'],
  ])('R10 at %d bytes a day completed runs stay for %s, and failed ones for good', (bytes, olderThan) => {
    const { policy } = proposed(bytes) ?? {}
    expect(policy?.rules.at(-1)).toEqual({
      name: 'completed runs',
      match: { status: ['completed'] },
      olderThan,
    })
    expect(policy?.keep).toEqual([{ name: 'failed runs', match: { status: ['failed'] } }])
  })

  it('R10 where even a month takes too much, it says so', () => {
    expect(proposed(10e9)?.adds.find(({ name }) => name === 'completed runs')?.why).toContain('300.0 GB')
  })

  it('R10 a policy that says it all leaves nothing to propose', () => {
    const all = proposed(1e6)?.policy ?? null
    expect(proposed(1e9, all)).toBeNull()
  })

  it('R10 what the policy in force keeps or says otherwise is not proposed against it', () => {
    const keepsAll: RetentionPolicyInput = {
      rules: [{ match: { layer: 'short' }, olderThan: '1h' }],
      keep: [{ match: {} }, { match: { layer: 'session' } }],
    }
    expect(proposed(1e6, keepsAll)?.adds.map(({ name }) => name)).toEqual(['failed runs'])
    const takesFailed: RetentionPolicyInput = {
      rules: [{ name: 'session memory', match: { status: ['failed'], workspace: 'ci' }, olderThan: '1d' }],
    }
    const { policy, adds } = proposed(1e6, takesFailed) ?? {}
    expect(policy?.rules[0]).toEqual(takesFailed.rules[0])
    expect(adds?.map(({ name }) => name)).toEqual(['short-term memory', 'session memory 2'])
  })

  it('R10 it can always be used, goes on with what is in force, and names no run that failed or waits', () => {
    const match = fc.constantFrom<RetentionPolicyInput['rules'][number]['match']>(
      undefined,
      {},
      { agent: 'a' },
      { layer: 'short' },
      { layer: 'session' },
      { systemRun: 'stream' },
      { status: ['completed'] },
      { status: ['failed'] },
      { types: ['execution.reasoning'] },
    )
    const name = fc.constantFrom(
      undefined,
      'session memory',
      'completed runs',
      'failed runs',
      'rule 2',
      'keep 2',
    )
    const policies = fc
      .record({
        rules: fc.array(fc.record({ name, match, olderThan: fc.constantFrom('1d', '90d') }), {
          maxLength: 3,
        }),
        keep: fc.array(fc.record({ name, match, youngerThan: fc.constantFrom(undefined, '1y') }), {
          maxLength: 2,
        }),
      })
      .filter((each) => {
        try {
          return parsePolicy(each).rules.length >= 0
        } catch {
          return false
        }
      })
    fc.assert(
      fc.property(policies, fc.option(fc.nat(1e9)), (given, bytes) => {
        const inForce = given as RetentionPolicyInput
        const next = proposed(bytes, inForce)
        if (!next) return
        parsePolicy(JSON.parse(formatPolicy(next.policy)))
        expect(next.policy.rules.slice(0, inForce.rules.length)).toEqual(inForce.rules)
        for (const rule of next.policy.rules.slice(inForce.rules.length)) {
          const { layer, status } = rule.match ?? {}
          expect(layer !== undefined || String(status) === 'completed').toBe(true)
        }
      }),
    )
  })
})

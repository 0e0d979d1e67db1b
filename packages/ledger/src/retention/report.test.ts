import { describe, expect, it } from 'vitest'
import { nodePorts } from '../../test/node-ports.ts'
import { auditEvent } from '../append/audit-run.ts'
import { createLedger } from '../create-ledger.ts'
import type { Ledger, LedgerOptions } from '../ledger.ts'
import { createInProcessStore } from '../in-process/in-process-store.ts'
import { DAY_MS } from './growth.ts'

function open(options: LedgerOptions = {}) {
  const clock = { nowMs: Date.parse('2026-11-16T12:00:00.000Z') }
  const ports = { ...nodePorts, now: () => clock.nowMs }
  const store = createInProcessStore(ports)
  const parts = { store, ports, secret: 'a secret that is long enough', heads: { verify: async () => false } }
  return { ledger: createLedger(parts, options), later: (days: number) => (clock.nowMs += days * DAY_MS) }
}

const addRun = (ledger: Ledger, runId: string, end = 'system.workflow_completed') =>
  ledger.append([
    { eventType: 'system.workflow_started', correlationId: runId, payload: { agent: 'a' } },
    ...(end === '' ? [] : [{ eventType: end, correlationId: runId, payload: {} }]),
  ])

const COMPLETED = { rules: [{ name: 'old', match: { agent: 'a' }, olderThan: '10d' }] } as const

describe('R10 the retention report', () => {
  it('R10 of an empty ledger says that nothing is there and proposes what memory needs', async () => {
    const { ledger } = open()
    const report = await ledger.retentionReport()
    expect(report).toMatchObject({
      runs: 0,
      systemRuns: 0,
      events: 0,
      oldest: null,
      policy: null,
      goes: null,
    })
    expect(report).toMatchObject({ lastGc: null, holds: [], growth: { days: [], week: null }, isWhole: true })
    expect(report.proposal?.adds.map(({ name }) => name)).toEqual(['short-term memory', 'session memory'])
    expect((await ledger.retentionReport()).events).toBe(0)
  })

  it('R10 tells what the policy of the workspace would take, who set it, and proposes nothing of runs', async () => {
    const { ledger, later } = open()
    await addRun(ledger, 'r')
    await ledger.setPolicy({ retention: COMPLETED }, { by: 'ann' })
    later(11)
    const { policy, goes, proposal } = await ledger.retentionReport()
    expect(policy).toEqual({
      source: 'workspace',
      policy: COMPLETED,
      by: 'ann',
      at: '2026-11-16T12:00:00.000Z',
      problem: null,
    })
    expect(goes).toMatchObject({ events: 2, runs: 1, rules: [{ rule: 'old', runs: 1, events: 2 }], kept: [] })
    expect(proposal?.policy.rules[0]).toEqual(COMPLETED.rules[0])
    const { events } = await ledger.gc({ by: 'nightly' })
    expect(events).toBe(2)
    expect((await ledger.retentionReport()).lastGc).toMatchObject({
      by: 'nightly',
      events: 2,
      runs: 1,
      rules: ['old'],
      isWhole: true,
    })
  })

  it('W8 the policy of the workspace counts, and the one given to openLedger where there is none', async () => {
    const { ledger, later } = open({ retention: { rules: [{ name: 'mine', newest: 0 }] } })
    await addRun(ledger, 'r')
    later(400)
    const policyOf = async () => [
      (await ledger.retentionReport()).policy,
      (await ledger.gc({ dryRun: true })).policy,
    ]
    for (const policy of await policyOf())
      expect(policy).toMatchObject({ source: 'opened', by: null, at: null })
    await ledger.setPolicy({ retention: COMPLETED }, { by: 'ann' })
    for (const policy of await policyOf()) expect(policy).toMatchObject({ source: 'workspace', by: 'ann' })
    expect((await ledger.gc({ policy: COMPLETED, dryRun: true })).policy.source).toBe('given')
  })

  it('R10 with everything held, nothing goes and the report says by what', async () => {
    const { ledger, later } = open({ retention: COMPLETED })
    for (const runId of ['r', 's']) await addRun(ledger, runId)
    await ledger.memory.put({ layer: 'short', scope: 'r', namespace: 'n', key: 'k', value: 1 })
    await ledger.hold({ runId: 'r' }, { reason: 'case 12' })
    await ledger.hold({ runId: 's' }, { reason: 'case 13' })
    later(400)
    const { goes, holds, proposal } = await ledger.retentionReport()
    expect([goes?.events, goes?.kept.map(({ reason }) => reason.slice(-9))]).toEqual([
      0,
      ['(case 12)', '(case 13)'],
    ])
    expect(holds.map(({ runs, reason }) => [runs, reason])).toEqual([
      [2, 'case 12'],
      [1, 'case 13'],
    ])
    expect(proposal?.goes?.events).toBe(0)
  })

  it('R10 a policy that cannot be used is told, not thrown, and gc refuses it', async () => {
    const { ledger } = open()
    await addRun(ledger, 'r')
    const retention = { rules: [{ name: 'x', newest: 1, olderThan: '1d' }] }
    await ledger.record(auditEvent('system.policy_changed', { policy: { retention }, by: 'somebody' }))
    const { policy, goes, proposal } = await ledger.retentionReport()
    expect([policy?.problem, goes]).toEqual([expect.stringContaining('has several limits'), null])
    expect(proposal?.policy.rules.every(({ name }) => name !== 'x')).toBe(true)
    await expect(ledger.gc({ dryRun: true })).rejects.toMatchObject({ code: 'bad_option' })
    await expect(ledger.setPolicy({ retention })).rejects.toMatchObject({ code: 'bad_option' })
  })

  it('R10 the proposal takes neither failed nor unfinished runs, however old', async () => {
    const { ledger, later } = open()
    await addRun(ledger, 'failed', 'system.workflow_failed')
    await addRun(ledger, 'running', '')
    await addRun(ledger, 'done')
    later(366)
    await addRun(ledger, 'young')
    const { proposal, growth } = await ledger.retentionReport()
    expect(growth.month?.eventsPerDay).toBe(0.1)
    expect(proposal?.goes?.ranges.map(({ runId }) => runId)).toEqual(['done'])
  })

  it('R10 short-term memory would go a day after its run, session memory after 30 idle days', async () => {
    const { ledger, later } = open()
    await ledger.append([
      { eventType: 'system.workflow_started', correlationId: 'r', payload: { threadId: 't' } },
    ])
    await ledger.memory.put({ layer: 'short', scope: 'r', namespace: 'n', key: 'k', value: 1 })
    await ledger.memory.put({ layer: 'session', scope: 't', namespace: 'n', key: 'k', value: 1 })
    const rules = async () => (await ledger.retentionReport()).proposal?.goes?.rules.map(({ rule }) => rule)
    later(60)
    expect(await rules()).toEqual([])
    await ledger.append([{ eventType: 'system.workflow_completed', correlationId: 'r', payload: {} }])
    later(0.9)
    expect(await rules()).toEqual([])
    later(0.2)
    expect(await rules()).toEqual(['short-term memory'])
    later(29)
    expect(await rules()).toEqual(['short-term memory', 'session memory'])
  })

  it('P4 memory that went is not named again; what was written after it goes the next time', async () => {
    const { ledger, later } = open({
      retention: { rules: [{ name: 'short', match: { layer: 'short' }, olderThan: '24h' }] },
    })
    await addRun(ledger, 'r')
    const put = () => ledger.memory.put({ layer: 'short', scope: 'r', namespace: 'n', key: 'k', value: 1 })
    for (const round of [1, 2]) {
      await put()
      later(2)
      expect([round, (await ledger.gc()).events]).toEqual([round, 1])
      expect(await ledger.gc()).toMatchObject({ events: 0, kept: [] })
      expect((await ledger.retentionReport()).goes).toMatchObject({ events: 0, kept: [] })
    }
    expect((await ledger.verify()).ok).toBe(true)
  })
})

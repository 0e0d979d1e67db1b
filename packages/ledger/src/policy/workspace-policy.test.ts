import { foreignType } from '../catalogue/catalogue.ts'
import { describe, expect, it } from 'vitest'
import { nodePorts } from '../../test/node-ports.ts'
import { createLedger } from '../create-ledger.ts'
import { createInProcessStore } from '../in-process/in-process-store.ts'
import type { LedgerOptions } from '../ledger.ts'
import type { Store } from '../store/store.ts'
import { readPolicies, type WorkspacePolicy } from './workspace-policy.ts'

const open = async (store: Store, options: LedgerOptions = {}) =>
  createLedger(
    {
      store,
      ports: nodePorts,
      secret: 'a secret that is long enough',
      heads: { verify: async () => false },
      policies: await readPolicies(store),
    },
    options,
  )
const said = { content: 'write to jane@example.org about ORD-123456', card: { seat: '4711' } }
const POLICY: WorkspacePolicy = {
  redact: {
    policies: ['personal'],
    rules: [
      { kind: 'order', pattern: 'ORD-\\d{6}' },
      { kind: 'seat', path: '$.card.seat' },
      { kind: 'note', key: '^note$' },
    ],
  },
  auditReads: true,
}

describe('P1 the redaction policy of a workspace', () => {
  it('P1 is stored in the audit run, and whoever opens the workspace follows it', async () => {
    const store = createInProcessStore(nodePorts)
    const first = await open(store)
    expect(await first.policy()).toEqual({})
    await first.setPolicy(POLICY, { by: 'dpo', reason: 'new contract' })
    expect(await first.policy()).toEqual(POLICY)
    const { entries } = await first.compliance({})
    expect(entries.map(({ action, who }) => [action, who])).toEqual([['policy_changed', 'dpo']])

    const second = await open(store, { redact: { rules: [{ kind: 'own', pattern: /about/ }] } })
    const record = (ledger: typeof second, runId: string) =>
      ledger.record({
        eventType: foreignType('execution.note'),
        correlationId: runId,
        payload: { ...said, note: 'x' },
      })
    const { payload } = await record(second, 'r')
    expect(payload['content']).toMatch(
      /^write to \[redacted:email:\w+\] \[redacted:own:\w+\] \[redacted:order:\w+\]$/,
    )
    expect(JSON.stringify(payload)).toMatch(/"seat":"\[redacted:seat:.*"note":"\[redacted:note:/)
    expect((await record(second.in('elsewhere'), 'r')).payload['card']).toEqual(said.card)
    expect((await record(await open(store, { redact: false }), 'q')).payload).toMatchObject(said)
    const other = await open(store, { workspace: 'elsewhere' })
    expect((await record(other.in('default'), 'q2')).payload['card']).not.toEqual(said.card)
    await first.setPolicy({})
    expect((await record(await open(store), 'r3')).payload['card']).toEqual(said.card)
  })

  it('P1 counts at once for whoever changes it, in all views that are open', async () => {
    const ledger = await open(createInProcessStore(nodePorts))
    const view = ledger.in('elsewhere').in('default')
    const seatOf = async (its: typeof ledger, runId: string): Promise<unknown> =>
      (await its.record({ eventType: foreignType('execution.note'), correlationId: runId, payload: said }))
        .payload['card']
    expect(await seatOf(view, 'a')).toEqual(said.card)
    await ledger.setPolicy(POLICY)
    for (const each of [ledger, view]) expect(await seatOf(each, 'b')).not.toEqual(said.card)
    expect(await seatOf(ledger.in('elsewhere'), 'c')).toEqual(said.card)
    await view.setPolicy({})
    expect(await seatOf(ledger, 'd')).toEqual(said.card)
  })

  it.each([
    ['is no object', 7],
    ['has an unknown key', { keep: 'all' }],
    ['has an unknown policy', { redact: { policies: ['all'] } }],
    ['has a rule without a kind', { redact: { rules: [{ pattern: 'x' }] } }],
    ['has a rule about nothing', { redact: { rules: [{ kind: 'x' }] } }],
    ['has a pattern that is none', { redact: { rules: [{ kind: 'x', pattern: '(' }] } }],
    ['has a path that is none', { redact: { rules: [{ kind: 'x', path: 'a..b' }] } }],
    ['has a pattern that runs away', { redact: { rules: [{ kind: 'x', pattern: '(a+)+$' }] } }],
    ['has a switch that is none', { auditReads: 'yes' }],
  ])('P1 a policy that %s is refused', async (_, policy) => {
    const ledger = await open(createInProcessStore(nodePorts))
    await expect(ledger.setPolicy(policy as WorkspacePolicy)).rejects.toMatchObject({ code: 'bad_option' })
    expect(await ledger.policy()).toEqual({})
  })
})

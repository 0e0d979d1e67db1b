import { expect, it } from 'vitest'
import { nodePorts } from '../../test/node-ports.ts'
import { createLedger } from '../create-ledger.ts'
import { createInProcessStore } from '../in-process/in-process-store.ts'
import type { Store } from '../store/store.ts'

it('P4 a hold that comes while gc works keeps a scope in which something of it is remembered', async () => {
  let nowMs = 1_700_000_000_000
  const ports = { ...nodePorts, now: () => nowMs }
  const shared = createInProcessStore(ports)
  const open = (store: Store) =>
    createLedger({
      store,
      ports,
      secret: 'a secret that is long enough',
      heads: { verify: async () => false },
    })
  const ledger = open(shared)
  const place = { layer: 'long', scope: 'workspace', namespace: 'n', key: 'k' } as const
  await ledger.memory.put({ ...place, value: 'said in confidence', subjects: ['ann'] })
  await ledger.memory.put({ ...place, scope: 'agent:other', value: 'of no importance' })
  nowMs += 10 * 86_400_000
  let isHeld = false
  const write: Store['write'] = async (change) => {
    if (!isHeld) await ledger.hold({ subject: 'ann' })
    isHeld = true
    return shared.write(change)
  }
  const late = open({ ...shared, write })
  const report = await late.gc({ policy: { rules: [{ match: { layer: 'long' }, olderThan: '1d' }] } })
  expect(report.ranges.map(({ runId }) => runId)).toEqual(['clew:memory/long/agent:other'])
  expect(report.kept).toMatchObject([{ runId: 'clew:memory/long/workspace', reason: 'a hold was set' }])
  expect((await ledger.memory.get(place))?.value).toBe('said in confidence')
})

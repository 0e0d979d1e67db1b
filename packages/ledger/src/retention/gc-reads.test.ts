import { expect, it } from 'vitest'
import { nodePorts } from '../../test/node-ports.ts'
import { createLedger } from '../create-ledger.ts'
import { createMemoryStore } from '../memory-store.ts'
import type { Store } from '../store.ts'

const DAY_MS = 86_400_000
const POLICY = { rules: [{ match: { layer: 'short' as const }, olderThan: '1d' }] }

/** A ledger in which so many runs have remembered something, long ago, and what its store was asked for. */
async function openOld(books: number) {
  let nowMs = 1_700_000_000_000
  const ports = { ...nodePorts, now: () => nowMs }
  const shared = createMemoryStore(ports)
  const calls: string[] = []
  const retention: Store['retention'] = {
    ...shared.retention,
    seals(workspace, runIds) {
      calls.push('seals')
      return shared.retention.seals(workspace, runIds)
    },
    writeBack: () => void calls.push('writeBack'),
    prune(batch) {
      calls.push('prune')
      return shared.retention.prune(batch)
    },
  }
  const ledger = createLedger({
    store: { ...shared, retention },
    ports,
    secret: 'a secret that is long enough',
    heads: { verify: async () => false },
  })
  for (let n = 0; n < books; n++)
    await ledger.memory.put({ layer: 'short', scope: `r${n}`, namespace: 'n', key: 'k', value: n })
  nowMs += 10 * DAY_MS
  return { ledger, calls }
}

it('P4 books that went before are told by one query for a page of them, not by one each', async () => {
  const { ledger, calls } = await openOld(250)
  expect((await ledger.gc({ policy: POLICY })).events).toBe(250)
  calls.length = 0
  expect((await ledger.gc({ policy: POLICY, dryRun: true })).events).toBe(0)
  expect(calls).toEqual(['seals', 'seals', 'seals'])
})

it('P4 what others write is brought on for them while gc still plans, and not by who only asks', async () => {
  const { ledger, calls } = await openOld(5)
  await ledger.gc({ policy: POLICY, dryRun: true })
  await ledger.retentionReport()
  expect(calls).not.toContain('writeBack')
  await ledger.gc({ policy: POLICY })
  expect(calls.indexOf('writeBack')).toBeGreaterThanOrEqual(0)
  expect(calls.indexOf('writeBack')).toBeLessThan(calls.indexOf('prune'))
})

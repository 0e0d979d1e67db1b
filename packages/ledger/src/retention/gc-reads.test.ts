import { expect, it } from 'vitest'
import { nodePorts } from '../../test/node-ports.ts'
import { createLedger } from '../create-ledger.ts'
import { createInProcessStore } from '../in-process/in-process-store.ts'
import type { Store } from '../store/store.ts'

const DAY_MS = 86_400_000
const POLICY = { rules: [{ match: { layer: 'short' as const }, olderThan: '1d' }] }

/** A ledger in which so many runs have remembered something, long ago, and what its store was asked for. */
async function openOld(runs: number) {
  let nowMs = 1_700_000_000_000
  const ports = { ...nodePorts, now: () => nowMs }
  const shared = createInProcessStore(ports)
  const calls: string[] = []
  const store: Store = {
    ...shared,
    findRuns(query) {
      if (query.ids && query.with?.includes('pruned')) calls.push('pruned ranges')
      return shared.findRuns(query)
    },
    disk: { ...shared.disk, flush: () => void calls.push('flush') },
    write(change) {
      if (change.prune) calls.push('prune')
      return shared.write(change)
    },
  }
  const ledger = createLedger({
    store,
    ports,
    secret: 'a secret that is long enough',
    heads: { verify: async () => false },
  })
  for (let n = 0; n < runs; n++)
    await ledger.memory.put({ layer: 'short', scope: `r${n}`, namespace: 'n', key: 'k', value: n })
  nowMs += 10 * DAY_MS
  return { ledger, calls }
}

it('P4 pruned ranges of many system runs are read by one query per page of them', async () => {
  const { ledger, calls } = await openOld(250)
  expect((await ledger.gc({ policy: POLICY })).events).toBe(250)
  calls.length = 0
  expect((await ledger.gc({ policy: POLICY, dryRun: true })).events).toBe(0)
  expect(calls).toEqual(['pruned ranges', 'pruned ranges', 'pruned ranges'])
})

it('P4 gc flushes what others wrote while it plans, and a dry run or a report does not', async () => {
  const { ledger, calls } = await openOld(5)
  await ledger.gc({ policy: POLICY, dryRun: true })
  await ledger.retentionReport()
  expect(calls).not.toContain('flush')
  await ledger.gc({ policy: POLICY })
  expect(calls.indexOf('flush')).toBeGreaterThanOrEqual(0)
  expect(calls.indexOf('flush')).toBeLessThan(calls.indexOf('prune'))
})

import type { StepSkeleton } from '@clew/ledger'
import { expect, it } from 'vitest'
import { nodeStats } from './node-stats.ts'

const step = (nodeName: string, durationMs: number | null, more: Partial<StepSkeleton> = {}): StepSkeleton =>
  ({ nodeName, durationMs, kind: 'tool', status: 'completed', cached: false, ...more }) as StepSkeleton

it('R1 adds up what steps of one name took, with the middle and the slow end', () => {
  const times = Array.from({ length: 100 }, (_, index) => 100 - index)
  const [read, write, ...more] = nodeStats([
    ...times.map((ms) => step('read', ms)),
    step('write', 7, { status: 'failed' }),
    step('write', null, { cached: true }),
  ])
  expect(more).toEqual([])
  expect(read).toMatchObject({ count: 100, totalMs: 5050, p50Ms: 51, p95Ms: 96, errors: 0, cached: 0 })
  expect(write).toMatchObject({ count: 2, totalMs: 7, p50Ms: 7, p95Ms: 7, errors: 1, cached: 1 })
})

it('R1 has nothing to say of no steps', () => {
  expect(nodeStats([])).toEqual([])
})

import { createLog } from '@clew/server'
import { type Ledger, openLedger } from 'clew'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { watchProgress } from '../../packages/server/src/live/watch-progress.ts'
import { note } from './session-writer.ts'

const log = createLog('silent')

describe('watching progress', () => {
  let ledger: Ledger
  const told: { stepId: string; version: number }[] = []
  const tell = async (notes: readonly { stepId: string; version: number }[]): Promise<void> => {
    told.push(...notes.map(({ stepId, version }) => ({ stepId, version })))
  }
  beforeEach(async () => {
    told.splice(0)
    ledger = await openLedger('memory:')
  })
  afterEach(() => ledger.close())
  const newest = (stepId: string): number | undefined =>
    told.findLast((each) => each.stepId === stepId)?.version

  it('T4 tells the newest of each step, and far fewer than there were', async () => {
    const stop = watchProgress(ledger, tell, log)
    for (let version = 1; version <= 300; version++)
      await ledger.progress.put([note('s', 'a', version, 'so far'), note('s', 'b', version, 'so far')])
    await vi.waitFor(() => expect([newest('a'), newest('b')]).toEqual([300, 300]), 60_000)
    expect(told.length).toBeLessThan(300)
    stop()
  })

  it('T4 begins with what is there, page by page, and stops when asked to', async () => {
    const steps = Array.from({ length: 1200 }, (_, i) => `step-${i}`)
    for (const stepId of steps) await ledger.progress.put([note('s', stepId, 1, 'so far')])
    const stop = watchProgress(ledger, tell, log)
    await vi.waitFor(() => expect(told.length).toBe(steps.length), 60_000)
    stop()
    await ledger.progress.put([note('s', 'late', 1, 'so far')])
    await vi.waitFor(
      async () => expect((await ledger.progress.read({ runId: 's', limit: 2000 })).notes.length).toBe(1201),
      60_000,
    )
    expect(newest('late')).toBeUndefined()
  })

  it('T4 a read or a telling that fails makes late', async () => {
    let failures = 1
    const shaky = {
      progress: {
        ...ledger.progress,
        read: async (options?: Parameters<Ledger['progress']['read']>[0]) => {
          if (failures-- > 0) throw new Error('the store is away')
          return ledger.progress.read(options)
        },
      },
    }
    const stop = watchProgress(shaky, tell, log)
    await ledger.progress.put([note('s', 'a', 1, 'so far')])
    await vi.waitFor(() => expect(newest('a')).toBe(1), { timeout: 60_000 })
    stop()
  })
})

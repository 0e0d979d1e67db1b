import type { EventInput, Ledger } from '@clew/ledger'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createMemoryWorld } from '../../test/memory-ledger.ts'
import { agent } from '../run/agent.ts'
import { setQueue } from '../work/queues.ts'
import { startWorker } from './start-worker.ts'
import type { Worker } from './worker.ts'

const TIMED = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance', 'Date'] as const

let ledger: Ledger
let worker: Worker | undefined
let looks: number
beforeEach(() => {
  // The clock of the worker stands still unless the test turns it, so that looks can be counted.
  vi.useFakeTimers({ toFake: [...TIMED] })
  const opened = createMemoryWorld().open()
  looks = 0
  const claim: Ledger['leases']['claim'] = (options) => {
    looks++
    return opened.leases.claim(options)
  }
  ledger = { ...opened, leases: { ...opened.leases, claim } }
})
afterEach(async () => {
  vi.useRealTimers()
  await worker?.stop()
  worker = undefined
  await ledger.close()
})

/** Lets all that does not wait for the clock go on. */
async function settle(): Promise<void> {
  for (let n = 0; n < 50; n++) await new Promise((resolve) => setImmediate(resolve))
}

const owl = agent('owl', async (run) => run.step('hoot', null, () => 1))
const note = (n: number): EventInput => ({
  eventType: 'system.noted',
  correlationId: `other-${n}`,
  payload: {},
})

async function begin(): Promise<void> {
  worker = await startWorker({ ledger, agents: [owl], sweepMs: 3_600_000, graceMs: 0 })
  await settle()
}

/** One commit in each millisecond that concerns no worker. */
async function commitFor(ms: number): Promise<void> {
  for (let n = 0; n < ms; n++) {
    await ledger.append([note(n)])
    await vi.advanceTimersByTimeAsync(1)
  }
}

describe('R9 an idle worker', () => {
  it('R9 looks at once when something is committed after a quiet time', async () => {
    await begin()
    for (let n = 0; n < 5; n++) {
      await vi.advanceTimersByTimeAsync(150)
      await settle()
      await owl.submit(ledger, null, { runId: `r${n}` })
      await settle()
      expect((await ledger.getRun(`r${n}`))?.status).toBe('completed')
    }
  })

  it('R9 looks a bounded number of times while others commit', async () => {
    await begin()
    looks = 0
    await commitFor(2000)
    expect([looks > 10, looks <= 30]).toEqual([true, true])
  })

  it('W4 looks a bounded number of times while runs wait in a full queue and others commit', async () => {
    await setQueue(ledger, 'full', { concurrency: 1 })
    const submitted = { eventType: 'system.workflow_submitted', payload: { agent: 'owl', queue: 'full' } }
    const runs = Array.from({ length: 500 }, (_, n) => ({ ...submitted, correlationId: `r${n}` }))
    await ledger.append(runs)
    await ledger.leases.claim({
      workspace: 'default',
      agents: ['owl'],
      nowMs: Date.now(),
      limit: 1,
      limits: [{ queue: 'full', concurrency: 1 }],
    })
    await begin()
    looks = 0
    await commitFor(2000)
    expect([looks > 10, looks <= 35]).toEqual([true, true])
  })
})

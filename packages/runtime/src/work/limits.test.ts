import type { Ledger } from '@clew/ledger'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createMemoryWorld } from '../../test/memory-ledger.ts'
import { agent } from '../run/agent.ts'
import { startWorker } from '../worker/start-worker.ts'
import type { Worker, WorkerOptions } from '../worker/worker.ts'
import { listQueues, setQueue } from './queues.ts'
import { findUnserved } from './serving.ts'

let ledger: Ledger
let workers: Worker[]
beforeEach(() => {
  ledger = createMemoryWorld().open()
  workers = []
})
afterEach(async () => {
  for (const worker of workers) await worker.stop()
  await ledger.close()
})

async function work(agents: WorkerOptions['agents'], concurrency = 8): Promise<Worker> {
  const worker = await startWorker({ ledger, sweepMs: 50, graceMs: 0, agents, concurrency })
  workers.push(worker)
  return worker
}

const WAIT = { timeout: 60_000, interval: 5 }
const errorOf = async (runId: string) => (await ledger.getRun(runId))?.error?.code

describe('W4 limits', () => {
  it('W4 a queue runs no more at a time than it may, across workers, and a change holds for runs that wait', async () => {
    let now = 0
    let most = 0
    const gates: (() => void)[] = []
    const counts = agent('counts', async (run) =>
      run.effect('work', {}, async () => {
        most = Math.max(most, ++now)
        await new Promise<void>((resolve) => gates.push(resolve))
        now--
        return null
      }),
    )
    await setQueue(ledger, 'few', { concurrency: 2 }, { by: 'ann' })
    for (let n = 0; n < 6; n++) await counts.submit(ledger, null, { runId: `r${n}`, queue: 'few' })
    await work([counts])
    await work([counts])
    await vi.waitFor(() => expect(gates).toHaveLength(2), WAIT)
    expect(await listQueues(ledger)).toEqual([
      { queue: 'few', concurrency: 2, waiting: 4, delayed: 0, running: 2 },
    ])
    await setQueue(ledger, 'few', { concurrency: 3 })
    await vi.waitFor(() => expect(gates).toHaveLength(3), WAIT)
    for (let n = 0; n < 6; n++) {
      await vi.waitFor(() => expect(gates.length).toBeGreaterThan(n), WAIT)
      gates[n]?.()
    }
    for (let n = 0; n < 6; n++) expect((await counts.result(ledger, `r${n}`)).status).toBe('completed')
    expect(most).toBe(3)
  })

  it('W4 a parent that awaits a child in a full queue ends: a child needs no slot', async () => {
    const child = agent('child', async (run) => run.step('one', {}, () => 1))
    const parent = agent('parent', async (run) => run.child(child, null))
    await setQueue(ledger, 'default', { concurrency: 1 })
    await parent.submit(ledger, null, { runId: 'a' })
    await work([parent, child])
    expect(await parent.result(ledger, 'a')).toMatchObject({ status: 'completed', output: 1 })
  })

  it('W4 refuses limits that are none', async () => {
    await expect(setQueue(ledger, 'few', { concurrency: 0 })).rejects.toMatchObject({ code: 'bad_option' })
    await expect(setQueue(ledger, 'few', { concurency: 2 } as never)).rejects.toThrow('concurrency')
    expect(await listQueues(ledger)).toEqual([])
  })

  it('W6 waiting runs of an agent that no live worker has are unserved', async () => {
    const owl = agent('owl', async () => 'hoo')
    await owl.submit(ledger, null, { runId: 'a' })
    await agent('cat/1', async () => 'miau').submit(ledger, null, { runId: 'b' })
    await agent('cat/1', async () => 'miau').submit(ledger, null, { runId: 'c' })
    const worker = await work([owl])
    await owl.result(ledger, 'a')
    expect(await findUnserved(ledger)).toEqual([{ agent: 'cat/1', waiting: 2 }])
    await owl.submit(ledger, null, { runId: 'd', delayMs: 1 })
    await owl.result(ledger, 'd')
    await worker.stop()
    await owl.submit(ledger, null, { runId: 'e' })
    expect((await findUnserved(ledger)).map((each) => each.agent).toSorted()).toEqual(['cat/1', 'owl'])
  })
})

describe('W1 a deadline', () => {
  const asks = agent('asks', async (run) => run.interrupt<string>('Well?'))
  const sleeps = agent('sleeps', async (run) => run.sleep(3_600_000))
  const hangs = agent('hangs', async (run) =>
    run.effect(
      'hang',
      {},
      (_, { signal }) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    ),
  )
  const outer = agent('outer', async (run) => run.child(hangs, null))

  it('W1 ends a run that no worker ever takes, and wakes who waits for it', async () => {
    const run = await asks.submit(ledger, null, { runId: 'a', deadlineMs: 30 })
    const result = await run.result()
    expect([result.status, result.error?.code]).toEqual(['failed', 'deadline'])
    const worker = await work([asks])
    await worker.idle()
    expect((await ledger.getRun('a'))?.status).toBe('failed')
    expect((await ledger.verify('a')).problems).toEqual([])
  })

  it('W1 ends a run that asks, sleeps or works, with its child runs, though nobody waits for it', async () => {
    for (const each of [asks, sleeps, hangs, outer])
      await each.submit(ledger, null, { runId: each.name, deadlineMs: 400 })
    await work([asks, sleeps, hangs, outer])
    for (const each of [asks, sleeps, hangs, outer])
      await vi.waitFor(async () => expect(await errorOf(each.name)).toBe('deadline'), WAIT)
    const { runs } = await ledger.listRuns()
    const child = runs.find(({ parentRunId }) => parentRunId === 'outer')
    expect([child?.status, child?.error?.code]).toEqual(['failed', 'deadline'])
    for (const { runId } of runs) expect((await ledger.verify(runId)).problems).toEqual([])
  })

  it('W1 W2 does not touch a run that ended in time', async () => {
    const quick = agent('quick', async () => 'done')
    await quick.submit(ledger, null, { runId: 'a', deadlineMs: 3_600_000 })
    await work([quick])
    expect((await quick.result(ledger, 'a')).output).toBe('done')
    expect((await ledger.getRun('a'))?.deadlineAt).toBeDefined()
  })
})

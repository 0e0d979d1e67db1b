import type { Ledger } from '@clew/ledger'
import {
  agent,
  recordAnswers,
  recordFork,
  requestPause,
  requestResume,
  requestStop,
  signal,
  startWorker,
  type Worker,
} from '@clew/runtime'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createMemoryWorld } from '../../packages/runtime/test/memory-ledger.ts'
import { createLatch, eventsOf, flawsOf, stepsOf } from './worlds.ts'

let ledger: Ledger
let workers: Worker[]
beforeEach(() => {
  ledger = createMemoryWorld().open()
  workers = []
})
afterEach(async () => {
  for (const worker of workers) await worker.stop()
})

const statusOf = async (runId: string) => (await ledger.getRun(runId))?.status
const until = (runId: string, status: string): Promise<void> =>
  vi.waitFor(async () => expect(await statusOf(runId)).toBe(status), { timeout: 60_000 })
const work = async (...agents: Parameters<typeof startWorker>[0]['agents']): Promise<Worker> => {
  const worker = await startWorker({ ledger, agents })
  workers.push(worker)
  return worker
}

describe('W7 an operator pauses a run', () => {
  it('W7 at work: what is in flight ends and is kept, nothing new begins, and it goes on when it is resumed', async () => {
    const [begun, ended] = [createLatch(), createLatch()]
    let times = 0
    const twoSteps = agent('two', async (run) => {
      const one = await run.effect('one', null, async () => {
        times++
        begun.open()
        await ended.opened
        return 1
      })
      return one + (await run.effect('two', null, () => 2))
    })
    const going = twoSteps.start(ledger, null, { runId: 'r' })
    await begun.opened
    const asked = await requestPause(ledger, 'r', { reason: 'prices are wrong', by: 'ann', waitMs: 0 })
    expect([asked.status, asked.held]).toMatchObject(['running', { reason: 'prices are wrong', by: 'ann' }])
    ended.open()
    expect((await going).status).toBe('paused')
    expect(await stepsOf(ledger, 'r')).toEqual(['one#0 1 completed'])
    expect((await eventsOf(ledger, 'r')).at(-1)).toMatchObject({
      eventType: 'system.workflow_paused',
      payload: { reason: 'prices are wrong' },
    })
    expect(await ledger.leases.list()).toEqual([])
    const worker = await work(twoSteps)
    await worker.idle()
    expect(await statusOf('r')).toBe('paused')
    expect((await requestResume(ledger, 'r', { by: 'bob' })).status).toBe('pending')
    await until('r', 'completed')
    expect([times, (await ledger.getRun('r', { values: true }))?.output]).toEqual([1, 3])
    expect(await flawsOf(ledger, 'r')).toEqual([])
  })

  it('W7 without a worker: one that sleeps, waits for a signal or an answer, or is pending, at once', async () => {
    const waits = agent('waits', async (run) => {
      const [answer, note] = await Promise.all([run.interrupt('Well?'), run.receive('note')])
      return [answer, note]
    })
    await waits.start(ledger, null, { runId: 'w' })
    expect(await requestPause(ledger, 'w')).toMatchObject({ status: 'paused', dueAt: null })
    await recordAnswers(ledger, 'w', { answer: 'yes' })
    await signal(ledger, 'w', 'note', 'x')
    const worker = await work(waits)
    await worker.idle()
    expect([await statusOf('w'), (await ledger.getRun('w'))?.pauses]).toEqual(['paused', []])
    await requestResume(ledger, 'w')
    await until('w', 'completed')

    const done = agent('done', (run) => run.step('one', null, () => 1))
    await done.start(ledger, null, { runId: 'd' })
    await recordFork(ledger, 'd', { newRunId: 'p' })
    expect((await requestPause(ledger, 'p')).status).toBe('paused')
    await work(done)
    await worker.idle()
    expect(await statusOf('p')).toBe('paused')
    await requestResume(ledger, 'p')
    await until('p', 'completed')
  })

  it('W7 a sleeping run keeps its time, and its own process lets go of it', async () => {
    const sleeps = agent('sleeps', (run) => run.sleep(3_600_000))
    const going = sleeps.start(ledger, null, { runId: 's' })
    await until('s', 'pending')
    const { dueAt } = (await ledger.getRun('s')) ?? {}
    await requestPause(ledger, 's')
    expect(await ledger.getRun('s')).toMatchObject({ status: 'paused', dueAt: null, held: { dueAt } })
    expect((await going).status).toBe('paused')
    expect(await requestResume(ledger, 's')).toMatchObject({ status: 'pending', dueAt })
    expect((await requestStop(ledger, 's')).status).toBe('stopped')
  })

  it('W7 a process that waits for a signal lets go of its run, too', async () => {
    const waits = agent('waits', (run) => run.receive('note'))
    const going = waits.start(ledger, null, { runId: 'r' })
    await until('r', 'paused')
    await requestPause(ledger, 'r')
    expect(await going).toMatchObject({ status: 'paused', awaits: [] })
    await signal(ledger, 'r', 'note', 1)
    expect(await statusOf('r')).toBe('paused')
    await requestResume(ledger, 'r')
    expect((await waits.resume(ledger, 'r')).output).toBe(1)
  })

  it('W7 the owner died before it let go: nobody goes on with it until it is resumed', async () => {
    const one = agent('one', (run) => run.step('one', null, () => 1))
    const lease = await ledger.leases.acquire({ workspace: 'default', runId: 'o' })
    const started = {
      eventType: 'system.workflow_started',
      correlationId: 'o',
      payload: { agent: 'one', seed: 's' },
    }
    await ledger.append([started], { epoch: lease.epoch })
    await requestPause(ledger, 'o', { waitMs: 0 })
    await ledger.leases.release(lease)
    await work(one)
    await until('o', 'paused')
    await requestResume(ledger, 'o')
    await until('o', 'completed')
  })

  it('W7 a parent takes its child run along, and both go on', async () => {
    const [begun, ended] = [createLatch(), createLatch()]
    const inner = agent('inner', async (run) => {
      await run.effect('slow', null, async () => {
        begun.open()
        await ended.opened
      })
      return run.step('after', null, () => 'done')
    })
    const outer = agent('outer', (run) => run.child(inner, null))
    const going = outer.start(ledger, null, { runId: 'o' })
    await begun.opened
    await requestPause(ledger, 'o', { waitMs: 0 })
    ended.open()
    expect((await going).status).toBe('paused')
    expect(await stepsOf(ledger, 'o/inner#0')).toEqual(['slow#0 1 completed'])
    expect((await outer.resume(ledger, 'o')).output).toBe('done')
    expect((await ledger.getRun('o'))?.held).toBeUndefined()
    for (const runId of ['o', 'o/inner#0']) expect(await flawsOf(ledger, runId)).toEqual([])
  })

  it('W7 an ended or unknown run is refused; asked twice it is paused once', async () => {
    const one = agent('one', (run) => run.interrupt('Well?'))
    await one.start(ledger, null, { runId: 'r' })
    await requestPause(ledger, 'r', { reason: 'first' })
    expect((await requestPause(ledger, 'r', { reason: 'second' })).held?.reason).toBe('first')
    await one.resume(ledger, 'r', { answer: 1 })
    await expect(requestPause(ledger, 'r')).rejects.toMatchObject({ code: 'ended' })
    await expect(requestResume(ledger, 'r')).rejects.toMatchObject({ code: 'ended' })
    await expect(requestPause(ledger, 'x')).rejects.toMatchObject({ code: 'not_found' })
  })
})

import { agent, fork, replay, requestStop, startWorker, type StepError } from '@clew/runtime'
import { describe, expect, it, vi } from 'vitest'
import { createMemoryWorld } from '../../packages/runtime/test/memory-ledger.ts'
import { createLife } from './mortal-ledger.ts'
import { createLatch, flawsOf, KEPT_WORLDS, stepsOf } from './worlds.ts'

describe.each(KEPT_WORLDS)('W7 detached child runs, %s', (_, open) => {
  const { ledger, how } = open()
  const until = (runId: string, status: string): Promise<void> =>
    vi.waitFor(async () => expect((await ledger.getRun(runId))?.status).toBe(status), { timeout: 60_000 })

  it('W7 the parent has its id at once, and ends before it', async () => {
    const latch = createLatch()
    const child = agent('child', async (run, input: { n: number }) => {
      await run.effect('slow', null, () => latch.opened)
      return run.step('twice', input, ({ n }) => 2 * n)
    })
    const parent = agent('parent', (run) => run.child(child, { n: 4 }, { detach: true }))
    const { status, output, runId } = await parent.start(ledger, null, how)
    expect(status).toBe('completed')
    const id = output as string
    await until(id, 'running')
    latch.open()
    await until(id, 'completed')
    expect(await ledger.getRun(id, { values: true })).toMatchObject({ output: 8, parentRunId: null })
    expect(await replay(parent, { ledger, runId })).toMatchObject({ verdict: 'identical' })
    expect((await ledger.listRuns({ agent: 'child' })).runs).toHaveLength(1)
    const [first] = await Array.fromAsync(ledger.read(id, { limit: 1 }))
    expect((await ledger.causes(first?.eventId as string))[0]?.correlationId).toBe(runId)
    for (const each of [id, runId]) expect(await flawsOf(ledger, each)).toEqual([])
  })

  it('W7 it goes on when its parent is stopped; a fork begins one of its own if its effects are live', async () => {
    const child = agent('other', (run) => run.interrupt('Well?'))
    const parent = agent('stopped', async (run) => {
      const id = await run.child(child, null, { detach: true, name: 'begin' })
      await run.interrupt('Go on?')
      return id
    })
    const { runId } = await parent.start(ledger, null, how)
    const [{ runId: id } = { runId: '' }] = (await ledger.listRuns({ agent: 'other' })).runs
    await until(id, 'paused')
    await requestStop(ledger, runId)
    expect((await ledger.getRun(id))?.status).toBe('paused')
    expect((await child.resume(ledger, id, { answer: 'yes' })).status).toBe('completed')
    const children = async () => (await ledger.listRuns({ agent: 'other' })).runs.length
    await fork(parent, { ledger, runId, at: { step: 'begin' }, effects: 'ask', ...how })
    expect(await children()).toBe(1)
    await fork(parent, { ledger, runId, at: { step: 'begin' }, effects: 'live', ...how })
    expect(await children()).toBe(2)
  })
})

describe('W7 a detached child run', () => {
  it('W7 is begun once, wherever its parent dies', { timeout: 120_000 }, async () => {
    const child = agent('child', (run) => run.step('one', null, () => 1))
    const parent = agent('parent', (run) => run.child(child, null, { detach: true }))
    let lives = 0
    for (let append = 1; ; append++, lives++) {
      const ledger = createMemoryWorld().open()
      const life = createLife(ledger, { append, committed: true })
      const first = parent.start(life.ledger, null, { runId: 'run' })
      if ((await Promise.race([first, life.died])) !== 'died') break
      if ((await ledger.getRun('run'))?.status !== 'completed') await parent.resume(ledger, 'run')
      const worker = await startWorker({ ledger, agents: [child], sweepMs: 50 })
      await vi.waitFor(
        async () =>
          expect((await ledger.listRuns({ agent: 'child' })).runs.map(({ status }) => status)).toEqual([
            'completed',
          ]),
        { timeout: 60_000 },
      )
      await worker.stop()
    }
    expect(lives).toBeGreaterThan(3)
  })

  it('W7 is claimed by a worker if its parent was, and needs a ledger', async () => {
    const ledger = createMemoryWorld().open()
    const child = agent('child', (run) => run.step('one', null, () => 1))
    const parent = agent('parent', (run) =>
      run.child(child, null, { detach: true }).catch((error: StepError) => error.code),
    )
    const submitted = await parent.submit(ledger, null)
    const worker = await startWorker({ ledger, agents: [parent] })
    const { output } = await submitted.result()
    expect((await ledger.getRun(output as string))?.status).toBe('pending')
    await worker.stop()
    const other = await startWorker({ ledger, agents: [child] })
    expect((await child.result(ledger, output as string)).output).toBe(1)
    await other.stop()
    expect(await stepsOf(ledger, submitted.id)).toEqual(['child#0 1 completed'])
  })
})

import type { ClewError } from '@clew/ledger'
import { agent, recordAnswers } from '@clew/runtime'
import { describe, expect, it } from 'vitest'
import { createLatch, KEPT_WORLDS } from './worlds.ts'

describe.each(KEPT_WORLDS)('several who resume one function, %s', (name, open) => {
  const { ledger, how } = open()

  it('R6 answering twice: the same is free, another one is a conflict; the first one counts', async () => {
    const asking = agent('asking', (run) => run.interrupt({ question: 'Well?' }))
    const { runId, pause } = await asking.start(ledger, null, how)
    const pauseId = pause?.pauseId as string
    await recordAnswers(ledger, runId, { pauseId, answer: { a: 1 } })
    const before = (await Array.fromAsync(ledger.export())).join('')
    await recordAnswers(ledger, runId, { pauseId, answer: { a: 1 } })
    await expect(recordAnswers(ledger, runId, { pauseId, answer: { a: 2 } })).rejects.toMatchObject({
      code: 'conflict',
    })
    await expect(asking.resume(ledger, runId, { answer: { a: 2 }, ...how })).rejects.toMatchObject({
      code: 'conflict',
    })
    expect((await Array.fromAsync(ledger.export())).join('')).toBe(before)
    expect((await asking.resume(ledger, runId, { answer: { a: 1 }, ...how })).output).toEqual({ a: 1 })
  })

  it('R6 two who answer at once cannot both be right', async () => {
    const asking = agent('asking', (run) => run.interrupt({ question: 'Well?' }))
    const { runId } = await asking.start(ledger, null, how)
    const both = await Promise.allSettled([
      recordAnswers(ledger, runId, { answer: 1 }),
      recordAnswers(ledger, runId, { answer: 2 }),
    ])
    expect(both.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(
      (await Array.fromAsync(ledger.read(runId))).filter(
        ({ eventType }) => eventType === 'ui.input_received',
      ),
    ).toHaveLength(1)
  })

  it('R9 two who resume at once: one has the run, the other is told that it is busy', async () => {
    let calls = 0
    const refused = createLatch()
    const asking = agent('asking', async (run) => {
      await run.interrupt('Go on?')
      return run.effect('work', null, async () => {
        await refused.opened
        return ++calls
      })
    })
    const { runId } = await asking.start(ledger, null, how)
    const resumed = [1, 2].map(() => asking.resume(ledger, runId, { answer: 1, ...how }))
    for (const each of resumed) each.catch(refused.open)
    const both = await Promise.allSettled(resumed)
    const failed = both.find((each) => each.status === 'rejected')
    expect([both.map(({ status }) => status).toSorted(), failed?.reason.code, calls]).toEqual([
      ['fulfilled', 'rejected'],
      'busy',
      1,
    ])
  })

  it('R9 a lost lease aborts run.signal, start() throws stale_epoch, and not one event is written after', async () => {
    const [begun, lost] = [createLatch(), createLatch()]
    let told: unknown
    const working = agent('working', async (run) => {
      run.signal.addEventListener('abort', () => {
        told = (run.signal.reason as ClewError).code
      })
      await run.effect('long', null, async () => {
        begun.open()
        await lost.opened
        return 'too late'
      })
      await run.step('after', null, () => 1)
    })
    const runId = `${name.length}-race`
    const started = working.start(ledger, null, { runId, ...how })
    // On a slow store it is refused before anybody asks.
    started.catch(() => undefined)
    await begun.opened
    const lease = (await ledger.leases.list()).find((each) => each.runId === runId)
    await ledger.leases.release(lease as never)
    const taken = await ledger.leases.acquire({ workspace: ledger.workspace, runId }, null)
    const before = (await Array.fromAsync(ledger.read(runId))).length
    lost.open()
    await expect(started).rejects.toMatchObject({ code: 'stale_epoch' })
    expect(told).toBe('stale_epoch')
    await new Promise((resolve) => void setTimeout(resolve, 20))
    expect(await Array.fromAsync(ledger.read(runId))).toHaveLength(before)
    await ledger.leases.release(taken)
    expect((await working.resume(ledger, runId, how)).status).toBe('completed')
  })
})

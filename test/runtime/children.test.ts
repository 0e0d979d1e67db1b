import { ClewError, type Ledger } from '@clew/ledger'
import { agent, replay, requestStop, type StepError } from '@clew/runtime'
import { openLedger } from 'clew'
import { once } from 'node:events'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { stopChild } from '../../packages/runtime/src/run/open-child.ts'
import { createLife } from './mortal-ledger.ts'
import { flawsOf } from './worlds.ts'

let ledger: Ledger
beforeEach(async () => {
  ledger = await openLedger('memory:')
})
afterEach(() => ledger.close())

const asks = agent('asks', (run) => run.interrupt('Well?'))
const statusOf = async (runId: string): Promise<string | undefined> => (await ledger.getRun(runId))?.status

describe('R5 a child run that cannot be stopped', () => {
  /** Wins when the child waits: then nothing but a request stops it. */
  const win = async (childId: string): Promise<string> => {
    await vi.waitFor(async () => expect(await statusOf(childId)).toBe('paused'), {
      timeout: 60_000,
      interval: 1,
    })
    return 'won'
  }
  const race = agent('race', (run) =>
    Promise.race([run.child(asks, null), run.effect('winner', null, () => win('r/asks#0'))]),
  )
  const body = agent('body', (run) =>
    run.step('outer', null, async (_, inner) =>
      Promise.race([inner.child(asks, null), inner.effect('winner', null, () => win('r/outer#0/asks#0'))]),
    ),
  )

  it.each([
    ['when the run ends', race, 'r/asks#0'],
    ['when a body ends', body, 'r/outer#0/asks#0'],
  ])('%s, is told, and its parent does not end before it', async (_, parent, childId) => {
    let isDown = true
    const record: Ledger['record'] = async (event) => {
      if (isDown && event.eventType === 'system.stop_requested')
        throw new ClewError('store_failed', 'The disk is gone', 'Bring it back.')
      return ledger.record(event)
    }
    const failing = { ...ledger, record }
    await expect(parent.start(failing, null, { runId: 'r' })).rejects.toMatchObject({ code: 'store_failed' })
    expect([await statusOf('r'), await ledger.leases.list()]).toEqual(['running', []])
    isDown = false
    expect(await parent.resume(failing, 'r')).toMatchObject({ status: 'completed', output: 'won' })
    expect(await statusOf(childId)).toBe('stopped')
    expect(await flawsOf(ledger, 'r')).toEqual([])
  })

  it('because its owner is still at it, is told after a while', async () => {
    const parent = agent('parent', (run) => run.child(asks, null))
    await parent.start(ledger, null, { runId: 'p' })
    const lease = await ledger.leases.acquire({ workspace: 'default', runId: 'p/asks#0' })
    await expect(stopChild(ledger, 'p/asks#0', { waitMs: 30 })).rejects.toMatchObject({
      code: 'busy',
      fields: { runId: 'p/asks#0' },
    })
    expect((await requestStop(ledger, 'p', { waitMs: 50 })).status).toBe('paused')
    await ledger.leases.release(lease)
    expect((await requestStop(ledger, 'p')).status).toBe('stopped')
    expect(await statusOf('p/asks#0')).toBe('stopped')
  })
})

describe('R3 a budget holds for what child runs use', () => {
  const model = agent('model', (run, tokens: number) =>
    run.effect('ask', { tokens }, (_, call) => {
      call.usage({ inputTokens: tokens, outputTokens: 0 })
      return tokens
    }),
  )
  const nested = agent('nested', (run, tokens: number) => run.child(model, tokens))
  const parent = agent('parent', async (run) => {
    await run.child(nested, 60)
    await run.interrupt('Go on?')
    await run.child(nested, 60)
    return run.step('last', null, () => 'all')
  })

  it.each([
    ['tokens', { tokens: 119 }, 'stopped', /120 of 119 tokens/],
    ['tokens', { tokens: 121 }, 'completed', null],
    // Two children with one child each, which has one effect; and the parent's own four.
    ['steps', { steps: 7 }, 'stopped', /7 steps/],
    ['steps', { steps: 8 }, 'completed', null],
  ])('R3 %s %o: %s, also when the run was resumed in between', async (_, budget, status, message) => {
    await parent.start(ledger, null, { runId: 'p', budget })
    const result = await parent.resume(ledger, 'p', { answer: 'yes', budget })
    expect(result.status).toBe(status)
    if (message) expect(result.error?.message).toMatch(message)
  })
})

describe('R5 a child run whose time is over', () => {
  it('has timed out for its parent, also when the process died right after it was stopped', async () => {
    const hangs = agent('hangs', (run) =>
      run.effect('hang', null, async (_, { signal }) => {
        await once(signal, 'abort')
        throw new Error('cut off')
      }),
    )
    const parent = agent('parent', (run) =>
      run.child(hangs, null, { timeoutMs: 15 }).catch((error: StepError) => error.code),
    )
    let deaths = 0
    for (let append = 1; ; append++) {
      const runId = `p${append}`
      const life = createLife(ledger, { append, committed: true })
      const first = parent.start(life.ledger, null, { runId })
      if ((await Promise.race([first, life.died])) !== 'died') break
      // Before that the child is gone on with, and comes to an end of its own.
      if ((await statusOf(`${runId}/hangs#0`)) !== 'stopped' || (await statusOf(runId)) === 'completed')
        continue
      deaths++
      expect((await parent.resume(ledger, runId)).output).toBe('timeout')
    }
    expect(deaths).toBeGreaterThan(0)
  })

  it('R3 is stopped, and the next attempt is another child with a time of its own; a replay waits for neither', async () => {
    let tries = 0
    const slow = agent('slow', (run) =>
      run.effect('slow', null, async (_, { signal }) => {
        if (++tries === 1) await once(signal, 'abort')
        return tries
      }),
    )
    const options = { retry: { tries: 2, delayMs: 0 }, timeoutMs: 500 }
    const parent = agent('parent', (run) => run.child(slow, null, options))
    const { runId, output } = await parent.start(ledger, null)
    expect([output, tries]).toEqual([2, 2])
    expect(await statusOf(`${runId}/slow#0`)).toBe('stopped')
    expect(await statusOf(`${runId}/slow#0~2`)).toBe('completed')
    expect(await replay(parent, { ledger, runId })).toMatchObject({ verdict: 'identical', divergences: [] })
    expect(tries).toBe(2)
  })

  it('R6 a child that asks rests meanwhile, and its parent with it: the time is that of an attempt at work', async () => {
    const parent = agent('parent', (run) => run.child(asks, null, { timeoutMs: 60_000 }))
    const { runId, status } = await parent.start(ledger, null)
    expect(status).toBe('paused')
    expect(await parent.resume(ledger, runId, { answer: 'yes' })).toMatchObject({ output: 'yes' })
  })
})

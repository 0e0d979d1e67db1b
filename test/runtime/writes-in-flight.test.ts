import type { Ledger } from '@clew/ledger'
import { agent, type StepError } from '@clew/runtime'
import { openLedger } from 'clew'
import { once } from 'node:events'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createMemoryWorld } from '../../packages/runtime/test/memory-ledger.ts'
import { createLife } from './mortal-ledger.ts'
import { createLatch, flawsOf } from './worlds.ts'

let ledger: Ledger
beforeEach(async () => {
  ledger = await openLedger('memory:')
})
afterEach(() => ledger.close())

const stepsOf = async (name: string) =>
  (await ledger.getSteps('r')).filter(({ nodeName }) => nodeName === name).map(({ status }) => status)

describe('R10 a write in flight when the body around it fails', () => {
  it('is waited for and given to the next attempt, not sent again', async () => {
    const failed = createLatch()
    let sent = 0
    const pays = agent('pays', (run) =>
      run.step(
        'both',
        null,
        async (_, inner) => {
          const pay = inner.effect(
            'pay',
            null,
            async () => {
              sent++
              await failed.opened
              // Long after the body has failed.
              await new Promise((resolve) => setTimeout(resolve, 20))
              return 'paid'
            },
            { safety: 'write' },
          )
          const other = inner.effect('other', null, (_input, { attempt }) => {
            if (attempt > 1) return 'fine'
            setImmediate(failed.open)
            throw new Error('not now')
          })
          return Promise.all([pay, other])
        },
        { retry: { tries: 2, delayMs: 0 } },
      ),
    )
    const { status, output } = await pays.start(ledger, null, { runId: 'r' })
    expect([status, output, sent]).toEqual(['completed', ['paid', 'fine'], 1])
    expect([await stepsOf('pay'), await stepsOf('both')]).toEqual([['completed'], ['failed', 'completed']])
    expect(await flawsOf(ledger, 'r')).toEqual([])
  })

  it('is waited for when only a body further out is tried again', async () => {
    const failed = createLatch()
    let sent = 0
    const pays = agent('pays', (run) =>
      run.step(
        'outer',
        null,
        (_, outer) =>
          outer.step('inner', null, async (_input, inner) => {
            const pay = inner.effect(
              'pay',
              null,
              async () => {
                sent++
                await failed.opened
                await new Promise((resolve) => setTimeout(resolve, 20))
              },
              { safety: 'external' },
            )
            const other = inner.effect('other', null, (_given, { attempt }) => {
              setImmediate(failed.open)
              if (attempt === 1) throw new Error('not now')
            })
            await Promise.all([pay, other])
          }),
        { retry: { tries: 2, delayMs: 0 } },
      ),
    )
    expect((await pays.start(ledger, null, { runId: 'r' })).status).toBe('completed')
    expect([sent, await stepsOf('pay')]).toEqual([1, ['completed']])
    expect(await flawsOf(ledger, 'r')).toEqual([])
  })

  it('that says it has failed is tried again with the body; one that is told its time is over may say so', async () => {
    const told: string[] = []
    const pays = agent('pays', (run) =>
      run.step(
        'slow',
        null,
        (_, inner) =>
          inner.effect(
            'pay',
            null,
            async (_input, { attempt, signal, idempotencyKey }) => {
              told.push(idempotencyKey)
              if (attempt > 1) return 'paid'
              await once(signal, 'abort')
              throw new Error('nothing was sent')
            },
            { safety: 'write' },
          ),
        { timeoutMs: 300, retry: { tries: 2, delayMs: 0 } },
      ),
    )
    const { output } = await pays.start(ledger, null, { runId: 'r' })
    expect([output, told.length, new Set(told).size]).toEqual(['paid', 2, 1])
    expect(await stepsOf('pay')).toEqual(['failed', 'completed'])
    expect((await ledger.getSteps('r')).find(({ nodeName }) => nodeName === 'slow')?.error?.code).toBe(
      'timeout',
    )
  })

  it('D3 is stopped as before when nothing around it is tried again: the loser of a race', async () => {
    const never = createLatch()
    const race = agent('race', async (run) => {
      const pay = run.effect('pay', null, () => never.opened, { safety: 'write' })
      pay.catch((error: StepError) => error)
      return Promise.race([pay, run.step('fast', null, () => 'won')])
    })
    expect((await race.start(ledger, null, { runId: 'r' })).output).toBe('won')
    expect(await stepsOf('pay')).toEqual(['stopped'])
  })
})

describe('R10 a write in flight when its process died', () => {
  it('is asked about before it is sent again, also when the body around fails before anything was asked', async () => {
    let died = 0
    for (let append = 1; ; append++) {
      const world = createMemoryWorld().open()
      let sent = 0
      const send = async (): Promise<string> => {
        sent++
        for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => void setImmediate(resolve))
        return 'paid'
      }
      const pays = agent('pays', (run) =>
        run.step(
          'both',
          null,
          async (_, inner) => {
            const pay = inner.effect('pay', null, send, { safety: 'write' })
            await inner.effect('look', null, () => 'seen')
            await inner.effect('gate', null, (_input, { attempt }) => {
              if (attempt === 1) throw new Error('not yet')
            })
            return pay
          },
          { retry: { tries: 2, delayMs: 0 } },
        ),
      )
      const life = createLife(world, { append, committed: true })
      const first = pays.start(life.ledger, null, { runId: 'r' })
      if ((await Promise.race([first, life.died])) !== 'died') break
      died++
      for (let lives = 0; lives < 5; lives++) {
        const { status, pauses = [] } = (await world.getRun('r')) ?? {}
        if (status === 'completed') break
        const answer = sent > 0 ? { choice: 'done', output: 'paid' } : 'retry'
        await pays.resume(world, 'r', {
          answers: Object.fromEntries(pauses.map(({ pauseId }) => [pauseId, answer])),
        })
      }
      expect([append, (await world.getRun('r'))?.status, sent]).toEqual([append, 'completed', 1])
      expect(await flawsOf(world, 'r')).toEqual([])
    }
    expect(died).toBeGreaterThan(5)
  })
})

import { agent, StepError } from '@clew/runtime'
import { describe, expect, it } from 'vitest'
import { eventsOf, flawsOf, KEPT_WORLDS, stepsOf } from './worlds.ts'

describe.each(KEPT_WORLDS)('attempts, times and budgets in agents as functions, %s', (_, open) => {
  const { ledger, how } = open()

  it('R3 a failed attempt is tried again after a longer and longer pause, with a lot that a resume draws again', async () => {
    const attempts: [number, string][] = []
    const flaky = agent('flaky', (run) =>
      run.effect(
        'call',
        { n: 1 },
        (_input, { attempt, idempotencyKey }) => {
          attempts.push([attempt, idempotencyKey])
          if (attempt < 4) throw Object.assign(new Error('not now'), { code: 'E_LATER' })
          return 'at last'
        },
        { retry: { tries: 5, delayMs: 4, factor: 2, mostMs: 10, jitter: 0.5 } },
      ),
    )
    const { status, output, runId, log } = await flaky.start(ledger, null, how)
    expect([status, output]).toEqual(['completed', 'at last'])
    expect(attempts.map(([n]) => n)).toEqual([1, 2, 3, 4])
    expect(new Set(attempts.map(([, key]) => key)).size).toBe(1)
    const delays = (await eventsOf(ledger, runId)).flatMap(({ payload }) => payload['retryInMs'] ?? [])
    expect(delays).toHaveLength(3)
    for (const [n, most] of [4, 8, 10].entries()) {
      expect(delays[n]).toBeLessThanOrEqual(most)
      expect(delays[n]).toBeGreaterThanOrEqual(most / 2)
    }
    expect(log.errors).toHaveLength(3)
    expect(await stepsOf(ledger, runId)).toEqual([
      'call#0 1 failed',
      'call#0 2 failed',
      'call#0 3 failed',
      'call#0 4 completed',
    ])
  })

  it('R3 retry.when decides which errors are worth it, and the last failure is what code sees', async () => {
    let calls = 0
    const choosy = agent('choosy', async (run) => {
      try {
        await run.effect(
          'call',
          null,
          () => {
            calls++
            throw Object.assign(new TypeError('broken'), { code: 'E_BROKEN' })
          },
          { retry: { tries: 5, delayMs: 0, when: ({ code }) => code !== 'E_BROKEN' } },
        )
      } catch (error) {
        const { name, code, message, stepId } = error as StepError
        return { is: error instanceof StepError, name, code, message, stepId }
      }
      return null
    })
    expect((await choosy.start(ledger, null, how)).output).toEqual({
      is: true,
      name: 'TypeError',
      code: 'E_BROKEN',
      message: 'broken',
      stepId: 'call#0',
    })
    expect(calls).toBe(1)
  })

  it('R2 what a body had completed belongs to its next attempt too; what had failed or was stopped is tried anew', async () => {
    const done: string[] = []
    const again = agent('again', (run) =>
      run.step(
        'body',
        null,
        async (_none, inner) => {
          await inner.effect('first', null, () => done.push('first'))
          return Promise.all([
            inner.effect('waits', null, (_nil, { attempt, signal }) => {
              done.push(`waits ${attempt}`)
              if (attempt > 1) return 'ended'
              return new Promise((resolve) => signal.addEventListener('abort', () => resolve('late')))
            }),
            inner.effect('fails', null, (_nil, { attempt }) => {
              done.push(`fails ${attempt}`)
              if (attempt === 1) throw new Error('no')
              return 'yes'
            }),
          ])
        },
        { retry: { tries: 2, delayMs: 0 } },
      ),
    )
    const { status, output, runId } = await again.start(ledger, null, how)
    expect([status, output]).toEqual(['completed', ['ended', 'yes']])
    expect(done).toEqual(['first', 'waits 1', 'fails 1', 'waits 2', 'fails 2'])
    expect(await flawsOf(ledger, runId)).toEqual([])
  })

  it('R3 an attempt that takes too long fails with a timeout, its signal aborted, and may be tried again', async () => {
    const aborts: unknown[] = []
    const slow = agent('slow', async (run) => {
      const effect = await run.effect(
        'late',
        null,
        (_none, { attempt, signal }) => {
          if (attempt === 2) return 'in time'
          return new Promise(() =>
            signal.addEventListener('abort', () => aborts.push((signal.reason as StepError).code)),
          )
        },
        { timeoutMs: 10, retry: { tries: 2, delayMs: 0 } },
      )
      const body = await run
        .step(
          'body',
          null,
          (_none, inner) =>
            new Promise(() =>
              inner.signal.addEventListener('abort', () =>
                aborts.push((inner.signal.reason as StepError).code),
              ),
            ),
          { timeoutMs: 10 },
        )
        .catch((error: StepError) => error.code)
      return [effect, body]
    })
    const { output, runId } = await slow.start(ledger, null, how)
    expect(output).toEqual(['in time', 'timeout'])
    expect(aborts).toEqual(['timeout', 'timeout'])
    expect(await flawsOf(ledger, runId)).toEqual([])
  })

  it('R3 a cached result is given to any run that asks for the same, until it expires, and says so', async () => {
    let calls = 0
    const cached = agent('cached', async (run, key: string) => [
      await run.effect('look up', { key }, () => ({ calls: ++calls }), { cache: true }),
      await run.step('brief', { key }, () => ++calls, { cache: { ttlMs: 0 } }),
    ])
    const first = await cached.start(ledger, 'a', how)
    expect(first.output).toEqual([{ calls: 1 }, 2])
    const second = await cached.start(ledger, 'a', how)
    expect(second.output).toEqual([{ calls: 1 }, 3])
    expect(second.log.steps.map(({ nodeName, cached: is }) => [nodeName, is])).toEqual([
      ['look up', true],
      ['brief', false],
    ])
    expect((await ledger.getSteps(second.runId)).map((step) => step.cached)).toEqual([true, false])
    expect((await cached.start(ledger, 'b', how)).output).toEqual([{ calls: 4 }, 5])
    const other = agent('other', (run) => run.effect('look up', { key: 'a' }, () => 'mine', { cache: true }))
    expect((await other.start(ledger, null, how)).output).toBe('mine')
  })

  it.each([
    ['steps', { steps: 2 }, /2 steps/],
    ['tokens', { tokens: 20 }, /of 20 tokens/],
    ['money', { cost: 0.02 }, /of \$0\.02/],
  ])(
    'R3 a budget of %s stops the run before the step that would be too much',
    async (_what, budget, reason) => {
      let calls = 0
      const spends = agent('spends', async (run) => {
        for (let n = 0; n < 9; n++)
          await run.effect('ask', n, (_n, call) => {
            calls++
            call.usage({ inputTokens: 8, outputTokens: 2, cost: 0.01 })
            return n
          })
      })
      const { status, error, runId } = await spends.start(ledger, null, { budget, ...how })
      expect([status, error?.code]).toEqual(['stopped', 'stopped'])
      expect(error?.message).toMatch(reason)
      expect(calls).toBe(2)
      const end = (await eventsOf(ledger, runId)).at(-1)
      expect([end?.eventType, end?.payload['reason']]).toEqual(['system.workflow_stopped', error?.message])
      expect(await flawsOf(ledger, runId)).toEqual([])
    },
  )

  it('R3 a budget of time stops what is in flight', async () => {
    let reason: unknown
    const endless = agent('endless', (run) =>
      run.effect(
        'wait',
        null,
        (_none, { signal }) =>
          new Promise((resolve) => {
            signal.addEventListener('abort', () => {
              reason = signal.reason
              resolve(null)
            })
          }),
      ),
    )
    const { status, error } = await endless.start(ledger, null, { budget: { timeMs: 30 }, ...how })
    expect([status, error?.message]).toEqual(['stopped', 'budget: 30 ms are used up'])
    expect(reason).toMatchObject({ code: 'stopped' })
  })
})

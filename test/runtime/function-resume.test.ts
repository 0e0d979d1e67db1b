import { ClewError, type Ledger } from '@clew/ledger'
import { agent, recordAnswers, type StepError } from '@clew/runtime'
import { describe, expect, it } from 'vitest'
import { createLife, unheard } from './mortal-ledger.ts'
import { flawsOf, KEPT_WORLDS } from './worlds.ts'

/** A ledger whose process dies at the n-th append. */
async function dieAt(
  ledger: Ledger,
  append: number,
  work: (mortal: Ledger) => Promise<unknown>,
): Promise<void> {
  const life = createLife(ledger, { append, committed: true })
  await Promise.race([work(life.ledger), life.died])
  expect(life.isDead).toBe(true)
}

describe.each(KEPT_WORLDS)('resuming functions, %s', (name, open) => {
  const { ledger, how } = open()
  let made = 0
  const nextId = (): string => `${name.length}-${made++}`

  it('R2 child ids collide in loops, so each call has its own; a slash in user ids is therefore refused', async () => {
    const child = agent('child', async (run, n: number) => `${run.runId.split('/').slice(1).join('/')} ${n}`)
    const parent = agent('parent', async (run) => {
      const ids: string[] = []
      for (let n = 0; n < 3; n++) ids.push(await run.child(child, n))
      ids.push(await run.step('in', null, (_none, inner) => inner.child(child, 3)))
      ids.push(await run.child(child, 4, { key: 'x' }))
      return ids
    })
    const { output } = await parent.start(ledger, null, how)
    expect(output).toEqual(['child#0 0', 'child#1 1', 'child#2 2', 'in#0/child#0 3', 'child@x 4'])
    await expect(parent.start(ledger, null, { runId: 'a/child#0', ...how })).rejects.toMatchObject({
      code: 'bad_option',
    })
  })

  it('R5 run inputs are persisted, first write wins: the same run id means no new inputs', async () => {
    const asking = agent('asking', async (run, n: number) => [n, await run.interrupt('Well?')])
    const runId = nextId()
    await asking.start(ledger, 1, { runId, ...how })
    await expect(asking.start(ledger, 2, { runId, ...how })).rejects.toMatchObject({ code: 'conflict' })
    expect((await asking.resume(ledger, runId, { answer: 'a', ...how })).output).toEqual([1, 'a'])
    // A resume that does nothing must be an error.
    await expect(asking.resume(ledger, runId, how)).rejects.toMatchObject({ code: 'not_resumable' })
  })

  it('R9 a persisted running does not prove a living process: what a dead one left is gone on with', async () => {
    const done: string[] = []
    const line = agent('line', async (run) => {
      for (const each of ['a', 'b']) await run.effect(each, null, () => done.push(each))
    })
    const runId = nextId()
    await dieAt(ledger, 2, (mortal) => line.start(mortal, null, { runId }))
    expect((await ledger.getRun(runId))?.status).toBe('running')
    expect((await line.resume(ledger, runId, how)).status).toBe('completed')
    expect(done).toEqual(['a', 'b'])
  })

  it('R5 restored work emits no execution events; cached, replayed and restored are kept apart', async () => {
    const done: string[] = []
    const line = agent('line', async (run) => {
      for (const each of ['a', 'b', 'c']) await run.effect(each, null, () => done.push(each))
    })
    const runId = nextId()
    await dieAt(ledger, 2, (mortal) => line.start(mortal, null, { runId }))
    const before = await Array.fromAsync(ledger.read(runId))
    const { status, log } = await line.resume(ledger, runId, how)
    expect([status, done]).toEqual(['completed', ['a', 'b', 'c']])
    const after = (await Array.fromAsync(ledger.read(runId))).slice(before.length)
    expect(after.filter(({ payload }) => payload['stepId'] === 'a#0')).toEqual([])
    expect(log.steps.map(({ nodeName }) => nodeName)).not.toContain('a')
    expect((await ledger.getSteps(runId)).map(({ cached, restored }) => cached || restored)).toEqual([
      false,
      false,
      false,
    ])
  })

  it('R5 parallel branches and races need the recorded completion order', async () => {
    const order: string[] = []
    const racing = agent('racing', async (run) => {
      const winner = await Promise.race([
        run.effect('slow', null, () => new Promise((resolve) => void setTimeout(resolve, 20, 'slow'))),
        run.effect('quick', null, () => 'quick'),
      ])
      await run.interrupt('Go on?')
      order.push(winner as string)
    })
    const { runId } = await racing.start(ledger, null, how)
    await racing.resume(ledger, runId, { answer: 1, ...how })
    expect(new Set(order)).toEqual(new Set(['quick']))
  })

  it('R10 an outside effect needs an identity reserved before dispatch: an unknown outcome is not retried by itself', async () => {
    const keys: string[] = []
    const pays = agent('pays', async (run) => {
      const read = await run.effect('read', null, (_none, call) => keys.push(`read ${call.idempotencyKey}`))
      const paid = await run
        .effect(
          'pay',
          { amount: 1 },
          (_input, { idempotencyKey, attempt }) => {
            keys.push(`pay ${idempotencyKey}`)
            return attempt > 1 ? 'paid again' : new Promise<string>(() => {})
          },
          { safety: 'write' },
        )
        .catch((error: StepError) => error.code)
      return [read, paid]
    })
    const outcomes: [unknown, unknown][] = [
      [{ choice: 'done', output: 'paid' }, 'paid'],
      ['retry', 'paid again'],
      ['abort', 'aborted'],
    ]
    for (const [answer, expected] of outcomes) {
      keys.length = 0
      const runId = nextId()
      const life = createLife(ledger, { append: 3, committed: true })
      unheard(pays.start(life.ledger, null, { runId }))
      // The reservation is there, the outcome is not.
      await life.died
      const asked = await pays.resume(ledger, runId, how)
      expect(asked.pause?.question).toMatchObject({
        unknown: 'outcome',
        stepId: 'pay#0',
        options: ['done', 'retry', 'abort'],
      })
      await expect(pays.resume(ledger, runId, { answer: 'maybe', ...how })).rejects.toMatchObject({
        code: 'bad_answer',
      })
      expect((await pays.resume(ledger, runId, { answer, ...how })).output).toEqual([1, expected])
      const paid = keys.filter((key) => key.startsWith('pay'))
      expect(new Set(paid).size).toBe(paid.length > 0 ? 1 : 0)
      expect(await flawsOf(ledger, runId)).toEqual([])
    }
  })

  it.each<[string, string, (run: Parameters<Parameters<typeof agent>[1]>[0]) => Promise<unknown>]>([
    ['input', 'a step called with different arguments is noticed', (run) => run.effect('a', 2, () => 1)],
    ['kind', 'a step that became an effect is noticed', (run) => run.step('a', 1, () => 1)],
    ['missing', 'code that skips recorded steps does not report success', async () => 'skipped'],
  ])('D2 %s: %s, and the run is blocked', async (kind, _why, changed) => {
    const before = agent('changing', async (run) => {
      await run.effect('a', 1, () => 1)
      await run.interrupt('Go on?')
    })
    const { runId } = await before.start(ledger, null, how)
    const after = agent('changing', (run) => changed(run))
    const result = await after.resume(ledger, runId, { answer: 1, ...how })
    expect([result.status, result.divergence?.kind, result.divergence?.stepId]).toEqual([
      'blocked',
      kind,
      'a#0',
    ])
    expect((await ledger.getRun(runId))?.status).toBe('blocked')
    // Nothing is lost: with the code it began with the run goes on.
    expect((await before.resume(ledger, runId, how)).status).toBe('completed')
  })

  it('D3 a recorded end that the resting code has not asked for is waited for, then a divergence, never a hang', async () => {
    const patient = agent('patient', async (run, slowMs: number) => {
      await new Promise((resolve) => void setTimeout(resolve, slowMs))
      await run.effect('a', null, () => 1)
      await run.interrupt('Go on?')
    })
    const { runId } = await patient.start(ledger, 30, how)
    expect((await patient.resume(ledger, runId, { answer: 1, ...how })).status).toBe('completed')
    const other = await patient.start(ledger, 0, how)
    const hung = agent('patient', () => new Promise(() => {}))
    const result = await hung.resume(ledger, other.runId, { answer: 1, ...how })
    expect([result.status, result.divergence?.kind]).toEqual(['blocked', 'missing'])
  })

  it('R5 refused with a clear error and nothing changed: completed, failed, stopped, unknown, another agent, no answer', async () => {
    const asking = agent('asking', async (run, way: string) => {
      if (way === 'fail') throw new Error('no')
      if (way === 'ask') await run.interrupt({ question: 'Well?', options: ['yes', 'no'] })
      return way
    })
    const other = agent('other', async () => 1)
    const ids: Record<string, string> = {}
    for (const way of ['go', 'fail', 'ask']) ids[way] = (await asking.start(ledger, way, how)).runId
    const abort = new AbortController()
    const stopping = agent('asking', (run) => {
      abort.abort()
      return run.step('never', null, () => 1)
    })
    ids['stop'] = (await stopping.start(ledger, null, { signal: abort.signal, ...how })).runId
    const before = (await Array.fromAsync(ledger.export())).join('')
    const refusals: [() => Promise<unknown>, string][] = [
      [() => asking.resume(ledger, ids['go'] as string, how), 'not_resumable'],
      [() => asking.resume(ledger, ids['fail'] as string, how), 'not_resumable'],
      [() => asking.resume(ledger, ids['stop'] as string, how), 'not_resumable'],
      [() => asking.resume(ledger, 'nobody', how), 'not_found'],
      [() => other.resume(ledger, ids['ask'] as string, { answer: 'yes', ...how }), 'not_resumable'],
      [() => asking.resume(ledger, ids['ask'] as string, how), 'not_resumable'],
      [() => asking.resume(ledger, ids['ask'] as string, { answer: 'perhaps', ...how }), 'bad_answer'],
      [
        () => asking.resume(ledger, ids['ask'] as string, { answer: 'yes', pauseId: 'nope', ...how }),
        'not_resumable',
      ],
      [() => recordAnswers(ledger, ids['ask'] as string, { answer: 'perhaps' }), 'bad_answer'],
      [
        () => recordAnswers(ledger, ids['ask'] as string, { answer: 'yes', pauseId: 'nope' }),
        'not_resumable',
      ],
      [() => recordAnswers(ledger, ids['go'] as string, { answer: 'yes' }), 'not_resumable'],
      [() => asking.start(ledger, 'go', { runId: 'a/b', ...how }), 'bad_option'],
      [() => asking.start(ledger, 'go', { runId: '', ...how }), 'bad_option'],
      [() => asking.start(ledger, 'go', { runId: ids['ask'], ...how }), 'conflict'],
      [() => asking.start(ledger, 'go', { runId: ids['go'], ...how }), 'conflict'],
    ]
    for (const [at, [work, code]] of refusals.entries())
      await work().then(
        () => expect.unreachable(`refusal ${at} was none`),
        (error: unknown) => {
          expect([at, (error as ClewError).code]).toEqual([at, code])
          expect(error).toBeInstanceOf(ClewError)
        },
      )
    expect((await Array.fromAsync(ledger.export())).join('')).toBe(before)
    expect((await asking.resume(ledger, ids['ask'] as string, { answer: 'yes', ...how })).status).toBe(
      'completed',
    )
  })

  it('L5 a failing store write surfaces as the error of start() and resume(), and the next one works', async () => {
    const done: string[] = []
    const line = agent('line', async (run) => {
      const child = await run.child(part, null)
      return [child, await run.effect('b', null, () => done.push('b'))]
    })
    const part = agent('part', (run) => run.effect('a', null, () => done.push('a')))
    const total = 12
    for (let at = 1; at < total; at++) {
      const runId = nextId()
      done.length = 0
      let appends = 0
      const failing: Ledger = {
        ...ledger,
        append: (events, options) =>
          appends++ === at
            ? Promise.reject(new ClewError('store_full', 'The disk is full', 'Make room.'))
            : ledger.append(events, options),
      }
      const outcome = await line.start(failing, null, { runId }).catch((error: ClewError) => error.code)
      if (typeof outcome === 'string') {
        expect([at, outcome]).toEqual([at, 'store_full'])
        const { status, output } = await line.resume(ledger, runId, how)
        expect([at, status, output?.length]).toEqual([at, 'completed', 2])
      }
      expect(await flawsOf(ledger, runId)).toEqual([])
      expect((await ledger.getRun(`${runId}/part#0`))?.status).toBe('completed')
    }
  })
})

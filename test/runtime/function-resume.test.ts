import { ClewError, type ClewEvent, type Ledger } from '@clew/ledger'
import { agent, recordAnswers, type StepError } from '@clew/runtime'
import { describe, expect, it } from 'vitest'
import { createLife } from './mortal-ledger.ts'
import { createLatch, flawsOf, KEPT_WORLDS } from './worlds.ts'

const SECRET = ['sk', 'proj', 'a1B2c3D4'.repeat(5)].join('-')

async function eventsOf(ledger: Ledger, runId: string): Promise<ClewEvent[]> {
  const events: ClewEvent[] = []
  for await (const event of ledger.read(runId)) events.push(event)
  return events
}

async function exportAll(ledger: Ledger): Promise<string> {
  let text = ''
  for await (const line of ledger.export()) text += line
  return text
}

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
    const before = await eventsOf(ledger, runId)
    const { status, log } = await line.resume(ledger, runId, how)
    expect([status, done]).toEqual(['completed', ['a', 'b', 'c']])
    const after = (await eventsOf(ledger, runId)).slice(before.length)
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
      void pays.start(life.ledger, null, { runId })
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

  it('P2 resume never hands a placeholder to code: refresh runs again, otherwise the run is blocked, naming step and path', async () => {
    let calls = 0
    const seen: unknown[] = []
    const keyed = agent('keyed', async (run, refresh: boolean) => {
      const got = await run.effect('key', null, () => ({ deep: [{ key: SECRET, calls: ++calls }] }), {
        refresh,
      })
      seen.push(got.deep[0]?.key)
      await run.interrupt('Go on?')
      return run.effect('after', null, () => 'done')
    })
    const fresh = await keyed.start(ledger, true, {})
    expect((await keyed.resume(ledger, fresh.runId, { answer: 1 })).output).toBe('done')
    const stale = await keyed.start(ledger, false, {})
    const blocked = await keyed.resume(ledger, stale.runId, { answer: 1 })
    expect([blocked.status, blocked.divergence]).toMatchObject([
      'blocked',
      { kind: 'redacted', stepId: 'key#0' },
    ])
    expect(blocked.divergence?.expected).toContain('deep[0].key')
    const event = (await eventsOf(ledger, stale.runId)).at(-1)
    expect(event?.payload).toMatchObject({ stepId: 'key#0', path: expect.stringContaining('deep[0].key') })
    expect(new Set(seen)).toEqual(new Set([SECRET]))
  })

  it('P2 so does a redacted input of the run, and an answer; who gives the answer may use it', async () => {
    const secretive = agent('secretive', async (run, _input: { key: string } | null) => {
      const answer = await run.interrupt<string>('Key?')
      return run.effect('use', null, () => answer === SECRET)
    })
    const input = await secretive.start(ledger, { key: SECRET })
    const blocked = await secretive.resume(ledger, input.runId, { answer: 'x' })
    expect([blocked.status, blocked.divergence]).toMatchObject([
      'blocked',
      { kind: 'redacted', stepId: null, expected: '$.key' },
    ])
    const asked = await secretive.start(ledger, null)
    expect((await secretive.resume(ledger, asked.runId, { answer: SECRET })).output).toBe(true)
    const told = await secretive.start(ledger, null)
    await recordAnswers(ledger, told.runId, { answer: SECRET })
    const later = await secretive.resume(ledger, told.runId)
    expect([later.status, later.divergence?.stepId]).toEqual(['blocked', 'interrupt#0'])
  })

  it('P2 a child whose output was redacted blocks its parent when it would be restored', async () => {
    const child = agent('child', async (run) => ({ key: await run.effect('key', null, () => SECRET) }))
    const parent = agent('parent', async (run) => (await run.child(child, null)).key === SECRET)
    expect((await parent.start(ledger, null)).output).toBe(true)
    const runId = nextId()
    let dead = false
    const mortal: Ledger = {
      ...ledger,
      append: (events, options) => {
        dead ||= events.some(
          ({ eventType, correlationId }) =>
            eventType === 'execution.step_completed' && correlationId === runId,
        )
        return dead ? Promise.reject(new Error('dead')) : ledger.append(events, options)
      },
    }
    await expect(parent.start(mortal, null, { runId })).rejects.toThrow('dead')
    const blocked = await parent.resume(ledger, runId)
    expect([blocked.status, blocked.divergence]).toMatchObject([
      'blocked',
      { kind: 'redacted', stepId: 'child#0', expected: '$.key' },
    ])
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
    const before = await exportAll(ledger)
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
    expect(await exportAll(ledger)).toBe(before)
    expect((await asking.resume(ledger, ids['ask'] as string, { answer: 'yes', ...how })).status).toBe(
      'completed',
    )
  })

  it('R6 answering twice: the same is free, another one is a conflict; the first one counts', async () => {
    const asking = agent('asking', (run) => run.interrupt({ question: 'Well?' }))
    const { runId, pause } = await asking.start(ledger, null, how)
    const pauseId = pause?.pauseId as string
    await recordAnswers(ledger, runId, { pauseId, answer: { a: 1 } })
    const before = await exportAll(ledger)
    await recordAnswers(ledger, runId, { pauseId, answer: { a: 1 } })
    await expect(recordAnswers(ledger, runId, { pauseId, answer: { a: 2 } })).rejects.toMatchObject({
      code: 'conflict',
    })
    await expect(asking.resume(ledger, runId, { answer: { a: 2 }, ...how })).rejects.toMatchObject({
      code: 'conflict',
    })
    expect(await exportAll(ledger)).toBe(before)
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
      (await eventsOf(ledger, runId)).filter(({ eventType }) => eventType === 'ui.input_received'),
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
    const runId = nextId()
    const started = working.start(ledger, null, { runId, ...how })
    // On a slow store it is refused before anybody asks.
    started.catch(() => undefined)
    await begun.opened
    const lease = (await ledger.leases.list()).find((each) => each.runId === runId)
    await ledger.leases.release(lease as never)
    const taken = await ledger.leases.acquire({ workspace: ledger.workspace, runId }, null)
    const before = (await eventsOf(ledger, runId)).length
    lost.open()
    await expect(started).rejects.toMatchObject({ code: 'stale_epoch' })
    expect(told).toBe('stale_epoch')
    await new Promise((resolve) => void setTimeout(resolve, 20))
    expect(await eventsOf(ledger, runId)).toHaveLength(before)
    await ledger.leases.release(taken)
    expect((await working.resume(ledger, runId, how)).status).toBe('completed')
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

import type { ClewEvent, Ledger } from '@clew/ledger'
import { agent, recordAnswers, requestStop, type StepError } from '@clew/runtime'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createLatch, flawsOf, KEPT_WORLDS } from './worlds.ts'

async function eventsOf(ledger: Ledger, runId: string): Promise<ClewEvent[]> {
  const events: ClewEvent[] = []
  for await (const event of ledger.read(runId)) events.push(event)
  return events
}

const MINUTE_MS = 60_000
/** Time stands still for the rest of a test, but that it can be turned on by a minute. */
function stopClock(): () => void {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  return () => void vi.setSystemTime(Date.now() + MINUTE_MS)
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms))

describe.each(KEPT_WORLDS)('pausing and sleeping, %s', (_, open) => {
  const { ledger, how } = open()
  /** Pending, and neither it nor a child of it has an owner. */
  const untilAsleep = (runId: string): Promise<void> =>
    vi.waitFor(async () => {
      expect((await ledger.getRun(runId))?.status).toBe('pending')
      const owned = (await ledger.leases.list()).map((lease) => lease.runId)
      expect(owned.filter((owner) => owner.startsWith(runId))).toEqual([])
    }, 60_000)

  it('R6 the answer reaches the very call that asked, among several', async () => {
    const asking = agent('asking', (run) =>
      Promise.all(
        ['a', 'b', 'c'].map(async (name) => `${name} ${await run.interrupt<string>({ question: name })}`),
      ),
    )
    const first = await asking.start(ledger, null, how)
    expect([first.status, first.pauses.length]).toEqual(['paused', 3])
    const [a, b, c] = first.pauses.map(({ pauseId }) => pauseId)
    const second = await asking.resume(ledger, first.runId, { answer: 'B', pauseId: b, by: 'eva', ...how })
    expect([second.status, second.pauses.map(({ pauseId }) => pauseId)]).toEqual(['paused', [a, c]])
    const answers = { [a as string]: 'A', [c as string]: 'C' }
    const third = await asking.resume(ledger, first.runId, { answers, ...how })
    expect(third.output).toEqual(['a A', 'b B', 'c C'])
    const received = (await eventsOf(ledger, first.runId)).find(
      ({ eventType }) => eventType === 'ui.input_received',
    )
    expect(received?.payload).toMatchObject({ answer: 'B', by: 'eva' })
    expect(await flawsOf(ledger, first.runId)).toEqual([])
  })

  it('R6 no reader ever sees paused without the question', async () => {
    const asking = agent('asking', (run) => run.interrupt({ question: 'Well?', options: ['yes'] }))
    const seen: string[] = []
    const stop = new AbortController()
    const reading = (async () => {
      for await (const _event of ledger.follow({ runId: 'watched', signal: stop.signal })) {
        const run = await ledger.getRun('watched')
        seen.push(`${run?.status} ${run?.pauses.length}`)
      }
    })()
    await asking.start(ledger, null, { runId: 'watched', ...how })
    await vi.waitFor(() => expect(seen).toContain('paused 1'), 60_000)
    stop.abort()
    await reading
    expect(seen).not.toContain('paused 0')
  })

  it('R6 a pausing step does not cancel its siblings', async () => {
    const done: string[] = []
    const mixed = agent('mixed', (run) =>
      Promise.all([
        run.interrupt('Well?'),
        run.effect('slow', null, async () => {
          await wait(20)
          return done.push('slow')
        }),
      ]),
    )
    const { status, runId } = await mixed.start(ledger, null, how)
    expect([status, done]).toEqual(['paused', ['slow']])
    expect((await mixed.resume(ledger, runId, { answer: 'yes', ...how })).output).toEqual(['yes', 1])
    expect(done).toHaveLength(1)
  })

  it('R6 a question that times out gets its default answer, or no; before that nothing happens by itself', async () => {
    const turnClock = stopClock()
    const asking = agent('asking', async (run) => [
      await run.interrupt({ question: 'With default?', timeoutMs: MINUTE_MS, default: 'perhaps' }),
      await run
        .interrupt({ question: 'Without?', timeoutMs: MINUTE_MS })
        .catch((error: StepError) => error.code),
    ])
    const first = await asking.start(ledger, null, how)
    expect(first.status).toBe('paused')
    expect((await ledger.getRun(first.runId))?.dueAt).toBe(first.dueAt)
    await expect(asking.resume(ledger, first.runId, how)).rejects.toMatchObject({ code: 'not_resumable' })
    turnClock()
    const second = await asking.resume(ledger, first.runId, how)
    expect(second.status).toBe('paused')
    turnClock()
    expect((await asking.resume(ledger, first.runId, how)).output).toEqual(['perhaps', 'denied'])
    const by = (await eventsOf(ledger, first.runId)).flatMap(({ payload }) => payload['by'] ?? [])
    expect(by).toEqual(['timeout', 'timeout'])
  })

  it('R6 an answer that comes after its time is refused when it is given, and the default counts', async () => {
    const turnClock = stopClock()
    const done: string[] = []
    const acting = agent('acting', (run) =>
      run
        .effect('pay', null, () => done.push('paid'), {
          safety: 'write',
          approval: { question: 'Quick?', timeoutMs: MINUTE_MS },
        })
        .catch((error: StepError) => error.code),
    )
    const { runId, pause } = await acting.start(ledger, null, how)
    turnClock()
    const pauseId = pause?.pauseId as string
    const before = await eventsOf(ledger, runId)
    for (const late of [{ answer: 'approve' }, { answers: { [pauseId]: 'approve' } }]) {
      const refused = { code: 'too_late', fields: { runId, pauseId } }
      await expect(acting.resume(ledger, runId, { ...late, ...how })).rejects.toMatchObject(refused)
      await expect(recordAnswers(ledger, runId, late)).rejects.toMatchObject(refused)
    }
    expect(await eventsOf(ledger, runId)).toEqual(before)
    expect((await acting.resume(ledger, runId, how)).output).toBe('denied')
    expect(done).toEqual([])
  })

  it('R6 an answer that was recorded in time counts whenever the run goes on, in a child too', async () => {
    const turnClock = stopClock()
    const asks = agent('asks', (run) =>
      run.interrupt({ question: 'Well?', timeoutMs: MINUTE_MS, default: 'late' }),
    )
    const middle = agent('middle', (run) => run.child(asks, null))
    const parent = agent('parent', (run) => run.child(middle, null))
    for (const each of [asks, parent]) {
      const { runId } = await each.start(ledger, null, how)
      await recordAnswers(ledger, runId, { answer: 'in time' })
      turnClock()
      turnClock()
      expect((await each.resume(ledger, runId, how)).output).toBe('in time')
      // The same answer again is free, however late.
      expect(await flawsOf(ledger, runId)).toEqual([])
    }
  })

  it('R10 actions declare a safety class; approvals default to deny and resume after the decision', async () => {
    const turnClock = stopClock()
    const done: string[] = []
    const acting = agent('acting', async (run, approval: true | { question: string; timeoutMs: number }) => {
      try {
        return await run.effect('pay', { amount: 5 }, () => done.push('paid'), {
          safety: 'destructive',
          approval,
        })
      } catch (error) {
        return (error as StepError).code
      }
    })
    const asked = await acting.start(ledger, true, how)
    expect(asked.pause?.question).toMatchObject({
      effect: 'pay',
      safety: 'destructive',
      input: { amount: 5 },
      options: ['approve', 'deny'],
      default: 'deny',
    })
    expect(done).toEqual([])
    expect((await acting.resume(ledger, asked.runId, { answer: 'approve', ...how })).output).toBe(1)
    const refused = await acting.start(ledger, true, how)
    expect((await acting.resume(ledger, refused.runId, { answer: 'deny', ...how })).output).toBe('denied')
    const late = await acting.start(ledger, { question: 'Quick?', timeoutMs: MINUTE_MS }, how)
    turnClock()
    expect((await acting.resume(ledger, late.runId, how)).output).toBe('denied')
    expect(done).toEqual(['paid'])
  })

  it('R6 an answer can be recorded alone: the run is pending until somebody takes it up', async () => {
    const asking = agent('asking', async (run) => [await run.interrupt('One?'), await run.interrupt('Two?')])
    const { runId, pause } = await asking.start(ledger, null, how)
    const pauseId = pause?.pauseId as string
    const answered = await recordAnswers(ledger, runId, { pauseId, answer: 1, by: 'eva' })
    expect([answered.status, answered.pauses]).toEqual(['pending', []])
    const next = await asking.resume(ledger, runId, how)
    expect([next.status, next.pauses.length]).toEqual(['paused', 1])
    expect((await asking.resume(ledger, runId, { answer: 2, ...how })).output).toEqual([1, 2])
  })

  it('R6 the answer given to the parent reaches the very call in the child, grandchildren included', async () => {
    const effects: string[] = []
    const asks = agent('asks', async (run, name: string) => {
      await run.effect('before', name, () => effects.push(name))
      return `${name} ${await run.interrupt<string>({ question: name, options: ['x', 'y', 'z'] })}`
    })
    const middle = agent('middle', (run, name: string) => run.child(asks, name))
    const parent = agent('parent', (run) =>
      Promise.all([run.child(asks, 'one'), run.child(asks, 'two'), run.child(middle, 'three')]),
    )
    const first = await parent.start(ledger, null, how)
    expect(
      first.pauses.map(({ question }) => (question as { question: string }).question).toSorted(),
    ).toEqual(['one', 'three', 'two'])
    const pauseOf = (name: string): string =>
      first.pauses.find(({ question }) => (question as { question: string }).question === name)
        ?.pauseId as string
    const second = await parent.resume(ledger, first.runId, { answer: 'y', pauseId: pauseOf('two'), ...how })
    expect([second.status, second.pauses.length]).toEqual(['paused', 2])
    const answers = { [pauseOf('one')]: 'x', [pauseOf('three')]: 'z' }
    expect((await parent.resume(ledger, first.runId, { answers, ...how })).output).toEqual([
      'one x',
      'two y',
      'three z',
    ])
    expect(effects.toSorted()).toEqual(['one', 'three', 'two'])
    for (const child of ['asks#0', 'asks#1', 'middle#0', 'middle#0/asks#0'])
      expect([child, (await ledger.getRun(`${first.runId}/${child}`))?.status]).toEqual([child, 'completed'])
    expect(await flawsOf(ledger, first.runId)).toEqual([])
  })

  it('R6 a child that was answered itself is restored by its parent; its question is settled there too', async () => {
    const asks = agent('asks', (run) => run.interrupt('Well?'))
    const parent = agent('parent', async (run) => [await run.child(asks, null), await run.interrupt('And?')])
    const { runId } = await parent.start(ledger, null, how)
    expect((await asks.resume(ledger, `${runId}/asks#0`, { answer: 'there', ...how })).output).toBe('there')
    const second = await parent.resume(ledger, runId, how)
    expect([second.status, second.pauses.map(({ stepId }) => stepId)]).toEqual(['paused', ['interrupt#0']])
    expect((await parent.resume(ledger, runId, { answer: 'here', ...how })).output).toEqual(['there', 'here'])
    expect((await ledger.getSteps(runId)).find(({ kind }) => kind === 'child')?.restored).toBe(true)
  })

  it('R6 a question of a child that times out is settled in both', async () => {
    const turnClock = stopClock()
    const asks = agent('asks', (run) =>
      run.interrupt({ question: 'Well?', timeoutMs: MINUTE_MS, default: 'late' }),
    )
    const parent = agent('parent', async (run) => [await run.child(asks, null), await run.interrupt('And?')])
    const { runId, dueAt } = await parent.start(ledger, null, how)
    expect(dueAt).not.toBeNull()
    turnClock()
    const second = await parent.resume(ledger, runId, how)
    expect(second.pauses.map(({ stepId }) => stepId)).toEqual(['interrupt#0'])
    expect((await ledger.getRun(runId))?.pauses).toHaveLength(1)
    expect((await parent.resume(ledger, runId, { answer: 1, ...how })).output).toEqual(['late', 1])
  })

  it('R5 crash window in nesting: child completed, parent step missing: restore the child; a failed child is never restored', async () => {
    const effects: string[] = []
    const child = agent('child', async (run, fails: boolean) => {
      await run.effect('work', null, () => effects.push('work'))
      if (fails) throw new Error('not good')
      return 'good'
    })
    const parent = agent('parent', (run, fails: boolean) =>
      run.child(child, fails).catch((error: StepError) => `saw ${error.message}`),
    )
    for (const fails of [false, true]) {
      // The parent's process dies when its child has ended and its own step is not written.
      let dead = false
      const mortal: Ledger = {
        ...ledger,
        append: (events, options) => {
          dead ||= events.some(
            ({ eventType, correlationId }) =>
              /step_(completed|failed)/.test(eventType) && !correlationId.includes('/'),
          )
          return dead ? Promise.reject(new Error('dead')) : ledger.append(events, options)
        },
      }
      const runId = `window-${fails}-${_.length}`
      await expect(parent.start(mortal, fails, { runId, ...how })).rejects.toThrow('dead')
      expect((await ledger.getRun(`${runId}/child#0`))?.status).toBe(fails ? 'failed' : 'completed')
      const { output } = await parent.resume(ledger, runId, how)
      expect(output).toBe(fails ? 'saw not good' : 'good')
      const [step] = await ledger.getSteps(runId)
      expect([step?.status, step?.restored]).toEqual(fails ? ['failed', false] : ['completed', true])
    }
    expect(effects).toEqual(['work', 'work'])
  })

  it('R6 a short sleep stays in memory; the run goes on when it is over', async () => {
    const sleepy = agent('sleepy', async (run) => {
      await Promise.all([run.sleep(15), run.sleep(5)])
      return 'rested'
    })
    const { output, runId } = await sleepy.start(ledger, null, how)
    expect(output).toBe('rested')
    expect((await eventsOf(ledger, runId)).some(({ eventType }) => eventType.endsWith('paused'))).toBe(false)
  })

  it.concurrent('R6 a long sleep releases lease and memory: the run is pending and says when it goes on', async () => {
    const sleepy = agent('sleepy', async (run) => {
      await run.sleep(2300)
      return run.step('after', null, () => 'rested')
    })
    const runId = `sleep-${_.length}`
    const started = sleepy.start(ledger, null, { runId, ...how })
    await untilAsleep(runId)
    const asleep = await ledger.getRun(runId)
    expect(asleep?.dueAt).toBeTypeOf('string')
    // Taken up before its time it waits for the rest; whoever waits too sees the same end.
    const resumed = await sleepy.resume(ledger, runId, how)
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(asleep?.dueAt as string))
    expect([resumed.output, (await started).output]).toEqual(['rested', 'rested'])
    expect(await flawsOf(ledger, runId)).toEqual([])
  })

  it.concurrent('R6 a run whose child sleeps long sleeps with it', async () => {
    const sleepy = agent('sleepy', (run) => run.sleep(2200).then(() => 'rested'))
    const parent = agent('parent', (run) => run.child(sleepy, null))
    const runId = `parent-${_.length}`
    const started = parent.start(ledger, null, { runId, ...how })
    await untilAsleep(runId)
    expect((await started).output).toBe('rested')
  })

  it.concurrent('R12 a signal or a stop request ends a run that sleeps as stopped', async () => {
    const sleepy = agent('sleepy', (run) => run.sleep(60_000))
    const abort = new AbortController()
    const runIds = [`cancelled-${_.length}`, `asked-${_.length}`] as const
    const cancelled = sleepy.start(ledger, null, { runId: runIds[0], signal: abort.signal, ...how })
    const asked = sleepy.start(ledger, null, { runId: runIds[1], ...how })
    for (const runId of runIds) await untilAsleep(runId)
    abort.abort(new Error('never mind'))
    expect([(await cancelled).status, (await cancelled).error?.message]).toEqual(['stopped', 'never mind'])
    await requestStop(ledger, runIds[1], { reason: 'enough' })
    expect((await asked).status).toBe('stopped')
  })

  it('R12 a signal of the user stops the run: what is in flight is told, a step is stopped with it', async () => {
    const begun = createLatch()
    const abort = new AbortController()
    const working = agent('working', (run) =>
      run.effect('work', null, (_none, { signal }) => {
        begun.open()
        return new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => reject(signal.reason)),
        )
      }),
    )
    const started = working.start(ledger, null, { signal: abort.signal, ...how })
    await begun.opened
    abort.abort('enough')
    const { status, error, runId } = await started
    expect([status, error?.message]).toEqual(['stopped', 'enough'])
    expect((await ledger.getRun(runId))?.status).toBe('stopped')
    expect(await flawsOf(ledger, runId)).toEqual([])
  })

  it('R12 a run that was asked to stop is stopped even if everything finished', async () => {
    const deaf = agent('deaf', (run) =>
      run.effect('work', null, async () => {
        await ledger.record({
          eventType: 'system.stop_requested',
          correlationId: run.runId,
          payload: { reason: 'enough' },
        })
        return 'finished'
      }),
    )
    const { status, runId } = await deaf.start(ledger, null, how)
    expect([status, (await ledger.getRun(runId))?.status]).toEqual(['stopped', 'stopped'])
    expect((await ledger.getSteps(runId))[0]?.status).toBe('completed')
  })
})

import type { ClewEvent, Ledger } from '@clew/ledger'
import { agent, fork, type ForkPoint, recordFork, replay, retry, type StepError } from '@clew/runtime'
import { describe, expect, it } from 'vitest'
import * as worlds from './worlds.ts'

async function eventsOf(ledger: Ledger, runId: string): Promise<ClewEvent[]> {
  const events: ClewEvent[] = []
  for await (const event of ledger.read(runId)) events.push(event)
  return events
}

async function exportOf(ledger: Ledger, runId: string): Promise<string> {
  let text = ''
  for await (const line of ledger.export({ runId })) text += line
  return text
}

/** A step whose input was edited completes again, in the fork. */
const flawsOf = async (ledger: Ledger, runId: string): Promise<string[]> =>
  (await worlds.flawsOf(ledger, runId)).filter((flaw) => !flaw.endsWith('completed twice'))

describe.each(worlds.KEPT_WORLDS)('forks of functions, %s', (_, open) => {
  const { ledger, how } = open()

  /** Three effects in a line, a loop, and what was done, by run. */
  function createLine() {
    const done: string[] = []
    const line = agent('line', async (run, input: { start: number; extra?: string }) => {
      let value = input.start
      for (const name of ['a', 'b', 'a'])
        value = await run.effect(name, { value }, ({ value: n }) => {
          done.push(`${name} ${n}`)
          return n * 2
        })
      if (input.extra !== undefined) await run.effect('extra', input.extra, (extra) => done.push(extra))
      return value
    })
    return { line, done }
  }

  it('V11 a fork has the tags of its cut; a score after the end leaves status, forks and replay as they are', async () => {
    const tagged = agent('tagged', async (run, input: number) => {
      const tag = (n: number) => async () => {
        const payload = { set: { n: String(n) } }
        await ledger.record({ eventType: 'system.tagged', correlationId: run.runId, payload })
        return n
      }
      return [await run.effect('a', input, tag(1)), await run.effect('b', input, tag(2))]
    })
    const source = await tagged.start(ledger, 0, how)
    const { runId: correlationId } = source
    await ledger.record({
      eventType: 'system.tagged',
      correlationId,
      payload: { set: { n: 'after the end' } },
    })
    const payload = { target: 'run', name: 'good', value: 1 } as const
    await ledger.record({ eventType: 'system.scored', correlationId, payload })

    const forkTags = async (at?: ForkPoint) => {
      const { runId } = await fork(tagged, { ledger, runId: correlationId, at, ...how })
      const own = (await eventsOf(ledger, runId)).find((event) => event.correlationId === runId)
      expect((await ledger.getRun(runId))?.scores).toEqual([])
      return own?.payload['tags']
    }
    expect(await forkTags({ step: 'a' })).toBeUndefined()
    expect(await forkTags({ step: 'b' })).toEqual({ n: '1' })
    expect(await forkTags()).toEqual({ n: '2' })
    expect((await replay(tagged, { ledger, runId: correlationId })).verdict).toBe('identical')
    expect((await ledger.getRun(correlationId))?.status).toBe('completed')
  })

  it('V11 scores and tags while a run works or waits do not disturb it', async () => {
    const noting = agent('noting', async (run, input: number) => {
      const correlationId = run.runId
      const value = await run.effect('note', input, async (n) => {
        await ledger.record({ eventType: 'system.tagged', correlationId, payload: { set: { n: String(n) } } })
        return n + 1
      })
      const answer = await run.interrupt<string>({ question: 'on?' })
      return [value, answer]
    })
    const paused = await noting.start(ledger, 1, how)
    const { runId: correlationId } = paused
    await ledger.record({
      eventType: 'system.scored',
      correlationId,
      payload: { target: 'step', stepId: 'note#0', name: 'good', value: 1 },
    })
    expect((await ledger.getRun(correlationId))?.status).toBe('paused')
    const done = await noting.resume(ledger, correlationId, { answer: 'yes', ...how })
    expect([done.status, done.output]).toEqual(['completed', [2, 'yes']])
    expect((await replay(noting, { ledger, runId: correlationId })).verdict).toBe('identical')
    expect(await flawsOf(ledger, correlationId)).toEqual([])
  })

  it('R7 a fork shares what came before the step, by name the first occurrence, by id that one; the source is untouched', async () => {
    const { line, done } = createLine()
    const source = await line.start(ledger, { start: 1 }, how)
    const before = await exportOf(ledger, source.runId)
    done.length = 0
    const byName = await fork(line, { ledger, runId: source.runId, at: { step: 'a' }, ...how })
    expect([byName.output, done]).toEqual([8, ['a 1', 'b 2', 'a 4']])
    done.length = 0
    const byId = await fork(line, {
      ledger,
      runId: source.runId,
      at: { step: 'a#1' },
      newRunId: `line-a1-${_.length}`,
      ...how,
    })
    expect([byId.output, byId.runId, done]).toEqual([8, `line-a1-${_.length}`, ['a 4']])
    const first = (await eventsOf(ledger, byId.runId)).find(
      ({ correlationId }) => correlationId === byId.runId,
    )
    expect([first?.eventType, first?.ledger.seq]).toEqual(['system.workflow_forked', 6])
    expect(first?.payload).toMatchObject({
      sourceRunId: source.runId,
      sourceSeq: 5,
      atStepId: 'a#1',
      agent: 'line',
    })
    expect((await ledger.getRun(byId.runId))?.forkedFrom).toEqual({ runId: source.runId, seq: 5 })
    expect(await exportOf(ledger, source.runId)).toBe(before)
    expect(await flawsOf(ledger, byId.runId)).toEqual([])
  })

  it('R7 at a superstep and at a seq; without a place at the end, where nothing is done again', async () => {
    const { line, done } = createLine()
    const { runId } = await line.start(ledger, { start: 1 }, how)
    const doneAfter = async (at: Parameters<typeof fork>[1]['at']): Promise<string[]> => {
      done.length = 0
      const forked = await fork(line, { ledger, runId, at, ...how })
      expect([forked.status, forked.output]).toEqual(['completed', 8])
      expect(await flawsOf(ledger, forked.runId)).toEqual([])
      return [...done]
    }
    expect(await doneAfter({ superstep: 0 })).toEqual(['a 1', 'b 2', 'a 4'])
    expect(await doneAfter({ superstep: 1 })).toEqual(['b 2', 'a 4'])
    expect(await doneAfter({ superstep: 3 })).toEqual([])
    expect(await doneAfter({ seq: 1 })).toEqual(['a 1', 'b 2', 'a 4'])
    expect(await doneAfter({ seq: 3 })).toEqual(['b 2', 'a 4'])
    // The start of b stands, its end does not: it is repeated.
    expect(await doneAfter({ seq: 4 })).toEqual(['b 2', 'a 4'])
    expect(await doneAfter(undefined)).toEqual([])
  })

  it('R7 a fork can be made anywhere in a run, never inside an append that belongs together', async () => {
    const busy = agent('busy', async (run) => {
      const first = await run.step('race', null, (_none, inner) =>
        Promise.race([
          inner.effect(
            'slow',
            null,
            (_nil, { signal }) =>
              new Promise((resolve) => signal.addEventListener('abort', () => resolve('slow'))),
          ),
          inner.effect('fast', null, () => 'fast'),
        ]),
      )
      const [answer] = await Promise.all([run.interrupt('Well?'), run.interrupt('And?')])
      return [first, answer]
    })
    const source = await busy.start(ledger, null)
    const answers = Object.fromEntries(source.pauses.map(({ pauseId }) => [pauseId, 'yes']))
    await busy.resume(ledger, source.runId, { answers, ...how })
    const events = await eventsOf(ledger, source.runId)
    for (let seq = 1; seq <= events.length; seq++) {
      let { status, runId, pauses, output } = await fork(busy, {
        ledger,
        runId: source.runId,
        at: { seq },
        ...how,
      })
      if (status === 'paused')
        ({ status, output } = await busy.resume(ledger, runId, {
          answers: Object.fromEntries(pauses.map(({ pauseId }) => [pauseId, 'yes'])),
          ...how,
        }))
      expect([seq, status, output]).toEqual([seq, 'completed', ['fast', 'yes']])
      expect(await flawsOf(ledger, runId)).toEqual([])
      const cut = (await ledger.getRun(runId))?.forkedFrom?.seq ?? 0
      expect(events[cut - 1]?.eventType).not.toMatch(
        /step_stopped|input_requested|completed$(?<!step_completed)/,
      )
    }
  })

  it('R7 at a checkpoint, which is the end of a step; the end of the run has none of its own', async () => {
    const { ledger, how } = open()
    const done: string[] = []
    const line = agent('line', async (run) => {
      const first = await run.step('outer', null, (_, inner) =>
        inner.effect('inner', 1, () => done.push('inner')),
      )
      const [left, right] = await Promise.all([
        run.effect('left', first, () => done.push('left')),
        run.effect('right', first, () => done.push('right')),
      ])
      return [first, left, right]
    })
    const { runId, output } = await line.start(ledger, null, { ...how, runId: 'r' })
    const checkpoints = await Array.fromAsync(ledger.listCheckpoints(runId))
    const steps = await ledger.getSteps(runId)
    expect(checkpoints.map(({ seq, superstep }) => [seq, superstep])).toEqual(
      steps
        .toSorted((a, b) => Number(a.endedSeq) - Number(b.endedSeq))
        .map((step) => [step.endedSeq, step.superstep]),
    )
    for (const [n, { checkpointId, seq }] of checkpoints.entries()) {
      done.length = 0
      const forked = await fork(line, { ledger, runId, at: { checkpointId }, newRunId: `f${n}`, ...how })
      expect([forked.status, done.length]).toEqual(['completed', [2, 2, 1, 0][n]])
      expect((await ledger.getRun(`f${n}`))?.forkedFrom).toMatchObject({ runId, seq })
      expect(await Array.fromAsync(ledger.listCheckpoints(`f${n}`))).toHaveLength(4)
    }
    expect(output).toEqual([1, 2, 3])
    expect(
      (await recordFork(ledger, runId, { at: { checkpointId: checkpoints[0]?.checkpointId ?? '' } })).status,
    ).toBe('pending')
  })

  it('R7 with edited input recorded results are given back while kind and input still match, the rest runs live', async () => {
    const done: string[] = []
    const mixed = agent('mixed', async (run, input: { left: number; right: number; both?: boolean }) => {
      const say = (name: string) => (n: number) => {
        done.push(`${name} ${n}`)
        return n + 1
      }
      const left = await run.effect('left', input.left, say('left'))
      const right = await run.effect('right', input.right, say('right'))
      if (input.both === false) return [left]
      const body = await run.step('body', null, async (_none, inner) => [
        await inner.effect('inner', input.left, say('inner')),
      ])
      return [left, right, body]
    })
    const { runId, output } = await mixed.start(ledger, { left: 1, right: 1 }, how)
    expect(output).toEqual([2, 2, [2]])
    done.length = 0
    const changed = await fork(mixed, { ledger, runId, input: { left: 5, right: 1 }, ...how })
    expect([changed.status, changed.output, done]).toEqual(['completed', [6, 2, [2]], ['left 5']])
    expect(await flawsOf(ledger, changed.runId)).toEqual([])
    done.length = 0
    // What is not asked for any more is dropped without a divergence.
    const dropped = await fork(mixed, { ledger, runId, input: { left: 1, right: 7, both: false }, ...how })
    expect([dropped.status, dropped.output, done]).toEqual(['completed', [2], ['right 7']])
    expect(await flawsOf(ledger, dropped.runId)).toEqual([])
    const forked = (await eventsOf(ledger, dropped.runId)).find(({ eventType }) =>
      eventType.endsWith('forked'),
    )
    expect(forked?.payload['input']).toEqual({ left: 1, right: 7, both: false })
  })

  it('R7 a fork with edited input goes on from its own record after a pause', async () => {
    const done: string[] = []
    const asking = agent('asking', async (run, input: { n: number }) => {
      const before = await run.effect('before', input.n, (n) => done.push(`before ${n}`) + n)
      const answer = await run.interrupt<number>('How many?')
      return before + (await run.effect('after', answer, (n) => done.push(`after ${n}`) + n))
    })
    const source = await asking.start(ledger, { n: 1 }, how)
    const forked = await fork(asking, { ledger, runId: source.runId, input: { n: 10 }, ...how })
    expect([forked.status, forked.pauses.length]).toEqual(['paused', 1])
    expect(forked.pause?.pauseId).not.toBe(source.pause?.pauseId)
    const ended = await asking.resume(ledger, forked.runId, { answer: 5, ...how })
    expect([ended.output, done]).toEqual([12 + 8, ['before 1', 'before 10', 'after 5']])
    // The source still waits, for its own answer.
    expect((await asking.resume(ledger, source.runId, { answer: 1, ...how })).status).toBe('completed')
  })

  it('R7 a fork of a fork keeps its lineage, and changed code runs from where it differs', async () => {
    const { line } = createLine()
    const source = await line.start(ledger, { start: 1 }, how)
    const one = await fork(line, { ledger, runId: source.runId, at: { step: 'b' }, ...how })
    const two = await fork(line, { ledger, runId: one.runId, at: { step: 'a#1' }, ...how })
    expect((await ledger.getRun(two.runId))?.forkedFrom?.runId).toBe(one.runId)
    expect((await ledger.getRun(one.runId))?.forkedFrom?.runId).toBe(source.runId)
    const changed = agent('line', async (run, input: { start: number }) => {
      const first = await run.effect('a', { value: input.start }, () => -1)
      return run.effect('b', { value: first + 100 }, ({ value }) => value)
    })
    const three = await fork(changed, { ledger, runId: two.runId, at: { step: 'a#1' }, ...how })
    expect([three.status, three.output]).toEqual(['completed', 102])
    expect(await flawsOf(ledger, three.runId)).toEqual([])
  })

  it('R7 a retry goes on before the innermost failed step, and records retryOf and its index', async () => {
    let works = false
    const done: string[] = []
    const flaky = agent('flaky', (run) =>
      run.step('outer', null, async (_none, inner) => {
        await inner.effect('good', null, () => done.push('good'))
        return inner.effect(
          'bad',
          null,
          (_nil, { attempt }) => {
            done.push(`bad ${attempt}`)
            if (!works) throw new Error('no luck')
            return 'luck'
          },
          { retry: { tries: 2, delayMs: 0 } },
        )
      }),
    )
    const first = await flaky.start(ledger, null, how)
    expect([first.status, done]).toEqual(['failed', ['good', 'bad 1', 'bad 2']])
    const second = await retry(flaky, { ledger, runId: first.runId, ...how })
    expect([second.status, done.slice(3)]).toEqual(['failed', ['bad 1', 'bad 2']])
    works = true
    done.length = 0
    const third = await retry(flaky, { ledger, runId: second.runId, ...how })
    expect([third.status, third.output, done]).toEqual(['completed', 'luck', ['bad 1']])
    const forks = (await eventsOf(ledger, third.runId)).filter(({ eventType }) =>
      eventType.endsWith('forked'),
    )
    expect(
      forks.map(({ payload }) => [payload['retryOf'], payload['retryIndex'], payload['atStepId']]),
    ).toEqual([
      [first.runId, 1, 'outer#0/bad#0'],
      [second.runId, 2, 'outer#0/bad#0'],
    ])
    expect(await flawsOf(ledger, third.runId)).toEqual([])
    await expect(retry(flaky, { ledger, runId: third.runId, ...how })).rejects.toMatchObject({
      code: 'not_resumable',
    })
  })

  it('R7 refused with a clear error, and nothing changed: no such run, step, seq; an id that is taken; another agent', async () => {
    const { line } = createLine()
    const { runId } = await line.start(ledger, { start: 1 }, how)
    const other = agent('other', async () => 1)
    const before = await ledger.lastPosition()
    const refusals: [() => Promise<unknown>, string][] = [
      [() => fork(line, { ledger, runId: 'nobody', ...how }), 'not_found'],
      [() => fork(line, { ledger, runId, at: { step: 'zzz' }, ...how }), 'not_found'],
      [() => fork(line, { ledger, runId, at: { checkpointId: 'c' }, ...how }), 'not_found'],
      [() => fork(line, { ledger, runId, at: { seq: 0 }, ...how }), 'bad_option'],
      [() => fork(line, { ledger, runId, at: { seq: 99 }, ...how }), 'bad_option'],
      [() => fork(line, { ledger, runId, newRunId: runId, ...how }), 'conflict'],
      [() => fork(line, { ledger, runId, newRunId: 'a/b', ...how }), 'bad_option'],
      [() => fork(other as never, { ledger, runId, ...how }), 'not_resumable'],
      [() => fork(line, { ledger, runId, input: { start: (() => 1) as never }, ...how }), 'bad_value'],
    ]
    for (const [work, code] of refusals) await expect(work()).rejects.toMatchObject({ code })
    expect(await ledger.lastPosition()).toBe(before)
  })

  it('R10 a write in flight where the fork parts has an unknown outcome there', async () => {
    const { promise, resolve } = Promise.withResolvers<string>()
    const begun = worlds.createLatch()
    const pay = (): Promise<string> => {
      begun.open()
      return promise
    }
    const pays = agent('pays', (run) =>
      run.effect('pay', null, pay, { safety: 'write' }).catch((error: StepError) => error.code),
    )
    const started = pays.start(ledger, null, { runId: `pays-${_.length}` })
    await begun.opened
    const forked = await fork(pays, { ledger, runId: `pays-${_.length}`, ...how })
    expect(forked.pause?.question).toMatchObject({ unknown: 'outcome', options: ['done', 'retry', 'abort'] })
    resolve('paid')
    expect((await started).output).toBe('paid')
    expect((await pays.resume(ledger, forked.runId, { answer: 'abort', ...how })).output).toBe('aborted')
  })
})

import type { Ledger } from '@clew/ledger'
import { agent, interrupt, replay, type Run, type StepError } from '@clew/runtime'
import { openLedger } from 'clew'
import { describe, expect, it } from 'vitest'
import { createLatch, eventsOf, flawsOf, KEPT_WORLDS, stepsOf } from './worlds.ts'

const typesOf = async (ledger: Ledger, runId: string): Promise<string[]> =>
  (await eventsOf(ledger, runId)).map(({ eventType }) => eventType.replace(/^\w+\./, ''))

describe.each(KEPT_WORLDS)('agents as functions, %s', (_, open) => {
  const { ledger, how } = open()

  it('R3 steps, effects, nested steps, loops and Promise.all come to one output, each step once', async () => {
    let searches = 0
    const research = agent('research', async (run, input: { topic: string }) => {
      const plan = await run.step('plan', input, ({ topic }) => [1, 2, 3].map((n) => `${topic} ${n}`))
      const pages = await Promise.all(
        plan.map((q) => run.effect('search', { q }, async () => `page ${q} ${++searches > 0}`)),
      )
      const deep = await run.step('deep', null, async (_none, inner) => {
        let sum = 0
        for (let n = 0; n < 3; n++) sum += await inner.step('add', n, (value) => value * 2)
        return sum + (await inner.effect('one', null, () => 1))
      })
      return { pages, deep }
    })
    const { status, output, runId, log } = await research.start(ledger, { topic: 'owls' }, how)
    expect([status, output, searches]).toEqual([
      'completed',
      { pages: ['page owls 1 true', 'page owls 2 true', 'page owls 3 true'], deep: 7 },
      3,
    ])
    expect(await stepsOf(ledger, runId)).toEqual([
      'plan#0 1 completed',
      'search#0 1 completed',
      'search#1 1 completed',
      'search#2 1 completed',
      'deep#0 1 completed',
      'deep#0/add#0 1 completed',
      'deep#0/add#1 1 completed',
      'deep#0/add#2 1 completed',
      'deep#0/one#0 1 completed',
    ])
    expect(log.steps).toHaveLength(9)
    expect(await flawsOf(ledger, runId)).toEqual([])
  })

  it('R7 in a function run each step is its own superstep, counted on over pauses', async () => {
    const counting = agent('counting', async (run) => {
      await run.step('a', null, () => 1)
      await run.interrupt('Go on?')
      await run.step('b', null, () => 1)
    })
    const { runId } = await counting.start(ledger, null, how)
    await counting.resume(ledger, runId, { answer: 'yes', ...how })
    const steps = await ledger.getSteps(runId)
    expect(steps.map(({ nodeName, superstep }) => [nodeName, superstep])).toEqual([
      ['a', 1],
      ['interrupt', 2],
      ['b', 3],
    ])
  })

  it('R2 a key names a call among its siblings; used twice in one body it is an error', async () => {
    const keyed = agent('keyed', async (run) => {
      await run.step('a', 1, (n) => n, { key: 'x' })
      await run.step('in', null, (_none, inner) => inner.step('a', 2, (n) => n, { key: 'x' }))
      return run.step('a', 3, (n) => n, { key: 'x' })
    })
    const { status, error, runId } = await keyed.start(ledger, null, how)
    expect([status, error?.code]).toEqual(['failed', 'bad_option'])
    expect(await stepsOf(ledger, runId)).toEqual([
      'a@x 1 completed',
      'in#0 1 completed',
      'in#0/a@x 1 completed',
    ])
  })

  it('D3 the losers of a race end stopped, those inside a body with it, and their signals abort', async () => {
    const aborted: string[] = []
    const slow =
      (name: string) =>
      (_: unknown, { signal }: { signal: AbortSignal }) =>
        new Promise<string>((resolve) => {
          signal.addEventListener('abort', () => {
            aborted.push(name)
            resolve('late')
          })
        })
    const racing = agent('racing', async (run) => {
      const inner = await run.step('inner', null, (_none, body) =>
        Promise.race([body.effect('slow', 1, slow('inner')), body.effect('fast', 1, () => 'fast')]),
      )
      const outer = await Promise.race([
        run.effect('slow', 2, slow('outer')),
        run.effect('fast', 2, () => 'faster'),
      ])
      return [inner, outer]
    })
    // Suspending would wait for the slow ones: they are in flight.
    const { status, output, runId } = await racing.start(ledger, null)
    expect([status, output, aborted]).toEqual(['completed', ['fast', 'faster'], ['inner', 'outer']])
    expect(await stepsOf(ledger, runId)).toEqual([
      'inner#0 1 completed',
      'inner#0/slow#0 1 stopped',
      'inner#0/fast#0 1 completed',
      'slow#0 1 stopped',
      'fast#0 1 completed',
    ])
  })

  it('D3 children that lose a race end stopped too, at work or paused', async () => {
    const begun = createLatch()
    const worker = agent('worker', async (run, question: string | null) => {
      if (question !== null) return run.interrupt(question)
      return run.effect('work', null, (_none, { signal }) => {
        begun.open()
        return new Promise((resolve) => signal.addEventListener('abort', () => resolve('late')))
      })
    })
    const racing = agent('racing', (run) =>
      run.step('race', null, (_none, inner) =>
        Promise.race([
          inner.child(worker, 'Well?', { name: 'asks' }),
          inner.child(worker, null, { name: 'works' }),
          inner.effect('wins', null, async () => {
            await begun.opened
            await new Promise((resolve) => void setTimeout(resolve, 30))
            return 'won'
          }),
        ]),
      ),
    )
    const { status, output, runId } = await racing.start(ledger, null)
    expect([status, output]).toEqual(['completed', 'won'])
    expect((await ledger.getRun(`${runId}/race#0/asks#0`))?.status).toBe('stopped')
    expect((await ledger.getRun(`${runId}/race#0/works#0`))?.status).toBe('stopped')
    expect(await flawsOf(ledger, `${runId}/race#0/asks#0`)).toEqual([])
    // Before the end of what they lost against, or a crash in between would forget them.
    const parent = await eventsOf(ledger, runId)
    const child = await eventsOf(ledger, `${runId}/race#0/asks#0`)
    const end = parent.find(({ eventType }) => eventType === 'execution.step_completed')
    expect(child.at(-1)?.ledger.position).toBeLessThan(parent.at(-3)?.ledger.position ?? 0)
    expect(end).toBeDefined()
  })

  it('R5 run inputs are persisted first: code that changes its input finds it whole on resume', async () => {
    const greedy = agent('greedy', async (run, input: { items: number[] }) => {
      const first = input.items.pop()
      await run.step('s', { items: input.items }, ({ items }) => items.push(9))
      await run.interrupt('More?')
      return [first, input.items.length]
    })
    const { runId } = await greedy.start(ledger, { items: [1, 2, 3] }, how)
    const [started, begun] = await eventsOf(ledger, runId)
    expect(started?.payload['input']).toEqual({ items: [1, 2, 3] })
    expect(begun?.payload['input']).toEqual({ items: [1, 2] })
    expect((await greedy.resume(ledger, runId, { answer: 1, ...how })).output).toEqual([3, 2])
  })

  it('R3 a value that cannot be stored fails that step, input or output, with the path of the value; code may catch it', async () => {
    const cyclic: Record<string, unknown> = {}
    cyclic['self'] = cyclic
    let entered = 0
    const careless = agent('careless', async (run) => {
      const messages: string[] = []
      const tries: (() => Promise<unknown>)[] = [
        () => run.step('input', { deep: [() => 1] }, () => ++entered),
        () => run.effect('write', { deep: [() => 1] }, () => ++entered, { safety: 'write' }),
        () => run.step('output', null, () => ({ a: { b: () => 1 } })),
        () => run.effect('cycle', null, () => cyclic),
        () => run.child(careless, { a: () => 1 }, { name: 'child' }),
      ]
      for (const attempt of tries)
        await attempt().catch((error: StepError) =>
          messages.push(`${error.code} ${error.stepId} ${error.message}`),
        )
      return messages
    })
    const { output, runId } = await careless.start(ledger, null, how)
    expect(entered).toBe(0)
    expect(output).toEqual([
      expect.stringMatching(/^bad_value input#0 .*deep\[0\]/),
      expect.stringMatching(/^bad_value write#0 .*deep\[0\]/),
      expect.stringMatching(/^bad_value output#0 .*a\.b/),
      expect.stringMatching(/^bad_value cycle#0 .*self/),
      expect.stringMatching(/^bad_value child#0 .*a/),
    ])
    expect(await stepsOf(ledger, runId)).toEqual([
      'input#0 1 failed',
      'write#0 1 failed',
      'output#0 1 failed',
      'cycle#0 1 failed',
      'child#0 1 failed',
    ])
    expect(await flawsOf(ledger, runId)).toEqual([])
  })

  it('R3 an output of the run that cannot be stored fails the run with its path; an input is refused before anything', async () => {
    const bad = agent('bad', async (run) => ({ at: run.now(), fn: () => 1 }))
    const { status, error, runId } = await bad.start(ledger, null, how)
    expect([status, error?.code, error?.message.includes('fn')]).toEqual(['failed', 'bad_value', true])
    const failed = (await eventsOf(ledger, runId)).at(-1)
    expect(failed?.payload['clock']).toHaveLength(1)
    const before = await ledger.lastPosition()
    await expect(bad.start(ledger, { f: () => 1 }, how)).rejects.toMatchObject({ code: 'bad_value' })
    expect(await ledger.lastPosition()).toBe(before)
  })

  it('D3 now, random and uuid are the same on resume, in the run and in its steps', async () => {
    const lots: unknown[][] = []
    const draw = (run: Run) => [run.now(), run.random(), run.uuid(), run.random()]
    const drawing = agent('drawing', async (run) => {
      const drawn = [draw(run), await run.step('in', null, (_none, inner) => draw(inner))]
      await run.step('s', draw(run), () => 1)
      await run.interrupt('Go on?')
      lots.push([...drawn, draw(run).slice(1)])
      return lots.length
    })
    const { runId } = await drawing.start(ledger, null, how)
    await new Promise((resolve) => void setTimeout(resolve, 5))
    expect((await drawing.resume(ledger, runId, { answer: 1, ...how })).status).toBe('completed')
    expect(new Set(lots.map((lot) => JSON.stringify(lot))).size).toBe(1)
    expect(new Set(lots.flat(2).filter((lot) => lot !== null && Number(lot) < 1)).size).toBe(6)
  })

  it('R5 code that fails fails the run, with its error on record and nothing else open', async () => {
    const failing = agent('failing', async (run) => {
      await run.step('s', null, () => 1)
      void run.effect(
        'left',
        null,
        (_none, { signal }) => new Promise((resolve) => signal.addEventListener('abort', resolve)),
      )
      throw Object.assign(new RangeError('too far'), { code: 'E_FAR' })
    })
    const { status, error, runId } = await failing.start(ledger, null)
    expect([status, error?.toJSON()]).toEqual([
      'failed',
      { name: 'RangeError', code: 'E_FAR', message: 'too far' },
    ])
    expect((await ledger.getRun(runId))?.error).toEqual({
      name: 'RangeError',
      code: 'E_FAR',
      message: 'too far',
    })
    expect(await stepsOf(ledger, runId)).toEqual(['s#0 1 completed', 'left#0 1 stopped'])
    expect((await typesOf(ledger, runId)).slice(-2)).toEqual(['step_stopped', 'workflow_failed'])
  })

  it('P3 raw exception text leaks secrets: code sees the error as the record has it, live and on resume', async () => {
    const secret = ['sk', 'proj', 'a1B2c3D4'.repeat(5)].join('-')
    const seen: string[] = []
    const leaky = agent('leaky', async (run) => {
      const message = await run
        .effect('call', null, () => {
          throw new Error(`bad key ${secret}`)
        })
        .catch((error: StepError) => error.message)
      seen.push(message)
      await run.interrupt('Go on?')
    })
    const { runId } = await leaky.start(ledger, null, how)
    await leaky.resume(ledger, runId, { answer: 1, ...how })
    expect(new Set(seen).size).toBe(1)
    expect(seen[0]).toContain('[redacted:')
  })

  it('R6 interrupt() works wherever in the agent it is called, and not outside', async () => {
    const helper = () => interrupt<string>({ question: 'Who?', options: ['me', 'you'] })
    const asking = agent('asking', (run) => run.step('ask', null, async () => `it is ${await helper()}`))
    const { status, pause, runId } = await asking.start(ledger, null, how)
    expect([status, pause?.stepId]).toEqual(['paused', 'ask#0/interrupt#0'])
    expect((await asking.resume(ledger, runId, { answer: 'you', ...how })).output).toBe('it is you')
    expect(() => interrupt('Hm?')).toThrow(/outside a run/)
  })

  it('R3 R6 an effect that does not heed its time keeps no run from pausing', async () => {
    const never = (): Promise<never> => new Promise(() => {})
    const deaf = agent('deaf', async (run) => {
      const own = run.effect('own', null, never, { timeoutMs: 5 }).catch(() => 'over')
      const around = run.step('around', null, (_, inner) => inner.effect('inner', null, never), {
        timeoutMs: 5,
      })
      await Promise.all([own, around.catch(() => 'over')])
      return run.interrupt('Go on?')
    })
    expect(await deaf.start(ledger, null, how)).toMatchObject({ status: 'paused' })
  })

  it('P1 P2 a key that looks like a person is redacted in the id of its step, and the run is resumed all the same', async () => {
    const own = await openLedger('memory:', { redact: { policies: ['secrets', 'personal'] } })
    const mail = agent('mail', async (run) => {
      for (const key of ['ann@owl.example', 'bob.owl', 'sk-proj-4kB7vQ2xN9mT6wZ1rC8yL5hJ3dF0gS'])
        await run.step('send', null, (_, inner) => inner.effect('post', null, () => 'sent'), { key })
      return run.interrupt('Go on?')
    })
    const { runId } = await mail.start(own, null, how)
    const stored = JSON.stringify(await eventsOf(own, runId))
    for (const secret of ['owl.example', 'sk-proj']) expect(stored).not.toContain(secret)
    expect(await mail.resume(own, runId, { answer: 'yes', ...how })).toMatchObject({ status: 'completed' })
    expect(await replay(mail, { ledger: own, runId })).toMatchObject({ verdict: 'identical' })
  })
})

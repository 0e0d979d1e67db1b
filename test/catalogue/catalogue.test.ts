import { deriveId, formatStepId, type JsonValue, type Ledger, parseStepId } from '@clew/ledger'
import { openLedger } from 'clew'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { numRuns } from '../num-runs.ts'
import { createMachine } from './step-machine.ts'
import type { Agent, EffectFn, Fault, Pause, RunResult, Safety } from './agent.ts'
import { sha256 } from './world.ts'
import { createMortal } from './mortal.ts'
import { type Bench, checkFork, compareKilled, driveAll, findFlaws, scenarios } from './property.ts'
import { createOutside, smallPrograms } from './random-programs.ts'
import { collect } from './record.ts'

async function openBench(faults?: readonly Fault[]): Promise<Bench> {
  const ledger = await openLedger('memory:')
  let runs = 0
  return { ledger, nextId: () => `run-${++runs}`, ...(faults && { faults: new Set(faults) }) }
}

describe('random programs', () => {
  test('R5 D1 running through, being killed anywhere and resumed, and being replayed are the same', async () => {
    const bench = await openBench()
    await fc.assert(
      fc.asyncProperty(scenarios, async (scenario) => {
        expect(await findFlaws(scenario, bench)).toEqual([])
      }),
      { numRuns: numRuns(80) },
    )
  })

  test('R5 R7 every append is survived and every event is a place to fork', async () => {
    const bench = await openBench()
    await fc.assert(
      fc.asyncProperty(smallPrograms, async (program) => {
        const straight = await driveAll(program, createOutside(), bench, [], 'dice')
        const total = straight.appends.reduce((sum, count) => sum + count, 0)
        for (let append = 0; append < total; append++)
          for (const committed of [false, true])
            expect(await compareKilled(program, [{ append, committed }], straight, bench, 'dice')).toEqual([])
        const events = (await bench.ledger.getRun(straight.runId))?.events ?? 0
        for (let event = 0; event < events; event++)
          expect(await checkFork(program, straight, Math.floor((event * 1000) / events), bench)).toEqual([])
      }),
      { numRuns: numRuns(12) },
    )
  })

  // A property that cannot fail proves nothing: each mistake must be found among the same random programs.
  test.each<[Fault, RegExp]>([
    ['global-ordinals', /diverged|blocked|R5/],
    ['completion-order-ignored', /D1 replay .* diverged|blocked/],
    ['used-before-recorded', /blocked|comes before its cause|diverged/],
    ['attempts-forgotten', /in one attempt|already, with other content|has two faces/],
    ['woken-all-at-once', /D1 replay .* diverged|blocked/],
    ['losers-left-open', /R5 .* is (running|paused) in a run that has ended/],
    ['pause-before-question', /R6 paused without a question|waits for an answer/],
    ['digest-ignored', /D2 not found in .*: input/],
    ['clock-read-again', /"kind":"input","stepId":"([^"]*\/)?clock#|blocked/],
  ])('R2 R5 D2 D3 the property finds the planted mistake: %s', async (fault, reason) => {
    const bench = await openBench([fault])
    const found = await fc.check(
      fc.asyncProperty(scenarios, async (scenario) => {
        const flaws = await findFlaws(scenario, bench)
        if (flaws.length > 0) throw new Error(flaws.join('\n'))
      }),
      { numRuns: 400, endOnFailure: true },
    )
    expect(found.failed).toBe(true)
    expect(String(found.errorInstance)).toMatch(reason)
  })
})

describe('step identity', () => {
  const text = fc.string({
    minLength: 1,
    unit: fc.constantFrom('a', 'b', '#', '@', '/', '%', '2', 'f', 'é', ' '),
  })
  const part = fc.record({
    name: text,
    key: fc.option(text, { nil: undefined }),
    ordinal: fc.nat({ max: 3 }),
  })
  const path = fc.array(part, { minLength: 1, maxLength: 3 })
  const idOf = (parts: readonly { name: string; key: string | undefined; ordinal: number }[]): string =>
    parts.reduce<string | null>((parentStepId, each) => formatStepId({ parentStepId, ...each }), null) ?? ''
  const meaning = (parts: readonly { name: string; key: string | undefined; ordinal: number }[]): string =>
    JSON.stringify(
      parts.map(({ name, key, ordinal }) => (key === undefined ? [name, ordinal] : [name, key, 'key'])),
    )

  test('R2 a step id is read back to the parts it was made of, whatever is in names and keys', () => {
    fc.assert(
      fc.property(path, (parts) => {
        const last = parts.at(-1) as (typeof parts)[number]
        const above = parts.length > 1 ? idOf(parts.slice(0, -1)) : null
        const { parentStepId, name, key, ordinal } = parseStepId(idOf(parts)) ?? {}
        expect([parentStepId, name, key]).toEqual([above, last.name, last.key])
        if (last.key === undefined) expect(ordinal).toBe(last.ordinal)
      }),
    )
  })

  test('R2 two calls have one id only if they have parent, name and key or ordinal in common', () => {
    fc.assert(
      fc.property(path, path, (a, b) => {
        expect(idOf(a) === idOf(b)).toBe(meaning(a) === meaning(b))
      }),
      { numRuns: 1000 },
    )
  })

  test('R2 a key that names two calls within one parent is refused', async () => {
    const machine = createMachine({ ledger: await openLedger('memory:') })
    const twice: Agent = {
      name: 'twice',
      async fn(run) {
        await run.effect('a', 1, echo, { key: 'k' })
        return run.effect('a', 2, echo, { key: 'k' })
      },
    }
    expect(await machine.start(twice, null, { runId: 'r' })).toMatchObject({ status: 'failed' })
  })

  test('R2 an attempt that is started twice stays what it was, in the fold and in what is stored', async () => {
    const ledger = await openLedger('memory:')
    const record = (eventType: string, stepId: string) =>
      ledger.append([{ eventType, correlationId: 'r', payload: { stepId, name: 'a' } }])
    await record('execution.step_started', 'a#0')
    await record('execution.step_completed', 'a#0')
    await record('execution.step_started', 'a#0')
    await record('execution.step_started', 'a#1')
    expect((await ledger.getSteps('r')).map(({ stepId, status }) => [stepId, status])).toEqual([
      ['a#0', 'completed'],
      ['a#1', 'running'],
    ])
    expect(await ledger.verify('r', { projections: true })).toMatchObject({ ok: true, problems: [] })
  })
})

const echo = async (input: JsonValue): Promise<JsonValue> => input

describe('what the code may and may not do', () => {
  const inTurn: Agent = {
    name: 'agent',
    async fn(run) {
      await run.effect('a', 1, echo)
      await run.effect('b', 2, echo)
      return 'done'
    },
  }

  test('D2 a forgotten await is found although every step, input and output is the same', async () => {
    const ledger = await openLedger('memory:')
    await createMachine({ ledger }).start(inTurn, null, { runId: 'r' })
    const atOnce: Agent = {
      name: 'agent',
      async fn(run) {
        await Promise.all([run.effect('a', 1, echo), run.effect('b', 2, echo)])
        return 'done'
      },
    }
    const found = await createMachine({ ledger }).replay(atOnce, 'r')
    expect(found).toMatchObject({ verdict: 'diverged', divergence: { kind: 'order', stepId: 'b#0' } })
    // It is the recorded cause of each call that tells: without it the two programs look alike.
    const blind = await createMachine({ ledger, faults: new Set<Fault>(['cause-ignored']) }).replay(
      atOnce,
      'r',
    )
    expect(blind.verdict).toBe('identical')
  })

  test('D3 code that is quiet and never asks for the next completion diverges and does not hang', async () => {
    const ledger = await openLedger('memory:')
    await createMachine({ ledger }).start(inTurn, null, { runId: 'r' })
    const stuck: Agent = { name: 'agent', fn: () => new Promise(() => {}) }
    const early: Agent = { name: 'agent', fn: async (run) => run.effect('a', 1, echo).then(() => 'done') }
    const replay = (agent: Agent) => createMachine({ ledger }).replay(agent, 'r')
    expect(await replay(stuck)).toMatchObject({
      verdict: 'diverged',
      divergence: { kind: 'missing', stepId: 'a#0' },
    })
    expect(await replay(early)).toMatchObject({
      verdict: 'diverged',
      divergence: { kind: 'missing', stepId: 'b#0' },
    })
  })

  test('D2 a resume with changed code is blocked before it does anything', async () => {
    const ledger = await openLedger('memory:')
    const mortal = createMortal(ledger, { append: 3, committed: false })
    await Promise.race([
      createMachine({ ledger: mortal.ledger }).start(inTurn, null, { runId: 'r' }),
      mortal.died,
    ])
    let executed = 0
    const changed: Agent = {
      name: 'agent',
      async fn(run) {
        const count: EffectFn = async () => ++executed
        await run.effect('a', 'another prompt', count)
        return run.effect('b', 2, count)
      },
    }
    const result = await createMachine({ ledger }).resume(changed, 'r')
    expect(result).toMatchObject({ status: 'blocked', divergence: { kind: 'input', stepId: 'a#0' } })
    expect(await ledger.getRun('r')).toMatchObject({ status: 'blocked' })
    expect(executed).toBe(0)
  })

  test('R5 a run that has ended has nothing to resume, and says so', async () => {
    const ledger = await openLedger('memory:')
    await createMachine({ ledger }).start(inTurn, null, { runId: 'r' })
    await expect(createMachine({ ledger }).resume(inTurn, 'r')).rejects.toThrow('nothing to resume')
  })
})

describe('crashes', () => {
  /** Kills the process at its n-th append, then lets another one go on. */
  async function crash(agent: Agent, append: number): Promise<{ ledger: Ledger; result: RunResult }> {
    const ledger = await openLedger('memory:')
    const mortal = createMortal(ledger, { append, committed: false })
    await Promise.race([
      createMachine({ ledger: mortal.ledger }).start(agent, null, { runId: 'r' }),
      mortal.died,
    ])
    return { ledger, result: await createMachine({ ledger }).resume(agent, 'r') }
  }

  function calling(safety: Safety): { agent: Agent; calls: string[] } {
    const calls: string[] = []
    const call: EffectFn = async (_, { attempt, idempotencyKey }) => {
      calls.push(`${idempotencyKey} ${attempt}`)
      return attempt
    }
    return { calls, agent: { name: 'agent', fn: (run) => run.effect('call', null, call, { safety }) } }
  }

  test('R10 a read in flight is repeated as the next attempt with the same idempotency key', async () => {
    const { agent, calls } = calling('read')
    const { ledger, result } = await crash(agent, 2)
    expect(result).toEqual({ status: 'completed', output: 2 })
    expect(calls.map((call) => call.split(' ')[1])).toEqual(['1', '2'])
    expect(new Set(calls.map((call) => call.split(' ')[0])).size).toBe(1)
    expect((await ledger.getSteps('r')).map(({ attempt, status }) => [attempt, status])).toEqual([
      [1, 'interrupted'],
      [2, 'completed'],
    ])
  })

  test.each<[string, JsonValue, object, number]>([
    ['done', { choice: 'done', output: 'by hand' }, { status: 'completed', output: 'by hand' }, 1],
    ['retry', { choice: 'retry' }, { status: 'completed', output: 2 }, 2],
    ['abort', { choice: 'abort' }, { status: 'failed', error: { code: 'aborted' } }, 1],
  ])('R10 a write in flight is not repeated but asked about: %s', async (_, answer, expected, executed) => {
    const { agent, calls } = calling('write')
    const { ledger, result } = await crash(agent, 2)
    if (result.status !== 'paused') throw new Error(`it is ${result.status}`)
    expect(await ledger.getRun('r')).toMatchObject({ status: 'paused', pauses: [{ stepId: 'call#0' }] })
    expect(calls.length).toBe(1)
    const [{ pauseId } = { pauseId: '' }] = result.pauses
    expect(await createMachine({ ledger }).resume(agent, 'r', { pauseId, answer })).toMatchObject(expected)
    expect(calls.length).toBe(executed)
    expect(await createMachine({ ledger }).replay(agent, 'r')).toMatchObject({ verdict: 'identical' })
  })

  test('R5 a child that ended while its parent had not written it down is restored, not run again', async () => {
    let executed = 0
    const child: Agent = { name: 'child', fn: (run) => run.effect('work', null, async () => ++executed) }
    const parent: Agent = { name: 'parent', fn: (run) => run.child('help', child, null) }
    // Appends: start, step, child's start, its step, its result, its end; the next is the parent's result.
    const { ledger, result } = await crash(parent, 6)
    expect(result).toEqual({ status: 'completed', output: 1 })
    expect(executed).toBe(1)
    expect(await ledger.getSteps('r')).toMatchObject([{ stepId: 'help#0', restored: true, kind: 'child' }])
  })

  test('R2 R5 what a body had completed is given back to its next attempt; what had failed is tried again', async () => {
    const calls: string[] = []
    const agent: Agent = {
      name: 'agent',
      fn: (run) =>
        run.step(
          'body',
          null,
          async (inner) => {
            const good = await inner.effect('good', null, async (_, { attempt }) =>
              calls.push(`good ${attempt}`),
            )
            await inner.effect('bad', null, async (_, { attempt }) => {
              calls.push(`bad ${attempt}`)
              if (attempt === 1) throw new Error('not yet')
              return null
            })
            return good
          },
          { tries: 2 },
        ),
    }
    // The process dies when it wants to write down that the second attempt of the body has ended.
    const { ledger, result } = await crash(agent, 10)
    expect(result).toEqual({ status: 'completed', output: 1 })
    expect(calls).toEqual(['good 1', 'bad 1', 'bad 2'])
    expect(
      (await ledger.getSteps('r')).map(({ stepId, attempt, status }) => [stepId, attempt, status]),
    ).toEqual([
      ['body#0', 1, 'failed'],
      ['body#0/good#0', 1, 'completed'],
      ['body#0/bad#0', 1, 'failed'],
      ['body#0', 2, 'completed'],
      ['body#0/bad#0', 2, 'completed'],
    ])
    expect(await createMachine({ ledger }).replay(agent, 'r')).toMatchObject({ verdict: 'identical' })
  })

  test('L4 the whole record handed in a second time adds nothing', async () => {
    const { ledger } = await crash(calling('read').agent, 2)
    const events = await collect(ledger.read('r'))
    const again = await ledger.append(events.map(({ ledger: _, ...event }) => event))
    expect(again.map((event) => event.ledger)).toEqual(events.map((event) => event.ledger))
    expect((await ledger.stats()).events).toBe(events.length)
  })
})

describe('pauses', () => {
  const asking: Agent = {
    name: 'agent',
    fn: async (run) =>
      Promise.all([run.interrupt('first?'), run.step('inner', null, (inner) => inner.interrupt('second?'))]),
  }

  test('R6 each answer reaches the very call that asked, in any order, and is given once', async () => {
    const ledger = await openLedger('memory:')
    const asked = await createMachine({ ledger }).start(asking, null, { runId: 'r' })
    if (asked.status !== 'paused') throw new Error(`it is ${asked.status}`)
    const [first, second] = asked.pauses as [Pause, Pause]
    const answer = (pause: Pause, text: string): Promise<RunResult> =>
      createMachine({ ledger }).resume(asking, 'r', { pauseId: pause.pauseId, answer: text })
    expect(await answer(second, 'two')).toMatchObject({ status: 'paused', pauses: [first] })
    await expect(answer(second, 'changed my mind')).rejects.toThrow('not open')
    expect(await answer(first, 'one')).toEqual({ status: 'completed', output: ['one', 'two'] })
    const steps = await ledger.getSteps('r')
    expect(steps.map(({ stepId, values }) => [stepId, values])).toEqual([
      ['interrupt#0', 'one'],
      ['inner#0', 'two'],
      ['inner#0/interrupt#0', 'two'],
    ])
  })

  test('R6 of two answers to one pause the second is a conflict; until it is taken up the run is pending', async () => {
    const ledger = await openLedger('memory:')
    const asked = await createMachine({ ledger }).start(asking, null, { runId: 'r' })
    if (asked.status !== 'paused') throw new Error(`it is ${asked.status}`)
    const answer = ({ pauseId }: Pause, text: string) =>
      ledger.record({
        eventType: 'ui.input_received',
        // The pause gives the event its id, so the ledger itself compares and sets.
        eventId: deriveId(sha256, 'r', 'ui.input_received', pauseId),
        correlationId: 'r',
        payload: { pauseId, answer: text },
      })
    const [first, second] = asked.pauses as [Pause, Pause]
    await answer(first, 'yes')
    await expect(answer(first, 'no')).rejects.toMatchObject({ code: 'conflict' })
    expect(await ledger.getRun('r')).toMatchObject({
      status: 'paused',
      pauses: [{ pauseId: second.pauseId }],
    })
    await answer(second, 'yes')
    expect(await ledger.getRun('r')).toMatchObject({ status: 'pending', pauses: [] })
  })

  test('R6 a question that nobody waits for any more is no longer open', async () => {
    const ledger = await openLedger('memory:')
    const racing: Agent = {
      name: 'agent',
      fn: async (run) => {
        const winner = await Promise.race([run.interrupt('first?'), run.interrupt('second?')])
        await run.interrupt('third?')
        return winner
      },
    }
    const machine = createMachine({ ledger })
    const asked = await machine.start(racing, null, { runId: 'r' })
    if (asked.status !== 'paused') throw new Error(`it is ${asked.status}`)
    const [, second] = asked.pauses as [Pause, Pause]
    const next = await machine.resume(racing, 'r', { pauseId: second.pauseId, answer: 'two' })
    if (next.status !== 'paused') throw new Error(`it is ${next.status}`)
    expect(next.pauses.map(({ question }) => question)).toEqual(['first?', 'third?'])
    const third = next.pauses[1] as Pause
    expect(await machine.resume(racing, 'r', { pauseId: third.pauseId, answer: 3 })).toMatchObject({
      output: 'two',
    })
    expect(await ledger.getRun('r')).toMatchObject({ status: 'completed', pauses: [] })
  })
})

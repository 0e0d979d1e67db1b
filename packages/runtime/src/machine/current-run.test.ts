import { EventEmitter } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createMemoryWorld } from '../../test/memory-ledger.ts'
import { agent, interrupt, last, type Run, START, StateGraph } from '../index.ts'

const ledger = createMemoryWorld().open()

describe('the run of a body', () => {
  it.each<[string, (run: Run) => unknown]>([
    ['interrupt()', () => interrupt('Well?')],
    ['run.interrupt()', (run) => run.interrupt('Well?')],
    ["run.step('x')", (run) => run.step('x', null, () => 1)],
    ["run.effect('x')", (run) => run.effect('x', null, () => 1)],
    [
      "run.child('leaf')",
      (run) =>
        run.child(
          agent('leaf', () => 1),
          null,
        ),
    ],
    ['run.sleep()', (run) => run.sleep(1)],
    ['run.now()', (run) => run.now()],
    ['run.random()', (run) => run.random()],
    ['run.uuid()', (run) => run.uuid()],
  ])('R3 effects are leaves: %s inside one fails it at once', async (call, work) => {
    const nested = agent('nested', (run) =>
      run.effect('outside', null, async () => {
        await sleep(1)
        return work(run)
      }),
    )
    const { status, error } = await nested.start(ledger, null)
    expect([status, error?.code, error?.stepId]).toEqual(['failed', 'bad_option', 'outside#0'])
    expect(error?.message).toMatch(`${call} was called inside the effect outside#0. Effects are leaves`)
  })

  it('R3 an effect may tell those who stream, and use signal and ids of its run', async () => {
    const told: unknown[] = []
    const telling = agent('telling', (run) =>
      run.effect('model', null, () => {
        run.token('a')
        run.emit('b')
        return [run.runId.length > 0, run.signal.aborted]
      }),
    )
    const listener = {
      token: (_: unknown, text: string) => told.push(text),
      custom: (_: unknown, data: unknown) => told.push(data),
    }
    expect((await telling.start(ledger, null, { listener })).output).toEqual([true, false])
    expect(told).toEqual(['a', 'b'])
  })

  it.each<[string, string, (run: Run) => unknown]>([
    ['the agent', 'step s#0', (run) => run.step('s', {}, () => run.effect('f', null, () => 1))],
    ['the agent', 'step s#0', (run) => run.step('s', {}, async () => run.now())],
    [
      'step s#0',
      'step s#0/t#0',
      (run) => run.step('s', {}, (_, s) => s.step('t', {}, () => s.effect('f', null, () => 1))),
    ],
    [
      'step a#0',
      'the agent',
      async (run) => {
        let kept = run
        await run.step('a', {}, (_, inner) => void (kept = inner))
        return kept.effect('f', null, () => 1)
      },
    ],
  ])('D2 the run of %s used inside %s is refused, since a resume would miss the call', async (...given) => {
    const [owner, place, work] = given
    const { error } = await agent('mixed', work).start(ledger, null)
    expect(error?.code).toBe('bad_option')
    expect(error?.message).toContain(
      `with the run of ${owner} inside ${place}. Use the run given to the function`,
    )
  })

  it('D2 in a node the same holds, and with a run of its own all is well', async () => {
    let outer: Run | undefined
    const graph = (isWrong: boolean) =>
      new StateGraph({ n: last(0) })
        .addNode('first', (_, run) => {
          outer = run
          return run.step('s', {}, (_none, inner) => ({ n: (isWrong ? run : inner).random() < 2 ? 1 : 0 }))
        })
        .addNode('second', (_, run) => (isWrong ? (outer as Run) : run).effect('f', null, () => ({ n: 2 })))
        .addEdge(START, 'first')
        .addEdge('first', 'second')
        .compile({ checkpointer: ledger })
    const wrong = await graph(true).invoke({})
    expect(wrong.error?.message).toContain('with the run of step first@s1 inside step first@s1/s#0')
    expect((await graph(false).invoke({})).state).toEqual({ n: 2 })
  })

  it('D2 calls after others of the same scope, from timers and events, and in runs started inside, are fine', async () => {
    const bell = new EventEmitter()
    const other = agent('other', (run) => run.effect('o', null, () => 'o'))
    const free = agent('free', async (run) => {
      const seen: unknown[] = await Promise.all([
        run.step('a', {}, (_, inner) => inner.effect('b', null, () => 'b')),
        run.effect('c', null, async () => (await other.start(ledger, null)).output),
      ])
      seen.push(await run.effect('d', null, () => 'd'))
      seen.push(
        await new Promise((resolve) => setTimeout(() => resolve(run.effect('e', null, () => 'e')), 1)),
      )
      const rung = new Promise((resolve) =>
        bell.once('ring', () => resolve(run.effect('g', null, () => 'g'))),
      )
      bell.emit('ring')
      seen.push(await rung)
      return seen
    })
    expect((await free.start(ledger, null)).output).toEqual(['b', 'o', 'd', 'e', 'g'])
  })

  it('R10 a node that is one effect makes no calls, but its messages get ids and its edges decide', async () => {
    const graph = (calls: boolean) =>
      new StateGraph({ n: last(0) })
        .addNode('pay', async (_, run) => ({ n: calls ? await run.effect('x', null, () => 1) : 1 }), {
          safety: 'write',
        })
        .addEdge(START, 'pay')
        .compile({ checkpointer: ledger })
    expect((await graph(true).invoke({})).error?.message).toContain('inside the effect pay@s1/pay#0')
    expect((await graph(false).invoke({})).state).toEqual({ n: 1 })
  })
})

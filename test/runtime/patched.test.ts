import type { Ledger } from '@clew/ledger'
import { agent, append, END, fork, replay, type Run, START, StateGraph } from '@clew/runtime'
import { describe, expect, it } from 'vitest'
import { eventsOf, flawsOf, KEPT_WORLDS } from './worlds.ts'

/** The same agent before and after a change in the middle of it. */
const before = agent('trip', async (run) => {
  const plan = await run.step('plan', null, () => 'plan')
  const answer = await run.interrupt<string>('Go on?')
  return [plan, answer, await run.effect('book', null, () => 'train')]
})
const after = agent('trip', async (run) => {
  const plan = await run.step('plan', null, () => 'plan')
  const checked = run.patched('check-prices') ? await run.effect('check', null, () => 'checked') : 'unchecked'
  const answer = await run.interrupt<string>('Go on?')
  return [plan, checked, answer, await run.effect('book', null, () => 'train')]
})

const decisions = async (ledger: Ledger, runId: string): Promise<unknown[]> =>
  (await eventsOf(ledger, runId)).flatMap(({ payload }) => payload['patch'] ?? [])

describe.each(KEPT_WORLDS)('W6 run.patched, %s', (_, open) => {
  const { ledger, how } = open()

  it('W6 a new run takes the new way, on record, also when it is resumed, replayed and forked', async () => {
    const { runId } = await after.start(ledger, null, how)
    const { output } = await after.resume(ledger, runId, { answer: 'yes', ...how })
    expect(output).toEqual(['plan', 'checked', 'yes', 'train'])
    expect(await decisions(ledger, runId)).toEqual(['check-prices'])
    expect(await replay(after, { ledger, runId })).toMatchObject({ verdict: 'identical' })
    const forked = await fork(after, { ledger, runId, at: { step: 'book' }, effects: 'live', ...how })
    expect(forked.output).toEqual(output)
    expect(await flawsOf(ledger, runId)).toEqual([])
  })

  it('W6 a run that went past the point before the change keeps the old way, on resume, replay and in a fork', async () => {
    const { runId } = await before.start(ledger, null, how)
    const { output, status } = await after.resume(ledger, runId, { answer: 'yes', ...how })
    expect([status, output]).toEqual(['completed', ['plan', 'unchecked', 'yes', 'train']])
    expect(await decisions(ledger, runId)).toEqual([])
    expect(await replay(after, { ledger, runId })).toMatchObject({ verdict: 'identical' })
    const forked = await fork(after, { ledger, runId, at: { step: 'book' }, effects: 'live', ...how })
    expect(forked.output).toEqual(output)
  })

  it('W6 replay takes the way that the record shows', async () => {
    const old = agent('old', (run) => run.step('one', null, () => 1))
    const { runId } = await old.start(ledger, null, how)
    const changed = agent('old', async (run) => {
      if (run.patched('more')) await run.step('zero', null, () => 0)
      const one = await run.step('one', null, () => 1)
      if (run.patched('end')) await run.step('two', null, () => 2)
      return one
    })
    expect(await replay(changed, { ledger, runId })).toMatchObject({ verdict: 'identical' })
    const fresh = await changed.start(ledger, null, how)
    expect(await decisions(ledger, fresh.runId)).toEqual(['more', 'end'])
    expect(await replay(changed, { ledger, runId: fresh.runId })).toMatchObject({ verdict: 'identical' })
    // Before the change: a fork from its start goes the new way where the shared events do not say otherwise.
    const forked = await fork(changed, { ledger, runId, at: { seq: 1 }, ...how })
    expect(await decisions(ledger, forked.runId)).toEqual(['more', 'end'])
  })

  it('W6 a loop takes one way as a whole, and each attempt and node has its own', async () => {
    const round = (isNew: boolean) =>
      agent('rounds', async (run) => {
        const ways: boolean[] = []
        for (let n = 0; n < 3; n++) {
          ways.push(isNew && run.patched('x'))
          await run.step('round', n, () => n)
          if (n === 1) await run.interrupt('Go on?')
        }
        return ways
      })
    const { runId } = await round(false).start(ledger, null, how)
    const { output } = await round(true).resume(ledger, runId, { answer: 1, ...how })
    expect(output).toEqual([false, false, false])
    const node = (run: Run) => ({ ways: [run.patched('y') ? 'new' : 'old'] })
    const graph = new StateGraph({ ways: append<string>() })
      .addNode('a', (_state, run) => node(run))
      .addNode('b', (_state, run) => node(run))
      .addEdge(START, 'a')
      .addEdge('a', 'b')
      .addEdge('b', END)
      .compile({ name: 'nodes', checkpointer: ledger })
    const done = await graph.invoke({}, how)
    expect(done.state).toEqual({ ways: ['new', 'new'] })
    expect(await decisions(ledger, done.runId)).toEqual(['y', 'y'])
    expect(await replay(graph, { ledger, runId: done.runId })).toMatchObject({ verdict: 'identical' })
  })
})

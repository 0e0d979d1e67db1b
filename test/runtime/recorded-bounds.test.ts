import { agent, END, fork, last, START, StateGraph } from '@clew/runtime'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { eventsOf, KEPT_WORLDS } from './worlds.ts'

const MINUTE_MS = 60_000

describe.each(KEPT_WORLDS)('R3 what bounds a run is recorded with its start, %s', (_, open) => {
  const { ledger, how } = open()
  const spend = agent('spend', async (run, rounds: number) => {
    for (let n = 0; n < rounds; n++) {
      await run.effect('model', n, (_n, call) => call.usage({ inputTokens: 600, outputTokens: 400 }))
      await run.interrupt('More?')
    }
  })

  it('R3 a budget counts over resumes that do not know it', async () => {
    const { runId } = await spend.start(ledger, 10, { budget: { tokens: 2000 }, tags: { team: 'a' }, ...how })
    const [started] = await eventsOf(ledger, runId)
    expect(started?.payload).toMatchObject({ budget: { tokens: 2000 }, tags: { team: 'a' } })
    expect((await ledger.getRun(runId))?.tags).toEqual({ team: 'a' })
    expect((await ledger.listRuns({ tags: { team: 'a' } })).runs.map((run) => run.runId)).toContain(runId)
    const last = await spend.resume(ledger, runId, { answer: 1, ...how })
    expect([last.status, last.error?.message]).toEqual(['stopped', 'budget: 2000 of 2000 tokens are used up'])
  })

  it('R3 the budget of the agent as it was at the start counts', async () => {
    const make = (budget: { steps: number } | undefined) =>
      agent('changing', (run) => run.interrupt('?').then(() => run.step('next', null, () => 1)), { budget })
    const { runId } = await make({ steps: 1 }).start(ledger, null, how)
    expect((await make(undefined).resume(ledger, runId, { answer: 1, ...how })).status).toBe('stopped')
  })

  it('R3 a resume can tighten a budget for good, and widens it only by replaceBudget', async () => {
    const { runId } = await spend.start(ledger, 10, { budget: { tokens: 3000 }, ...how })
    await spend.resume(ledger, runId, { answer: 1, budget: { tokens: 90_000, steps: 100 }, ...how })
    expect(
      (await eventsOf(ledger, runId)).findLast(({ eventType }) => /resumed/.test(eventType))?.payload,
    ).toMatchObject({ budget: { tokens: 3000, steps: 100 } })
    await spend.resume(ledger, runId, { answer: 1, replaceBudget: { tokens: 5000 }, ...how })
    expect((await spend.resume(ledger, runId, { answer: 1, ...how })).status).toBe('paused')
    expect(
      (await spend.resume(ledger, runId, { answer: 1, budget: { tokens: 9000 }, ...how })).error?.message,
    ).toBe('budget: 5000 of 5000 tokens are used up')
  })

  it('R3 a budget of time counts the time of work over all resumes, not that of waiting', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    const slow = agent('slow', async (run) => {
      for (let n = 0; n < 9; n++) {
        await run.step('work', n, () => void vi.setSystemTime(Date.now() + MINUTE_MS))
        await run.interrupt('More?')
      }
    })
    const { runId } = await slow.start(ledger, null, { budget: { timeMs: 2 * MINUTE_MS }, ...how })
    vi.setSystemTime(Date.now() + 500 * MINUTE_MS)
    expect((await slow.resume(ledger, runId, { answer: 1, ...how })).status).toBe('paused')
    const last = await slow.resume(ledger, runId, { answer: 1, ...how })
    expect([last.status, last.error?.message]).toEqual(['stopped', 'budget: 120000 ms are used up'])
  })

  it('R7 a fork has the budget and the tags of its source, or the budget it is given, and counts anew', async () => {
    const { runId } = await spend.start(ledger, 3, { budget: { tokens: 2000 }, tags: { team: 'b' }, ...how })
    const same = await fork(spend, { ledger, runId, at: { step: 'model' }, ...how })
    expect([same.status, (await ledger.getRun(same.runId))?.tags]).toEqual(['paused', { team: 'b' }])
    expect((await spend.resume(ledger, same.runId, { answer: 1, ...how })).status).toBe('stopped')
    const wider = await fork(spend, {
      ledger,
      runId,
      at: { step: 'model' },
      budget: { tokens: 3000 },
      ...how,
    })
    expect((await spend.resume(ledger, wider.runId, { answer: 1, ...how })).status).toBe('paused')
  })

  it('R3 a graph remembers its budget, also after its start is folded away', async () => {
    const graph = new StateGraph({ n: last(0) })
      .addNode('think', async ({ n }, run) => {
        await run.effect('model', n, (_n, call) => call.usage({ inputTokens: 1000 }))
        return { n: n + 1 }
      })
      .addNode('ask', async (_state, run) => void (await run.interrupt('More?')))
      .addEdge(START, 'think')
      .addEdge('think', 'ask')
      .addConditionalEdges('ask', ({ n }) => (n < 9 ? 'think' : END), ['think', END])
      .compile({ checkpointer: ledger, name: 'bounded' })
    const { runId } = await graph.invoke({}, { budget: { tokens: 2000 }, ...how })
    expect((await graph.resume({ runId }, { answer: 1, ...how })).status).toBe('stopped')
    const forked = await graph.fork({ runId, at: { superstep: 1 }, budget: { tokens: 1000 } })
    expect([forked.status, forked.pause?.question]).toMatchObject(['paused', { question: 'More?' }])
    expect((await graph.resume({ runId: forked.runId }, { answer: 1, ...how })).error?.message).toBe(
      'budget: 1000 of 1000 tokens are used up',
    )
  })
})

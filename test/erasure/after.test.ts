import {
  agent,
  END,
  fork,
  last,
  openLedger,
  replay,
  START,
  StateGraph,
} from '../../packages/clew/src/index.ts'
import { describe, expect, it } from 'vitest'

const greet = agent('greet', async (run, input: { who: string }) => {
  const hello = await run.step('hello', input, ({ who }) => `hello ${who}`)
  const bye = await run.effect('bye', { hello }, () => 'bye')
  if (input.who === 'wait') await run.interrupt({ question: 'go on?' })
  return { hello, bye }
})

describe('P5 what is erased says so', () => {
  it('P5 state, replay, what-if and fork of an erased run name the seq', async () => {
    const ledger = await openLedger('memory:')
    await greet.start(ledger, { who: 'ann' }, { runId: 'r' })
    await ledger.erase({ runId: 'r' })
    const erased = { code: 'erased', fields: { runId: 'r', seq: expect.any(Number) as number } }
    await expect(ledger.getState('r')).rejects.toMatchObject(erased)
    await expect(replay(greet, { ledger, runId: 'r' })).rejects.toMatchObject(erased)
    await expect(replay(greet, { ledger, runId: 'r', mode: 'what-if' })).rejects.toMatchObject(erased)
    await expect(fork(greet, { ledger, runId: 'r', at: { step: 'bye' } })).rejects.toMatchObject(erased)
    expect((await replay(null, { ledger, runId: 'r', mode: 'reconstruct' })).path).toEqual([])
    await expect(greet.resume(ledger, 'r')).rejects.toMatchObject({ code: 'not_resumable' })
    expect((await ledger.getRun('r'))?.status).toBe('completed')
    await ledger.close()
  })

  it('P5 what lies before the erased event can still be gone through and forked', async () => {
    const ledger = await openLedger('memory:')
    await greet.start(ledger, { who: 'ann' }, { runId: 'r' })
    const events = await Array.fromAsync(ledger.read('r'))
    const end = events.findLast(({ eventType }) => eventType === 'execution.step_completed')
    await ledger.erase({ eventId: end?.eventId ?? '' })
    await expect(replay(greet, { ledger, runId: 'r' })).rejects.toMatchObject({
      code: 'erased',
      fields: { seq: end?.ledger.seq },
    })
    const branch = await fork(greet, { ledger, runId: 'r', at: { step: 'bye' } })
    expect(branch.output).toEqual({ hello: 'hello ann', bye: 'bye' })
    await ledger.close()
  })

  it('P5 a graph: state and fork say it, and the thread begins anew', async () => {
    const ledger = await openLedger('memory:')
    const graph = new StateGraph({ n: last(0) })
      .addNode('count', ({ n }) => ({ n: n + 1 }))
      .addEdge(START, 'count')
      .addEdge('count', END)
      .compile({ checkpointer: ledger })
    const { runId } = await graph.invoke({ n: 4 }, { threadId: 't' })
    await ledger.erase({ runId })
    const erased = { code: 'erased', fields: { runId } }
    await expect(ledger.getState(runId)).rejects.toMatchObject(erased)
    await expect(fork(graph, { ledger, runId, at: { step: 'count' } })).rejects.toMatchObject(erased)
    expect(await graph.getState({ threadId: 't' })).toBeNull()
    expect((await graph.invoke({ n: 1 }, { threadId: 't' })).state).toEqual({ n: 2 })
    await ledger.close()
  })

  it('P5 a run that waits for an answer must be stopped first', async () => {
    const ledger = await openLedger('memory:')
    await greet.start(ledger, { who: 'wait' }, { runId: 'r', subjects: ['ann'] })
    await expect(ledger.erase({ subject: 'ann' })).rejects.toMatchObject({
      code: 'busy',
      fields: { runId: 'r' },
    })
    const { requestStop } = await import('@clew/runtime')
    await requestStop(ledger, 'r')
    expect((await ledger.erase({ subject: 'ann' })).runs).toBe(1)
    await ledger.close()
  })
})

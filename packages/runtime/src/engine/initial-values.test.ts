import { expect, it } from 'vitest'
import { createMemoryWorld } from '../../test/memory-ledger.ts'
import { append, END, last, replay, START, StateGraph } from '../index.ts'

const graphOf = (mood: string, hasMore = false) =>
  new StateGraph({
    count: last(0),
    mood: last(mood),
    notes: append<string>(['begin']),
    ...(hasMore && { more: last('more') }),
  })
    .addNode('count', ({ count }) => ({ count: count + 1 }))
    .addNode('note', ({ mood: said }) => ({ notes: said }))
    .addEdge(START, 'count')
    .addEdge('count', 'note')
    .addEdge('note', END)

it('L1 R4 what a ledger gives of a state has the initial values of channels that nothing was written to', async () => {
  const ledger = createMemoryWorld().open()
  const graph = graphOf('calm').compile({ name: 'g', checkpointer: ledger })
  await graph.invoke({}, { runId: 'one', threadId: 't' })
  const states = [0, 1, 2].map(async (superstep) => (await ledger.getState('one', { superstep }))?.state)
  expect(await Promise.all(states)).toEqual([
    { count: 0, mood: 'calm', notes: ['begin'] },
    { count: 1, mood: 'calm', notes: ['begin'] },
    { count: 1, mood: 'calm', notes: ['begin', 'calm'] },
  ])
  expect((await ledger.getState('one'))?.versions).toEqual({ count: 1, notes: 1 })
  const changed = graphOf('calm', true).compile({ name: 'g', checkpointer: ledger })
  await changed.invoke({}, { runId: 'two', threadId: 't' })
  expect((await ledger.getState('two'))?.state).toEqual({
    count: 2,
    mood: 'calm',
    notes: ['begin', 'calm', 'calm'],
    more: 'more',
  })
  await graph.fork({ runId: 'one', at: { superstep: 1 }, update: { count: 9 }, newRunId: 'fork' })
  expect((await ledger.getState('fork'))?.state).toEqual({ count: 9, mood: 'calm', notes: ['begin', 'calm'] })
})

it('R5 D2 a run goes on with the initial values that it began with; a replay with others diverges', async () => {
  const ledger = createMemoryWorld().open()
  const compiled = (mood: string) =>
    graphOf(mood).compile({ name: 'g', checkpointer: ledger, interruptBefore: ['note'] })
  await compiled('calm').invoke({}, { runId: 'one', threadId: 't' })
  const { state } = await compiled('wild').resume({ runId: 'one' }, { answer: true })
  expect(state).toEqual({ count: 1, mood: 'calm', notes: ['begin', 'calm'] })
  expect((await replay(compiled('calm'), { ledger, runId: 'one' })).verdict).toBe('identical')
  const { verdict, divergences } = await replay(compiled('wild'), { ledger, runId: 'one' })
  expect([verdict, divergences[0]]).toEqual([
    'diverged',
    expect.objectContaining({ kind: 'input', step: 'count' }),
  ])
})

it('P2 a secret that a channel begins with is not stored, and given to nodes all the same', async () => {
  const ledger = createMemoryWorld().open()
  const token = ['ghp', 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8'].join('_')
  const graph = graphOf(token).compile({ name: 'g', checkpointer: ledger, interruptBefore: ['note'] })
  await graph.invoke({}, { runId: 'one' })
  expect(JSON.stringify(await ledger.getState('one'))).not.toContain(token)
  const { status, state } = await graph.resume({ runId: 'one' }, { answer: true })
  expect([status, state.mood]).toEqual(['completed', token])
})

import type { Ledger } from '@clew/ledger'
import { describe, expect, it } from 'vitest'
import { createMemoryWorld } from '../../test/memory-ledger.ts'
import { END, last, START, StateGraph } from '../index.ts'

const STEPS = 200

/** How many supersteps of plain functions passed within each turn of the event loop. */
async function supersteps(ledger: Ledger | undefined): Promise<{ perTurn: number[]; status: string }> {
  const counts = new Map<number, number>()
  let turn = 0
  let timer = setImmediate(function next() {
    turn++
    timer = setImmediate(next)
  })
  const graph = new StateGraph({ n: last(0) })
    .addNode('inc', ({ n }) => {
      counts.set(turn, (counts.get(turn) ?? 0) + 1)
      return { n: n + 1 }
    })
    .addEdge(START, 'inc')
    .addConditionalEdges('inc', ({ n }) => (n < STEPS ? 'inc' : END), ['inc', END])
    .compile({ checkpointer: ledger, name: 'turns' })
  const { status } = await graph.invoke({ n: 0 })
  clearImmediate(timer)
  return { perTurn: [...counts.values()], status }
}

describe('turns of the event loop', () => {
  it.each([
    ['on a ledger', () => createMemoryWorld().open()],
    ['without one', () => undefined],
  ])('R3 a graph of plain functions takes several supersteps in a turn, and few, %s', async (_, open) => {
    const { perTurn, status } = await supersteps(open())
    expect(status).toBe('completed')
    expect(perTurn.reduce((sum, each) => sum + each, 0)).toBe(STEPS)
    expect(Math.max(...perTurn)).toBeLessThanOrEqual(18)
    expect(perTurn.length).toBeLessThan(STEPS / 2)
  })

  it('R3 whoever stops a loop of plain functions is heard in a few supersteps', async () => {
    const stop = new AbortController()
    let seen = 0
    const graph = new StateGraph({ n: last(0) })
      .addNode('inc', ({ n }) => {
        seen = n
        if (n === 20) setImmediate(() => stop.abort(new Error('enough')))
        return { n: n + 1 }
      })
      .addEdge(START, 'inc')
      .addEdge('inc', 'inc')
      .compile({ name: 'endless', recursionLimit: 5000 })
    const { status } = await graph.invoke({ n: 0 }, { signal: stop.signal })
    expect([status, seen < 60]).toEqual(['stopped', true])
  })
})

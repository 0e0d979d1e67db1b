import type { Ledger } from '@clew/ledger'
import { describe, expect, it } from 'vitest'
import { append, channel, END, last, START, StateGraph } from '../../packages/runtime/src/index.ts'
import { createMemoryWorld } from '../../packages/runtime/test/memory-ledger.ts'
import { liveThrough } from './graph-deaths.ts'
import { flawsOf } from './worlds.ts'

const ROUNDS = 300

/** Long enough for whole states by number of supersteps; with `text`, also by size. */
const make = (text: string) => (ledger: Ledger) =>
  new StateGraph({
    n: last(0),
    list: append<string>(),
    seen: channel<Readonly<Record<string, number>>, number>({
      initial: {},
      merge: (before, n) => ({ ...before, [n % 10]: n }),
    }),
  })
    .addNode('a', ({ n }) => ({ list: `a ${n}${text}`, seen: n }))
    .addNode('b', async ({ n }) => ({ n: n + 1 }))
    .addNode('c', ({ n }) => ({ list: [`c ${n}`] }))
    .addEdge(START, 'a')
    .addEdge(START, 'b')
    .addEdge(['a', 'b'], 'c')
    .addConditionalEdges('c', ({ n }) => (n < ROUNDS ? ['a', 'b'] : END), ['a', 'b', END])
    .compile({ name: 'long', checkpointer: ledger, recursionLimit: 10_000 })

describe.each([
  ['small', ''],
  ['large', 'x'.repeat(300)],
])('R5 a run of %s steps, long enough for whole states in between', (_, text) => {
  const input = {}

  it('R5 killed around every whole state, comes to the same end; every superstep can be looked at', async () => {
    const told: unknown[] = []
    const ledger = createMemoryWorld().open()
    const stream = make(text)(ledger).stream(input, { runId: 'r', mode: 'values' })
    for await (const state of stream) told.push(state)
    const whole: number[] = []
    const appends = (await ledger.getRun('r'))?.events ?? 0
    for await (const { ledger: place, payload } of ledger.read('r', {
      types: ['execution.step_completed'],
    })) {
      const checkpoint = payload['checkpoint'] as { state?: unknown } | undefined
      if (checkpoint?.state !== undefined) whole.push(place.seq)
    }
    expect(whole.length).toBeGreaterThan(1)
    for (const superstep of [0, 1, 2, 255, 256, 257, 511, 512, 599, 600]) {
      const { state } = (await ledger.getState('r', { superstep })) ?? {}
      expect([superstep, { seen: {}, list: [], n: 0, ...state }]).toEqual([superstep, told[superstep]])
    }
    const straight = await ledger.getState('r')
    const count = (await liveThrough(make(text), { runId: 'r', input }, [])).appends
    const kills = whole
      .slice(0, 6)
      .map((seq) => ({ append: Math.round((seq / appends) * count), committed: true }))
    for (const kill of [...kills, { append: count - 2, committed: true }]) {
      const lived = await liveThrough(make(text), { runId: 'r', input }, [
        kill,
        { append: 30, committed: false },
      ])
      const { state, versions, superstep } = (await lived.ledger.getState('r')) ?? {}
      expect([superstep, versions, state]).toEqual([straight?.superstep, straight?.versions, straight?.state])
      expect(await flawsOf(lived.ledger, 'r')).toEqual([])
    }
  })
})

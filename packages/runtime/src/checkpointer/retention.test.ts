import type { RunStatus } from '@clew/ledger'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createMemoryWorld } from '../../test/memory-ledger.ts'
import { append, interrupt, last, START, StateGraph } from '../index.ts'
import type { Checkpoint, Checkpointer, Retention } from './checkpoint.ts'
import { MemorySaver } from './memory-saver.ts'
import { surplus } from './retention.ts'

const createMap = (): Checkpointer & { readonly all: Map<string, Checkpoint> } => {
  const all = new Map<string, Checkpoint>()
  return {
    all,
    put: async (checkpoint) => void all.set(checkpoint.id, checkpoint),
    get: async ({ threadId, checkpointId }) =>
      [...all.values()].findLast(
        (each) => each.threadId === threadId && (checkpointId ?? each.id) === each.id,
      ) ?? null,
    list: async ({ threadId }) => [...all.values()].filter((each) => each.threadId === threadId),
    delete: async (checkpointId) => void all.delete(checkpointId),
  }
}

const chain = () =>
  new StateGraph({ seen: append<string>() })
    .addNode('a', () => ({ seen: 'a' }))
    .addNode('ask', async () => ({ seen: await interrupt<string>('?') }))
    .addNode('c', () => ({ seen: 'c' }))
    .addEdge(START, 'a')
    .addEdge('a', 'ask')
    .addEdge('ask', 'c')

describe('R10 retention', () => {
  it('R10 keeps the newest of a thread and what runs that have not ended stand on, whatever the policy', () => {
    const place = fc.record({ run: fc.nat(4), ageMs: fc.nat(1000) })
    const statuses = fc.array(
      fc.constantFrom<RunStatus>('completed', 'failed', 'paused', 'running', 'pending'),
      {
        minLength: 5,
        maxLength: 5,
      },
    )
    const retention: fc.Arbitrary<Retention> = fc.record({
      keep: fc.constantFrom('full', 'latest', 'windowed'),
      window: fc.integer({ min: 1, max: 6 }),
      ttlMs: fc.option(fc.integer({ min: 1, max: 1000 }), { nil: undefined }),
    })
    fc.assert(
      fc.property(fc.array(place, { maxLength: 20 }), statuses, retention, (places, given, policy) => {
        const nowMs = 1_000_000
        const known = places.map(({ run, ageMs }, i) => ({
          id: `c${i}`,
          runId: `r${run}`,
          createdAt: new Date(nowMs - ageMs).toISOString(),
        }))
        const status = new Map(given.map((each, i) => [`r${i}`, each]))
        const gone = new Set(surplus(known, status, policy, nowMs).map(({ id }) => id))
        const left = known.filter(({ id }) => !gone.has(id))
        if (known.length > 0) expect(left.at(-1)).toBe(known.at(-1))
        for (const [runId, each] of status) {
          const newest = known.findLast((checkpoint) => checkpoint.runId === runId)
          if (newest && ['paused', 'running', 'pending'].includes(each))
            expect(gone.has(newest.id)).toBe(false)
        }
        if (policy.keep === 'full' && policy.ttlMs === undefined) expect(gone.size).toBe(0)
        const most = policy.keep === 'latest' ? 1 : (policy.window ?? 1)
        if (policy.keep !== 'full') expect(left.length).toBeLessThanOrEqual(most + status.size)
        // What is left is not thinned out again.
        expect(surplus(left, status, policy, nowMs)).toEqual([])
      }),
    )
  })

  it('R10 latest and windowed are enforced while a graph runs, and it still pauses, resumes and takes turns', async () => {
    for (const [retention, most] of [
      [{ keep: 'latest' }, 1],
      [{ keep: 'windowed', window: 3 }, 3],
    ] as const) {
      const checkpointer = createMap()
      const graph = chain().compile({ checkpointer, retention })
      expect((await graph.invoke({}, { threadId: 't' })).status).toBe('paused')
      expect(checkpointer.all.size).toBeLessThanOrEqual(most)
      expect((await graph.resume({ threadId: 't' }, { answer: 'yes' })).state.seen).toEqual(['a', 'yes', 'c'])
      await graph.invoke({}, { threadId: 't' })
      expect((await graph.resume({ threadId: 't' }, { answer: 'no' })).state.seen).toHaveLength(6)
      expect(checkpointer.all.size).toBe(most)
    }
  })

  it('R10 a paused run keeps its checkpoint while a fork of it goes on', async () => {
    const checkpointer = createMap()
    const graph = chain().compile({ checkpointer, retention: { keep: 'latest' } })
    const paused = await graph.invoke({}, { threadId: 't' })
    await graph.fork({ runId: paused.runId, update: { seen: 'forked' } })
    expect(new Set([...checkpointer.all.values()].map(({ runId }) => runId)).size).toBe(2)
  })

  it('R10 ttl deletes what is older, on the next put of the thread', async () => {
    const invoke = (checkpointer: Checkpointer) =>
      new StateGraph({ n: last(0) })
        .addNode('a', () => ({ n: 1 }))
        .addEdge(START, 'a')
        .compile({ checkpointer, retention: { ttlMs: 3_600_000 } })
        .invoke({}, { threadId: 't' })
    const fresh = createMap()
    await invoke(fresh)
    expect(fresh.all.size).toBe(2)
    const aged = createMap()
    const createdAt = new Date(Date.now() - 3_600_001).toISOString()
    for (const checkpoint of fresh.all.values()) await aged.put({ ...checkpoint, createdAt })
    await invoke(aged)
    expect(aged.all.size).toBe(2)
    expect([...aged.all.keys()].filter((id) => fresh.all.has(id))).toEqual([])
  })

  it('R10 MemorySaver with a retention gives memory back', async () => {
    const saver = new MemorySaver({ retention: { keep: 'windowed', window: 2 } })
    const graph = chain().compile({ checkpointer: saver })
    await graph.invoke({}, { threadId: 't' })
    const { state } = await graph.resume({ threadId: 't' }, { answer: 'yes' })
    expect(state.seen).toEqual(['a', 'yes', 'c'])
    expect((await Array.fromAsync(saver.list({ threadId: 't' }))).map(({ superstep }) => superstep)).toEqual([
      2, 3,
    ])
    expect((await saver.get({ threadId: 't' }))?.state).toEqual({ seen: ['a', 'yes', 'c'] })
  })

  it('R10 what cannot delete refuses a policy that would need it, and says so', () => {
    const graph = chain()
    const retention = { keep: 'latest' } as const
    const { delete: _none, ...own } = createMap()
    expect(() => graph.compile({ checkpointer: own, retention })).toThrow(/does not delete/)
    const saver = new MemorySaver({ retention })
    expect(() => graph.compile({ checkpointer: saver, retention })).toThrow(/of its own/)
    for (const checkpointer of [createMemoryWorld().open(), new MemorySaver(), own])
      expect(() => graph.compile({ checkpointer, retention: { keep: 'full' } })).not.toThrow()
  })

  it('R10 a policy that says nothing sensible is refused', () => {
    const compile = (retention: Retention) => () => chain().compile({ checkpointer: createMap(), retention })
    expect(compile({ keep: 'windowed' })).toThrow(/no window/)
    expect(compile({ keep: 'windowed', window: 0 })).toThrow(/no window/)
    expect(compile({ keep: 'latest', window: 3 })).toThrow(/has no window/)
    expect(compile({ ttlMs: -1 })).toThrow(/ttlMs/)
    expect(compile({ keep: 'some' as never })).toThrow(/keeps neither/)
  })
})

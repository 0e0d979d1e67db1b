import { describe, expect, it } from 'vitest'
import { END, fork, last, lineage, retry, START, StateGraph, toLedger } from '../src/index.ts'
import { codeOf, diamond, line, type Travel } from './travel-world.ts'

/** What forks and retries have to do (R7). */
export function describeForks(travel: Travel): void {
  const { kept, ran } = travel

  describe('R7 forks', () => {
    it('R7 at a superstep, a step, a step id, a checkpoint: the fork goes on there and the source is untouched', async () => {
      const checkpointer = await travel.world.open()
      const graph = line(travel.counted).compile({ checkpointer })
      const { runId } = await graph.invoke({ n: 1 }, { threadId: 't' })
      const before = await graph.getStateHistory({ runId }).toArray()
      const checkpointId = before[1]?.checkpointId as string
      for (const at of [{ superstep: 1 }, { step: 'b' }, { step: 'b@s2' }, { checkpointId }]) {
        travel.counted.ran.length = 0
        const forked = await fork(graph, { runId, at, state: { n: 4 } })
        expect([forked.status, forked.state.n, ran()]).toEqual(['completed', 43, 'b c'])
        expect(forked.forkedFrom).toMatchObject({ runId, superstep: 1, checkpointId })
        expect(forked.warnings).toEqual([])
      }
      expect(await graph.getStateHistory({ runId }).toArray()).toEqual(before)
    })

    it('R7 the first occurrence of a name is meant, an id says which', async () => {
      const loop = new StateGraph({ n: last(0) })
        .addNode('inc', (state) => ({ n: state.n + 1 }))
        .addEdge(START, 'inc')
        .addConditionalEdges('inc', (state) => (state.n < 4 ? 'inc' : END), ['inc', END])
        .compile(await kept())
      const { runId } = await loop.invoke({ n: 0 }, { threadId: 't' })
      expect((await loop.fork({ runId, at: { step: 'inc' }, run: false })).state.n).toBe(0)
      expect((await loop.fork({ runId, at: { step: 'inc@s3' }, run: false })).state.n).toBe(2)
    })

    it('R7 sets channels with state, merges by their rules with update', async () => {
      const graph = line(travel.counted).compile(await kept())
      const { runId } = await graph.invoke({ n: 1 }, { threadId: 't' })
      const at = { superstep: 2 }
      const set = await graph.fork({ runId, at, state: { seen: ['only'] }, run: false })
      const merged = await graph.fork({ runId, at, update: { seen: ['more'] }, run: false })
      expect(set.state.seen).toEqual(['only'])
      expect(merged.state.seen).toEqual(['a', 'b', 'more'])
    })

    it('R7 that is left pending is the newest run of its thread, and invoke(null) goes on with it', async () => {
      const graph = line(travel.counted).compile(await kept())
      const { runId } = await graph.invoke({ n: 1 }, { threadId: 't' })
      const forked = await graph.fork({ runId, at: { superstep: 2 }, newRunId: 'mine', run: false })
      expect([forked.runId, forked.status]).toEqual(['mine', 'pending'])
      const result = await line(travel.counted)
        .compile(await kept())
        .invoke(null, { threadId: 't' })
      expect([result.runId, result.state.n, ran()]).toEqual(['mine', 23, 'a b c c'])
    })

    it('R7 interrupts keep working after a fork', async () => {
      const options = { ...(await kept()), interruptBefore: ['c'] }
      const graph = line(travel.counted).compile(options)
      const { runId } = await graph.invoke({ n: 1 }, { threadId: 't' })
      const forked = await graph.fork({ runId, at: { superstep: 1 } })
      expect([forked.status, forked.pause?.question]).toMatchObject([
        'paused',
        { interrupt: 'before', nodes: ['c'] },
      ])
      expect((await graph.invoke(null, { threadId: 't' })).status).toBe('completed')
    })

    it('R7 a fork of a fork, and turns after a fork, go on from it', async () => {
      const graph = line(travel.counted).compile(await kept())
      const { runId } = await graph.invoke({ n: 1 }, { threadId: 't' })
      const one = await graph.fork({ runId, at: { superstep: 1 }, state: { n: 5 } })
      const two = await graph.fork({ runId: one.runId, at: { superstep: 3 }, state: { n: 7 } })
      expect([one.state.n, two.state.n]).toEqual([53, 10])
      const { state } = await line(travel.counted)
        .compile(await kept())
        .invoke({ n: 1 }, { threadId: 't' })
      expect(state.seen).toEqual(['a', 'b', 'c', 'a', 'b', 'c'])
    })

    it('R7 a step, superstep or checkpoint that is not there, a run id that is taken: a clear error', async () => {
      const graph = line(travel.counted).compile(await kept())
      const { runId } = await graph.invoke({ n: 1 }, { threadId: 't' })
      for (const at of [
        { superstep: 9 },
        { superstep: -1 },
        { step: 'nobody' },
        { step: 'b@s9' },
        { checkpointId: 'x' },
      ])
        expect(await codeOf(graph.fork({ runId, at }))).toBe('not_found')
      expect(await codeOf(graph.fork({ runId: 'nobody' }))).toBe('not_found')
      expect(await codeOf(graph.fork({ runId, newRunId: runId, at: { superstep: 1 } }))).toBe('conflict')
      expect(await codeOf(graph.fork({ runId, newRunId: 'with/slash' }))).toBe('bad_option')
      expect(await graph.getStateHistory({ threadId: 't' }).toArray()).toHaveLength(4)
    })

    it('R7 retry goes on at the superstep that failed and keeps what siblings had completed', async () => {
      travel.counted.fails = true
      const failed = await diamond(travel.counted)
        .compile(await kept())
        .invoke({}, { threadId: 't' })
      expect([failed.status, ran()]).toEqual(['failed', 'begin left right'])
      travel.counted.fails = false
      travel.counted.ran.length = 0
      const graph = diamond(travel.counted).compile(await kept())
      const again = await retry(graph, { runId: failed.runId, threadId: 't' })
      expect([again.status, again.state.seen]).toEqual(['completed', ['begin', 'left', 'right', 'end']])
      expect(ran()).toBe('right end')
      expect(again.runId).not.toBe(failed.runId)
      expect(await codeOf(graph.retry({ runId: again.runId }))).toBe('not_resumable')
    })

    it('R7 lineage shows turns, forks, retries and children', async () => {
      const checkpointer = await travel.world.open()
      travel.counted.fails = true
      const failed = await diamond(travel.counted).compile({ checkpointer }).invoke({}, { threadId: 't' })
      travel.counted.fails = false
      const graph = diamond(travel.counted).compile({ checkpointer })
      const again = await graph.retry({ runId: failed.runId })
      const turn = await graph.invoke({}, { threadId: 't' })
      const forked = await graph.fork({ runId: turn.runId, at: { superstep: 1 } })
      const { runs, threadId } = await lineage(toLedger(checkpointer), turn.runId)
      expect(threadId).toBe('t')
      expect(
        runs.map(({ runId, kind, from }) => [runId, kind, from?.runId ?? null, from?.superstep ?? null]),
      ).toEqual([
        [failed.runId, 'start', null, null],
        [again.runId, 'retry', failed.runId, 1],
        [turn.runId, 'turn', again.runId, null],
        [forked.runId, 'fork', turn.runId, 1],
      ])
    })
  })
}

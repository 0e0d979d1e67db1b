import type { Ledger } from '@clew/ledger'
import { beforeEach, describe, expect, it } from 'vitest'
import { type Checkpointer, last, START, StateGraph } from '../src/index.ts'
import { asking, codeOf, line, type Travel } from './travel-world.ts'

/** What `updateState` has to do (R4). */
export function describeUpdates(travel: Travel): void {
  const { kept, ran } = travel

  describe('R4 updateState', () => {
    it('R4 changes the state of a waiting run in place, and it goes on with that', async () => {
      const graph = line(travel.counted).compile({ ...(await kept()), interruptBefore: ['b'] })
      const { runId } = await graph.invoke({ n: 1 }, { threadId: 't' })
      const updated = await graph.updateState({ threadId: 't' }, { n: 50, seen: 'edited' }, { by: 'ann' })
      expect(updated).toMatchObject({ runId, superstep: 2, next: ['b'], isFork: false })
      const { status, state } = await graph.invoke(null, { threadId: 't' })
      expect([status, state.n, state.seen]).toEqual(['completed', 503, ['a', 'edited', 'b', 'c']])
      expect(ran()).toBe('a b c')
    })

    it('R4 on an old checkpoint it makes a fork that goes on from there: neither lost nor without what is next', async () => {
      const graph = line(travel.counted).compile(await kept())
      const { runId } = await graph.invoke({ n: 1 }, { threadId: 't' })
      const old = await graph.getState({ threadId: 't' }, { superstep: 1 })
      const updated = await graph.updateState(
        { threadId: 't' },
        { n: 100 },
        { checkpointId: old?.checkpointId },
      )
      expect(updated).toMatchObject({ superstep: 2, next: ['b'], isFork: true })
      expect(updated.runId).not.toBe(runId)
      expect(await graph.getState({ threadId: 't' })).toMatchObject({
        state: { n: 100, seen: ['a'] },
        next: ['b'],
      })
      const { status, state } = await line(travel.counted)
        .compile(await kept())
        .invoke(null, { threadId: 't' })
      expect([status, state.n, state.seen]).toEqual(['completed', 1003, ['a', 'b', 'c']])
      expect(ran()).toBe('a b c b c')
    })

    it('R4 of an older turn it makes a fork of that turn', async () => {
      const graph = line(travel.counted).compile(await kept())
      const first = await graph.invoke({ n: 1 }, { threadId: 't' })
      await graph.invoke({ n: 2 }, { threadId: 't' })
      const old = (await graph.getStateHistory({ runId: first.runId }).toArray())[2]
      await graph.updateState({ threadId: 't' }, { n: 0 }, { checkpointId: old?.checkpointId })
      const { state } = await graph.invoke(null, { threadId: 't' })
      expect([state.n, state.seen]).toEqual([3, ['a', 'b', 'c']])
    })

    it('R4 of a run that is over, with nothing to run after it, lets the next turn begin with it', async () => {
      const graph = line(travel.counted).compile(await kept())
      await graph.invoke({ n: 1 }, { threadId: 't' })
      expect(await graph.updateState({ threadId: 't' }, { seen: 'late' })).toMatchObject({
        next: [],
        isFork: true,
      })
      expect(await codeOf(graph.invoke(null, { threadId: 't' }))).toBe('not_resumable')
      const { state } = await graph.invoke({ n: 2 }, { threadId: 't' })
      expect(state.seen).toEqual(['a', 'b', 'c', 'late', 'a', 'b', 'c'])
    })

    it('R4 asNode: what follows is what would follow that node', async () => {
      const graph = line(travel.counted).compile(await kept())
      await graph.invoke({ n: 1 }, { threadId: 't' })
      const updated = await graph.updateState({ threadId: 't' }, { n: 9 }, { asNode: 'b' })
      expect(updated.next).toEqual(['c'])
      const { state } = await graph.invoke(null, { threadId: 't' })
      expect([state.n, ran()]).toEqual([12, 'a b c c'])
    })

    it('R4 asNode decides by the conditional edges of that node, on the updated state', async () => {
      const graph = new StateGraph({ way: last('') })
        .addNode('choose', () => ({ way: 'left' }))
        .addNode('left', () => ({}))
        .addNode('right', () => ({}))
        .addEdge(START, 'choose')
        .addConditionalEdges('choose', (state) => (state.way === 'left' ? 'left' : 'right'), [
          'left',
          'right',
        ])
        .compile(await kept())
      await graph.invoke({}, { threadId: 't' })
      expect(
        (await graph.updateState({ threadId: 't' }, { way: 'other' }, { asNode: 'choose' })).next,
      ).toEqual(['right'])
    })

    it('R4 asNode in place of a node that waits ends its superstep with what siblings have completed', async () => {
      const graph = asking(travel.counted).compile(await kept())
      await graph.invoke({}, { threadId: 't' })
      const updated = await graph.updateState({ threadId: 't' }, { seen: 'mine' }, { asNode: 'ask' })
      expect(updated.next).toEqual(['then'])
      const { status, state } = await asking(travel.counted)
        .compile(await kept())
        .invoke(null, { threadId: 't' })
      expect([status, state.seen]).toEqual(['completed', ['first', 'mine', 'beside', 'then']])
      expect(ran()).toBe('first ask beside then')
    })

    it('R4 an update beside an open question keeps what siblings have completed, and the question is asked again', async () => {
      const graph = asking(travel.counted).compile(await kept())
      await graph.invoke({}, { threadId: 't' })
      await graph.updateState({ threadId: 't' }, { seen: 'edited' })
      const again = asking(travel.counted).compile(await kept())
      expect((await again.invoke(null, { threadId: 't' })).status).toBe('paused')
      const { state } = await again.resume({ threadId: 't' }, { answer: 'now' })
      expect([state.seen, state.n]).toEqual([['first', 'edited', 'now', 'beside', 'then'], 5])
      expect(travel.counted.ran.filter((each) => each === 'beside')).toHaveLength(1)
    })

    it('R4 unknown channel, node, thread or checkpoint, a running run: a clear error, and nothing is changed', async () => {
      const graph = line(travel.counted).compile({ ...(await kept()), interruptBefore: ['b'] })
      await graph.invoke({ n: 1 }, { threadId: 't' })
      const before = await graph.getStateHistory({ threadId: 't' }).toArray()
      const place = { threadId: 't' }
      expect(await codeOf(graph.updateState(place, { nothing: 1 } as never))).toBe('bad_write')
      expect(await codeOf(graph.updateState(place, { n: 1 }, { asNode: 'nobody' }))).toBe('bad_option')
      expect(await codeOf(graph.updateState({ threadId: 'nobody' }, { n: 1 }))).toBe('not_found')
      expect(await codeOf(graph.updateState(place, { n: 1 }, { checkpointId: 'nothing' }))).toBe('not_found')
      expect(await codeOf(graph.updateState(place, { n: 1 }, { checkpointId: 'x', superstep: 1 }))).toBe(
        'bad_option',
      )
      expect(await graph.getStateHistory({ threadId: 't' }).toArray()).toEqual(before)

      let inside = ''
      const busy = new StateGraph({ n: last(0) })
        .addNode('work', async () => {
          inside = await codeOf(busy.updateState({ threadId: 'busy' }, { n: 1 }))
          return { n: 2 }
        })
        .addEdge(START, 'work')
        .compile({ checkpointer: graphKept })
      expect((await busy.invoke({}, { threadId: 'busy' })).state.n).toBe(2)
      expect(inside).toBe('busy')
    })

    let graphKept: Ledger | Checkpointer
    beforeEach(async () => {
      graphKept = await travel.world.open()
    })
  })
}

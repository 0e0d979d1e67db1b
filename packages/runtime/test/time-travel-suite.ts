import { describe, expect, it } from 'vitest'
import { append, interrupt, last, Message, messages, START, StateGraph } from '../src/index.ts'
import { asking, codeOf, createTravel, line, short, type TravelWorld } from './travel-world.ts'
import { describeForks } from './fork-suite.ts'
import { describeUpdates } from './update-state-suite.ts'

/** What every checkpointer has to do (R4, R7), whoever wrote it. */
export function describeTimeTravel(name: string, create: () => Promise<TravelWorld>): void {
  describe(name, () => {
    const travel = createTravel(create)
    const { kept, ran } = travel

    describe('R4 looking back', () => {
      it('R4 the state at each superstep, with what runs next', async () => {
        const graph = line(travel.counted).compile(await kept())
        const { runId } = await graph.invoke({ n: 1 }, { threadId: 't' })
        const found = []
        for (const superstep of [0, 1, 2, 3]) {
          const view = await graph.getState({ threadId: 't' }, { superstep })
          found.push([
            view?.superstep,
            view?.state.n,
            view?.state.seen.join(''),
            view?.next.join(),
            view?.runId,
          ])
        }
        expect(found).toEqual([
          [0, 1, '', 'a', runId],
          [1, 2, 'a', 'b', runId],
          [2, 20, 'ab', 'c', runId],
          [3, 23, 'abc', '', runId],
        ])
        expect(await codeOf(graph.getState({ threadId: 't' }, { superstep: 4 }))).toBe('not_found')
        expect(await graph.getState({ threadId: 't' })).toMatchObject({ superstep: 3, pauses: [] })
      })

      it('R4 an unknown thread, run or checkpoint is null or empty, not an error', async () => {
        const graph = line(travel.counted).compile(await kept())
        expect(await graph.getState({ threadId: 'nobody' })).toBeNull()
        expect(await graph.getState({ runId: 'nobody' })).toBeNull()
        expect(await graph.getStateHistory({ threadId: 'nobody' }).toArray()).toEqual([])
        expect(await graph.getStateHistory({ runId: 'nobody' }).toArray()).toEqual([])
        expect(await graph.getCheckpoint('01a1df47-9952-8001-8bbf-06eccbb00ed2')).toBeNull()
        expect(await graph.getCheckpoint('nothing')).toBeNull()
        await graph.invoke({ n: 1 }, { threadId: 't' })
        expect(await graph.getState({ threadId: 't' }, { checkpointId: 'nothing' })).toBeNull()
      })

      it('R4 a state cannot be changed by who reads it', async () => {
        const graph = line(travel.counted).compile(await kept())
        await graph.invoke({ n: 1 }, { threadId: 't' })
        for await (const view of graph.getStateHistory({ threadId: 't' }))
          expect(() => (view.state.seen as string[]).push('mine')).toThrow()
        const seen = (await graph.getState({ threadId: 't' }))?.state.seen as string[]
        expect(() => seen.push('mine')).toThrow()
      })

      it('R4 a checkpoint of another thread is not one of this thread', async () => {
        const graph = line(travel.counted).compile(await kept())
        await graph.invoke({ n: 1 }, { threadId: 't' })
        await graph.invoke({ n: 1 }, { threadId: 'u' })
        const other = await graph.getState({ threadId: 'u' })
        expect(await graph.getState({ threadId: 't' }, { checkpointId: other?.checkpointId })).toBeNull()
      })

      it('R4 open questions are at the checkpoint where the run waits, and only there', async () => {
        const graph = asking(travel.counted).compile(await kept())
        await graph.invoke({}, { threadId: 't' })
        const all = await graph.getStateHistory({ threadId: 't' }).toArray()
        expect(all.map(({ pauses }) => pauses.length)).toEqual([0, 1])
        expect((await graph.getState({ threadId: 't' }))?.pauses).toMatchObject([
          { question: { question: 'What?' } },
        ])
      })

      it('R4 channels that nobody wrote to have their first value, versions count productions', async () => {
        const graph = line(travel.counted).compile(await kept())
        await graph.invoke({ n: 1 }, { threadId: 't' })
        expect(await graph.getState({ threadId: 't' }, { superstep: 0 })).toMatchObject({
          state: { n: 1, seen: [] },
          versions: { n: 1 },
        })
        expect((await graph.getState({ threadId: 't' }))?.versions).toEqual({ n: 4, seen: 3 })
      })
    })

    describe('R4 history', () => {
      it('R4 goes from oldest to newest over all turns, each with state and next, and every checkpoint has a parent', async () => {
        const graph = line(travel.counted).compile(await kept())
        await graph.invoke({ n: 1 }, { threadId: 't' })
        await line(travel.counted)
          .compile(await kept())
          .invoke({ n: 2 }, { threadId: 't' })
        const all = await line(travel.counted)
          .compile(await kept())
          .getStateHistory({ threadId: 't' })
          .toArray()
        expect(all.map(short)).toEqual([
          [0, 1, 'a'],
          [1, 2, 'b'],
          [2, 20, 'c'],
          [3, 23, ''],
          [0, 2, 'a'],
          [1, 3, 'b'],
          [2, 30, 'c'],
          [3, 33, ''],
        ])
        expect(all.map(({ parentId }) => parentId)).toEqual([
          null,
          ...all.slice(0, -1).map((each) => each.checkpointId),
        ])
        expect(new Set(all.map(({ runId }) => runId)).size).toBe(2)
      })

      it('R4 history of a forked thread is a tree, not a list ordered by time stamps', async () => {
        const graph = line(travel.counted).compile(await kept())
        const source = await graph.invoke({ n: 1 }, { threadId: 't' })
        const forked = await graph.fork({ runId: source.runId, at: { superstep: 1 }, update: { n: 5 } })
        const all = await graph.getStateHistory({ threadId: 't' }).toArray()
        const own = all.filter(({ runId }) => runId === forked.runId)
        const at = (superstep: number) =>
          all.find((each) => each.superstep === superstep && each.runId === source.runId)
        expect(own.map(short)).toEqual([
          [2, 5, 'b'],
          [3, 50, 'c'],
          [4, 53, ''],
        ])
        // What the fork shares is there once, and its first own checkpoint hangs on it.
        expect(all).toHaveLength(7)
        expect(own[0]?.parentId).toBe(at(1)?.checkpointId)
        expect(at(2)?.parentId).toBe(at(1)?.checkpointId)
      })

      it('R4 each checkpoint can be asked for by its id, with its parent', async () => {
        const graph = line(travel.counted).compile(await kept())
        await graph.invoke({ n: 1 }, { threadId: 't' })
        await graph.invoke({ n: 2 }, { threadId: 't' })
        for await (const each of graph.getStateHistory({ threadId: 't' })) {
          const { checkpointId } = each
          const view = await graph.getState({ threadId: 't' }, { checkpointId })
          expect(view).toEqual({ ...view, state: each.state, superstep: each.superstep, runId: each.runId })
          if (travel.world.hasEvents) expect(await graph.getCheckpoint(checkpointId)).toEqual(each)
        }
      })

      it('R4 history of a run is what that run wrote', async () => {
        const graph = line(travel.counted).compile(await kept())
        const { runId } = await graph.invoke({ n: 1 }, { threadId: 't' })
        await graph.invoke({ n: 2 }, { threadId: 't' })
        expect(await graph.getStateHistory({ runId }).toArray()).toHaveLength(4)
      })
    })

    describe('R5 turns', () => {
      it('R5 after a run ended, the next invocation on the thread starts a new turn with the new input merged in', async () => {
        const talk = new StateGraph({ talk: messages(), turns: last(0) })
          .addNode('answer', (state) => ({
            talk: Message.ai(`answer ${state.turns}`),
            turns: state.turns + 1,
          }))
          .addEdge(START, 'answer')
        for (const n of [0, 1, 2]) {
          const graph = talk.compile(await kept())
          const { status, state } = await graph.invoke(
            { talk: Message.human(`question ${n}`) },
            { threadId: 't' },
          )
          expect([status, state.turns, state.talk.length]).toEqual(['completed', n + 1, 2 * n + 2])
        }
        const { state } = (await talk.compile(await kept()).getState({ threadId: 't' })) as never as {
          state: { talk: { content: string }[] }
        }
        expect(state.talk.map(({ content }) => content)).toEqual([
          'question 0',
          'answer 0',
          'question 1',
          'answer 1',
          'question 2',
          'answer 2',
        ])
      })

      it('R5 new input on an unfinished thread is refused, not dropped', async () => {
        const graph = asking(travel.counted).compile(await kept())
        await graph.invoke({}, { threadId: 't' })
        expect(await codeOf(graph.invoke({ n: 3 }, { threadId: 't' }))).toBe('unfinished')
      })
    })

    describe('R6 pauses', () => {
      it('R6 a programmatic interrupt resumes in the node, in another process, with what siblings wrote kept', async () => {
        const paused = await asking(travel.counted)
          .compile(await kept())
          .invoke({}, { threadId: 't' })
        expect(paused.status).toBe('paused')
        expect(ran()).toBe('first ask beside')
        const { status, state } = await asking(travel.counted)
          .compile(await kept())
          .resume({ threadId: 't' }, { answer: 'this' })
        expect([status, state.seen]).toEqual(['completed', ['first', 'this', 'beside', 'then']])
        // The body of the node is gone through again up to its question; nothing else is.
        expect(ran()).toBe('first ask beside ask then')
      })

      it('R6 questions of one node, one after the other, are each answered in another process', async () => {
        const open = async () =>
          new StateGraph({ seen: append<string>() })
            .addNode('ask', async (_state, run) => {
              const answers: string[] = []
              for (const question of ['One?', 'Two?', 'Three?']) {
                answers.push(await interrupt<string>(question))
                await run.effect('note', { question }, () => travel.counted.ran.push(question))
              }
              return { seen: answers }
            })
            .addEdge(START, 'ask')
            .compile(await kept())
        await (await open()).invoke({}, { threadId: 't' })
        for (const answer of ['1', '2'])
          expect((await (await open()).resume({ threadId: 't' }, { answer })).status).toBe('paused')
        expect((await (await open()).resume({ threadId: 't' }, { answer: '3' })).state.seen).toEqual([
          '1',
          '2',
          '3',
        ])
        expect(ran()).toBe('One? Two? Three?')
      })

      it('R6 interruptBefore does not fire again for the very node that is being resumed', async () => {
        const options = { ...(await kept()), interruptBefore: ['b'] }
        const first = await line(travel.counted).compile(options).invoke({ n: 1 }, { threadId: 't' })
        expect([first.status, ran()]).toEqual(['paused', 'a'])
        const again = { ...(await kept()), interruptBefore: ['b'] }
        expect((await line(travel.counted).compile(again).invoke(null, { threadId: 't' })).status).toBe(
          'completed',
        )
        expect(ran()).toBe('a b c')
      })

      it('R6 interruptAfter waits once, also across processes', async () => {
        const options = { ...(await kept()), interruptAfter: ['a'] }
        const first = await line(travel.counted).compile(options).invoke({ n: 1 }, { threadId: 't' })
        expect([first.status, ran()]).toEqual(['paused', 'a'])
        const again = { ...(await kept()), interruptAfter: ['a'] }
        expect((await line(travel.counted).compile(again).invoke(null, { threadId: 't' })).status).toBe(
          'completed',
        )
        expect(ran()).toBe('a b c')
      })

      it('R6 a question inside a sub-graph is answered in its very call, in another process', async () => {
        const outer = async () =>
          new StateGraph({ n: last(0), seen: append<string>() })
            .addNode('inner', asking(travel.counted).compile({ name: 'inner' }))
            .addNode('after', () => ({ seen: 'after' }))
            .addEdge(START, 'inner')
            .addEdge('inner', 'after')
            .compile({ ...(await kept()), name: 'outer' })
        expect((await (await outer()).invoke({}, { threadId: 't' })).status).toBe('paused')
        const { status, state } = await (await outer()).resume({ threadId: 't' }, { answer: 'deep' })
        expect([status, state.seen]).toEqual(['completed', ['first', 'deep', 'beside', 'then', 'after']])
        expect(ran()).toBe('first ask beside ask then')
      })
    })

    describeUpdates(travel)
    describeForks(travel)
  })
}

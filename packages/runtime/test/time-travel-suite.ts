import { ClewError, type Ledger } from '@clew/ledger'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  append,
  type Checkpointer,
  type CheckpointView,
  END,
  fork,
  interrupt,
  last,
  lineage,
  Message,
  messages,
  retry,
  START,
  StateGraph,
  toLedger,
} from '../src/index.ts'

export interface TravelWorld {
  /** Where graphs keep their runs; each call as another process would open it. */
  open(): Promise<Ledger | Checkpointer>
  dispose(): Promise<void>
  /** It keeps events, not only checkpoints. */
  readonly hasEvents: boolean
}

export const codeOf = async (work: Promise<unknown>): Promise<string> => {
  try {
    await work
    return 'nothing'
  } catch (error) {
    return error instanceof ClewError ? error.code : String(error)
  }
}

/** Counts what really ran, whatever the record says. */
interface Counted {
  readonly ran: string[]
  fails: boolean
}

const line = ({ ran }: Counted) =>
  new StateGraph({ n: last(0), seen: append<string>() })
    .addNode('a', (state) => {
      ran.push('a')
      return { n: state.n + 1, seen: 'a' }
    })
    .addNode('b', (state) => {
      ran.push('b')
      return { n: state.n * 10, seen: 'b' }
    })
    .addNode('c', (state) => {
      ran.push('c')
      return { n: state.n + 3, seen: 'c' }
    })
    .addEdge(START, 'a')
    .addEdge('a', 'b')
    .addEdge('b', 'c')
    .addEdge('c', END)

/** Two beside each other, then one that waits for both. */
const diamond = (counted: Counted) =>
  new StateGraph({ n: last(0), seen: append<string>() })
    .addNode('begin', () => {
      counted.ran.push('begin')
      return { seen: 'begin' }
    })
    .addNode('left', () => {
      counted.ran.push('left')
      return { seen: 'left' }
    })
    .addNode('right', async (_state, run) => {
      counted.ran.push('right')
      await run.effect('look', {}, () => 'seen')
      if (counted.fails) throw new Error('the right way is closed')
      return { n: 7, seen: 'right' }
    })
    .addNode('end', () => {
      counted.ran.push('end')
      return { seen: 'end' }
    })
    .addEdge(START, 'begin')
    .addEdge('begin', 'left')
    .addEdge('begin', 'right')
    .addEdge(['left', 'right'], 'end')
    .addEdge('end', END)

const asking = ({ ran }: Counted) =>
  new StateGraph({ n: last(0), seen: append<string>() })
    .addNode('first', () => {
      ran.push('first')
      return { seen: 'first' }
    })
    .addNode('ask', async () => {
      ran.push('ask')
      return { seen: await interrupt<string>('What?') }
    })
    .addNode('beside', () => {
      ran.push('beside')
      return { n: 5, seen: 'beside' }
    })
    .addNode('then', () => {
      ran.push('then')
      return { seen: 'then' }
    })
    .addEdge(START, 'first')
    .addEdge('first', 'ask')
    .addEdge('first', 'beside')
    .addEdge(['ask', 'beside'], 'then')
    .addEdge('then', END)

const short = ({ superstep, next, state }: CheckpointView<{ readonly n: number }>) => [
  superstep,
  state.n,
  next.join(),
]

/** What every checkpointer has to do (R4, R7), whoever wrote it. */
export function describeTimeTravel(name: string, create: () => Promise<TravelWorld>): void {
  describe(name, () => {
    let world: TravelWorld
    let counted: Counted
    const ran = (): string => counted.ran.join(' ')
    const kept = async (): Promise<{ checkpointer: Ledger | Checkpointer }> => ({
      checkpointer: await world.open(),
    })

    beforeEach(async () => {
      world = await create()
      counted = { ran: [], fails: false }
    })
    afterEach(() => world.dispose())

    describe('R4 looking back', () => {
      it('R4 the state at each superstep, with what runs next', async () => {
        const graph = line(counted).compile(await kept())
        const { runId } = await graph.invoke({ n: 1 }, { threadId: 't' })
        const found = []
        for (const superstep of [0, 1, 2, 3, 99]) {
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
          [3, 23, 'abc', '', runId],
        ])
        expect(await graph.getState({ threadId: 't' })).toMatchObject({ superstep: 3, pauses: [] })
      })

      it('R4 an unknown thread, run or checkpoint is null or empty, not an error', async () => {
        const graph = line(counted).compile(await kept())
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
        const graph = line(counted).compile(await kept())
        await graph.invoke({ n: 1 }, { threadId: 't' })
        for await (const view of graph.getStateHistory({ threadId: 't' }))
          expect(() => (view.state.seen as string[]).push('mine')).toThrow()
        const seen = (await graph.getState({ threadId: 't' }))?.state.seen as string[]
        expect(() => seen.push('mine')).toThrow()
      })

      it('R4 a checkpoint of another thread is not one of this thread', async () => {
        const graph = line(counted).compile(await kept())
        await graph.invoke({ n: 1 }, { threadId: 't' })
        await graph.invoke({ n: 1 }, { threadId: 'u' })
        const other = await graph.getState({ threadId: 'u' })
        expect(await graph.getState({ threadId: 't' }, { checkpointId: other?.checkpointId })).toBeNull()
      })

      it('R4 open questions are at the checkpoint where the run waits, and only there', async () => {
        const graph = asking(counted).compile(await kept())
        await graph.invoke({}, { threadId: 't' })
        const all = await graph.getStateHistory({ threadId: 't' }).toArray()
        expect(all.map(({ pauses }) => pauses.length)).toEqual([0, 1])
        expect((await graph.getState({ threadId: 't' }))?.pauses).toMatchObject([
          { question: { question: 'What?' } },
        ])
      })

      it('R4 channels that nobody wrote to have their first value, versions count productions', async () => {
        const graph = line(counted).compile(await kept())
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
        const graph = line(counted).compile(await kept())
        await graph.invoke({ n: 1 }, { threadId: 't' })
        await line(counted)
          .compile(await kept())
          .invoke({ n: 2 }, { threadId: 't' })
        const all = await line(counted)
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
        const graph = line(counted).compile(await kept())
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
        const graph = line(counted).compile(await kept())
        await graph.invoke({ n: 1 }, { threadId: 't' })
        await graph.invoke({ n: 2 }, { threadId: 't' })
        for await (const each of graph.getStateHistory({ threadId: 't' })) {
          const { checkpointId } = each
          const view = await graph.getState({ threadId: 't' }, { checkpointId })
          expect(view).toEqual({ ...view, state: each.state, superstep: each.superstep, runId: each.runId })
          if (world.hasEvents) expect(await graph.getCheckpoint(checkpointId)).toEqual(each)
        }
      })

      it('R4 history of a run is what that run wrote', async () => {
        const graph = line(counted).compile(await kept())
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
        const graph = asking(counted).compile(await kept())
        await graph.invoke({}, { threadId: 't' })
        expect(await codeOf(graph.invoke({ n: 3 }, { threadId: 't' }))).toBe('unfinished')
      })
    })

    describe('R6 pauses', () => {
      it('R6 a programmatic interrupt resumes in the node, in another process, with what siblings wrote kept', async () => {
        const paused = await asking(counted)
          .compile(await kept())
          .invoke({}, { threadId: 't' })
        expect(paused.status).toBe('paused')
        expect(ran()).toBe('first ask beside')
        const { status, state } = await asking(counted)
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
                await run.effect('note', { question }, () => counted.ran.push(question))
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
        const first = await line(counted).compile(options).invoke({ n: 1 }, { threadId: 't' })
        expect([first.status, ran()]).toEqual(['paused', 'a'])
        const again = { ...(await kept()), interruptBefore: ['b'] }
        expect((await line(counted).compile(again).invoke(null, { threadId: 't' })).status).toBe('completed')
        expect(ran()).toBe('a b c')
      })

      it('R6 interruptAfter waits once, also across processes', async () => {
        const options = { ...(await kept()), interruptAfter: ['a'] }
        const first = await line(counted).compile(options).invoke({ n: 1 }, { threadId: 't' })
        expect([first.status, ran()]).toEqual(['paused', 'a'])
        const again = { ...(await kept()), interruptAfter: ['a'] }
        expect((await line(counted).compile(again).invoke(null, { threadId: 't' })).status).toBe('completed')
        expect(ran()).toBe('a b c')
      })

      it('R6 a question inside a sub-graph is answered in its very call, in another process', async () => {
        const outer = async () =>
          new StateGraph({ n: last(0), seen: append<string>() })
            .addNode('inner', asking(counted).compile({ name: 'inner' }))
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

    describe('R4 updateState', () => {
      it('R4 changes the state of a waiting run in place, and it goes on with that', async () => {
        const graph = line(counted).compile({ ...(await kept()), interruptBefore: ['b'] })
        const { runId } = await graph.invoke({ n: 1 }, { threadId: 't' })
        const updated = await graph.updateState({ threadId: 't' }, { n: 50, seen: 'edited' }, { by: 'ann' })
        expect(updated).toMatchObject({ runId, superstep: 2, next: ['b'], isFork: false })
        const { status, state } = await graph.invoke(null, { threadId: 't' })
        expect([status, state.n, state.seen]).toEqual(['completed', 503, ['a', 'edited', 'b', 'c']])
        expect(ran()).toBe('a b c')
      })

      it('R4 on an old checkpoint it makes a fork that goes on from there: neither lost nor without what is next', async () => {
        const graph = line(counted).compile(await kept())
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
        const { status, state } = await line(counted)
          .compile(await kept())
          .invoke(null, { threadId: 't' })
        expect([status, state.n, state.seen]).toEqual(['completed', 1003, ['a', 'b', 'c']])
        expect(ran()).toBe('a b c b c')
      })

      it('R4 of an older turn it makes a fork of that turn', async () => {
        const graph = line(counted).compile(await kept())
        const first = await graph.invoke({ n: 1 }, { threadId: 't' })
        await graph.invoke({ n: 2 }, { threadId: 't' })
        const old = (await graph.getStateHistory({ runId: first.runId }).toArray())[2]
        await graph.updateState({ threadId: 't' }, { n: 0 }, { checkpointId: old?.checkpointId })
        const { state } = await graph.invoke(null, { threadId: 't' })
        expect([state.n, state.seen]).toEqual([3, ['a', 'b', 'c']])
      })

      it('R4 of a run that is over, with nothing to run after it, lets the next turn begin with it', async () => {
        const graph = line(counted).compile(await kept())
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
        const graph = line(counted).compile(await kept())
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
        const graph = asking(counted).compile(await kept())
        await graph.invoke({}, { threadId: 't' })
        const updated = await graph.updateState({ threadId: 't' }, { seen: 'mine' }, { asNode: 'ask' })
        expect(updated.next).toEqual(['then'])
        const { status, state } = await asking(counted)
          .compile(await kept())
          .invoke(null, { threadId: 't' })
        expect([status, state.seen]).toEqual(['completed', ['first', 'mine', 'beside', 'then']])
        expect(ran()).toBe('first ask beside then')
      })

      it('R4 an update beside an open question keeps what siblings have completed, and the question is asked again', async () => {
        const graph = asking(counted).compile(await kept())
        await graph.invoke({}, { threadId: 't' })
        await graph.updateState({ threadId: 't' }, { seen: 'edited' })
        const again = asking(counted).compile(await kept())
        expect((await again.invoke(null, { threadId: 't' })).status).toBe('paused')
        const { state } = await again.resume({ threadId: 't' }, { answer: 'now' })
        expect([state.seen, state.n]).toEqual([['first', 'edited', 'now', 'beside', 'then'], 5])
        expect(counted.ran.filter((each) => each === 'beside')).toHaveLength(1)
      })

      it('R4 unknown channel, node, thread or checkpoint, a running run: a clear error, and nothing is changed', async () => {
        const graph = line(counted).compile({ ...(await kept()), interruptBefore: ['b'] })
        await graph.invoke({ n: 1 }, { threadId: 't' })
        const before = await graph.getStateHistory({ threadId: 't' }).toArray()
        const place = { threadId: 't' }
        expect(await codeOf(graph.updateState(place, { nothing: 1 } as never))).toBe('bad_write')
        expect(await codeOf(graph.updateState(place, { n: 1 }, { asNode: 'nobody' }))).toBe('bad_option')
        expect(await codeOf(graph.updateState({ threadId: 'nobody' }, { n: 1 }))).toBe('not_found')
        expect(await codeOf(graph.updateState(place, { n: 1 }, { checkpointId: 'nothing' }))).toBe(
          'not_found',
        )
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
        graphKept = await world.open()
      })
    })

    describe('R7 forks', () => {
      it('R7 at a superstep, a step, a step id, a checkpoint: the fork goes on there and the source is untouched', async () => {
        const checkpointer = await world.open()
        const graph = line(counted).compile({ checkpointer })
        const { runId } = await graph.invoke({ n: 1 }, { threadId: 't' })
        const before = await graph.getStateHistory({ runId }).toArray()
        const checkpointId = before[1]?.checkpointId as string
        for (const at of [{ superstep: 1 }, { step: 'b' }, { step: 'b@s2' }, { checkpointId }]) {
          counted.ran.length = 0
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
        const graph = line(counted).compile(await kept())
        const { runId } = await graph.invoke({ n: 1 }, { threadId: 't' })
        const at = { superstep: 2 }
        const set = await graph.fork({ runId, at, state: { seen: ['only'] }, run: false })
        const merged = await graph.fork({ runId, at, update: { seen: ['more'] }, run: false })
        expect(set.state.seen).toEqual(['only'])
        expect(merged.state.seen).toEqual(['a', 'b', 'more'])
      })

      it('R7 that is left pending is the newest run of its thread, and invoke(null) goes on with it', async () => {
        const graph = line(counted).compile(await kept())
        const { runId } = await graph.invoke({ n: 1 }, { threadId: 't' })
        const forked = await graph.fork({ runId, at: { superstep: 2 }, newRunId: 'mine', run: false })
        expect([forked.runId, forked.status]).toEqual(['mine', 'pending'])
        const result = await line(counted)
          .compile(await kept())
          .invoke(null, { threadId: 't' })
        expect([result.runId, result.state.n, ran()]).toEqual(['mine', 23, 'a b c c'])
      })

      it('R7 interrupts keep working after a fork', async () => {
        const options = { ...(await kept()), interruptBefore: ['c'] }
        const graph = line(counted).compile(options)
        const { runId } = await graph.invoke({ n: 1 }, { threadId: 't' })
        const forked = await graph.fork({ runId, at: { superstep: 1 } })
        expect([forked.status, forked.pause?.question]).toMatchObject([
          'paused',
          { interrupt: 'before', nodes: ['c'] },
        ])
        expect((await graph.invoke(null, { threadId: 't' })).status).toBe('completed')
      })

      it('R7 a fork of a fork, and turns after a fork, go on from it', async () => {
        const graph = line(counted).compile(await kept())
        const { runId } = await graph.invoke({ n: 1 }, { threadId: 't' })
        const one = await graph.fork({ runId, at: { superstep: 1 }, state: { n: 5 } })
        const two = await graph.fork({ runId: one.runId, at: { superstep: 3 }, state: { n: 7 } })
        expect([one.state.n, two.state.n]).toEqual([53, 10])
        const { state } = await line(counted)
          .compile(await kept())
          .invoke({ n: 1 }, { threadId: 't' })
        expect(state.seen).toEqual(['a', 'b', 'c', 'a', 'b', 'c'])
      })

      it('R7 a step, superstep or checkpoint that is not there, a run id that is taken: a clear error', async () => {
        const graph = line(counted).compile(await kept())
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
        counted.fails = true
        const failed = await diamond(counted)
          .compile(await kept())
          .invoke({}, { threadId: 't' })
        expect([failed.status, ran()]).toEqual(['failed', 'begin left right'])
        counted.fails = false
        counted.ran.length = 0
        const graph = diamond(counted).compile(await kept())
        const again = await retry(graph, { runId: failed.runId, threadId: 't' })
        expect([again.status, again.state.seen]).toEqual(['completed', ['begin', 'left', 'right', 'end']])
        expect(ran()).toBe('right end')
        expect(again.runId).not.toBe(failed.runId)
        expect(await codeOf(graph.retry({ runId: again.runId }))).toBe('not_resumable')
      })

      it('R7 lineage shows turns, forks, retries and children', async () => {
        const checkpointer = await world.open()
        counted.fails = true
        const failed = await diamond(counted).compile({ checkpointer }).invoke({}, { threadId: 't' })
        counted.fails = false
        const graph = diamond(counted).compile({ checkpointer })
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
  })
}

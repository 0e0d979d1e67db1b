import {
  Command,
  DeltaValue,
  END,
  entrypoint,
  interrupt,
  MemorySaver,
  START,
  StateGraph,
  StateSchema,
  task,
} from '@langchain/langgraph'
import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint'
import type { Ledger } from 'clew'
import { ClewSaver } from 'clew/langgraph'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createStore, STORES, type TestStore } from './stores.ts'
import { asking, collect, inParallel, talk, Talk, thread } from './graphs.ts'

let store: TestStore
let ledger: Ledger

const rootRuns = async (): Promise<Awaited<ReturnType<Ledger['listRuns']>>['runs']> =>
  (await ledger.listRuns()).runs.filter(({ parentRunId }) => parentRunId === null).toReversed()

describe.each(STORES)('on %s', (name) => {
  beforeEach(async () => {
    store = await createStore(name)
    ledger = await store.open()
  })
  afterEach(() => store.drop())

  describe('A4 forks', () => {
    it('R7 an update of an old checkpoint is a branch of its own, also after resuming and reading again', async () => {
      const graph = talk(new ClewSaver(ledger))
      await graph.invoke({ lines: ['hi'] }, thread('t'))
      const history = await collect(graph.getStateHistory(thread('t')))
      const old = history.find(({ next }) => next[0] === 'think')
      const forked = await graph.updateState(old?.config ?? {}, { mood: 'wild' }, 'hear')
      expect((await graph.getState(thread('t'))).next).toEqual(['think'])
      const result = await graph.invoke(null, forked)
      expect(result).toEqual({ lines: ['hi', 'hear', 'think wild', 'speak'], mood: 'wild' })

      for (const saver of [new ClewSaver(ledger), new ClewSaver(ledger)]) {
        const again = talk(saver)
        expect((await again.getState(thread('t'))).values).toEqual(result)
        const first = history.find(({ next }) => next.length === 0)
        expect((await again.getState(first?.config ?? {})).values).toEqual({
          lines: ['hi', 'hear', 'think calm', 'speak'],
          mood: 'calm',
        })
        expect((await collect(again.getStateHistory(thread('t')))).length).toBe(history.length + 3)
      }
      const [source, fork, ...others] = await rootRuns()
      expect(others).toEqual([])
      expect(fork?.forkedFrom?.runId).toBe(source?.runId)
      expect([source?.status, fork?.status]).toEqual(['completed', 'completed'])
      expect((await ledger.getState(source?.runId ?? ''))?.state['mood']).toBe('calm')
      expect((await ledger.getState(fork?.runId ?? ''))?.state['mood']).toBe('wild')
      const diff = await ledger.diff(source?.runId ?? '', fork?.runId ?? '')
      expect(JSON.stringify(diff)).toContain('think wild')
      expect((await ledger.verify()).ok).toBe(true)
    })

    it('R7 two updates of the same checkpoint are two branches', async () => {
      const graph = talk(new ClewSaver(ledger))
      await graph.invoke({ lines: ['hi'] }, thread('t'))
      const old = (await collect(graph.getStateHistory(thread('t')))).find(({ next }) => next[0] === 'think')
      const one = await graph.updateState(old?.config ?? {}, { mood: 'one' }, 'hear')
      const two = await graph.updateState(old?.config ?? {}, { mood: 'two' }, 'hear')
      const again = talk(new ClewSaver(ledger))
      expect((await again.invoke(null, one)).lines).toContain('think one')
      expect((await again.invoke(null, two)).lines).toContain('think two')
    })

    it('R7 replaying from an old checkpoint without a change leaves the first line alone', async () => {
      const graph = talk(new ClewSaver(ledger))
      await graph.invoke({ lines: ['hi'] }, thread('t'))
      const old = (await collect(graph.getStateHistory(thread('t')))).find(({ next }) => next[0] === 'think')
      expect((await graph.invoke(null, old?.config)).lines).toEqual(['hi', 'hear', 'think calm', 'speak'])
      const runs = await rootRuns()
      expect(runs.map(({ forkedFrom }) => forkedFrom?.runId ?? null)).toEqual([null, runs[0]?.runId])
    })

    it('R7 a copy of a checkpoint has its values, not those of its parent', async () => {
      const graph = talk(new ClewSaver(ledger))
      await graph.invoke({ lines: ['hi'] }, thread('t'))
      const old = (await collect(graph.getStateHistory(thread('t')))).find(({ next }) => next[0] === 'think')
      const copy = await graph.updateState(old?.config ?? {}, null, '__copy__')
      expect((await talk(new ClewSaver(ledger)).getState(copy)).values).toEqual(old?.values)
    })

    it('A4 delta channels do not mix branches', async () => {
      const Delta = new StateSchema({
        lines: new DeltaValue(
          z.array(z.string()).default(() => []),
          { reducer: (all, writes) => all.concat(...writes) },
        ),
      })
      const compile = () =>
        new StateGraph(Delta)
          .addNode('one', () => ({ lines: ['one'] }))
          .addNode('two', ({ lines }) => ({ lines: [`two after ${lines.length}`] }))
          .addEdge(START, 'one')
          .addEdge('one', 'two')
          .addEdge('two', END)
          .compile({ checkpointer: new ClewSaver(ledger) })
      const graph = compile()
      await graph.invoke({ lines: ['hi'] }, thread('t'))
      const old = (await collect(graph.getStateHistory(thread('t')))).find(({ next }) => next[0] === 'two')
      const left = await graph.updateState(old?.config ?? {}, { lines: ['left'] }, 'one')
      const right = await graph.updateState(old?.config ?? {}, { lines: ['right', 'again'] }, 'one')
      const again = compile()
      expect((await again.invoke(null, left)).lines).toEqual(['hi', 'one', 'left', 'two after 3'])
      expect((await compile().invoke(null, right)).lines).toEqual([
        'hi',
        'one',
        'right',
        'again',
        'two after 4',
      ])
      const states = await collect(compile().getStateHistory(thread('t')))
      expect(
        states.find(
          ({ config }) =>
            config.configurable?.['checkpoint_id'] === old?.config.configurable?.['checkpoint_id'],
        )?.values.lines,
      ).toEqual(['hi', 'one'])
      await again.invoke({ lines: ['next'] }, thread('t'))
      expect((await compile().getState(thread('t'))).values.lines.slice(-3)).toEqual([
        'next',
        'one',
        'two after 7',
      ])
    })
  })

  describe('A4 concurrency', () => {
    it('R9 of three invocations at once one goes on and the others are told: nothing vanishes', async () => {
      const saver = new ClewSaver(ledger)
      const graph = talk(saver)
      await graph.invoke({ lines: ['first'] }, thread('t'))
      const said = ['a', 'b', 'c']
      const settled = await inParallel(said.length, (i, meet) =>
        talk(saver, meet).invoke({ lines: [said[i] as string] }, thread('t')),
      )
      const done = said.filter((_, i) => settled[i]?.status === 'fulfilled')
      const errors = settled.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []))
      expect(done.length).toBe(1)
      for (const error of errors) expect(error).toMatchObject({ code: 'conflict' })
      const { lines } = (await talk(new ClewSaver(ledger)).getState(thread('t'))).values as typeof Talk.State
      const refused = said.filter((line) => !done.includes(line))
      // One that is refused after its message was committed leaves the message, as if it had been sent before.
      const left = lines.slice(4, -4)
      expect(refused).toEqual(expect.arrayContaining(left))
      expect(new Set(left).size).toBe(left.length)
      const answer = ['hear', 'think calm', 'speak']
      expect(lines).toEqual(['first', ...answer, ...left, ...done, ...answer])
      await graph.invoke({ lines: ['later'] }, thread('t'))
      expect((await ledger.verify()).ok).toBe(true)
    })

    it('R9 three first invocations of a new thread', async () => {
      const graph = talk(new ClewSaver(ledger))
      const settled = await Promise.allSettled(
        ['a', 'b', 'c'].map((line) => graph.invoke({ lines: [line] }, thread('t'))),
      )
      const done = settled.flatMap(({ status }, i) => (status === 'fulfilled' ? [['a', 'b', 'c'][i]] : []))
      expect(done.length).toBeGreaterThanOrEqual(1)
      const { lines } = (await graph.getState(thread('t'))).values as typeof Talk.State
      expect(lines.filter((line) => line.length === 1).toSorted()).toEqual(done)
    })

    it('R9 two savers that do not know of each other', async () => {
      const graphs = [talk(new ClewSaver(ledger)), talk(new ClewSaver(ledger))]
      await graphs[0]?.invoke({ lines: ['first'] }, thread('t'))
      await graphs[1]?.getState(thread('t'))
      const settled = await Promise.allSettled(
        graphs.map((graph, i) => graph.invoke({ lines: [`${i}`] }, thread('t'))),
      )
      const done = settled.flatMap(({ status }, i) => (status === 'fulfilled' ? [`${i}`] : []))
      // On a slow store one may begin when the other has ended: then both work.
      expect(done.length).toBeGreaterThanOrEqual(1)
      for (const graph of graphs) {
        const { lines } = (await graph.getState(thread('t'))).values as typeof Talk.State
        expect(lines.filter((line) => /^\d$/.test(line)).toSorted()).toEqual(done)
        expect(lines).toHaveLength(4 + 4 * done.length)
      }
    })
  })

  // Which append is the n-th depends on the store.
  if (name === 'memory')
    describe('A4 failures', () => {
      /** A ledger of which one append fails. */
      const failing = (at: number): Ledger => {
        let count = 0
        return new Proxy(ledger, {
          get: (target, name, receiver) =>
            name === 'append'
              ? (...given: Parameters<Ledger['append']>) =>
                  ++count === at ? Promise.reject(new Error('the disk is gone')) : target.append(...given)
              : Reflect.get(target, name, receiver),
        })
      }

      it.each(
        (['sync', 'async'] as const).flatMap((durability) =>
          [1, 2, 3, 4, 5].map((at) => [durability, at] as const),
        ),
      )(
        'L5 one failing write fails the run, and the next one works (%s, append %i)',
        async (durability, at) => {
          const graph = talk(new ClewSaver(failing(at), { failureHoldMs: 50 }))
          await expect(graph.invoke({ lines: ['hi'] }, { ...thread('t'), durability })).rejects.toThrow(
            'the disk is gone',
          )
          const before = await graph.getState(thread('t'))
          expect((await talk(new ClewSaver(ledger)).getState(thread('t'))).values).toEqual(before.values)
          const isKept = before.config.configurable?.['checkpoint_id'] !== undefined
          await graph.invoke(isKept ? null : { lines: ['hi'] }, { ...thread('t'), durability })
          const { lines } = (await talk(new ClewSaver(ledger)).getState(thread('t')))
            .values as typeof Talk.State
          expect(lines).toEqual(['hi', 'hear', 'think calm', 'speak'])
          expect((await ledger.verify()).ok).toBe(true)
        },
      )

      it.each([6, 7, 8])('L5 the same in a later turn (append %i)', async (at) => {
        const graph = talk(new ClewSaver(failing(at), { failureHoldMs: 50 }))
        const config = { ...thread('t'), durability: 'sync' as const }
        await graph.invoke({ lines: ['hi'] }, config)
        await expect(graph.invoke({ lines: ['two'] }, config)).rejects.toThrow('the disk is gone')
        const isBegun = (await graph.getState(thread('t'))).next.length > 0
        await graph.invoke(isBegun ? null : { lines: ['two'] }, config)
        const { lines } = (await talk(new ClewSaver(ledger)).getState(thread('t')))
          .values as typeof Talk.State
        expect(lines.slice(4)).toEqual(['two', 'hear', 'think calm', 'speak'])
      })

      it('L5 a write that fails while a node is still at work ends the invocation, not the process', async () => {
        const slow = new StateGraph(Talk)
          .addNode('hear', () => ({ lines: ['hear'] }))
          .addNode('think', async () => {
            await new Promise((resolve) => setTimeout(resolve, 150))
            return { lines: ['think'] }
          })
          .addEdge(START, 'hear')
          .addEdge('hear', 'think')
          .addEdge('think', END)
          .compile({ checkpointer: new ClewSaver(failing(5)) })
        await expect(slow.invoke({ lines: ['hi'] }, thread('t'))).rejects.toThrow('the disk is gone')
        expect((await slow.invoke(null, thread('t'))).lines).toEqual(['hi', 'hear', 'think'])
      })

      it('R0 a node that throws fails the run, and resuming ends it', async () => {
        let isBroken = true
        const compile = () =>
          new StateGraph(Talk)
            .addNode('hear', () => ({ lines: ['hear'] }))
            .addNode('think', () => {
              if (isBroken) throw new TypeError('no idea')
              return { lines: ['think'] }
            })
            .addEdge(START, 'hear')
            .addEdge('hear', 'think')
            .addEdge('think', END)
            .compile({ checkpointer: new ClewSaver(ledger) })
        await expect(compile().invoke({ lines: [] }, thread('t'))).rejects.toThrow('no idea')
        const [run] = await rootRuns()
        expect(run).toMatchObject({ status: 'failed', error: { name: 'TypeError', message: 'no idea' } })
        isBroken = false
        await compile().invoke(null, thread('t'))
        const steps = await ledger.getSteps(run?.runId ?? '')
        expect(steps.map(({ nodeName, attempt, status }) => [nodeName, attempt, status])).toEqual([
          ['hear', 1, 'completed'],
          ['think', 1, 'failed'],
          ['think', 2, 'completed'],
        ])
        expect((await ledger.getRun(run?.runId ?? ''))?.status).toBe('completed')
      })
    })

  describe('R6 interrupts', () => {
    it('two in one node get their own answers, also from another saver', async () => {
      const graph = asking(new ClewSaver(ledger))
      await graph.invoke({ lines: [] }, thread('t'))
      expect((await rootRuns())[0]).toMatchObject({ status: 'paused', pauses: [{ question: 'first?' }] })
      const other = asking(new ClewSaver(ledger))
      await other.invoke(new Command({ resume: 'yes' }), thread('t'))
      expect((await rootRuns())[0]).toMatchObject({ status: 'paused', pauses: [{ question: 'second?' }] })
      const third = asking(new ClewSaver(ledger))
      expect((await third.invoke(new Command({ resume: 'no' }), thread('t'))).lines).toEqual(['yes no'])
      const runs = await rootRuns()
      expect(runs.map(({ status, pauses }) => [status, pauses.length])).toEqual([['completed', 0]])
    })

    it('one inside a sub-graph is resumed in its own run', async () => {
      const compile = () => {
        const inner = new StateGraph(Talk)
          .addNode('within', () => ({ lines: [`heard ${interrupt<string, string>('well?')}`] }))
          .addEdge(START, 'within')
          .addEdge('within', END)
          .compile()
        return new StateGraph(Talk)
          .addNode('outer', inner)
          .addEdge(START, 'outer')
          .addEdge('outer', END)
          .compile({ checkpointer: new ClewSaver(ledger) })
      }
      await compile().invoke({ lines: ['hi'] }, thread('t'))
      const result = await compile().invoke(new Command({ resume: 'fine' }), thread('t'))
      expect(result.lines).toEqual(['hi', 'hi', 'heard fine'])
      const { runs } = await ledger.listRuns()
      const child = runs.find(({ parentRunId }) => parentRunId !== null)
      const [root] = await rootRuns()
      expect([child?.parentRunId, child?.agent, child?.status]).toEqual([root?.runId, 'outer', 'completed'])
      expect(runs.length).toBe(2)
    })

    it('answers to an old checkpoint give what the framework makes of them with its own saver', async () => {
      const answered = async (next: () => BaseCheckpointSaver): Promise<unknown[]> => {
        await asking(next()).invoke({ lines: [] }, thread('t'))
        await asking(next()).invoke(new Command({ resume: 'a' }), thread('t'))
        const asked = (await asking(next()).getState(thread('t'))).config
        await asking(next()).invoke(new Command({ resume: 'b' }), thread('t'))
        for (const answer of ['c', 'd']) await asking(next()).invoke(new Command({ resume: answer }), asked)
        const states = await collect(asking(next()).getStateHistory(thread('t')))
        return states.map(({ values, next: nodes }) => [values, nodes])
      }
      const memory = new MemorySaver()
      expect(await answered(() => new ClewSaver(ledger))).toEqual(await answered(() => memory))
      const runs = await rootRuns()
      expect(runs.slice(1).every(({ forkedFrom }) => forkedFrom?.runId === runs[0]?.runId)).toBe(true)
    })
  })

  describe('A4 other ways to run', () => {
    it('durability exit: one checkpoint an invocation, also with a question in between and with delta channels', async () => {
      const config = { ...thread('t'), durability: 'exit' as const }
      expect((await talk(new ClewSaver(ledger)).invoke({ lines: ['hi'] }, config)).lines).toHaveLength(4)
      expect((await talk(new ClewSaver(ledger)).invoke({ lines: ['more'] }, config)).lines).toHaveLength(8)
      const asked = { ...thread('q'), durability: 'exit' as const }
      await asking(new ClewSaver(ledger)).invoke({ lines: [] }, asked)
      await asking(new ClewSaver(ledger)).invoke(new Command({ resume: 'a' }), asked)
      expect((await asking(new ClewSaver(ledger)).invoke(new Command({ resume: 'b' }), asked)).lines).toEqual(
        ['a b'],
      )
      const Delta = new StateSchema({
        lines: new DeltaValue(
          z.array(z.string()).default(() => []),
          { reducer: (all, writes) => all.concat(...writes) },
        ),
      })
      const delta = () =>
        new StateGraph(Delta)
          .addNode('one', () => ({ lines: ['one'] }))
          .addEdge(START, 'one')
          .addEdge('one', END)
          .compile({ checkpointer: new ClewSaver(ledger) })
      const exit = { ...thread('d'), durability: 'exit' as const }
      await delta().invoke({ lines: ['hi'] }, exit)
      expect((await delta().invoke({ lines: ['ho'] }, exit)).lines).toEqual(['hi', 'one', 'ho', 'one'])
      expect((await delta().getState(exit)).values.lines).toEqual(['hi', 'one', 'ho', 'one'])
    })

    it('the functional API: tasks are given back, and the run ends', async () => {
      const done: number[] = []
      const flow = () => {
        const double = task('double', async (value: number) => {
          done.push(value)
          return value * 2
        })
        return entrypoint({ name: 'flow', checkpointer: new ClewSaver(ledger) }, async (value: number) => {
          const twice = await double(value)
          const answer = interrupt<string, string>(`keep ${twice}?`)
          return `${twice} ${answer}`
        })
      }
      await flow().invoke(4, thread('t'))
      expect(await flow().invoke(new Command({ resume: 'yes' }), thread('t'))).toBe('8 yes')
      expect(done).toEqual([4])
      expect((await rootRuns()).map(({ status }) => status)).toEqual(['completed'])
    })
  })

  describe('V2 the ledger sees the graph', () => {
    it('names nodes, supersteps, states and turns', async () => {
      const graph = talk(new ClewSaver(ledger, { agent: 'talker' }))
      await graph.invoke({ lines: ['hi'] }, thread('t'))
      await graph.invoke({ lines: ['more'] }, thread('t'))
      const [one, two] = await rootRuns()
      expect([one, two].map((run) => [run?.agent, run?.threadId, run?.status, run?.steps])).toEqual([
        ['talker', 't', 'completed', 3],
        ['talker', 't', 'completed', 3],
      ])
      const steps = await ledger.getSteps(one?.runId ?? '')
      expect(
        steps.map(({ nodeName, superstep, decision, values }) => [nodeName, superstep, decision, values]),
      ).toEqual([
        ['hear', 2, 'think', { lines: ['hear'], mood: 'calm' }],
        ['think', 3, 'speak', { lines: ['think calm'] }],
        ['speak', 4, null, { lines: ['speak'] }],
      ])
      expect(await ledger.getState(one?.runId ?? '', { superstep: 2 })).toMatchObject({
        state: { lines: ['hi', 'hear'], mood: 'calm' },
        next: ['think'],
        superstep: 2,
      })
      expect((await ledger.getState(two?.runId ?? ''))?.state['lines']).toHaveLength(8)
      const checkpoints = await collect(ledger.listCheckpoints(two?.runId ?? ''))
      expect(checkpoints.map(({ next }) => next)).toEqual([['__start__'], ['hear'], ['think'], ['speak'], []])
      const tuples = await collect(new ClewSaver(ledger).list(thread('t')))
      expect(checkpoints.map(({ checkpointId }) => checkpointId).toReversed()).toEqual(
        tuples.slice(0, 5).map(({ checkpoint }) => checkpoint.id),
      )
      expect((await ledger.verify(undefined, { projections: true })).ok).toBe(true)
    })
  })
})

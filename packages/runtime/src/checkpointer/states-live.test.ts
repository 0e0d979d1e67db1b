import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createMemoryWorld } from '../../test/memory-ledger.ts'
import {
  append,
  channel,
  type Checkpointer,
  END,
  last,
  Message,
  messages,
  START,
  StateGraph,
} from '../index.ts'
import type { Ledger } from '@clew/ledger'
import type { Checkpoint } from './checkpoint.ts'

interface Write {
  readonly n?: number | undefined
  readonly list?: readonly string[] | undefined
  readonly say?: string | undefined
  readonly map?: Readonly<Record<string, number | null>> | undefined
}

/** Two nodes beside each other go round as often as the plan says; what they write is drawn. */
const graphOf = (checkpointer: Ledger | Checkpointer, left: readonly Write[], right: readonly Write[]) =>
  new StateGraph({
    n: last(0),
    list: append<string>(['first']),
    talk: messages(),
    map: channel<Readonly<Record<string, number>>, Readonly<Record<string, number | null>>>({
      initial: {},
      merge: (before, write) => {
        const after: Record<string, number> = { ...before }
        for (const [key, value] of Object.entries(write))
          if (value === null) delete after[key]
          else after[key] = value
        return after
      },
    }),
    round: last(0),
  })
    .addNode('left', (state) => {
      const { n, list, say, map } = left[state.round % left.length] as Write
      return {
        round: state.round + 1,
        ...(n !== undefined && { n }),
        ...(list && { list }),
        ...(say !== undefined && { talk: Message.ai(say) }),
        ...(map && { map }),
      }
    })
    .addNode('right', (state) => {
      const { list, say, map } = right[state.round % right.length] as Write
      return {
        ...(list && { list }),
        ...(say !== undefined && { talk: Message.human(say) }),
        ...(map && { map }),
      }
    })
    .addEdge(START, 'left')
    .addEdge(START, 'right')
    .addConditionalEdges('left', (state) => (state.round % left.length === 0 ? END : 'left'), ['left', END])
    .addConditionalEdges('right', (state) => ((state.round + 1) % left.length === 0 ? END : 'right'), [
      'right',
      END,
    ])
    .compile({ checkpointer })

const write: fc.Arbitrary<Write> = fc.record(
  {
    n: fc.integer({ min: 0, max: 9 }),
    list: fc.array(fc.string({ maxLength: 4 }), { maxLength: 3 }),
    say: fc.string({ maxLength: 5 }),
    map: fc.dictionary(fc.constantFrom('a', 'b', 'c', '__proto__'), fc.option(fc.integer({ max: 9 })), {
      maxKeys: 2,
    }),
  },
  { requiredKeys: [] },
)

interface Act {
  readonly kind: 'turn' | 'fork' | 'update'
  readonly pick: number
  readonly write: Write
}

const acts: fc.Arbitrary<readonly Act[]> = fc.array(
  fc.record({ kind: fc.constantFrom('turn', 'fork', 'update'), pick: fc.nat(1000), write }),
  { minLength: 1, maxLength: 5 },
)

const toInput = ({ n, list, say }: Write) => ({
  ...(n !== undefined && { n }),
  ...(list && { list }),
  ...(say !== undefined && { talk: Message.human(say) }),
})

/** Goes through the acts and collects what was told live, by run and superstep. */
async function live(checkpointer: Ledger | Checkpointer, plan: readonly [Write[], Write[], readonly Act[]]) {
  const graph = graphOf(checkpointer, plan[0], plan[1])
  const told = new Map<string, unknown>()
  const listener = (runId: () => string) => ({
    values: (state: unknown, superstep: number) => void told.set(`${runId()} ${superstep}`, state),
  })
  const place = { threadId: 't' }
  let count = 0
  await graph.invoke({}, { threadId: 't', runId: 'r0', listener: listener(() => 'r0') })
  for (const { kind, pick, write: given } of plan[2]) {
    const newRunId = `r${++count}`
    if (kind === 'turn')
      await graph.invoke(toInput(given), {
        ...place,
        afterFailure: 'continue',
        runId: newRunId,
        listener: listener(() => newRunId),
      })
    else {
      const all = await graph.getStateHistory(place).toArray()
      const { checkpointId, runId } = all[pick % all.length] as (typeof all)[number]
      if (kind === 'fork')
        await graph.fork({
          runId,
          at: { checkpointId },
          newRunId,
          ...(pick % 2 === 0 && { update: toInput(given) }),
          listener: listener(() => newRunId),
        })
      else {
        const updated = await graph.updateState(place, toInput(given), { checkpointId })
        if (updated.next.length > 0)
          await graph.invoke(null, { ...place, listener: listener(() => updated.runId) })
      }
    }
  }
  return { graph, told }
}

const plans = fc.tuple(
  fc.array(write, { minLength: 1, maxLength: 4 }),
  fc.array(write, { minLength: 1, maxLength: 4 }),
  acts,
)

const jsonCheckpointer = (): Checkpointer => {
  const texts = new Map<string, string>()
  const read = (): Checkpoint[] => [...texts.values()].map((text) => JSON.parse(text) as Checkpoint)
  return {
    put: async (checkpoint) => void texts.set(checkpoint.id, JSON.stringify(checkpoint)),
    get: async ({ threadId, checkpointId }) =>
      read().findLast((each) => each.threadId === threadId && (checkpointId ?? each.id) === each.id) ?? null,
    list: async ({ threadId }) => read().filter((each) => each.threadId === threadId),
  }
}

describe('R4 states', () => {
  for (const [name, open] of [
    ['a ledger', () => createMemoryWorld().open()],
    ['a checkpointer of somebody else', jsonCheckpointer],
  ] as const)
    it(`R4 on ${name}: the state at each superstep is the one that was told live then, across turns and forks`, async () => {
      await fc.assert(
        fc.asyncProperty(plans, async (plan) => {
          const { graph, told } = await live(open(), plan)
          const byId = new Map<string, unknown>()
          let compared = 0
          for await (const { runId, superstep, state, checkpointId, parentId } of graph.getStateHistory({
            threadId: 't',
          })) {
            const expected = told.get(`${runId} ${superstep}`)
            if (expected !== undefined) {
              expect(state).toEqual(expected)
              expect((await graph.getState({ runId, threadId: 't' }, { superstep }))?.state).toEqual(expected)
              compared++
            }
            if (parentId !== null) expect(byId.has(parentId)).toBe(true)
            expect(byId.has(checkpointId)).toBe(false)
            byId.set(checkpointId, state)
          }
          expect(compared).toBeGreaterThan(0)
        }),
        { numRuns: 40 },
      )
    })

  it('R4 a run that is taken up again at every step writes whole states as often as any other', async () => {
    const ledger = createMemoryWorld().open()
    const graph = new StateGraph({ n: last(0) })
      .addNode('inc', (state) => ({ n: state.n + 1 }))
      .addEdge(START, 'inc')
      .addConditionalEdges('inc', (state) => (state.n < 300 ? 'inc' : END), ['inc', END])
      .compile({ checkpointer: ledger })
    const { runId } = await graph.invoke({}, { suspendAlways: true })
    expect((await ledger.getRun(runId))?.checkpoint?.baseSeq).toBeGreaterThan(250)
  })
})

import { expect, it } from 'vitest'
import { createMemoryWorld } from '../../test/memory-ledger.ts'
import { agent, fork, last, replay, START, StateGraph } from '../index.ts'

const ledger = createMemoryWorld().open()
const code = async (): Promise<number> => 1

it('R3 a misspelt option is refused, with the one that was meant', async () => {
  expect(() => agent('a', code, { verison: '1' } as never)).toThrow(/"verison".*Did you mean "version"/s)
  await expect(agent('a', code).start(ledger, null, { runID: 'x' } as never)).rejects.toThrow(
    /^This run has an option "runID".*Did you mean "runId"/s,
  )
  const graph = new StateGraph({ n: last(0) }).addNode('a', () => ({ n: 1 })).addEdge(START, 'a')
  expect(() => graph.compile({ checkpoint: ledger } as never)).toThrow(/Did you mean "checkpointer"/)
  await expect(graph.compile({ checkpointer: ledger }).invoke({}, { thread: 't' } as never)).rejects.toThrow(
    /Did you mean "threadId"|Its options are/,
  )
})

it('R3 a misspelt option of a call fails before anything of it is done', async () => {
  let done = 0
  const { error } = await agent('a', (run) =>
    run.effect('x', 1, () => ++done, { retries: 3 } as never),
  ).start(ledger, null)
  expect([error?.message, done]).toEqual([
    expect.stringMatching(/^The effect x has an option "retries".*Did you mean "retry"/s),
    0,
  ])
})

it('R3 so is one of a node, a policy, a budget, a map, a fork, a replay and the tape', async () => {
  const node = (options: object) => () =>
    new StateGraph({ n: last(0) }).addNode('a', () => ({ n: 1 }), options)
  expect(node({ retries: 3 })).toThrow(/^Node "a" has an option "retries".*Did you mean "retry"/s)
  expect(node({ retry: { tries: 1, delay: 3 } })).toThrow(/Did you mean "delayMs"/)
  expect(node({ cache: { ttl: 3 } })).toThrow(/Did you mean "ttlMs"/)
  expect(() => agent('a', code, { recordFetch: { ignored: () => true } as never })).toThrow(/"ignore"/)
  const quiet = agent('a', code)
  const { runId } = await quiet.start(ledger, null)
  const calls: readonly [string, () => Promise<unknown>][] = [
    ['tokens', () => quiet.start(ledger, null, { budget: { token: 3 } as never })],
    ['answer', () => quiet.resume(ledger, runId, { anwser: 'yes' } as never)],
    ['concurrency', () => quiet.map(ledger, [1], { concurency: 1 } as never)],
    ['runId', () => fork(quiet, { ledger, runId, runID: 'x' } as never)],
    ['step', () => fork(quiet, { ledger, runId, at: { stepp: 'x' } as never })],
    ['mode', () => replay(quiet, { ledger, runId, modee: 'what-if' } as never)],
  ]
  for (const [meant, call] of calls)
    await expect(call(), meant).rejects.toMatchObject({
      code: 'bad_option',
      hint: `Did you mean "${meant}"?`,
    })
})

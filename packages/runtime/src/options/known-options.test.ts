import { expect, it } from 'vitest'
import { createMemoryWorld } from '../../test/memory-ledger.ts'
import { agent, last, START, StateGraph } from '../index.ts'

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

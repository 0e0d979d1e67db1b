import { END, last, START, StateGraph } from '@clew/runtime'
import { expect, it } from 'vitest'
import { createMemoryWorld } from '../../packages/runtime/test/memory-ledger.ts'

it('V10 a difference of graph nodes shows values, not digests', async () => {
  const ledger = createMemoryWorld().open()
  const graph = new StateGraph({ topic: last(''), found: last<readonly string[]>([]) })
    .addNode('search', ({ topic, found }) => ({ found: [...found, `about ${topic}`].slice(-1) }))
    .addEdge(START, 'search')
    .addEdge('search', END)
    .compile({ checkpointer: ledger })
  // The second turns have the same input, and read what the first ones left.
  const runs: string[] = []
  for (const topic of ['owls', 'ducks']) {
    await graph.invoke({ topic, found: [topic] }, { threadId: topic })
    runs.push((await graph.invoke({ topic: 'geese' }, { threadId: topic })).runId)
  }
  const [a = '', b = ''] = runs
  const diff = await ledger.diff(a, b)
  expect(JSON.stringify(diff)).not.toContain('inputDigest')
  expect(diff.first).toMatchObject({
    kind: 'input',
    expected: { name: 'search' },
    changes: [{ path: '$.found[0]', expected: '"about owls"', received: '"about ducks"' }],
  })
})

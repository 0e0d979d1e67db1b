import { appendFileSync, writeSync } from 'node:fs'
import { append, END, last, type Run, START, StateGraph } from '../../packages/runtime/src/index.ts'
import { openLedger } from '../../packages/sqlite/test/harness.ts'

/** A process that runs one graph: `node graph-child.ts FILE LOG`. Begins it or goes on with it; says how it ended. */
const [, , file = '', log = ''] = process.argv
const ROUNDS = 50
const ledger = openLedger(file)

/** What happens outside: written at once, so that it is there whenever the process dies. */
const effect = (name: string, run: Run, n: number): Promise<string> =>
  run.effect(name, n, async (_, { attempt }) => {
    await new Promise((resolve) => void setTimeout(resolve, Math.random() * 3))
    appendFileSync(log, `${name} ${n} ${attempt}\n`)
    return `${name} ${n}`
  })

const inner = new StateGraph({ out: append<string>(), n: last(0) })
  .addNode('in', async ({ n }, run) => ({ out: await effect('in', run, n) }))
  .addEdge(START, 'in')
  .compile({ name: 'inner' })

/** Three at once, then one that counts: each round is two supersteps, and every fifth has a sub-graph. */
const graph = new StateGraph({ n: last(0), out: append<string>() })
  .addNode('a', async ({ n }, run) => ({ out: await effect('a', run, n) }))
  .addNode('b', async ({ n }, run) => ({ out: await effect('b', run, n) }))
  .addNode('c', async ({ n }, run) => {
    appendFileSync(log, `body ${n}\n`)
    return { out: await run.step('c', n, (m) => `c ${m}`) }
  })
  .addNode('sub', inner)
  .addNode('count', ({ n }) => ({ n: n + 1 }), { defer: true })
  .addEdge(START, 'a')
  .addEdge(START, 'b')
  .addEdge(START, 'c')
  .addEdge('a', 'count')
  .addEdge('b', 'count')
  .addEdge('c', 'count')
  .addEdge('sub', 'count')
  .addConditionalEdges(
    'count',
    ({ n }) => (n >= ROUNDS / 2 ? END : n % 5 === 0 ? ['a', 'b', 'c', 'sub'] : ['a', 'b', 'c']),
    ['a', 'b', 'c', 'sub', END],
  )
  .compile({ name: 'killed', checkpointer: ledger })

const run = await ledger.getRun('run')
writeSync(1, '"ready"\n')
const { status, state, error } = run
  ? await graph.resume({ runId: 'run' })
  : await graph.invoke({}, { runId: 'run' })
writeSync(1, `${JSON.stringify({ status, state, error: error?.message ?? null })}\n`)
await ledger.close()

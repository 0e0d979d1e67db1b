import { Annotation, END, START, StateGraph } from '@langchain/langgraph'
import { openLedger } from 'clew'
import { ClewSaver } from 'clew/langgraph'

/** Counts to a number, one step each, and says before each step which one it begins. */
const [url = '', durability = 'sync', steps = '0'] = process.argv.slice(2)
const State = Annotation.Root({
  lines: Annotation<number[]>({ reducer: (all, more) => all.concat(more), default: () => [] }),
})
const last = Number(steps)
const ledger = await openLedger(url)
const graph = new StateGraph(State)
  .addNode('count', ({ lines }) => {
    process.stdout.write(`${lines.length}\n`)
    return { lines: [lines.length] }
  })
  .addEdge(START, 'count')
  .addConditionalEdges('count', ({ lines }) => (lines.length < last ? 'count' : END), ['count', END])
  .compile({ checkpointer: new ClewSaver(ledger) })
const config = {
  configurable: { thread_id: 't' },
  recursionLimit: last + 10,
  durability: durability as 'sync' | 'async',
}
const saved = await graph.getState(config)
const isBegun = saved.config.configurable?.['checkpoint_id'] !== undefined
await graph.invoke(isBegun ? null : { lines: [] }, config)
const { lines } = (await graph.getState(config)).values as typeof State.State
process.stdout.write(`${JSON.stringify({ lines })}\n`)
await ledger.close()

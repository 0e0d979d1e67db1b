import { Annotation, END, Send, START, StateGraph } from '@langchain/langgraph'
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite'
import Database from 'better-sqlite3'
import { openLedger } from 'clew'
import { ClewSaver } from 'clew/langgraph'

/**
 * Nodes that never yield to the event loop, with durability `async`: a loop that counts, or packets side by side. Is killed
 * inside the node of the number that it is given.
 */
const [kind = '', path = '', shape = 'loop', last = '0'] = process.argv.slice(2)
const State = Annotation.Root({
  lines: Annotation<number[]>({ reducer: (all, more) => all.concat(more), default: () => [] }),
  at: Annotation<number>,
})
const checkpointer =
  kind === 'clew' ? new ClewSaver(await openLedger(`sqlite:${path}`)) : new SqliteSaver(new Database(path))

function work(number: number): { lines: number[] } {
  if (number === Number(last)) process.kill(process.pid, 'SIGKILL')
  return { lines: [number] }
}

const graph =
  shape === 'loop'
    ? new StateGraph(State)
        .addNode('count', ({ lines }) => work(lines.length))
        .addEdge(START, 'count')
        .addConditionalEdges('count', () => 'count', ['count', END])
        .compile({ checkpointer })
    : new StateGraph(State)
        .addNode('part', ({ at }) => work(at))
        .addConditionalEdges(START, () => Array.from({ length: 200 }, (_, at) => new Send('part', { at })), [
          'part',
        ])
        .addEdge('part', END)
        .compile({ checkpointer })
await graph.invoke(
  { lines: [] },
  { configurable: { thread_id: 't' }, recursionLimit: 1000, durability: 'async' },
)

import { Annotation, END, START, StateGraph } from '@langchain/langgraph'
import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres'
import type { LangGraphPostgres } from '../peers.ts'
import { startPostgres } from './postgres.ts'
import { bestInTurn, inTempFolder, readNumbers, report } from './rounds.ts'

/** The counter of `langgraph-loop` with the PostgreSQL saver, each checkpoint written before the next step. */

const { steps, rounds } = readNumbers({ steps: 500, rounds: 3 })

const State = Annotation.Root({ count: Annotation<number> })

report(
  await inTempFolder(async (folder): Promise<LangGraphPostgres> => {
    const postgres = await startPostgres(folder)
    const saver = PostgresSaver.fromConnString(postgres.url)
    try {
      await saver.setup()
      const graph = new StateGraph(State)
        .addNode('add', ({ count }) => ({ count: count + 1 }))
        .addEdge(START, 'add')
        .addConditionalEdges('add', ({ count }) => (count < steps ? 'add' : END), ['add', END])
        .compile({ checkpointer: saver })
      const best = await bestInTurn(rounds, {
        async loop(round) {
          const { count } = await graph.invoke(
            { count: 0 },
            { configurable: { thread_id: `t-${round}` }, recursionLimit: steps + 10, durability: 'sync' },
          )
          if (count !== steps) throw new Error(`the loop ended at ${count}`)
        },
      })
      return { steps, rounds, msPerStep: best.loop / steps }
    } finally {
      await saver.end()
      await postgres.stop()
    }
  }),
)

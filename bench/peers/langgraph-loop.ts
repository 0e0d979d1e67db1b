import { join } from 'node:path'
import { Annotation, END, MemorySaver, START, StateGraph } from '@langchain/langgraph'
import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint'
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite'
import Database from 'better-sqlite3'
import type { LangGraphLoop } from '../peers.ts'
import { bestInTurn, databaseBytes, inTempFolder, readNumbers, report, SYNCHRONOUS } from './rounds.ts'

/** A counter that goes on to itself by a conditional edge until it has been around often enough. */

const { steps, rounds } = readNumbers({ steps: 1000, rounds: 3 })
const READS = 50

const State = Annotation.Root({ count: Annotation<number> })

const compile = (checkpointer?: BaseCheckpointSaver) =>
  new StateGraph(State)
    .addNode('add', ({ count }) => ({ count: count + 1 }))
    .addEdge(START, 'add')
    .addConditionalEdges('add', ({ count }) => (count < steps ? 'add' : END), ['add', END])
    .compile(checkpointer ? { checkpointer } : {})

type Graph = ReturnType<typeof compile>

const thread = (round: number) => ({ configurable: { thread_id: `thread-${round}` } })

async function loop(graph: Graph, round: number, durability: 'sync' | 'async' = 'async'): Promise<void> {
  const config = { ...thread(round), recursionLimit: steps + 10, durability }
  const { count } = await graph.invoke({ count: 0 }, config)
  if (count !== steps) throw new Error(`the loop ended at ${count}`)
}

/** The saver on a file of its own; with FULL every commit waits for the disk. */
function openFile(path: string, synchronous?: 'FULL') {
  const db = new Database(path)
  const graph = compile(new SqliteSaver(db))
  if (synchronous) db.pragma(`synchronous = ${synchronous}`)
  const mode = (): string => SYNCHRONOUS[Number(db.pragma('synchronous', { simple: true }))] ?? 'unknown'
  return { db, graph, mode, path }
}

const result = await inTempFolder(async (folder): Promise<LangGraphLoop> => {
  const sync = openFile(join(folder, 'sync.db'))
  const async = openFile(join(folder, 'async.db'))
  const full = openFile(join(folder, 'full.db'), 'FULL')
  const plain = compile()
  const inMemory = compile(new MemorySaver())
  const best = await bestInTurn(rounds, {
    noSaver: (round) => loop(plain, round),
    memory: (round) => loop(inMemory, round),
    sqliteSync: (round) => loop(sync.graph, round, 'sync'),
    sqliteAsync: (round) => loop(async.graph, round, 'async'),
    sqliteSyncFull: (round) => loop(full.graph, round, 'sync'),
  })

  const last = thread(rounds)
  const { getStateMs } = await bestInTurn(READS, { getStateMs: () => sync.graph.getState(last) })
  const { historyMs } = await bestInTurn(rounds, {
    historyMs: async () => {
      let entries = 0
      for await (const _ of sync.graph.getStateHistory(last)) entries++
      if (entries < steps) throw new Error(`the history has ${entries} entries`)
    },
  })
  const synchronous = { saver: sync.mode(), full: full.mode() }
  // closing moves the write-ahead log over, so that it is not counted as growth
  for (const { db } of [sync, async, full]) db.close()

  return {
    steps,
    rounds,
    msPerStep: {
      noSaver: best.noSaver / steps,
      memory: best.memory / steps,
      sqliteSync: best.sqliteSync / steps,
      sqliteAsync: best.sqliteAsync / steps,
      sqliteSyncFull: best.sqliteSyncFull / steps,
    },
    synchronous,
    getStateMs,
    historyMs,
    bytesPerStep: databaseBytes(sync.path) / (steps * (rounds + 1)),
  }
})
report(result)

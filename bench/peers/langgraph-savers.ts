import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Annotation, END, START, StateGraph } from '@langchain/langgraph'
import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint'
import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres'
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite'
import Database from 'better-sqlite3'
import { openLedger } from 'clew'
import { ClewSaver } from 'clew/langgraph'
import type { LangGraphSavers, SaverFigures } from '../peers.ts'
import { type Postgres, startPostgres } from './postgres.ts'
import { databaseBytes, inTempFolder, prose, readNumbers, report } from './rounds.ts'

/**
 * The same graphs with the framework's saver and with ours, in turn in one process: a small state, a chat that grows by a
 * message of 1 KB a step, and the same chat as one invocation per message. On SQLite, or with --postgres=1 on PostgreSQL.
 */

const { steps, turns, rounds, postgres } = readNumbers({ steps: 1000, turns: 300, rounds: 3, postgres: 0 })
const MESSAGE_BYTES = 1024
const READS = 50

interface Message {
  readonly role: string
  readonly content: string
}
const Chat = Annotation.Root({
  messages: Annotation<Message[]>({ reducer: (all, more) => all.concat(more), default: () => [] }),
})
const Counter = Annotation.Root({ count: Annotation<number> })

const chat = (checkpointer: BaseCheckpointSaver, last: number) =>
  new StateGraph(Chat)
    .addNode('answer', ({ messages }) => ({
      messages: [{ role: 'assistant', content: prose(MESSAGE_BYTES, messages.length) }],
    }))
    .addEdge(START, 'answer')
    .addConditionalEdges('answer', ({ messages }) => (messages.length < last ? 'answer' : END), [
      'answer',
      END,
    ])
    .compile({ checkpointer })

const counter = (checkpointer: BaseCheckpointSaver, last: number) =>
  new StateGraph(Counter)
    .addNode('add', ({ count }) => ({ count: count + 1 }))
    .addEdge(START, 'add')
    .addConditionalEdges('add', ({ count }) => (count < last ? 'add' : END), ['add', END])
    .compile({ checkpointer })

type Kind = 'clew' | 'theirs'
type Work = 'small' | 'loop' | 'turns'

interface Opened {
  readonly saver: BaseCheckpointSaver
  /** Gives the bytes on disk. */
  close(): Promise<number>
}

async function open(kind: Kind, path: string): Promise<Opened> {
  if (server) return openPostgres(kind, server)
  // closing moves the write-ahead log over, so that it is not counted as growth
  if (kind === 'theirs') {
    const db = new Database(path)
    const close = async (): Promise<number> => {
      db.close()
      return databaseBytes(path)
    }
    return { saver: new SqliteSaver(db), close }
  }
  const ledger = await openLedger(`sqlite:${path}`)
  const close = async (): Promise<number> => {
    await ledger.close()
    return databaseBytes(path)
  }
  return { saver: new ClewSaver(ledger) as unknown as BaseCheckpointSaver, close }
}

/** A database of its own for each measurement. */
async function openPostgres(kind: Kind, { url, query }: Postgres): Promise<Opened> {
  const name = `saver_${databases++}`
  await query(`CREATE DATABASE ${name} TEMPLATE template0`)
  const own = new URL(url)
  own.pathname = `/${name}`
  const bytes = async (): Promise<number> => {
    const [row] = await query(`SELECT pg_database_size('${name}') - pg_database_size('template0') AS size`)
    await query(`DROP DATABASE ${name} WITH (FORCE)`)
    return Number(row?.['size'])
  }
  if (kind === 'theirs') {
    const saver = PostgresSaver.fromConnString(own.href)
    await saver.setup()
    return { saver, close: async () => (await saver.end(), bytes()) }
  }
  const ledger = await openLedger(own.href)
  return {
    saver: new ClewSaver(ledger) as unknown as BaseCheckpointSaver,
    close: async () => (await ledger.close(), bytes()),
  }
}

const milliseconds = async (work: () => Promise<unknown>): Promise<number> => {
  const start = performance.now()
  await work()
  return performance.now() - start
}

async function measure(kind: Kind, work: Work, count: number): Promise<SaverFigures> {
  return inTempFolder(async (folder) => {
    const path = join(folder, 'saver.db')
    const { saver, close } = await open(kind, path)
    const config = {
      configurable: { thread_id: 'bench' },
      recursionLimit: count + 10,
      durability: 'sync' as const,
    }
    const counting = counter(saver, count)
    const chatting = chat(saver, work === 'loop' ? count : 0)
    const graph = work === 'small' ? counting : chatting
    const total = await milliseconds(async () => {
      if (work === 'small') await counting.invoke({ count: 0 }, config)
      else
        for (let turn = 0; turn < (work === 'loop' ? 1 : count); turn++)
          await chatting.invoke({ messages: [] }, config)
    })
    let getStateMs = Number.POSITIVE_INFINITY
    for (let read = 0; read < READS; read++)
      getStateMs = Math.min(getStateMs, await milliseconds(() => graph.getState(config)))
    let entries = 0
    const historyMs = await milliseconds(async () => {
      for await (const _ of graph.getStateHistory(config)) entries++
    })
    if (entries < count) throw new Error(`the history has ${entries} entries`)
    return { msPerStep: total / count, getStateMs, historyMs, bytes: await close() }
  })
}

const least = (one: SaverFigures, other: SaverFigures | undefined): SaverFigures =>
  other === undefined
    ? one
    : {
        msPerStep: Math.min(one.msPerStep, other.msPerStep),
        getStateMs: Math.min(one.getStateMs, other.getStateMs),
        historyMs: Math.min(one.historyMs, other.historyMs),
        bytes: one.bytes,
      }

/** They take turns, so that what else happens on the machine hurts both alike. */
async function both(work: Work, count: number, times: number): Promise<Record<Kind, SaverFigures>> {
  const best: Partial<Record<Kind, SaverFigures>> = {}
  for (let round = 0; round < times; round++)
    for (const kind of ['clew', 'theirs'] as const)
      best[kind] = least(await measure(kind, work, count), best[kind])
  return best as Record<Kind, SaverFigures>
}

let databases = 0
const server = postgres > 0 ? await startPostgres(mkdtempSync(join(tmpdir(), 'clew-savers-'))) : undefined
await both('small', 200, 1)
// Code of either saver takes some 15,000 steps to become as fast as it gets, as in the scenario `runtime`.
report({
  steps,
  turns,
  small: await both('small', steps, 6 * rounds),
  loop: await both('loop', steps, Math.min(rounds, 2)),
  separate: await both('turns', turns, Math.min(rounds, 2)),
} satisfies LangGraphSavers)
await server?.stop()

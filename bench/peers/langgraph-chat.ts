import { join } from 'node:path'
import { Annotation, DeltaValue, END, START, StateGraph, StateSchema } from '@langchain/langgraph'
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite'
import Database from 'better-sqlite3'
import { z } from 'zod'
import type { Growth, LangGraphChat } from '../peers.ts'
import { createPace, databaseBytes, inTempFolder, type Pace, prose, readNumbers, report } from './rounds.ts'

/**
 * A conversation that grows by a message of 1 KB a step: as one loop, and as one invocation per message.
 * Both with the ordinary channel and with the delta channel, which has to be asked for and is marked as beta.
 */

const { steps, turns, rounds } = readNumbers({ steps: 1000, turns: 300, rounds: 2 })
const EARLY = 100
const MESSAGE_BYTES = 1024

interface Message {
  readonly role: string
  readonly content: string
}

const message = (at: number): Message => ({ role: 'assistant', content: prose(MESSAGE_BYTES, at) })

// Messages are plain objects: the library's own message classes take more room on disk.
const Whole = Annotation.Root({
  messages: Annotation<Message[]>({ reducer: (all, more) => all.concat(more), default: () => [] }),
})
const Delta = new StateSchema({
  messages: new DeltaValue(
    z.array(z.custom<Message>()).default(() => []),
    {
      reducer: (all, writes) => all.concat(...writes),
    },
  ),
}) as unknown as typeof Whole

/** The step goes round until there are `last` messages; 0 ends each invocation after one step: a turn. */
const compile = (state: typeof Whole, checkpointer: SqliteSaver, pace: Pace, last: number) =>
  new StateGraph(state)
    .addNode('answer', ({ messages }) => {
      pace.marks.push(performance.now())
      return { messages: [message(messages.length)] }
    })
    .addEdge(START, 'answer')
    .addConditionalEdges('answer', ({ messages }) => (messages.length < last ? 'answer' : END), [
      'answer',
      END,
    ])
    .compile({ checkpointer })

async function converse(state: typeof Whole, count: number, by: 'loop' | 'turns'): Promise<Growth> {
  return inTempFolder(async (folder) => {
    const path = join(folder, 'chat.db')
    const db = new Database(path)
    const pace = createPace()
    const graph = compile(state, new SqliteSaver(db), pace, by === 'loop' ? count : 0)
    const config = {
      configurable: { thread_id: 'chat' },
      recursionLimit: count + 10,
      durability: 'sync' as const,
    }
    let length = 0
    const start = performance.now()
    for (let turn = 0; turn < (by === 'loop' ? 1 : count); turn++)
      length = (await graph.invoke({ messages: [] }, config)).messages.length
    const end = performance.now()
    pace.marks.push(end)
    if (length !== count) throw new Error(`the conversation has ${length} messages instead of ${count}`)
    // closing moves the write-ahead log over, so that it is not counted as growth
    db.close()
    return {
      steps: count,
      msPerStep: (end - start) / count,
      early: EARLY,
      msPerStepAtEarly: pace.at(EARLY),
      msPerStepAtEnd: pace.at(count),
      bytes: databaseBytes(path),
      bytesGiven: count * MESSAGE_BYTES,
    }
  })
}

/** The faster of a few whole conversations. */
async function best(state: typeof Whole, count: number, by: 'loop' | 'turns'): Promise<Growth> {
  const all: Growth[] = []
  for (let round = 0; round < rounds; round++) all.push(await converse(state, count, by))
  return all.reduce((one, other) => (other.msPerStep < one.msPerStep ? other : one))
}

await converse(Whole, EARLY, 'loop')
await converse(Delta, EARLY, 'turns')
report({
  rounds,
  loop: await best(Whole, steps, 'loop'),
  turns: await best(Whole, turns, 'turns'),
  deltaLoop: await best(Delta, steps, 'loop'),
  deltaTurns: await best(Delta, turns, 'turns'),
} satisfies LangGraphChat)

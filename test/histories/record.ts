import { once } from 'node:events'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { HumanMessage } from '@langchain/core/messages'
import { FakeListChatModel } from '@langchain/core/utils/testing'
import { Command } from '@langchain/langgraph'
import { fork, type Ledger, Message, openLedger, SCHEMA_VERSION } from 'clew'
import { ClewCallbackHandler } from 'clew/langchain'
import { ClewSaver } from 'clew/langgraph'
import { asking, talk, thread } from '../langgraph/graphs.ts'
import { createLife } from '../runtime/mortal-ledger.ts'
import { FUNCTIONS, GRAPHS, recording, repair } from './agents.ts'
import { formatViews, viewsOf } from './views.ts'

/**
 * Records a history of each feature that has none in this version of the schema: `npm run histories`. What is
 * recorded stays, for later versions have to read it; a name as argument records that one again, which is
 * right only before it is released.
 */
const { parallel, race, retried, trip, publish, crashed, failed, sizes, taped, redacted } = FUNCTIONS
const { spoken, overdue, halted, patient } = FUNCTIONS
const { loop, fanOut, outer, letter, chat, order, tapedGraph, redactedGraph, desk, shaky } = GRAPHS

/** Recorded stack traces name files of the repository, not folders of the machine that recorded them. */
const ROOT = pathToFileURL(resolve(import.meta.dirname, '../..')).href
Error.prepareStackTrace = (error, sites) =>
  [`${error.name}: ${error.message}`, ...sites.map(String)].join('\n    at ').replaceAll(ROOT, '')

/** Dies at its n-th append and is resumed. */
async function dying(
  ledger: Ledger,
  append: number,
  begin: (mortal: Ledger) => Promise<unknown>,
  goOn: () => Promise<unknown>,
): Promise<void> {
  const life = createLife(ledger, { append, committed: true })
  await Promise.race([begin(life.ledger), life.died])
  if (!life.isDead) throw new Error(`it did not live to its append ${append}`)
  await life.died
  await goOn()
}

async function speak(response: ServerResponse): Promise<void> {
  for (const word of ['Owls ', 'hunt ', 'at night.']) {
    response.write(word)
    await setTimeout(20)
  }
  response.end()
}

const HISTORIES: Readonly<Record<string, (ledger: Ledger) => Promise<unknown>>> = {
  'function-parallel': (ledger) => parallel.start(ledger, ['a', 'b', 'c'], { runId: 'parallel-1' }),
  'function-race': (ledger) => race.start(ledger, 'owls.txt', { runId: 'race-1' }),
  'function-retry': (ledger) => retried.start(ledger, ['a.md', 'b.md'], { runId: 'retried-1' }),
  'function-child': (ledger) => trip.start(ledger, 'Rome', { runId: 'trip-1' }),
  async 'function-interrupt-sleep'(ledger) {
    await publish.start(ledger, 'owls', { runId: 'publish-1' })
    await publish.resume(ledger, 'publish-1', { answer: 'yes', by: 'ann' })
    await publish.start(ledger, 'mice', { runId: 'publish-2' })
    await publish.resume(ledger, 'publish-2', { answer: 'no' })
  },
  'function-crash-resume': (ledger) =>
    dying(
      ledger,
      4,
      (mortal) => crashed.start(mortal, 3, { runId: 'crashed-1' }),
      () => crashed.resume(ledger, 'crashed-1'),
    ),
  'function-redacted': (ledger) =>
    dying(
      ledger,
      3,
      (mortal) => redacted.start(mortal, 'owls', { runId: 'redacted-1' }),
      () => redacted.resume(ledger, 'redacted-1'),
    ),
  'graph-redacted': (ledger) => redactedGraph.withCheckpointer(ledger).invoke({}, { runId: 'redacted-2' }),
  'function-failed': (ledger) => failed.start(ledger, 'Rome', { runId: 'failed-1' }),
  async 'function-fork'(ledger) {
    await parallel.start(ledger, ['a', 'b'], { runId: 'parallel-2' })
    await fork(parallel, {
      ledger,
      runId: 'parallel-2',
      at: { step: 'quote#1' },
      newRunId: 'parallel-2-fork',
    })
  },
  'graph-loop': (ledger) => loop.withCheckpointer(ledger).invoke({}, { runId: 'loop-1' }),
  async 'graph-send-join-command'(ledger) {
    await fanOut.withCheckpointer(ledger).invoke({ topics: ['habitat', 'song'] }, { runId: 'fan-out-1' })
    await fanOut.withCheckpointer(ledger).invoke({ topics: ['diet'] }, { runId: 'fan-out-2' })
  },
  'graph-sub-graph': (ledger) =>
    outer.withCheckpointer(ledger).invoke({ topic: 'owls', notes: ['begin'] }, { runId: 'outer-1' }),
  async 'graph-interrupt'(ledger) {
    const graph = letter.withCheckpointer(ledger)
    await graph.invoke({}, { threadId: 'letters', runId: 'letter-1' })
    await graph.resume({ threadId: 'letters' }, { answer: true })
    await graph.invoke(null, { threadId: 'letters' })
  },
  async 'graph-turns'(ledger) {
    const graph = chat.withCheckpointer(ledger)
    for (const turn of [1, 2, 3])
      await graph.invoke({ messages: Message.human(`question ${turn}`) }, { threadId: 'talk', runId: `turn-${turn}` })
  },
  async 'graph-fork'(ledger) {
    const graph = chat.withCheckpointer(ledger)
    await graph.invoke({ messages: Message.human('red', { id: 'q1' }) }, { threadId: 'colours', runId: 'red-1' })
    await graph.fork({
      runId: 'red-1',
      at: { superstep: 0 },
      update: { messages: Message.human('green', { id: 'q1' }) },
      newRunId: 'red-1-green',
    })
  },
  async 'graph-update-state'(ledger) {
    const graph = order.withCheckpointer(ledger)
    await graph.invoke({}, { threadId: 'orders', runId: 'order-1' })
    await graph.updateState({ threadId: 'orders' }, { price: 80 }, { by: 'ann' })
    await graph.invoke(null, { threadId: 'orders' })
  },
  'graph-crash-resume': (ledger) =>
    dying(
      ledger,
      4,
      (mortal) => loop.withCheckpointer(mortal).invoke({}, { threadId: 'loops', runId: 'loop-2' }),
      () => loop.withCheckpointer(ledger).invoke(null, { threadId: 'loops' }),
    ),
  map: (ledger) => sizes.map(ledger, ['owl', 'ghost', 'raven'], { runId: 'sizes-1', concurrency: 2 }),
  async tape(ledger) {
    const server = createServer((request, response) => {
      response.setHeader('content-type', request.url === '/words' ? 'text/plain' : 'application/json')
      if (request.url === '/words') void speak(response)
      else response.end(JSON.stringify({ page: request.url, pages: 2 }))
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    try {
      await taped.start(ledger, url, { runId: 'taped-1' })
      await tapedGraph.withCheckpointer(ledger).invoke({ url }, { runId: 'taped-2' })
    } finally {
      server.closeAllConnections()
      server.close()
    }
  },
  async 'function-spoken'(ledger) {
    const asked = await ledger.record({
      eventType: 'ui.message_created',
      correlationId: 'chat-1',
      payload: { streamId: 'owls', messageId: 'm1', content: 'Owls?', role: 'user' },
      source: { origin: 'ui', runtime: 'custom' },
    })
    const persona = { id: 'owl', name: 'Owl' }
    const session = { streamId: 'owls', triggerMessageId: 'm1', persona }
    const tags = { experiment: 'e1' }
    await spoken.start(ledger, 'Owls?', { runId: 'spoken-1', session, tags, causedBy: asked, budget: { steps: 40 } })
    await spoken.resume(ledger, 'spoken-1', { answer: { stars: 5 }, by: 'ann' })
    await spoken.resume(ledger, 'spoken-1', { answer: 'approve', by: 'ann', replaceBudget: { steps: 50 } })
  },
  async 'function-overdue'(ledger) {
    await overdue.start(ledger, 'ann', { runId: 'overdue-1' })
    await overdue.resume(ledger, 'overdue-1', { answer: { choice: 'done', output: 'sent, says ann' } })
  },
  async 'function-halted'(ledger) {
    const stop = new AbortController()
    const token = (): void => void setTimeout(20).then(() => stop.abort(new Error('enough')))
    await halted.start(ledger, 'owls', { runId: 'halted-1', signal: stop.signal, listener: { token } })
  },
  'function-patient': (ledger) => patient.start(ledger, '7a', { runId: 'patient-1' }),
  async 'function-replaced'(ledger) {
    await parallel.start(ledger, ['a', 'b'], { runId: 'parallel-3' })
    const quote = { shop: 'b', price: 1 }
    for (const [newRunId, replace] of Object.entries({
      output: { step: 'quote#1', output: quote },
      input: { step: 'quote#0', input: { shop: 'c' } },
    }))
      await fork(parallel, { ledger, runId: 'parallel-3', replace, newRunId: `parallel-3-${newRunId}` })
    await publish.start(ledger, 'owls', { runId: 'publish-3' })
    await publish.resume(ledger, 'publish-3', { answer: 'yes' })
    const replace = { step: 'interrupt#0', answer: 'no' }
    await fork(publish, { ledger, runId: 'publish-3', replace, newRunId: 'publish-3-no' })
  },
  async 'graph-desk'(ledger) {
    const graph = desk.withCheckpointer(ledger)
    const messages = { role: 'user' as const, content: 'How many owls?' }
    await graph.invoke({ messages }, { threadId: 'desk', runId: 'desk-1', tags: { experiment: 'e1' } })
    await graph.fork({ runId: 'desk-1', at: { superstep: 1 }, update: { rounds: 5 }, newRunId: 'desk-1-fork' })
    await graph.invoke({ messages, rounds: 0 }, { threadId: 'desk 2', runId: 'desk-2' })
    await graph.invoke({ messages, rounds: 0 }, { threadId: 'desk 2', runId: 'desk-3' })
  },
  async 'graph-retry'(ledger) {
    const graph = shaky.withCheckpointer(ledger)
    await graph.invoke({}, { threadId: 'shaky', runId: 'shaky-1' })
    repair()
    await graph.invoke(null, { threadId: 'shaky', runId: 'shaky-2' })
  },
  async 'langgraph-saver'(ledger) {
    const saver = new ClewSaver(ledger)
    const ask = asking(saver)
    await talk(saver).invoke({ lines: ['begin'] }, thread('calm'))
    await ask.invoke({ lines: [] }, thread('asked'))
    await ask.invoke(new Command({ resume: 'one' }), thread('asked'))
    await ask.invoke(new Command({ resume: 'two' }), thread('asked'))
  },
  async langchain(ledger) {
    const model = new FakeListChatModel({ responses: ['At night.'] })
    const callbacks = [new ClewCallbackHandler({ ledger, runId: 'langchain-1' })]
    await model.invoke([new HumanMessage('When do owls hunt?')], { callbacks })
  },
}

/** Raised when runs record more than before in the same schema; the folders before it stay as they are. */
const EDITION = 1
const folder = new URL(`./schema-${SCHEMA_VERSION}.${EDITION}/`, import.meta.url)
mkdirSync(folder, { recursive: true })
const wanted = new Set(process.argv.slice(2))
for (const [name, record] of Object.entries(HISTORIES)) {
  const file = new URL(`${name}.ndjson`, folder)
  if (!wanted.has(name) && (wanted.size > 0 || existsSync(file))) continue
  const ledger = await openLedger('memory:')
  await recording(() => record(ledger))
  const lines = await Array.fromAsync(ledger.export())
  writeFileSync(file, lines.join(''))
  writeFileSync(new URL(`${name}.views.ndjson`, folder), formatViews(await viewsOf(ledger)))
  await ledger.close()
  console.log(`${name}: ${lines.length} events`)
}

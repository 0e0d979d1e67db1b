/**
 * Two hundred turns of one conversation, each a run of its own. A turn costs what it adds, not what was said before. Then
 * back to turn 50: what was known there, the same question put otherwise, and where the two answers part.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { END, formatMessages, last, Message, messages, openLedger, START, StateGraph } from 'clew'
import { chat } from './model/chat.ts'
import type { ChatMessage } from './model/protocol.ts'
import { startScriptedModel } from './model/scripted-model.ts'

const TURNS = 200
const KEY = 'sk-proj-Lr2Vt9Wn4YcB3dE6hJ9fKx81mQpz7'
const BIRDS = ['owl', 'raven', 'lark', 'crane', 'swift', 'heron', 'wren']
const birdOf = (turn: number): string => BIRDS[turn % BIRDS.length] ?? ''
const textOf = (content: Message['content'] | undefined): string =>
  typeof content === 'string' ? content : ''
const sizeOf = (name: string): number => name.length * 7

const folder = mkdtempSync(join(tmpdir(), 'clew-long-chat-'))
const model = await startScriptedModel({
  apiKey: KEY,
  rules: [
    (said) => {
      const bird = /the (\w+)/.exec(said.at(-1)?.content ?? '')?.[1] ?? 'bird'
      const asked = said.filter(({ role }) => role === 'user').length
      return {
        say: `The ${bird} is ${sizeOf(bird)} cm long, to answer question ${asked}.`.padEnd(
          400,
          ' It sings at dawn.',
        ),
      }
    },
  ],
})
try {
  const ledger = await openLedger(`sqlite:${join(folder, 'clew.db')}`)
  const graph = new StateGraph({ messages: messages(), turns: last(0) })
    .addNode('reply', async ({ messages, turns }, run) => {
      const said = formatMessages(messages, 'openai') as ChatMessage[]
      const { message } = await run.effect('model', { messages: said }, (input, call) =>
        chat(
          {
            url: model.url,
            headers: { authorization: `Bearer ${KEY}` },
            body: { model: 'gpt-4.1-mini', ...input },
          },
          call,
        ),
      )
      return { messages: Message.ai(message.content ?? ''), turns: turns + 1 }
    })
    .addEdge(START, 'reply')
    .addEdge('reply', END)
    .compile({ checkpointer: ledger, name: 'chat' })

  const place = { threadId: 'birds' }
  const grownBy: number[] = []
  let before = (await ledger.stats()).bytes
  const began = performance.now()
  for (let turn = 1; turn <= TURNS; turn++) {
    const question = Message.human(`How long is the ${birdOf(turn)}?`, { id: `question-${turn}` })
    await graph.invoke({ messages: question }, { ...place, runId: `turn-${turn}` })
    if (turn % 50 > 0) continue
    const { bytes } = await ledger.stats()
    grownBy.push((bytes - before) / 50)
    before = bytes
  }
  const now = await graph.getState(place)
  const kb = (bytes: number): string => `${(bytes / 1024).toFixed(1)} KB`
  console.log(
    `${TURNS} turns in ${Math.round(performance.now() - began)} ms, ${now?.state.messages.length} messages`,
  )
  console.log(
    `a turn: ${grownBy.map(kb).join(', ')} in each fifty; the last one sent ${kb(JSON.stringify(now?.state).length)}`,
  )
  assert.equal(now?.state.turns, TURNS)
  assert.ok((grownBy[3] ?? 0) < 1.5 * (grownBy[0] ?? 0), 'a late turn costs about what an early one did')

  // Turn 50 as it was: after the question came in (superstep 0), and at its end.
  const asked = await graph.getState({ runId: 'turn-50' }, { superstep: 0 })
  const answered = await graph.getState({ runId: 'turn-50' })
  console.log(`\nturn 50 began with ${asked?.state.messages.length} messages, next was ${asked?.next.join()}`)
  assert.deepEqual([asked?.state.messages.length, asked?.next, answered?.state.turns], [99, ['reply'], 50])
  const history = await graph.getStateHistory(place).toArray()
  assert.equal(history.length, 2 * TURNS)

  // The same moment with another question, as a conversation of its own.
  const edited = Message.human('How long is the albatross?', { id: 'question-50' })
  const branch = await graph.fork({
    runId: 'turn-50',
    at: { superstep: 0 },
    update: { messages: edited },
    newRunId: 'albatross',
    threadId: 'birds, otherwise',
  })
  const answer = branch.state.messages.at(-1)?.content
  console.log(`forked: ${branch.status}, ${textOf(answer).slice(0, 60)}`)
  assert.match(textOf(answer), /^The albatross is 63 cm long.* question 50\./)
  assert.equal((await graph.getState(place))?.state.turns, TURNS, 'the source is untouched')

  const { first, sharedEvents, state } = await ledger.diff('turn-50', 'albatross')
  console.log(`the two share ${sharedEvents} events and part at ${first?.expected?.stepId}:`)
  for (const { path, expected, received } of state) console.log(`  ${path}\n    ${expected}\n    ${received}`)
  assert.equal(first?.expected?.stepId, 'reply@s1')

  // And it goes on from there.
  const next = await graph.invoke(
    { messages: Message.human('And the wren?') },
    { threadId: 'birds, otherwise' },
  )
  assert.deepEqual([next.state.turns, next.state.messages.length], [51, 102])
  assert.equal((await ledger.verify()).ok, true)
  await ledger.close()
} finally {
  await model.close()
  rmSync(folder, { recursive: true, force: true })
}

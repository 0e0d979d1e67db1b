/** An agent of whatever make answers in a chat: each step shows while it is worked on, and nothing spins when it dies. */
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { createStream, openLedger, postMessage, readSession, readStream, TraceEmitter } from 'clew'

const ledger = await openLedger('memory:')
const uli = { type: 'user', id: 'uli', name: 'Uli' } as const
const ada = { id: 'ada', name: 'Ada' }
await createStream(ledger, { streamId: 'general', title: 'General' })
await postMessage(ledger, {
  streamId: 'general',
  messageId: 'm1',
  author: uli,
  content: 'Which owls hunt by day?',
})

const trace = new TraceEmitter({ ledger })
const session = await trace.forSession({
  streamId: 'general',
  sessionId: 's1',
  persona: ada,
  triggerMessageId: 'm1',
})

const answer = await session.withSession(async () => {
  const search = await session.startStep({ stepType: 'web_search', content: 'owls active by day' })
  await search.complete({
    content: '2 pages',
    sources: [{ type: 'web', title: 'Day owls', url: 'https://owls.example/day' }],
  })

  const thinking = await session.startStep({ stepType: 'thinking' })
  let text = ''
  for (const word of 'The pygmy owl and the hawk owl hunt by day.'.split(' ')) {
    text += `${word} `
    thinking.progress({ content: text }) // all of it so far: a lost one does no harm
    await sleep(20)
  }
  // Whoever opens the page now sees the step at work, with its text.
  const { session: now, steps } = await readSession(ledger, 's1')
  assert.equal(now.currentStepType, 'thinking')
  console.log(`while it works: ${steps.map(({ stepType, status }) => `${stepType} ${status}`).join(', ')}`)
  assert.match(JSON.stringify(steps[1]?.progress), /The pygmy owl/)

  await thinking.complete({ content: text.trim(), messageId: 'm2' })
  return text.trim()
})
const author = { type: 'persona', ...ada } as const
await postMessage(ledger, { streamId: 'general', messageId: 'm2', author, content: answer, sessionId: 's1' })

const { messages, sessions } = await readStream(ledger, 'general')
for (const item of [...messages, ...sessions].toSorted((a, b) => a.position - b.position))
  console.log(
    'messageId' in item
      ? `${item.author.name}: ${item.content as string}`
      : `  [${item.status} in ${item.stepCount} steps]`,
  )
assert.deepEqual(
  messages.map(({ sessionId }) => sessionId),
  [null, 's1'],
)
assert.equal(sessions[0]?.status, 'completed')
await ledger.close()

import { formatTranscriptText } from '@clew/ledger'
import { expect, it } from 'vitest'
import { agent } from '../run/agent.ts'
import { last } from '../graph/channels.ts'
import { createMemoryWorld } from '../../test/memory-ledger.ts'
import { END, START } from '../graph/definition.ts'
import { Message } from '../graph/message.ts'
import { messages } from '../graph/messages.ts'
import { StateGraph } from '../graph/state-graph.ts'

const calls = [
  { id: 'c1', type: 'function' as const, function: { name: 'search', arguments: '{"q":"owls"}' } },
]
const ledger = createMemoryWorld().open()
const graph = new StateGraph({ messages: messages() })
  .addNode('think', async ({ messages }, run) => {
    const reply = await run.effect('model', { count: messages.length }, () =>
      messages.some(({ role }) => role === 'tool')
        ? { role: 'assistant' as const, content: 'Two.' }
        : { role: 'assistant' as const, content: null, tool_calls: calls },
    )
    return { messages: reply }
  })
  .addNode('search', async (_, run) => {
    const content = await run.effect('search', { q: 'owls' }, () => 'Two owls')
    return { messages: { role: 'tool' as const, tool_call_id: 'c1', content } }
  })
  .addEdge(START, 'think')
  .addConditionalEdges(
    'think',
    ({ messages }) => (messages.some(({ role }) => role === 'tool') ? END : 'search'),
    ['search', END],
  )
  .addEdge('search', 'think')
  .compile({ checkpointer: ledger, name: 'owls' })

const conversation = (user: object): object[] => [
  user,
  { role: 'assistant', content: null, tool_calls: calls },
  { role: 'tool', tool_call_id: 'c1', name: 'search', content: 'Two owls' },
  { role: 'assistant', content: 'Two.' },
]

it('V3 R3 a graph keeps messages as they were sent, and every view tells them as a conversation', async () => {
  const question = { role: 'user' as const, content: 'Owls?' }
  const { runId, state, status } = await graph.invoke({ messages: question }, { threadId: 't' })
  expect(status).toBe('completed')
  expect(state.messages.map(({ id: _, ...message }) => message)).toMatchObject([
    question,
    { role: 'assistant', tool_calls: calls },
    { role: 'tool', tool_call_id: 'c1' },
    { role: 'assistant', content: 'Two.' },
  ])
  expect(await ledger.transcript(runId, { as: 'openai' })).toEqual(conversation(question))
  expect((await ledger.transcript(runId, { as: 'anthropic' })).messages.map(({ role }) => role)).toEqual([
    'user',
    'assistant',
    'user',
    'assistant',
  ])
  expect(formatTranscriptText(await ledger.transcript(runId))).toMatch(
    /USER\n  Owls\?\n\nTOOL CALL search\n[^]*RESULT search\n  Two owls\n\nASSISTANT\n  Two\.\n/,
  )
  expect(await ledger.getRun(runId)).toMatchObject({ messages: 4, toolCalls: 1 })
})

it('V3 R5 the next turn of a thread tells what it adds', async () => {
  const place = { threadId: 'turns' }
  await graph.invoke({ messages: Message.human('Owls?') }, place)
  const again = Message.human('Owls again?')
  const second = await graph.invoke({ messages: again }, place)
  expect(second.state.messages.length).toBe(6)
  expect((await ledger.transcript(second.runId, { as: 'openai' })).map(({ role }) => role)).toEqual([
    'user',
    'assistant',
  ])
})

it('V1 V3 what went in and what came out stand in the transcript and with the run', async () => {
  const twice = agent('twice', async (_run, input: { n: number }) => ({ n: input.n * 2 }))
  const { runId } = await twice.start(ledger, { n: 2 })
  expect(await ledger.getRun(runId, { values: true })).toMatchObject({
    status: 'completed',
    input: { n: 2 },
    output: { n: 4 },
  })
  expect(await ledger.getRun(runId)).not.toHaveProperty('input')
  const { entries } = await ledger.transcript(runId)
  expect(entries.map((entry) => [entry.kind, entry.kind === 'end' ? entry.output : null])).toEqual([
    ['start', null],
    ['end', { n: 4 }],
  ])
  const count = new StateGraph({ n: last(0) })
    .addNode('add', ({ n }) => ({ n: n + 1 }))
    .addEdge(START, 'add')
    .compile({ checkpointer: ledger })
  const counted = await count.invoke({ n: 1 })
  expect(await ledger.getRun(counted.runId, { values: true })).toMatchObject({
    input: { n: 1 },
    output: { n: 2 },
  })
})

it('V3 R13 a message that an agent says with its tool calls is told with them, and so is what performs them', async () => {
  const talker = agent('talker', async (run) => {
    run.say({ role: 'user', content: 'Owls?' })
    run.say({ role: 'assistant', content: null, tool_calls: calls })
    const content = await run.effect('search', { q: 'owls' }, () => 'Two owls')
    run.say({ role: 'tool', tool_call_id: 'c1', content })
    run.say({ role: 'assistant', content: [{ type: 'text', text: 'Two.' }] })
  })
  const { runId, status } = await talker.start(ledger, null)
  expect(status).toBe('completed')
  const said = await ledger.transcript(runId, { as: 'openai' })
  const question = { role: 'user', content: 'Owls?' }
  expect(said.slice(0, 3)).toEqual(conversation(question).slice(0, 3))
  expect(said.at(-1)).toMatchObject({ role: 'assistant' })
  expect(said.length).toBe(4)
  expect(await ledger.getRun(runId)).toMatchObject({ messages: 4, toolCalls: 1 })
  expect(await ledger.verify(runId, { projections: true })).toMatchObject({ ok: true })
})

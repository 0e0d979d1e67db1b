import { HttpAgent } from '@ag-ui/client'
import { EventSchemas } from '@ag-ui/core/schemas'
import { describe, expect, it } from 'vitest'
import { serve } from './served.ts'

const STREAM = [
  { type: 'RUN_STARTED', threadId: 't1', runId: 'u1' },
  { type: 'TEXT_MESSAGE_START', messageId: 'm1', role: 'assistant' },
  { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm1', delta: 'At ' },
  { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm1', delta: '09:05.' },
  { type: 'TEXT_MESSAGE_END', messageId: 'm1' },
  { type: 'TOOL_CALL_START', toolCallId: 'c1', toolCallName: 'book' },
  { type: 'TOOL_CALL_ARGS', toolCallId: 'c1', delta: '{"seat":4}' },
  { type: 'TOOL_CALL_END', toolCallId: 'c1' },
  { type: 'TOOL_CALL_RESULT', messageId: 'm2', toolCallId: 'c1', content: 'booked', role: 'tool' },
  { type: 'STATE_SNAPSHOT', snapshot: { seat: 4 } },
  { type: 'RUN_FINISHED', threadId: 't1', runId: 'u1', outcome: { type: 'success' } },
]

/** A client of AG-UI that watches a run instead of asking for one. */
class Watcher extends HttpAgent {
  protected override requestInit(): RequestInit {
    return { method: 'GET', headers: { accept: 'text/event-stream' } }
  }
}

interface Sent {
  readonly id: string
  readonly event: { readonly type: string; readonly delta?: string }
}

/** The server-sent events of an answer, until it ends or `enough` says so. */
async function readSent(answer: Response, enough: (sent: Sent[]) => boolean = () => false): Promise<Sent[]> {
  const sent: Sent[] = []
  let text = ''
  for await (const chunk of answer.body as unknown as AsyncIterable<Uint8Array>) {
    text += Buffer.from(chunk).toString()
    const blocks = text.split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) {
      const [, id, data] = /^id: (.*)\ndata: (.*)$/.exec(block) ?? []
      if (id !== undefined && data !== undefined) sent.push({ id, event: JSON.parse(data) })
    }
    if (enough(sent)) break
  }
  return sent
}

describe('AG-UI', () => {
  it.each([
    ['a list', 'application/json', JSON.stringify(STREAM)],
    ['lines', 'application/x-ndjson', STREAM.map((event) => JSON.stringify(event)).join('\n')],
    [
      'server-sent events',
      'text/event-stream',
      STREAM.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''),
    ],
  ])('A3 comes in as %s and goes out to its own client', async (_, type, body) => {
    const { url, post, ledger } = await serve()
    const answer = await post('/v1/ag-ui?agent=boatman', type, body)
    expect(answer).toMatchObject({
      status: 200,
      json: { received: STREAM.length, runs: ['u1'], refused: [] },
    })
    expect(await ledger.getRun('u1')).toMatchObject({
      status: 'completed',
      agent: 'boatman',
      threadId: 't1',
      toolCalls: 1,
    })
    expect(await post('/v1/ag-ui?agent=boatman', type, body)).toMatchObject({ status: 200 })

    const watcher = new Watcher({ url: `${url}/v1/runs/u1/ag-ui`, threadId: 't1' })
    await watcher.runAgent({ runId: 'u1' })
    expect(watcher.state).toEqual({ seat: 4 })
    expect(watcher.messages).toMatchObject([
      { id: 'm1', role: 'assistant', content: 'At 09:05.' },
      { role: 'assistant', toolCalls: [{ id: 'c1', function: { name: 'book', arguments: '{"seat":4}' } }] },
      { role: 'tool', toolCallId: 'c1', content: 'booked' },
    ])
  })

  it('A3 is watched by the official client as it is, which sends its run by POST', async () => {
    const { url, post, ledger } = await serve()
    await post('/v1/ag-ui', 'application/json', JSON.stringify(STREAM))
    const agent = new HttpAgent({ url: `${url}/v1/runs/u1/ag-ui`, threadId: 't1' })
    await agent.runAgent()
    expect(agent.state).toEqual({ seat: 4 })
    expect(agent.messages).toMatchObject([{ content: 'At 09:05.' }, { role: 'assistant' }, { role: 'tool' }])
    expect((await ledger.listRuns()).runs).toHaveLength(1)
  })

  it("A3 the user's message is shown once to a client that has it, and to one that has not", async () => {
    const { url, post, ledger } = await serve()
    const question = { id: 'q1', role: 'user' as const, content: 'When?' }
    const input = { threadId: 't1', runId: 'u1', messages: [question], tools: [], context: [], state: {} }
    const [start, ...rest] = STREAM
    await post('/v1/ag-ui', 'application/json', JSON.stringify([{ ...start, input }, ...rest]))
    await ledger.append(
      [
        { eventType: 'system.workflow_started', payload: { agent: 'boatman', threadId: 't2' } },
        { eventType: 'execution.message', payload: { role: 'user', content: 'When?' } },
        { eventType: 'execution.message', payload: { role: 'assistant', content: 'At 09:05.' } },
        { eventType: 'execution.message', payload: { role: 'user', content: 'When?' } },
        { eventType: 'system.workflow_completed', payload: {} },
      ].map((event) => ({ ...event, correlationId: 'u2' })),
    )
    const textsOf = async (runId: string, initialMessages: (typeof question)[]): Promise<unknown[]> => {
      const agent = new HttpAgent({ url: `${url}/v1/runs/${runId}/ag-ui`, initialMessages })
      await agent.runAgent()
      return agent.messages.filter(({ content }) => content !== undefined).map(({ content }) => content)
    }
    for (const own of [[], [question], [{ ...question, id: 'of the client' }]]) {
      expect(await textsOf('u1', own)).toEqual(['When?', 'At 09:05.', 'booked'])
    }
    // What was asked again is a second message.
    for (const own of [[], [question]])
      expect(await textsOf('u2', own)).toEqual(['When?', 'At 09:05.', 'When?'])
  })

  it('A3 tells a run while it goes on, and goes on after the last id for who comes back', async () => {
    const { url, ledger } = await serve()
    const say = (content: string) =>
      ledger.record({
        eventType: 'execution.message',
        correlationId: 'live',
        payload: { role: 'assistant', content },
      })
    await ledger.record({
      eventType: 'system.workflow_started',
      correlationId: 'live',
      payload: { agent: 'a' },
    })
    const first = await fetch(`${url}/v1/runs/live/ag-ui`)
    await say('one')
    // Cut in the middle of a message.
    const heard = await readSent(first, (sent) =>
      sent.some(({ event }) => event.type === 'TEXT_MESSAGE_CONTENT'),
    )
    const cut = heard.findIndex(({ event }) => event.type === 'TEXT_MESSAGE_CONTENT')
    await say('two')
    const again = await fetch(`${url}/v1/runs/live/ag-ui`, {
      headers: { 'last-event-id': heard[cut]?.id ?? '' },
    })
    await say('three')
    await ledger.record({ eventType: 'system.workflow_completed', correlationId: 'live' })
    const rest = await readSent(again)
    const all = [...heard.slice(0, cut + 1), ...rest]
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length)
    expect(all.filter(({ event }) => event.delta).map(({ event }) => event.delta)).toEqual([
      'one',
      'two',
      'three',
    ])
    expect(all.at(0)?.event.type).toBe('RUN_STARTED')
    expect(all.at(-1)?.event.type).toBe('RUN_FINISHED')
    expect(rest.map(({ event }) => event.type)).not.toContain('RUN_STARTED')
    for (const { event } of all) EventSchemas.parse(event)
  })

  it('R6 a run that pauses has ended until it is resumed; then all of it is told', async () => {
    const { url, ledger } = await serve()
    const record = (eventType: string, payload = {}) =>
      ledger.append([{ eventType, correlationId: 'p', payload }])
    await record('system.workflow_started')
    await record('ui.input_requested', { pauseId: 'q', question: 'Sail?' })
    await record('system.workflow_paused', { pauseIds: ['q'] })
    const types = async () =>
      (await readSent(await fetch(`${url}/v1/runs/p/ag-ui`))).map(({ event }) => event.type)
    expect(await types()).toEqual(['RUN_STARTED', 'RUN_FINISHED'])
    await record('ui.input_received', { pauseId: 'q', answer: 'yes' })
    expect(await types()).toEqual(['RUN_STARTED', 'RUN_FINISHED'])
    await record('system.workflow_resumed')
    await record('system.workflow_completed')
    expect(await types()).toEqual(['RUN_STARTED', 'RUN_FINISHED', 'RUN_STARTED', 'RUN_FINISHED'])
  })

  it('A3 refuses what is no stream of AG-UI, and does not know runs that are none', async () => {
    const { url, post } = await serve()
    expect((await fetch(`${url}/v1/runs/none/ag-ui`)).status).toBe(404)
    expect((await post('/v1/ag-ui', 'text/plain', 'x')).status).toBe(415)
    const answer = await post(
      '/v1/ag-ui',
      'application/json',
      JSON.stringify([{ type: 'TEXT_MESSAGE_END' }, 7]),
    )
    expect(answer.json).toMatchObject({ received: 2, events: 0, refused: [{ item: 0 }, { item: 1 }] })
  })
})

import { type ClewEvent, ClewError, type EventInput, type Ledger } from '@clew/ledger'
import { describe, expect, it } from 'vitest'
import { openMemory, readAll } from '../../test/memory-ledger.ts'
import { type AgUiEvent, createAgUiMapper, fromAgUiEvents, toAgUiEvents } from './index.ts'
import { plain, RUN, STREAM } from '../../test/ag-ui.ts'

async function store(stream: readonly object[], runId = 'run-1'): Promise<[Ledger, ClewEvent[]]> {
  const ledger = openMemory()
  const { events, problems } = fromAgUiEvents(stream, { agent: 'boatman' })
  expect(problems).toEqual([])
  await ledger.append(events)
  return [ledger, await readAll(ledger, runId)]
}
const types = (events: readonly EventInput[]) => events.map((event) => event.eventType)
const outline = (events: readonly EventInput[]) => {
  const places = new Map(events.map((event, at) => [event.eventId, at]))
  return events.map(({ eventType, causationId, payload }) => [
    eventType,
    causationId === null ? null : (places.get(causationId ?? '') ?? -1),
    payload,
  ])
}

describe('A3 an AG-UI stream as a run', () => {
  it('becomes these events, caused by these', () => {
    const { events } = fromAgUiEvents(STREAM, { agent: 'boatman' })
    expect(outline(events)).toEqual([
      ['system.workflow_started', null, { agent: 'boatman', threadId: 'thread-1' }],
      ['execution.step_started', 0, { stepId: 'plan#0', name: 'plan', kind: 'step', parentStepId: null }],
      [
        'execution.reasoning',
        1,
        { role: 'assistant', messageId: 'r1', stepId: 'plan#0', content: 'I must look.' },
      ],
      [
        'execution.message',
        2,
        { role: 'assistant', messageId: 'm1', stepId: 'plan#0', content: 'One moment.' },
      ],
      [
        'execution.step_started',
        3,
        {
          stepId: 'timetable#0',
          name: 'timetable',
          kind: 'tool',
          input: { pier: 4 },
          inputDigest: expect.any(String),
        },
      ],
      [
        'execution.tool_call',
        3,
        {
          toolCallId: 'c1',
          name: 'timetable',
          stepId: 'timetable#0',
          arguments: { pier: 4 },
          agUi: { parentMessageId: 'm1' },
        },
      ],
      [
        'execution.tool_result',
        5,
        { toolCallId: 'c1', name: 'timetable', stepId: 'timetable#0', result: '09:05', messageId: 't1' },
      ],
      ['execution.step_completed', 6, { stepId: 'timetable#0', output: '09:05' }],
      [
        'system.state_transitioned',
        6,
        {
          superstep: 1,
          operations: [
            { op: 'set', channel: 'boats', value: ['one'] },
            { op: 'set', channel: 'at', value: null },
          ],
          snapshot: true,
        },
      ],
      [
        'system.state_transitioned',
        8,
        {
          superstep: 2,
          operations: [{ op: 'append', channel: 'boats', items: ['two'] }],
          delta: [{ op: 'add', path: '/boats/-', value: 'two' }],
        },
      ],
      ['execution.step_completed', 1, { stepId: 'plan#0' }],
      ['system.ag_ui.custom', 10, { event: STREAM[17] }],
      ['ui.ag_ui.activity_snapshot', 11, { event: STREAM[18] }],
      ['system.ag_ui.event', 12, { event: STREAM[19] }],
      ['system.workflow_completed', 13, { output: { leaves: '09:05' } }],
    ])
    expect(events[0]?.timestamp).toBe('2025-11-15T07:00:00.000Z')
    expect(events.at(-1)?.timestamp).toBe('2025-11-15T07:00:02.000Z')
  })

  it('is a run that can be read', async () => {
    const [ledger] = await store(STREAM)
    expect(await ledger.getRun('run-1')).toMatchObject({
      status: 'completed',
      agent: 'boatman',
      threadId: 'thread-1',
      messages: 1,
      toolCalls: 1,
    })
    expect((await ledger.getState('run-1'))?.state).toEqual({ boats: ['one', 'two'], at: null })
    const { entries } = await ledger.transcript('run-1')
    expect(entries.map((entry) => entry.kind)).toEqual(['start', 'reasoning', 'message', 'tool_call', 'end'])
  })

  it('comes back as the stream it was', async () => {
    const [, events] = await store(STREAM)
    const told = toAgUiEvents(events)
    expect(plain(told)).toEqual(plain(STREAM as AgUiEvent[]))
    expect(told[0]?.['timestamp']).toBe(1_763_190_000_000)
    expect(told.at(-1)?.['timestamp']).toBe(1_763_190_002_000)
  })

  it('L4 gives the same ids when it is sent again, whole or in part', async () => {
    const whole = fromAgUiEvents(STREAM).events
    expect(fromAgUiEvents(STREAM).events).toEqual(whole)
    const ids = whole.map((event) => event.eventId)
    expect(new Set(ids).size).toBe(ids.length)
    const mapper = createAgUiMapper()
    const first = STREAM.slice(0, 9).flatMap((event) => mapper.push(event))
    expect(ids.slice(0, first.length)).toEqual(first.map((event) => event.eventId))
    const ledger = openMemory()
    await ledger.append(first)
    await ledger.append(whole)
    expect((await readAll(ledger, 'run-1')).length).toBe(whole.length)
  })
})

describe('A3 forms that AG-UI streams have', () => {
  const run = (...events: readonly unknown[]) =>
    fromAgUiEvents([{ type: 'RUN_STARTED', ...RUN }, ...events, { type: 'RUN_FINISHED', ...RUN }])
  const payloads = ({ events }: ReturnType<typeof fromAgUiEvents>, type: string) =>
    events.filter((event) => event.eventType === type).map((event) => event.payload)

  it('chunks without starts and ends', () => {
    const found = run(
      { type: 'TEXT_MESSAGE_CHUNK', messageId: 'm1', role: 'assistant', delta: 'He' },
      { type: 'TEXT_MESSAGE_CHUNK', delta: 'llo' },
      { type: 'TEXT_MESSAGE_CHUNK', messageId: 'm2', delta: 'again' },
      { type: 'TOOL_CALL_CHUNK', toolCallId: 'c1', toolCallName: 'f', delta: '{"a"' },
      { type: 'TOOL_CALL_CHUNK', delta: ':1}' },
      { type: 'REASONING_MESSAGE_CHUNK', messageId: 'r1', delta: 'hm' },
    )
    expect(found.problems).toEqual([])
    expect(payloads(found, 'execution.message').map((said) => said?.['content'])).toEqual(['Hello', 'again'])
    expect(payloads(found, 'execution.tool_call')).toMatchObject([{ arguments: { a: 1 } }])
    expect(payloads(found, 'execution.reasoning')).toMatchObject([{ content: 'hm' }])
  })

  it('the names of thinking before 1.0', () => {
    const found = run(
      { type: 'THINKING_START', title: 'x' },
      { type: 'THINKING_TEXT_MESSAGE_START' },
      { type: 'THINKING_TEXT_MESSAGE_CONTENT', delta: 'so' },
      { type: 'THINKING_TEXT_MESSAGE_END' },
      { type: 'THINKING_END' },
    )
    expect(payloads(found, 'execution.reasoning')).toEqual([{ role: 'assistant', content: 'so' }])
  })

  it('the input of a run: its new messages, and answers to what was asked before', () => {
    const { events } = fromAgUiEvents([
      {
        type: 'RUN_STARTED',
        ...RUN,
        parentRunId: 'run-0',
        input: {
          ...RUN,
          messages: [
            { id: 'u0', role: 'user', content: 'Hello' },
            { id: 'a0', role: 'assistant', content: 'Hi' },
            { id: 'u1', role: 'user', content: 'Go on' },
          ],
          resume: [{ interruptId: 'q1', status: 'resolved', payload: { ok: true } }],
        },
      },
    ])
    expect(events[0]?.payload).toMatchObject({ parentRunId: 'run-0', threadId: 'thread-1' })
    expect(outline(events).slice(1)).toEqual([
      ['ui.input_received', 0, { pauseId: 'q1', answer: { ok: true }, agUi: { status: 'resolved' } }],
      ['execution.message', 0, { role: 'user', content: 'Go on', messageId: 'u1' }],
    ])
  })

  it('a pause for a person, and the run that goes on after it', async () => {
    const interrupt = {
      id: 'q1',
      reason: 'confirmation',
      message: 'Publish?',
      responseSchema: { type: 'boolean' },
    }
    const stream = [
      { type: 'RUN_STARTED', ...RUN },
      { type: 'RUN_FINISHED', ...RUN, outcome: { type: 'interrupt', interrupts: [interrupt] } },
    ]
    const [ledger, events] = await store(stream)
    expect(await ledger.getRun('run-1')).toMatchObject({
      status: 'paused',
      pauses: [{ pauseId: 'q1', question: 'Publish?' }],
    })
    expect(plain(toAgUiEvents(events))).toEqual(stream)
    const again = [
      ...stream,
      {
        type: 'RUN_STARTED',
        ...RUN,
        input: { ...RUN, messages: [], resume: [{ interruptId: 'q1', payload: true }] },
      },
      { type: 'RUN_FINISHED', ...RUN, outcome: { type: 'success' } },
    ]
    const [after, all] = await store(again)
    expect(await after.getRun('run-1')).toMatchObject({ status: 'completed', pauses: [] })
    expect(plain(toAgUiEvents(all))).toEqual(again)
  })

  it('failures, cancellations and usage', async () => {
    const failed = [
      { type: 'RUN_STARTED', ...RUN },
      { type: 'RUN_ERROR', message: 'no credit', code: 'billing' },
    ]
    const [ledger, events] = await store(failed)
    expect(await ledger.getRun('run-1')).toMatchObject({ status: 'failed', error: { code: 'billing' } })
    expect(plain(toAgUiEvents(events))).toEqual(failed)
    const usage = [
      { provider: 'openai', model: 'test-a', inputTokens: 100, outputTokens: 20, cachedInputTokens: 40 },
      { provider: 'openai', model: 'test-b', inputTokens: 5, outputTokens: 1, reasoningTokens: 1 },
    ]
    const [used] = await store([
      { type: 'RUN_STARTED', ...RUN },
      { type: 'RUN_FINISHED', ...RUN, outcome: { type: 'cancelled' }, usage },
    ])
    expect(await used.getRun('run-1')).toMatchObject({
      status: 'stopped',
      inputTokens: 105,
      outputTokens: 21,
    })
    const { total } = await used.cost({ runId: 'run-1' })
    expect(total).toMatchObject({ modelCalls: 2, cacheReadTokens: 40, reasoningTokens: 1, complete: true })
  })

  it('subagents as steps, in the steps that they are part of', async () => {
    const [ledger] = await store([
      { type: 'RUN_STARTED', ...RUN },
      { type: 'SUBAGENT_STARTED', subagentRunId: 's1', name: 'scout' },
      { type: 'TEXT_MESSAGE_START', messageId: 'm1', role: 'assistant', subagentRunId: 's1' },
      { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm1', delta: 'Seen.' },
      { type: 'TEXT_MESSAGE_END', messageId: 'm1' },
      { type: 'SUBAGENT_FINISHED', subagentRunId: 's1', outcome: { type: 'success' }, result: 3 },
      { type: 'SUBAGENT_STARTED', subagentRunId: 's2', name: 'scout' },
      { type: 'SUBAGENT_ERROR', subagentRunId: 's2', message: 'lost' },
      { type: 'RUN_FINISHED', ...RUN },
    ])
    expect(await ledger.getSteps('run-1')).toMatchObject([
      { stepId: 'scout#0', kind: 'agent', status: 'completed', values: 3 },
      { stepId: 'scout#1', status: 'failed', error: { message: 'lost' } },
    ])
    const { entries } = await ledger.transcript('run-1')
    expect(entries.find((entry) => entry.kind === 'message')).toMatchObject({ stepId: 'scout#0' })
  })

  it('what a stream leaves open is told as far as it came', () => {
    const { events } = fromAgUiEvents([
      { type: 'RUN_STARTED', ...RUN },
      { type: 'STEP_STARTED', stepName: 'a' },
      { type: 'TEXT_MESSAGE_START', messageId: 'm', role: 'assistant' },
      { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'half' },
    ])
    expect(types(events).slice(2)).toEqual(['execution.message', 'execution.step_interrupted'])
    expect(events[2]?.payload).toMatchObject({ content: 'half', partial: true })
  })

  it('several runs in one stream', () => {
    const { events } = fromAgUiEvents([
      { type: 'RUN_STARTED', threadId: 't', runId: 'a' },
      { type: 'RUN_STARTED', threadId: 't', runId: 'b' },
      { type: 'RUN_FINISHED', threadId: 't', runId: 'b' },
    ])
    expect(events.map((event) => [event.correlationId, event.eventType])).toEqual([
      ['a', 'system.workflow_started'],
      ['b', 'system.workflow_started'],
      ['b', 'system.workflow_completed'],
    ])
  })

  it('E4 what is wrong is named by its place, and the rest is taken', () => {
    const found = run(
      { type: 'TEXT_MESSAGE_CONTENT', messageId: 'nobody', delta: 'x' },
      { type: 'TOOL_CALL_END', toolCallId: 'nobody' },
      { type: 'STATE_DELTA', delta: [{ op: 'remove', path: '/gone' }] },
      'text',
      { type: 'CUSTOM', name: 'fine', value: 1 },
    )
    expect(found.problems.map((problem) => problem.index)).toEqual([1, 2, 3, 4])
    expect(found.problems[2]?.reason).toMatch(/delta\[0\]\.path/)
    expect(types(found.events)).toContain('system.ag_ui.custom')
    expect(() => createAgUiMapper().push({ type: 'CUSTOM' })).toThrow(ClewError)
  })
})

import { createHash } from 'node:crypto'
import { ClewError, type EventInput, type JsonValue } from '@clew/ledger'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createAg2Mapper } from './index.ts'

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const AT = '2026-11-15T08:00:00.000Z'
const open = (agent?: string) => createAg2Mapper({ sha256, runId: 'r1', agent, at: AT })

function map(natives: readonly unknown[]): EventInput[] {
  const mapper = open()
  return natives.flatMap((native) => mapper.push(native as JsonValue))
}

function outline(events: readonly EventInput[]): [string, number | null, unknown][] {
  const places = new Map(events.map((event, at) => [event.eventId, at]))
  return events.map(({ eventType, causationId, payload }) => [
    eventType,
    causationId === null ? null : (places.get(causationId ?? '') ?? -1),
    payload,
  ])
}

const native = (type: string, uuid: string, content: object) => ({ type, content: { uuid, ...content } })
const said = (uuid: string, sender: string, recipient: string, content: string) =>
  native('text', uuid, { sender, recipient, content })

const COST = {
  usage_excluding_cached_inference: {
    total_cost: 0.1,
    'gpt-4o': { cost: 0.1, prompt_tokens: 20, completion_tokens: 4 },
  },
}

const RUN = [
  said('u1', 'user', 'triage', 'Where is my parcel?'),
  native('group_chat_run_chat', 'u2', { speaker: 'courier', silent: false }),
  native('tool_call', 'u3', {
    sender: 'courier',
    recipient: 'tools',
    content: '',
    tool_calls: [
      { id: 'c1', type: 'function', function: { name: 'track', arguments: '{"parcel":"P1"}' } },
      { id: 'c2', type: 'function', function: { name: 'weather', arguments: '{}' } },
    ],
  }),
  native('execute_function', 'u4', { func_name: 'track', call_id: 'c1', recipient: 'tools' }),
  native('executed_function', 'u5', {
    func_name: 'track',
    call_id: 'c1',
    content: 'in Bern',
    is_exec_success: true,
  }),
  native('tool_response', 'u6', {
    sender: 'tools',
    recipient: 'courier',
    tool_responses: [
      { tool_call_id: 'c1', role: 'tool', content: 'in Bern' },
      { tool_call_id: 'c2', role: 'tool', content: 'Error: no station' },
    ],
  }),
  native('input_request', 'u7', { prompt: 'Send it on?' }),
  said('u8', 'user', 'courier', 'yes'),
  said('u9', 'courier', 'user', 'It comes tomorrow.'),
  native('termination', 'u10', { termination_reason: 'done' }),
  native('run_completion', 'u11', {
    summary: 'sent on',
    last_speaker: 'courier',
    cost: COST,
  }),
]

describe('A3 events of run_iter', () => {
  it('become these, caused by these', () => {
    expect(outline(map(RUN))).toEqual([
      ['system.workflow_started', null, { agent: 'triage' }],
      [
        'execution.message',
        0,
        {
          role: 'user',
          name: 'user',
          content: 'Where is my parcel?',
          uuid: 'u1',
          sender: 'user',
          recipient: 'triage',
        },
      ],
      ['execution.handoff', 1, { from: 'user', to: 'courier', uuid: 'u2', silent: false }],
      [
        'execution.message',
        2,
        {
          role: 'assistant',
          name: 'courier',
          content: '',
          uuid: 'u3',
          sender: 'courier',
          recipient: 'tools',
        },
      ],
      [
        'execution.step_started',
        3,
        {
          stepId: 'track#0',
          name: 'track',
          kind: 'tool',
          input: { parcel: 'P1' },
          inputDigest: sha256('{"parcel":"P1"}'),
        },
      ],
      [
        'execution.tool_call',
        3,
        { toolCallId: 'c1', name: 'track', stepId: 'track#0', arguments: { parcel: 'P1' } },
      ],
      [
        'execution.step_started',
        3,
        { stepId: 'weather#0', name: 'weather', kind: 'tool', input: {}, inputDigest: sha256('{}') },
      ],
      ['execution.tool_call', 3, { toolCallId: 'c2', name: 'weather', stepId: 'weather#0', arguments: {} }],
      [
        'system.ag2.execute_function',
        3,
        { uuid: 'u4', func_name: 'track', call_id: 'c1', recipient: 'tools' },
      ],
      [
        'execution.tool_result',
        5,
        {
          toolCallId: 'c1',
          name: 'track',
          stepId: 'track#0',
          result: 'in Bern',
          uuid: 'u5',
          is_exec_success: true,
        },
      ],
      ['execution.step_completed', 9, { stepId: 'track#0', output: 'in Bern' }],
      ['system.ag2.repeated_result', 9, { toolCallId: 'c1', content: 'in Bern', role: 'tool' }],
      [
        'execution.tool_error',
        7,
        {
          toolCallId: 'c2',
          name: 'weather',
          stepId: 'weather#0',
          error: { message: 'Error: no station' },
          role: 'tool',
        },
      ],
      ['execution.step_failed', 12, { stepId: 'weather#0', error: { message: 'Error: no station' } }],
      ['ui.input_requested', 12, { pauseId: 'u7', question: 'Send it on?', uuid: 'u7' }],
      ['ui.input_received', 14, { pauseId: 'u7', answer: 'yes' }],
      [
        'execution.message',
        15,
        { role: 'user', name: 'user', content: 'yes', uuid: 'u8', sender: 'user', recipient: 'courier' },
      ],
      [
        'execution.message',
        16,
        {
          role: 'assistant',
          name: 'courier',
          content: 'It comes tomorrow.',
          uuid: 'u9',
          sender: 'courier',
          recipient: 'user',
        },
      ],
      ['system.ag2.termination', 17, { uuid: 'u10', termination_reason: 'done' }],
      [
        'integration.response',
        18,
        { operation: 'chat', model: 'gpt-4o', usage: { inputTokens: 20, outputTokens: 4 } },
      ],
      [
        'system.workflow_completed',
        18,
        {
          output: 'sent on',
          reason: 'done',
          uuid: 'u11',
          last_speaker: 'courier',
          cost: COST,
        },
      ],
    ])
  })

  it('L4 are the same when they are mapped again', () => {
    expect(map(RUN)).toEqual(map(RUN))
  })

  it('say when the run has ended, so that what follows is another', () => {
    const mapper = open('desk')
    expect(mapper.push(RUN[0] as JsonValue)[0]?.payload).toEqual({ agent: 'desk' })
    expect(mapper.ended).toBe(false)
    mapper.push(native('error', 'e', { error: 'model gone' }))
    expect(mapper.ended).toBe(true)
  })

  it('P1 never hold what a person typed into a hidden field', () => {
    const events = map([
      RUN[0],
      native('input_request', 'q', { prompt: 'Key?', password: true }),
      native('input_response', 'a', { value: 'open sesame' }),
    ])
    expect(events.at(-1)).toMatchObject({
      eventType: 'ui.input_received',
      payload: { pauseId: 'q', answer: null },
    })
    expect(JSON.stringify(events)).not.toContain('sesame')
  })

  it('are kept under their own name when nobody knows them', () => {
    const events = map([native('select speaker/2', 'x', { agents: ['a'] })])
    expect(events[1]).toMatchObject({ eventType: 'system.ag2.select_speaker_2', payload: { agents: ['a'] } })
  })

  it('have ids of their own when uuids are missing or stand twice', () => {
    const twice = [
      RUN[0],
      RUN[0],
      { type: 'text', content: { content: 'x' } },
      { type: 'text', content: 'bare' },
    ]
    const ids = map(twice).map((event) => event.eventId)
    expect(new Set(ids).size).toBe(5)
  })
})

const event = (name: string, fields: object) => ({
  __event__: `ag2.events.${name}`,
  created_at: 1_700_000_000.25,
  ...fields,
})

it('A3 events of the current package become the same kinds, with their own times', () => {
  const events = map([
    event('ModelRequest', { parts: [{ __event__: 'ag2.TextInput', content: 'Hello' }] }),
    event('ModelReasoning', { content: 'Hm.' }),
    event('ModelResponse', {
      message: { content: 'I look.' },
      tool_calls: { calls: [{ id: 'c1', name: 'look', arguments: '{"at":"sky"}' }] },
      usage: { prompt_tokens: 9, completion_tokens: 2 },
      model: 'm-1',
    }),
    event('ToolCallEvent', { id: 'c1', name: 'look', arguments: '{"at":"sky"}' }),
    event('ToolResultEvent', { parent_id: 'c1', name: 'look', result: { parts: [{ content: 'blue' }] } }),
    event('ToolErrorEvent', { parent_id: 'c9', name: 'fall', error: { __exception__: 'ValueError' } }),
    event('HumanInputRequest', { id: 'h1', content: 'More?' }),
    event('HumanMessage', { parent_id: 'h1', content: 'no' }),
    event('TaskStarted', { task_id: 't1', agent_name: 'b', objective: 'dig' }),
    event('TaskFailed', { task_id: 't1', error: 'rain' }),
    event('UsageEvent', { usage: { prompt_tokens: 1 }, model: 'm-1', kind: 'summary' }),
  ])
  expect(outline(events).map(([type, cause]) => [type, cause])).toEqual([
    ['system.workflow_started', null],
    ['execution.message', 0],
    ['execution.reasoning', 1],
    ['execution.message', 1],
    ['execution.step_started', 3],
    ['execution.tool_call', 3],
    ['execution.tool_result', 5],
    ['execution.step_completed', 6],
    ['execution.tool_error', 6],
    ['ui.input_requested', 8],
    ['ui.input_received', 9],
    ['system.task_scheduled', 10],
    ['system.task_completed', 11],
    ['integration.response', 10],
  ])
  expect(events[3]?.payload).toMatchObject({ content: 'I look.', usage: { inputTokens: 9 }, model: 'm-1' })
  expect(events[6]?.payload).toMatchObject({ result: 'blue' })
  expect(events[0]?.timestamp).toBe('2023-11-14T22:13:20.250Z')
})

describe('E4 what is wrong is named by its field', () => {
  it.each([
    [5, '(the event)'],
    [{ content: {} }, 'type'],
    [native('tool_call', 'u', { tool_calls: 'x' }), 'content.tool_calls'],
    [native('tool_call', 'u', { tool_calls: [{ id: 'c' }] }), 'content.tool_calls[0].function'],
    [
      native('tool_call', 'u', { tool_calls: [{ id: 3, function: { name: 'f' } }] }),
      'content.tool_calls[0].id',
    ],
    [native('tool_response', 'u', { tool_responses: [1] }), 'content.tool_responses[0]'],
    [native('function_call', 'u', {}), 'content.function_call'],
    [event('ToolCallEvent', { id: 'c' }), 'name'],
    [event('ModelResponse', { tool_calls: { calls: [{ id: 'c' }] } }), 'tool_calls.calls[0].name'],
  ])('%j', (value, field) => {
    expect(() => map([value])).toThrow(
      expect.objectContaining({ code: 'broken_import', fields: expect.objectContaining({ field }) }),
    )
  })

  it('answers any JSON with events or with an error of its own', () => {
    const type = fc.constantFrom(
      'text',
      'tool_call',
      'tool_response',
      'input_request',
      'run_completion',
      'new',
    )
    const content = fc.oneof(
      fc.jsonValue(),
      fc.record({ sender: fc.jsonValue(), content: fc.jsonValue(), cost: fc.jsonValue() }),
    )
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.record({ type, content }), fc.jsonValue())), (values) => {
        const mapper = open()
        const ids = values.flatMap((value) => {
          try {
            return mapper.push(value as JsonValue).map((each) => each.eventId)
          } catch (error) {
            expect(error).toBeInstanceOf(ClewError)
            return []
          }
        })
        expect(new Set(ids).size).toBe(ids.length)
      }),
      { numRuns: 300 },
    )
  })
})

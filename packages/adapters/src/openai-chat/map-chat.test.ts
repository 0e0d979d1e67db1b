import { createHash } from 'node:crypto'
import { ClewError, type EventInput, isUuid, type JsonValue } from '@clew/ledger'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mapChat, readChats } from './index.ts'

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const AT = '2026-11-15T08:00:00.000Z'
const map = (value: unknown, runId = 'r1'): EventInput[] =>
  readChats(value as JsonValue).flatMap((chat) => mapChat(chat, { sha256, runId, at: AT }))

/** Events with their causes as places in the list: `[type, cause, payload]`. */
function outline(events: readonly EventInput[]): [string, number | null, unknown][] {
  const places = new Map(events.map((event, at) => [event.eventId, at]))
  return events.map(({ eventType, causationId, payload }) => [
    eventType,
    causationId === null ? null : (places.get(causationId ?? '') ?? -1),
    payload,
  ])
}

const ask = { role: 'user', content: 'When does the 9 o’clock boat leave?' }
const call = (id: unknown, name: unknown, args: unknown = '{}'): JsonValue =>
  ({ id, type: 'function', function: { name, arguments: args } }) as JsonValue

describe('A3 a chat with a tool call', () => {
  const chat = {
    task_id: 7,
    reward: 1,
    model: 'gpt-4o',
    messages: [
      { role: 'system', content: 'Be kind.' },
      ask,
      {
        role: 'assistant',
        content: null,
        reasoning_content: 'I must look.',
        tool_calls: [call('c1', 'timetable', '{"pier": 4}')],
        usage: { prompt_tokens: 30, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 10 } },
      },
      { role: 'tool', tool_call_id: 'c1', name: 'timetable', content: '09:05' },
      { role: 'assistant', content: 'At 09:05.', name: 'harbour' },
    ],
  }

  it('becomes these events, caused by these', () => {
    expect(outline(map(chat))).toEqual([
      [
        'system.workflow_started',
        null,
        { agent: 'assistant', metadata: { task_id: 7, reward: 1, model: 'gpt-4o' } },
      ],
      ['execution.message', 0, { role: 'system', content: 'Be kind.' }],
      ['execution.message', 0, ask],
      ['execution.step_started', 2, { stepId: 'assistant#0', name: 'assistant', kind: 'model' }],
      ['execution.reasoning', 3, { role: 'assistant', content: 'I must look.', stepId: 'assistant#0' }],
      [
        'execution.message',
        3,
        {
          role: 'assistant',
          content: null,
          model: 'gpt-4o',
          usage: { inputTokens: 30, outputTokens: 5, cacheReadTokens: 10 },
          stepId: 'assistant#0',
        },
      ],
      ['execution.step_completed', 5, { stepId: 'assistant#0', output: null, decision: ['timetable'] }],
      [
        'execution.step_started',
        5,
        {
          stepId: 'timetable#0',
          name: 'timetable',
          kind: 'tool',
          input: { pier: 4 },
          inputDigest: sha256('{"pier":4}'),
        },
      ],
      [
        'execution.tool_call',
        5,
        { toolCallId: 'c1', name: 'timetable', stepId: 'timetable#0', arguments: { pier: 4 } },
      ],
      [
        'execution.tool_result',
        8,
        { toolCallId: 'c1', name: 'timetable', stepId: 'timetable#0', result: '09:05' },
      ],
      ['execution.step_completed', 9, { stepId: 'timetable#0', output: '09:05' }],
      ['execution.step_started', 9, { stepId: 'assistant#1', name: 'assistant', kind: 'model' }],
      [
        'execution.message',
        11,
        {
          role: 'assistant',
          content: 'At 09:05.',
          name: 'harbour',
          model: 'gpt-4o',
          stepId: 'assistant#1',
        },
      ],
      ['execution.step_completed', 12, { stepId: 'assistant#1', output: 'At 09:05.', decision: null }],
      ['system.workflow_completed', 12, {}],
    ])
  })

  it('L4 gives the same ids for the same chat and others for another run', () => {
    const ids = map(chat).map((event) => event.eventId)
    expect(ids.every((id) => isUuid(id ?? ''))).toBe(true)
    expect(new Set(ids).size).toBe(ids.length)
    expect(map(chat).map((event) => event.eventId)).toEqual(ids)
    expect(map(chat, 'r2').map((event) => event.eventId)).not.toContain(ids[0])
  })

  it('L4 keeps the ids of a chat that has grown since', () => {
    const shorter = map({ ...chat, messages: chat.messages.slice(0, 4) }).map((event) => event.eventId)
    const longer = map(chat).map((event) => event.eventId)
    expect(longer).toEqual(expect.arrayContaining(shorter))
  })
})

const types = (value: unknown): string[] => map(value).map((event) => event.eventType)
const payloads = (value: unknown, type: string): unknown[] =>
  map(value)
    .filter((event) => event.eventType === type)
    .map((event) => event.payload)

describe('A3 forms that chats have', () => {
  it('is a bare list, an object with messages or traj, or a list of chats', () => {
    expect(types([ask])).toEqual(types({ messages: [ask] }))
    expect(types({ traj: [ask] })).toEqual(types([ask]))
    expect(readChats([{ traj: [ask] }, { messages: [] }])).toHaveLength(2)
    expect(readChats([[ask], [ask]])).toHaveLength(2)
    expect(types([])).toEqual(['system.workflow_started', 'system.workflow_completed'])
  })

  it('joins the older function_call with its answer by name', () => {
    const events = map([
      ask,
      { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{"a":1}' } },
      { role: 'function', name: 'f', content: 'yes' },
    ])
    const result = events.find((event) => event.eventType === 'execution.tool_result')
    const asked = events.find((event) => event.eventType === 'execution.tool_call')
    expect(asked?.payload).toMatchObject({ name: 'f', arguments: { a: 1 } })
    expect(result?.causationId).toBe(asked?.eventId)
  })

  it('keeps parts, refusals and fields nobody knows', () => {
    const parts = [
      { type: 'text', text: 'See' },
      { type: 'image_url', image_url: { url: 'https://example.org/owl.png' } },
    ]
    const [first, second] = payloads(
      [
        { role: 'user', content: parts, mood: 'calm' },
        { role: 'assistant', refusal: 'I will not.', usage: 'free', model: 4 },
      ],
      'execution.message',
    )
    expect(first).toEqual({ role: 'user', content: parts, mood: 'calm' })
    expect(second).toMatchObject({ content: 'I will not.', refusal: 'I will not.', foreign: { model: 4 } })
  })

  it('keeps the text of arguments that do not survive being taken apart', () => {
    const args = ['{"n":12345678901234567890}', '{"a":1,"a":2}', 'not json', '{ "a" : "b  c" }']
    const calls = args.map((arg, nth) => call(`c${nth}`, 'f', arg))
    expect(payloads([{ role: 'assistant', tool_calls: calls }], 'execution.tool_call')).toMatchObject([
      { argumentsText: args[0] },
      { arguments: { a: 2 }, argumentsText: args[1] },
      { arguments: 'not json' },
      { arguments: { a: 'b  c' } },
    ])
    expect(payloads([{ role: 'assistant', tool_calls: calls }], 'execution.tool_call')[3]).not.toHaveProperty(
      'argumentsText',
    )
  })

  it('says what failed: a tool by its words or its status, a run by its record', () => {
    const failing = [
      { role: 'assistant', tool_calls: [call('a', 'f'), call('b', 'f')] },
      { role: 'tool', tool_call_id: 'a', content: 'Error: no such seat' },
      { role: 'tool', tool_call_id: 'b', content: 'gone', status: 'error' },
    ]
    expect(payloads(failing, 'execution.tool_error')).toMatchObject([
      { error: { message: 'Error: no such seat' } },
      { error: { message: 'gone' } },
    ])
    expect(payloads(failing, 'execution.step_failed')).toHaveLength(2)
    expect(payloads({ messages: [ask], error: 'out of turns' }, 'system.workflow_failed')).toEqual([
      { error: { message: 'out of turns' } },
    ])
    const coded = { messages: [ask], status: 'failed', error: { code: 500, message: 'x' } }
    expect(payloads(coded, 'system.workflow_failed')).toEqual([{ error: { code: '500', message: 'x' } }])
  })

  it('takes the times that the record has and keeps the last where it has none', () => {
    const events = map({
      created_at: 1_700_000_000,
      messages: [ask, { ...ask, timestamp: '2026-01-02T03:04:05+01:00' }, ask],
    })
    expect(events.map((event) => event.timestamp)).toEqual([
      '2023-11-14T22:13:20.000Z',
      '2023-11-14T22:13:20.000Z',
      '2026-01-02T02:04:05.000Z',
      '2026-01-02T02:04:05.000Z',
      '2026-01-02T02:04:05.000Z',
    ])
    expect(map([ask])[0]?.timestamp).toBe(AT)
  })
})

describe('A3 calls and results that do not fit together', () => {
  it('ends a call without a result as interrupted, and the run with it when it stands last', () => {
    const open = [ask, { role: 'assistant', tool_calls: [call('c', 'f')] }]
    expect(types(open).slice(-2)).toEqual(['execution.step_interrupted', 'system.workflow_interrupted'])
    expect(types([...open, ask]).at(-1)).toBe('system.workflow_completed')
  })

  it('keeps a result that nothing asked for', () => {
    const events = map([ask, { role: 'tool', tool_call_id: 'nobody', content: 'x' }])
    expect(events[2]).toMatchObject({ eventType: 'execution.tool_result', causationId: events[1]?.eventId })
    expect(events[2]?.payload).toEqual({ toolCallId: 'nobody', result: 'x' })
  })

  it('joins an id that stands twice with the latest call that is open', () => {
    const turn = (answer: string) => [
      { role: 'assistant', tool_calls: [call('call_1', 'f', `{"for":"${answer}"}`)] },
      { role: 'tool', tool_call_id: 'call_1', content: answer },
    ]
    const events = map([...turn('one'), ...turn('two')])
    const calls = events.filter((event) => event.eventType === 'execution.tool_call')
    const results = events.filter((event) => event.eventType === 'execution.tool_result')
    expect(results.map((event) => event.causationId)).toEqual(calls.map((event) => event.eventId))
    expect(new Set(events.map((event) => event.eventId)).size).toBe(events.length)
  })

  it('stays quick with 20,000 open calls of one name', () => {
    const calls = Array.from({ length: 20_000 }, () => call(undefined, 'f'))
    const answers = calls.map(() => ({ role: 'tool', name: 'f', content: 'x' }))
    expect(types([{ role: 'assistant', tool_calls: calls }, ...answers]).at(-1)).toBe(
      'system.workflow_completed',
    )
  })
})

describe('E4 what is wrong is named by its field', () => {
  const assistant = (more: object) => ({ messages: [ask, { role: 'assistant', ...more }] })
  it.each([
    [{ messages: [{ content: 'x' }] }, 'messages[0].role'],
    [{ traj: [ask, 5] }, 'traj[1]'],
    [[ask, null], '[1]'],
    [{ messages: 'none' }, 'messages'],
    [{ choices: [] }, 'messages'],
    ['text', '(the record)'],
    [ask, 'role'],
    [assistant({ tool_calls: {} }), 'messages[1].tool_calls'],
    [assistant({ tool_calls: [7] }), 'messages[1].tool_calls[0]'],
    [assistant({ tool_calls: [{ id: 'x' }] }), 'messages[1].tool_calls[0].function'],
    [assistant({ tool_calls: [call(5, 'f')] }), 'messages[1].tool_calls[0].id'],
    [assistant({ tool_calls: [call('x', '')] }), 'messages[1].tool_calls[0].function.name'],
    [assistant({ function_call: 'f' }), 'messages[1].function_call'],
    [{ messages: [{ role: 'tool', tool_call_id: {} }] }, 'messages[0].tool_call_id'],
  ])('%j', (value, field) => {
    const failure = (() => {
      try {
        return map(value)
      } catch (error) {
        return error
      }
    })()
    expect(failure).toBeInstanceOf(ClewError)
    expect(failure).toMatchObject({ code: 'broken_import', fields: { field } })
  })

  it('never says what a value was', () => {
    expect(() => map({ messages: [{ role: 'assistant', tool_calls: 'hunter2hunter2' }] })).not.toThrow(
      /hunter2/,
    )
  })

  it('answers any JSON with events or with an error of its own', () => {
    const message = fc.record(
      {
        role: fc.oneof(fc.constantFrom('user', 'assistant', 'tool', 'function', '__proto__'), fc.jsonValue()),
        content: fc.jsonValue(),
        tool_calls: fc.oneof(
          fc.jsonValue(),
          fc.array(fc.constantFrom(call('a', 'f'), call('a', 'g', 5), null)),
        ),
        tool_call_id: fc.constantFrom('a', 'b', null),
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(fc.oneof(fc.array(message), fc.jsonValue()), (value) => {
        try {
          const events = map(value)
          expect(new Set(events.map((event) => event.eventId)).size).toBe(events.length)
        } catch (error) {
          expect(error).toBeInstanceOf(ClewError)
        }
      }),
      { numRuns: 300 },
    )
  })
})

import { expect, it } from 'vitest'
import { messageKey, parseMessage, parseMessages } from './parse-message.ts'

const call = { id: 'c1', name: 'search', arguments: { q: 'owls' } }
const empty = {
  id: null,
  name: null,
  content: null,
  reasoning: null,
  toolCalls: [],
  toolResults: [],
  model: null,
}
const result = { toolCallId: 'c1', name: null, content: 'Two owls', isError: false }

it.each([
  ['a text', { role: 'user', content: 'Hi' }, { ...empty, role: 'user', content: 'Hi' }],
  ['the role human', { role: 'human', content: 'Hi' }, { ...empty, role: 'user', content: 'Hi' }],
  [
    'a developer',
    { role: 'developer', content: 'Be brief' },
    { ...empty, role: 'system', content: 'Be brief' },
  ],
  [
    'a call in OpenAI form',
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'search', arguments: '{"q":"owls"}' } }],
    },
    { ...empty, role: 'assistant', toolCalls: [call] },
  ],
  [
    'a call in our form',
    { role: 'ai', content: 'Let me look', toolCalls: [call] },
    { ...empty, role: 'assistant', content: 'Let me look', toolCalls: [call] },
  ],
  [
    'a result in OpenAI form',
    { role: 'tool', tool_call_id: 'c1', content: 'Two owls' },
    { ...empty, role: 'tool', toolResults: [result] },
  ],
  [
    'blocks in Anthropic form',
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Hm' },
        { type: 'text', text: 'Let me look' },
        { type: 'tool_use', id: 'c1', name: 'search', input: { q: 'owls' } },
      ],
    },
    { ...empty, role: 'assistant', content: 'Let me look', reasoning: 'Hm', toolCalls: [call] },
  ],
  [
    'a result in Anthropic form',
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'Two owls', is_error: true }],
    },
    { ...empty, role: 'user', toolResults: [{ ...result, isError: true }] },
  ],
  [
    'parts of the AI SDK',
    {
      role: 'tool',
      content: [
        {
          type: 'tool-result',
          toolCallId: 'c1',
          toolName: 'search',
          output: { type: 'text', value: 'Two owls' },
        },
      ],
    },
    { ...empty, role: 'tool', toolResults: [{ ...result, name: 'search' }] },
  ],
  [
    'items of the Responses API',
    { type: 'function_call', call_id: 'c1', name: 'search', arguments: '{"q":"owls"}' },
    { ...empty, role: 'assistant', toolCalls: [call] },
  ],
  [
    'parts of Gemini',
    { role: 'model', parts: [{ text: 'Look' }, { functionCall: { name: 'search', args: { q: 'owls' } } }] },
    { ...empty, role: 'assistant', content: 'Look', toolCalls: [{ ...call, id: null }] },
  ],
  [
    'LangChain',
    {
      type: 'ai',
      id: 'm1',
      content: '',
      tool_calls: [{ id: 'c1', name: 'search', args: { q: 'owls' } }],
      response_metadata: { model_name: 'm' },
    },
    { ...empty, role: 'assistant', id: 'm1', toolCalls: [call], model: 'm' },
  ],
  [
    'LangChain, serialized',
    {
      lc: 1,
      type: 'constructor',
      id: ['langchain_core', 'messages', 'ToolMessage'],
      kwargs: { content: 'Two owls', tool_call_id: 'c1', status: 'success' },
    },
    { ...empty, role: 'tool', toolResults: [result] },
  ],
])('V3 reads a message in whatever form it was sent: %s', (_, value, expected) => {
  expect(parseMessage(value)).toEqual(expected)
})

it.each([
  [null],
  ['text'],
  [{ role: 'remove', id: 'm1' }],
  [{ role: 'constructor', content: 'x' }],
  [{ role: 'user', email: 'a@b.c' }],
  [{ type: 'tool', id: 1 }],
  [{ type: 'constructor', id: ['langchain_core', 'prompts', 'PromptTemplate'], kwargs: { content: 'x' } }],
])('V3 what is no message is not read as one: %j', (value) => {
  expect(parseMessage(value)).toBeUndefined()
})

it('V3 a list is a conversation only when each of its items is a message', () => {
  const hi = { role: 'user', content: 'Hi' }
  expect(parseMessages([hi, { role: 'assistant', content: 'Hello' }])?.map(({ role }) => role)).toEqual([
    'user',
    'assistant',
  ])
  expect(parseMessages(hi)).toHaveLength(1)
  expect(parseMessages([{ role: 'remove', id: 'm1' }, hi])).toHaveLength(1)
  expect(parseMessages([])).toBeUndefined()
  expect(parseMessages([hi, { url: 'x' }])).toBeUndefined()
})

it('V3 one message has one key in all its forms', () => {
  const key = (value: unknown): string => messageKey(parseMessage(value) ?? expect.fail())
  expect(key({ role: 'user', content: 'Hi' })).toBe(
    key({ role: 'human', id: 'm1', content: [{ type: 'text', text: 'Hi' }] }),
  )
  const openai = {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'c1', type: 'function', function: { name: 'search', arguments: '{}' } }],
  }
  const anthropic = {
    role: 'assistant',
    content: [{ type: 'tool_use', id: 'c1', name: 'search', input: {} }],
  }
  expect(key(openai)).toBe(key(anthropic))
  expect(key({ role: 'user', content: 'Hi' })).not.toBe(key({ role: 'assistant', content: 'Hi' }))
})

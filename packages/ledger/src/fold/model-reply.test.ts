import { expect, it } from 'vitest'
import { parseModelReply } from './model-reply.ts'

const call = { name: 'search', arguments: '{"q":"owls"}' }

it.each([
  [
    'a chat completion',
    {
      choices: [
        {
          message: {
            role: 'assistant',
            content: 'Hello',
            reasoning_content: 'Let me see',
            tool_calls: [{ id: '1', type: 'function', function: call }],
          },
        },
      ],
      usage: {},
    },
    { reasoning: 'Let me see', content: 'Hello', calls: [call] },
  ],
  [
    'content blocks',
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Hm' },
        { type: 'text', text: 'Hello' },
        { type: 'tool_use', name: 'search', input: { q: 'owls' } },
      ],
    },
    {
      reasoning: 'Hm',
      content: [{ type: 'text', text: 'Hello' }],
      calls: [{ name: 'search', arguments: { q: 'owls' } }],
    },
  ],
  [
    'a result with text and tool calls',
    {
      text: 'Hello',
      reasoningText: 'Hm',
      finishReason: 'stop',
      toolCalls: [{ toolName: 'search', input: 1 }],
    },
    { reasoning: 'Hm', content: 'Hello', calls: [{ name: 'search', arguments: 1 }] },
  ],
  [
    'only a call',
    { thought: 'Look', message: { role: 'assistant', content: null, tool_calls: [{ function: call }] } },
    { reasoning: 'Look', content: null, calls: [call] },
  ],
])('V3 reads the answer of a model: %s', (_, output, expected) => {
  expect(parseModelReply(output)).toEqual(expected)
})

it.each([
  [null],
  ['text'],
  [{ text: 'a note' }],
  [{ message: 'sent' }],
  [{ role: 'user', content: 'x' }],
  [[1]],
  [{ choices: [] }],
])('V3 leaves other results alone: %j', (output) => {
  expect(parseModelReply(output)).toBeUndefined()
})

import { expect, it } from 'vitest'
import { parseModelReply } from './parse-reply.ts'

const call = { name: 'search', arguments: '{"q":"owls"}' }
const asked = { id: null, name: 'search', arguments: { q: 'owls' } }

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
    { reasoning: 'Let me see', content: 'Hello', toolCalls: [{ ...asked, id: '1' }] },
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
      content: 'Hello',
      toolCalls: [asked],
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
    { reasoning: 'Hm', content: 'Hello', toolCalls: [{ ...asked, arguments: 1 }] },
  ],
  [
    'only a call',
    { thought: 'Look', message: { role: 'assistant', content: null, tool_calls: [{ function: call }] } },
    { reasoning: 'Look', content: null, toolCalls: [asked] },
  ],
  [
    'output items',
    {
      object: 'response',
      model: 'm',
      output: [
        { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm' }] },
        {
          type: 'message',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'Hello' }],
        },
        { type: 'function_call', call_id: 'c1', ...call },
      ],
    },
    { reasoning: 'Hm', content: 'Hello', toolCalls: [{ ...asked, id: 'c1' }], model: 'm' },
  ],
  [
    'candidates',
    {
      candidates: [{ content: { role: 'model', parts: [{ text: 'Hm', thought: true }, { text: 'Hello' }] } }],
    },
    { reasoning: 'Hm', content: 'Hello', toolCalls: [] },
  ],
])('V3 reads the answer of a model: %s', (_, output, expected) => {
  expect(parseModelReply(output)).toMatchObject({ role: 'assistant', ...expected })
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

import { expect, it } from 'vitest'
import { formatMessages } from './format-messages.ts'

const calls = [
  { id: 'c1', type: 'function', function: { name: 'search', arguments: '{"q":"owls"}' } },
  { id: 'c2', type: 'function', function: { name: 'count', arguments: 'broken{' } },
]
const openai = [
  { role: 'system', content: 'Be brief' },
  { role: 'user', content: 'Owls?' },
  { role: 'assistant', content: 'Let me look', tool_calls: calls },
  { role: 'tool', tool_call_id: 'c1', content: 'Two owls' },
  { role: 'tool', tool_call_id: 'c2', content: '2' },
  { role: 'user', content: 'Well?' },
]
const anthropic = {
  system: 'Be brief',
  messages: [
    { role: 'user', content: 'Owls?' },
    {
      role: 'assistant',
      content: [
        { type: 'text', text: 'Let me look' },
        { type: 'tool_use', id: 'c1', name: 'search', input: { q: 'owls' } },
        { type: 'tool_use', id: 'c2', name: 'count', input: { value: 'broken{' } },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'c1', content: 'Two owls' },
        { type: 'tool_result', tool_use_id: 'c2', content: '2' },
        { type: 'text', text: 'Well?' },
      ],
    },
  ],
}

it('V3 gives messages out in the form of either maker', () => {
  expect(formatMessages(openai, 'openai')).toEqual(openai)
  expect(formatMessages(openai, 'anthropic')).toEqual(anthropic)
})

it('V3 messages of a state come out like those of a model', () => {
  const state = [
    { id: '1', role: 'human', content: 'Owls?' },
    { id: '2', role: 'ai', content: '', toolCalls: [{ id: 'c1', name: 'search', arguments: { q: 'owls' } }] },
    { id: '3', role: 'tool', toolCallId: 'c1', content: { found: 2 } },
  ]
  expect(formatMessages(state, 'openai')).toEqual([
    { role: 'user', content: 'Owls?' },
    { role: 'assistant', content: null, tool_calls: calls.slice(0, 1) },
    { role: 'tool', tool_call_id: 'c1', content: '{"found":2}' },
  ])
  expect(formatMessages(anthropic.messages, 'openai')).toEqual([
    ...openai.slice(1, 2),
    {
      ...openai[2],
      tool_calls: [calls[0], { ...calls[1], function: { name: 'count', arguments: '{"value":"broken{"}' } }],
    },
    ...openai.slice(3),
  ])
})

it('V3 pictures keep their place; what is no message is refused by its place', () => {
  const picture = (url: string) => ({ role: 'user', content: [{ type: 'image_url', image_url: { url } }] })
  const sources = ['https://x.y/owl.png', 'data:image/png;base64,AAAA'].map(
    (url) => formatMessages([picture(url)], 'anthropic').messages[0]?.content,
  )
  expect(sources).toEqual([
    [{ type: 'image', source: { type: 'url', url: 'https://x.y/owl.png' } }],
    [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } }],
  ])
  expect(() => formatMessages([{ role: 'user', content: 'x' }, 7], 'openai')).toThrow(/^Item 1 of the list/)
})

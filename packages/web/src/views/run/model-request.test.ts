import { expect, it } from 'vitest'
import { readModelRequest, withValueAt } from './model-request.ts'

const request = {
  model: 'small',
  temperature: 0,
  messages: [
    { role: 'system', content: 'Be short.' },
    {
      role: 'user',
      content: [
        { type: 'image', url: 'a.png' },
        { type: 'text', text: 'What is this?' },
      ],
    },
    { role: 'assistant', content: null, tool_calls: [{ id: 'c1' }] },
  ],
}

it('U1 reads the turns of a request, in the forms of both providers, and in the body of a taped one', () => {
  for (const input of [request, { method: 'POST', body: request }]) {
    const found = readModelRequest(input)
    expect(found?.turns.map(({ role, text }) => [role, text])).toEqual([
      ['system', 'Be short.'],
      ['user', 'What is this?'],
      ['assistant', null],
    ])
    expect(found?.parameters).toEqual({ model: 'small', temperature: 0 })
  }
  const anthropic = readModelRequest({ model: 'm', system: 'Be kind.', messages: [] })
  expect(anthropic?.turns).toEqual([{ role: 'system', path: ['system'], text: 'Be kind.', rest: {} }])
  expect(readModelRequest({ messages: 'many' })).toBeUndefined()
})

it('U1 puts another text where a turn has it, and leaves the rest', () => {
  const input = { body: request }
  const turn = readModelRequest(input)?.turns[1]
  const edited = withValueAt(input, turn?.path ?? [], 'And this?') as { body: typeof request }
  expect(readModelRequest(edited)?.turns[1]?.text).toBe('And this?')
  expect(edited.body.messages[0]).toEqual(request.messages[0])
  expect(request.messages[1]?.content).toContainEqual({ type: 'text', text: 'What is this?' })
})

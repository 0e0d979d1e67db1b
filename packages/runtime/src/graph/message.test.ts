import { expect, it } from 'vitest'
import { Message } from './message.ts'

it('R3 Message.text is what a message says, whatever its content is made of', () => {
  expect(Message.text(Message.human('owls'))).toBe('owls')
  const parts = [
    { type: 'text', text: 'see ' },
    { type: 'image', url: 'x', text: 'no' },
    { type: 'text', text: 'this' },
  ]
  expect(Message.text(Message.ai(parts))).toBe('see this')
  expect(Message.text({ content: [{ type: 'text', text: 7 }] })).toBe('')
})

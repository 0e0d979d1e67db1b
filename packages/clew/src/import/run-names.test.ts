import { expect, it } from 'vitest'
import { runNames } from './run-names.ts'

it('A3 names runs after their files, with as much of the path as tells them apart', () => {
  expect(runNames(['chats/first.json', './second.ndjson'])).toEqual(['first', 'second'])
  expect(runNames(['a/chat.json', 'b/chat.json', 'other.json'])).toEqual(['a-chat', 'b-chat', 'other'])
  expect(runNames(['x/a/chat.json', 'y/a/chat.json'])).toEqual(['x-a-chat', 'y-a-chat'])
})

it('A3 gives names that a shell and a terminal take as they are', () => {
  expect(runNames(['my chat \u001b[2J (1).json', 'größe.json'])).toEqual(['my-chat-2J-1-', 'größe'])
  expect(runNames(['..', 'chat.json', 'chat.ndjson'])).toEqual(['file', 'chat', 'chat'])
})

import { expect, it } from 'vitest'
import { socketAddress } from './rooms.ts'

it.each([
  ['', '', '/socket.io'],
  ['https://clew.example.org', 'https://clew.example.org', '/socket.io'],
  ['https://app.example.org/clew', 'https://app.example.org', '/clew/socket.io'],
  ['https://app.example.org/clew/', 'https://app.example.org', '/clew/socket.io'],
  ['/clew', '', '/clew/socket.io'],
])('A2 a page reaches the sockets of a server at %j below its path', (url, origin, path) => {
  expect(socketAddress(url)).toEqual({ origin, path })
})

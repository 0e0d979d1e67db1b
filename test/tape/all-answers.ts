import { gzipSync } from 'node:zlib'
import { createMemoryWorld } from '../../packages/runtime/test/memory-ledger.ts'
import { type Answer, json, startServer, stream } from './server.ts'

export const PNG = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0, 255, 254, 192, 128, 10, 13])

const answer: Answer = (seen, response) => {
  const { pathname } = new URL(seen.url, 'http://server')
  switch (pathname) {
    case '/json':
      return json(response, { hello: 'wörld', asked: seen.body })
    case '/stream':
      return stream(response, ['one ', 'two ', 'thr', 'ee'], { gapMs: 15 })
    case '/cut-character': {
      const bytes = Buffer.from('a – b – c')
      return stream(response, [bytes.subarray(0, 3), bytes.subarray(3, 6), bytes.subarray(6)], { gapMs: 15 })
    }
    case '/binary':
      return void response.writeHead(200, { 'content-type': 'image/png' }).end(PNG)
    case '/gzip':
      return void response
        .writeHead(200, { 'content-encoding': 'gzip', 'content-type': 'text/plain' })
        .end(gzipSync('unpacked'))
    case '/nothing':
      return void response.writeHead(204).end()
    case '/empty':
      return void response.writeHead(200).end()
    case '/moved':
      return void response.writeHead(302, { location: '/json' }).end()
    case '/echo':
      return void response
        .writeHead(201, 'Made', { 'content-type': 'text/plain', 'x-own': 'mine', 'set-cookie': 'a=b' })
        .end(`${seen.method} ${String(seen.headers['x-sent'] ?? '-')} ${seen.body}`)
    case '/broken':
      response.writeHead(200, { 'content-type': 'text/plain' })
      response.write('half a ')
      return void setTimeout(() => response.destroy(), 30)
    case '/endless':
      response.writeHead(200, { 'content-type': 'text/plain' })
      return void response.write('for ever ')
    case '/silent':
      return undefined
    default:
      return json(response, { error: 'no such page' }, 404)
  }
}

export const openServer = () => startServer(answer)
export const openLedger = () => createMemoryWorld().open()

import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'

/** A model server in a thread of its own: so many tokens one after the other, with a pause between them where the path is /slow. */
const { tokens, gapMs } = workerData as { readonly tokens: number; readonly gapMs: number }

const events = Array.from({ length: tokens }, (_, at) => {
  const choices = [{ index: 0, delta: { content: `word ${at} ` }, finish_reason: null }]
  const chunk = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'small', choices }
  return `data: ${JSON.stringify(chunk)}\n\n`
})

async function speak(response: ServerResponse, isSlow: boolean): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const event of events) {
    if (isSlow) await new Promise((resolve) => void setTimeout(resolve, gapMs))
    response.write(event)
  }
  response.end('data: [DONE]\n\n')
}

const server = createServer((request, response) => void speak(response, request.url === '/slow'))
server.listen(0, '127.0.0.1', () => parentPort?.postMessage((server.address() as AddressInfo).port, []))

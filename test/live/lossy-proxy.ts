import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface LossyProxy {
  readonly url: string
  /** Bodies of the appends that came through, in their order. */
  readonly appended: readonly string[]
  /** The answers to so many appends are lost, after the server has given them. */
  loseAnswers(count: number): void
  close(): void
}

/** Stands between a client and a server, and loses answers. */
export async function startLossyProxy(target: string): Promise<LossyProxy> {
  const appended: string[] = []
  let lost = 0
  const server = createServer((incoming, outgoing) => void pass(incoming, outgoing))

  async function pass(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk as Buffer)
    const { method, headers, url = '/' } = incoming
    const forward = request(new URL(url, target), { method, headers }, (answer) => {
      const isAppend = method === 'POST' && url.startsWith('/v1/events')
      if (!isAppend || lost === 0) {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
        return void answer.pipe(outgoing)
      }
      lost--
      answer.resume().on('end', () => outgoing.destroy())
    })
    forward.on('error', () => outgoing.destroy())
    if (method === 'POST') appended.push(Buffer.concat(chunks).toString())
    forward.end(Buffer.concat(chunks))
  }

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    appended,
    loseAnswers: (count) => void (lost = count),
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Seen {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

export type Answer = (request: Seen, response: ServerResponse) => void | Promise<void>

/** A server of its own for each test, which says what it was asked. */
export interface TestServer extends AsyncDisposable {
  readonly url: string
  readonly seen: Seen[]
  close(): Promise<void>
}

export async function startServer(answer: Answer): Promise<TestServer> {
  const seen: Seen[] = []
  const server = createServer((request, response) => void go(request, response))

  async function go(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const { method = 'GET', url = '/', headers } = request
    const asked = { method, url, headers, body: Buffer.concat(parts).toString('utf8') }
    seen.push(asked)
    await answer(asked, response)
  }

  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, seen, close, [Symbol.asyncDispose]: close }
}

export const json = (response: ServerResponse, value: unknown, status = 200): void =>
  void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))

export interface StreamOptions {
  readonly type?: string
  readonly gapMs?: number
  /** Waited for before each piece. */
  readonly before?: ((piece: number) => Promise<void> | undefined) | undefined
}

/** Writes one piece after the other, each in a packet of its own as far as that can be had. */
export async function stream(
  response: ServerResponse,
  pieces: readonly (string | Uint8Array)[],
  { type = 'text/event-stream', gapMs = 2, before }: StreamOptions = {},
): Promise<void> {
  response.writeHead(200, { 'content-type': type })
  response.flushHeaders()
  for (const [at, piece] of pieces.entries()) {
    await before?.(at)
    await new Promise((resolve) => void setTimeout(resolve, gapMs))
    await new Promise<void>((resolve) => void response.write(piece, () => resolve()))
  }
  response.end()
}

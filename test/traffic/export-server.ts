import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'

export interface ExportServer {
  readonly url: string
  /** Returns the bodies in the order of their arrival. */
  close(): Promise<unknown[]>
}

/** Accepts exports of OpenTelemetry as JSON and keeps them. */
export async function startExportServer(): Promise<ExportServer> {
  const bodies: unknown[] = []

  async function keep(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const bytes = Buffer.concat(await request.toArray())
    const isGzip = request.headers['content-encoding'] === 'gzip'
    bodies.push(JSON.parse((isGzip ? gunzipSync(bytes) : bytes).toString('utf8')))
    response.setHeader('content-type', 'application/json')
    response.end('{}')
  }

  const server = createServer((request, response) => {
    keep(request, response).catch((error: unknown) => response.writeHead(400).end(String(error)))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => void server.close(resolve))
      return bodies
    },
  }
}

import { createMcpHandler } from '@modelcontextprotocol/server'
import { serveStdio as serveOverStdio } from '@modelcontextprotocol/server/stdio'
import { createMcpServer } from './create-mcp-server.ts'
import type { McpParts } from './mcp-parts.ts'
import type { Session } from './tool.ts'

export interface StdioServer {
  /** Settles when the client has closed its end. */
  readonly closed: Promise<void>
  close(): Promise<void>
}

/** Serves one client over the standard input and output of this process. */
export function serveStdio(parts: McpParts, session: Session): StdioServer {
  const ended = Promise.withResolvers<void>()
  const handle = serveOverStdio(() => createMcpServer(parts, session), {
    ...(parts.onError && { onerror: parts.onError }),
  })
  for (const name of ['end', 'close'] as const) process.stdin.once(name, () => ended.resolve())
  return {
    closed: ended.promise,
    async close() {
      await handle.close()
      ended.resolve()
    },
  }
}

export interface McpEndpoint {
  /** Answers one request of streamable HTTP whose body was read and whose caller was let in. */
  answer(request: Request, body: unknown, session: Session): Promise<Response>
  close(): Promise<void>
}

/** Without sessions of its own: each request carries its token, so each is let in, or not, by itself. */
export function createEndpoint(parts: McpParts): McpEndpoint {
  const sessions = new WeakMap<object, Session>()
  const handler = createMcpHandler(
    ({ authInfo }) => {
      const session = sessions.get(authInfo?.extra ?? {})
      if (!session) throw new Error('A request without its caller')
      return createMcpServer(parts, session)
    },
    { ...(parts.onError && { onerror: parts.onError }) },
  )
  return {
    answer(request, parsedBody, session) {
      const extra = {}
      sessions.set(extra, session)
      const authInfo = { token: '', clientId: session.principal ?? 'local', scopes: [], extra }
      return handler.fetch(request, { parsedBody, authInfo })
    },
    close: () => handler.close(),
  }
}

import type { Ledger } from '@clew/ledger'
import type { App } from './create-app.ts'
import { LOCAL, may, type Scope, SCOPES } from './principal.ts'
import type { Route } from './route.ts'
import type { ServerParts } from './server-parts.ts'

/** A request of streamable HTTP whose caller was let in. */
export interface McpRequest {
  readonly request: Request
  readonly body: unknown
  readonly ledger: Ledger
  /** Undefined for who may not control runs. */
  readonly control: unknown
  /** Name of the token; undefined for a program on this machine, which may read. */
  readonly principal: string | undefined
  readonly scopes: readonly Scope[]
}

export type AnswerMcp = (request: McpRequest) => Promise<Response>

const ROUTE: Route = {
  id: 'mcp',
  method: 'post',
  path: '/mcp',
  summary: 'Model Context Protocol over streamable HTTP: the tools of agents',
  tag: 'live',
  scope: 'read',
  body: { 'application/json': { schema: { type: 'object', description: 'a message of JSON-RPC 2.0' } } },
  bodyRequired: true,
  answer: {
    description: 'The answer to the message, or a stream of progress that ends with it.',
    content: {
      'application/json': { schema: { type: 'object' } },
      'text/event-stream': { schema: { type: 'string' } },
    },
  },
}

/** Tokens are those of the other routes. Approving is only for tokens that were given that scope by name. */
export function mountMcp(app: App, parts: ServerParts, answer: AnswerMcp): void {
  app.route(ROUTE, async (call) => {
    const { principal, ledger, signal } = call
    const body = await call.json()
    const isLocal = principal.id === LOCAL.id
    const scopes = isLocal
      ? []
      : SCOPES.filter((scope) =>
          scope === 'approve' ? principal.scopes.includes(scope) : may(principal, scope),
        )
    const { method, url, headers } = call.request
    return answer({
      request: new Request(url, { method, headers, signal }),
      body,
      ledger,
      control: scopes.includes('control') ? parts.controlOf(call.workspace) : undefined,
      principal: isLocal ? undefined : principal.name,
      scopes,
    })
  })
}

import type { McpRequest } from '@clew/server'
import { createEndpoint } from '@clew/mcp'
import { createMcpParts } from './create-mcp-parts.ts'

/**
 * Answers requests of streamable HTTP to `/mcp`. What a token may is what its scopes say; without a token there is nobody
 * who allowed an agent more than to read.
 */
export function serveEndpoint(onError: (error: unknown) => void): (request: McpRequest) => Promise<Response> {
  const endpoint = createEndpoint(createMcpParts(onError))
  return ({ request, body, ledger, control, principal, scopes }) =>
    endpoint.answer(request, body, {
      ledger,
      control,
      principal,
      may: ({ scope }) => scope === 'read' || scopes.includes(scope),
      howToAllow: ({ scope }) =>
        `Use a token that has the scope ${scope}: clew token create --scope ${scope}.`,
    })
}

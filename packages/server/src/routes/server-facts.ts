import { ClewError } from '@clew/ledger'
import type { App } from '../create-app.ts'
import { docsPage } from '../docs-page.ts'
import { jsonAnswer } from '../json-answer.ts'
import { openApi } from '../openapi.ts'
import { pack } from '../packed.ts'
import type { Route } from '../route.ts'
import type { ServerParts } from '../server-parts.ts'

const JSON_OBJECT = { 'application/json': { schema: { type: 'object' } } } as const

const DOCS_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  vary: 'accept-encoding',
}

const open = (route: Pick<Route, 'id' | 'path' | 'summary' | 'answer'>): Route => ({
  ...route,
  method: 'get',
  tag: 'server',
  scope: null,
})

/** Whether the server is up, whether it works, how much, and what there is to ask. */
export function mountServerFacts(app: App, parts: ServerParts, version: string): void {
  app.route(
    open({
      id: 'healthz',
      path: '/healthz',
      summary: 'Whether the process is running',
      answer: { description: 'It is running.', content: JSON_OBJECT },
    }),
    () => Response.json({ status: 'ok' }),
  )
  app.route(
    open({
      id: 'readyz',
      path: '/readyz',
      summary: 'Whether it can serve requests: the store is reachable and the server is not closing',
      answer: { description: 'It can; 503 if it cannot.', content: JSON_OBJECT },
    }),
    async () => {
      if (parts.closing.aborted)
        throw new ClewError('closed', 'The server is closing', 'Ask another server, or try again later.', {})
      await parts.ledgerOf(parts.workspace).lastPosition()
      return Response.json({ status: 'ok' })
    },
  )
  app.route(
    {
      id: 'metrics',
      method: 'get',
      path: '/metrics',
      summary: 'Metrics for Prometheus, of all workspaces together',
      tag: 'server',
      scope: 'admin',
      answer: { description: 'Metrics as text.', content: { 'text/plain': { schema: { type: 'string' } } } },
    },
    async () =>
      new Response(await parts.metrics.registry.metrics(), {
        headers: { 'content-type': parts.metrics.registry.contentType, 'cache-control': 'no-store' },
      }),
  )
  app.route(
    open({
      id: 'openapi',
      path: '/openapi.json',
      summary: 'All routes as OpenAPI 3.1',
      answer: { description: 'The document.', content: JSON_OBJECT },
    }),
    (call) => jsonAnswer(call, openApi(app.routes, version)),
  )
  app.route(
    open({
      id: 'docs',
      path: '/docs',
      summary: 'All routes as a page',
      answer: { description: 'The page.', content: { 'text/html': { schema: { type: 'string' } } } },
    }),
    async ({ request }) => {
      const text = new TextEncoder().encode(docsPage(app.routes))
      const { bytes, headers } = await pack(text, request.headers.get('accept-encoding'))
      return new Response(bytes as Uint8Array<ArrayBuffer>, { headers: { ...DOCS_HEADERS, ...headers } })
    },
  )
}

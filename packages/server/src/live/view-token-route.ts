import { z } from 'zod'
import type { App } from '../create-app.ts'
import type { ServerParts } from '../server-parts.ts'
import { DEFAULT_VIEW_SECONDS, MAX_VIEW_SECONDS, type ViewTarget } from '../tokens/view-token.ts'
import { mountJson } from './json-route.ts'

const id = z.string().min(1).max(512)
const seconds = z
  .int()
  .min(1)
  .max(MAX_VIEW_SECONDS)
  .default(DEFAULT_VIEW_SECONDS)
  .describe('how long it is valid')
const body = z.union([
  z.strictObject({ runId: id.describe('the run it shows'), seconds }),
  z.strictObject({ streamId: id.describe('the stream it shows, with its sessions'), seconds }),
])

/** `POST /v1/view-tokens`: for the server of an application, which hands them to pages of its users. */
export function mountViewTokens(app: App, { principals }: ServerParts): void {
  mountJson(
    app,
    {
      id: 'createViewToken',
      method: 'post',
      path: '/v1/view-tokens',
      summary: 'Create a token that shows one run or one stream for a short time',
      scope: 'read',
      body: { schema: body, example: { runId: 'run-1', seconds: 600 } },
      answer: {
        description: 'the token, and when it expires',
        schema: z.object({ token: z.string(), expiresAt: z.string() }),
      },
    },
    async ({ principal, workspace }, { seconds: lifetime, ...target }) =>
      principals.createViewToken({
        workspace,
        target: target satisfies ViewTarget,
        seconds: lifetime,
        issuer: principal,
      }),
  )
}

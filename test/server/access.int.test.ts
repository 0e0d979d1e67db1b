import type { ClewEvent, Ledger } from '@clew/ledger'
import { createToken, revokeToken, type Scope, SCOPES } from '@clew/server/tokens'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { may } from '../../packages/server/src/principal.ts'
import { recordRun, serve, type Served } from './served.ts'

interface Operation {
  readonly 'x-scope'?: Scope
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly required: boolean }[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly example?: unknown }>> }
}
interface Case {
  readonly method: string
  readonly path: string
  readonly scope: Scope | null
  readonly needed: readonly string[]
  readonly body: { readonly type: string; readonly text: string } | undefined
}

const OPEN = new Set(['/healthz', '/readyz', '/openapi.json', '/docs'])

describe('who may, for every route of the OpenAPI document', () => {
  let served: Served
  let cases: Case[]
  let event: ClewEvent
  const tokens = new Map<string, string>()

  const make = async (ledger: Ledger, name: string, scopes: readonly Scope[], workspace: string | null) => {
    const made = await createToken(ledger, { name, scopes, workspace, expiresAt: null })
    tokens.set(name, made.token)
    return made.record
  }

  beforeAll(async () => {
    served = await serve(
      { tokens: true, limits: { failureBurst: 1e6, requestBurst: 1e6, requestsPerSecond: 1e6 } },
      async (ledger) => {
        await recordRun(ledger, 'run-1')
        for (const scope of SCOPES) await make(ledger, scope, [scope], 'default')
        await make(ledger, 'other', SCOPES, 'elsewhere')
        await make(ledger, 'everywhere', SCOPES, null)
        await revokeToken(ledger, (await make(ledger, 'revoked', SCOPES, 'default')).tokenId)
        const past = await createToken(ledger, {
          name: 'expired',
          scopes: SCOPES,
          workspace: 'default',
          expiresAt: new Date(Date.now() - 1),
        })
        tokens.set('expired', past.token)
        tokens.set('unknown', 'clew_nobody-made-this')
      },
    )
    for await (const each of served.ledger.read('run-1')) event = each
    const document = (await (await served.fetch('/openapi.json')).json()) as {
      readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
    }
    cases = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => {
        const [body] = Object.entries(operation.requestBody?.content ?? {})
        return {
          method: method.toUpperCase(),
          path,
          scope: operation['x-scope'] ?? null,
          needed: (operation.parameters ?? [])
            .filter(({ in: place, required }) => place === 'query' && required)
            .map(({ name }) => name),
          body: body && { type: body[0], text: JSON.stringify(body[1].example ?? {}) },
        }
      }),
    )
  })
  afterAll(() => served.close())

  const fill = (path: string, workspace: string): string =>
    path
      .replace('{runId}', 'run-1')
      .replace('{eventId}', event.eventId)
      .replace('{stepId}', encodeURIComponent('plan#0'))
      .replace('{workspaceId}', workspace)
      .replaceAll(/\{\w+\}/g, 'none')

  /** The status, and what the body says; a stream is let go of at its first byte. */
  async function ask(
    { method, path, body, needed }: Case,
    token: string | undefined,
    workspace = 'default',
    named = true,
  ): Promise<{ status: number; code: string | undefined }> {
    const target = fill(path, workspace)
    const query = new URLSearchParams(Object.fromEntries(needed.map((name) => [name, 'run-1'])))
    if (!path.includes('{workspaceId}') && named) query.set('workspace', workspace)
    const response = await served.fetch(`${target}?${query.toString()}`, {
      method,
      token,
      ...(body && { body: body.text, headers: { 'content-type': body.type } }),
    })
    const isJson = response.headers.get('content-type') === 'application/json'
    const answer = isJson ? ((await response.json()) as { error?: { code: string } }) : undefined
    if (!isJson) await response.body?.cancel()
    return { status: response.status, code: answer?.error?.code }
  }

  const guarded = (): Case[] => cases.filter(({ scope }) => scope !== null)
  const named = ({ method, path }: Case): string => `${method} ${path}`

  it('A2 only these are open to everybody', () => {
    expect(cases.length).toBeGreaterThan(30)
    expect(new Set(cases.filter(({ scope }) => scope === null).map(({ path }) => path))).toEqual(OPEN)
  })

  it('A2 what is open answers without a token', async () => {
    for (const each of cases.filter(({ scope }) => scope === null))
      expect([named(each), (await ask(each, undefined, 'default', false)).status]).toEqual([named(each), 200])
  })

  it.each(['none', 'unknown', 'revoked', 'expired'])(
    'A2 nobody is let in with a token that is %s',
    async (name) => {
      for (const each of guarded())
        expect([named(each), await ask(each, tokens.get(name))]).toEqual([
          named(each),
          { status: 401, code: 'unauthenticated' },
        ])
    },
  )

  it('A2 another workspace is not there, whatever a token may do in its own', async () => {
    for (const each of guarded()) {
      const asked = [named(each), await ask(each, tokens.get('other'))]
      expect(asked).toEqual([named(each), { status: 404, code: 'not_found' }])
    }
  })

  it('A2 things of another workspace are not there either', async () => {
    const ofThing = guarded().filter(({ path }) => /\{(?:runId|eventId|stepId)\}/.test(path))
    expect(ofThing.length).toBeGreaterThan(15)
    for (const each of ofThing) {
      const { status } = await ask(each, tokens.get('other'), 'elsewhere')
      expect([named(each), status]).toEqual([named(each), 404])
    }
  })

  it("A2 the server's own runs are nobody's workspace", async () => {
    for (const each of guarded()) {
      const { status } = await ask(each, tokens.get('everywhere'), 'clew:server')
      expect([named(each), status]).toEqual([named(each), 404])
    }
  })

  it.each(SCOPES)(
    'A2 a token with the scope %s gets as far as the scope reaches, and no further',
    async (scope) => {
      const principal = { id: '', name: '', workspace: 'default', scopes: [scope] }
      for (const each of guarded()) {
        const { status, code } = await ask(each, tokens.get(scope))
        if (!may(principal, each.scope as Scope))
          expect([named(each), status, code]).toEqual([named(each), 403, 'forbidden'])
        else {
          expect([named(each), status]).not.toEqual([named(each), 401])
          expect([named(each), code]).not.toEqual([named(each), 'forbidden'])
          expect([named(each), status]).not.toEqual([named(each), 500])
        }
      }
    },
  )

  it('A2 a route that says nothing about its scope would be seen', () => {
    for (const each of guarded()) expect(SCOPES).toContain(each.scope)
  })
})

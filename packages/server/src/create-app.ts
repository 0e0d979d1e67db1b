import type { HttpBindings } from '@hono/node-server'
import { ClewError } from '@clew/ledger'
import { type Context, Hono } from 'hono'
import { allowOrigin } from './allow-origin.ts'
import { assertShown } from './assert-shown.ts'
import { createCall } from './create-call.ts'
import { errorAnswer } from './error-answer.ts'
import { may, type Principal } from './principal.ts'
import type { Caller } from './principals.ts'
import type { Answer, Call, Route } from './route.ts'
import type { ServerParts } from './server-parts.ts'

type Env = { Bindings: Partial<HttpBindings> }

/** Answers a path without a route; undefined passes it to the next fallback. */
export type Fallback = (request: {
  readonly path: string
  header(name: string): string | undefined
}) => Promise<Response | undefined>

export interface App {
  /** All mounted routes in order, for OpenAPI. */
  readonly routes: readonly Route[]
  /** Mounts a route behind admission, workspace, scope and limits. */
  route(route: Route, answer: Answer): void
  /** For GET only, and not for data of a workspace. */
  fallback(fallback: Fallback): void
  /** Answers a request; `bindings` are the Node request and response, if there are any. */
  fetch(request: Request, bindings?: object): Promise<Response>
}

export function createApp(parts: ServerParts): App {
  const hono = new Hono<Env>()
  const routes: Route[] = []
  const patterns: { readonly route: Route; readonly pattern: RegExp }[] = []
  const fallbacks: Fallback[] = []

  function refuse(error: unknown): Response {
    parts.metrics.errors.inc({ code: error instanceof ClewError ? error.code : 'unexpected' })
    if (!(error instanceof ClewError)) parts.log.error({ err: error }, 'a request failed')
    return errorAnswer(error)
  }

  hono.use(async (context, next) => {
    const preflight = allowOrigin(context.req.raw, parts.origin)
    if (preflight?.answer) return preflight.answer
    await next()
    for (const [name, value] of Object.entries({ ...ALWAYS, ...preflight?.headers }))
      context.res.headers.set(name, value)
    // A client reconnects to a server that stays. A body that was not read would have to be, before the next request.
    if (parts.closing.aborted || hasUnreadBody(context)) context.res.headers.set('connection', 'close')
    return undefined
  })
  hono.onError((error) => refuse(error))
  hono.notFound(async (context) => {
    const { path, method } = context.req
    const others = patterns.filter(({ pattern }) => pattern.test(path)).map(({ route }) => route.method)
    try {
      await parts.principals.admit(callerOf(context), true)
      if (others.length > 0) throw wrongMethod(method, others)
      if (method === 'GET' || method === 'HEAD')
        for (const fallback of fallbacks) {
          const found = await fallback({ path, header: (name) => context.req.header(name) })
          if (found) return found
        }
      const shown = path.length > 200 ? `${path.slice(0, 200)}…` : path
      throw new ClewError('not_found', `There is no route ${shown}`, 'See /docs for all routes.', {})
    } catch (error) {
      const response = refuse(error)
      if (others.length > 0) response.headers.set('allow', others.join(', ').toUpperCase())
      return response
    }
  })

  async function answerOne(context: Context<Env>, route: Route, answer: Answer): Promise<Response> {
    const began = performance.now()
    const revoked = new AbortController()
    let unwatch = (): void => {}
    let response: Response
    let id = '-'
    try {
      const principal = await parts.principals.admit(callerOf(context), route.scope === null)
      id = principal.id
      unwatch = parts.principals.watch(principal, () => revoked.abort(tokenEnded()))
      const call = createAdmitted(context, route, principal, revoked.signal)
      if (route.scope !== null) await assertShown(call, route)
      response = await answer(call)
    } catch (error) {
      response = refuse(error)
    }
    unwatch()
    const seconds = (performance.now() - began) / 1000
    const { method } = context.req
    const { status } = response
    parts.metrics.requests.inc({ method, route: route.path, status })
    parts.metrics.requestSeconds.observe({ method, route: route.path }, seconds)
    parts.log.info({ method, route: route.path, status, ms: Math.round(seconds * 1e6) / 1e3, principal: id })
    return response
  }

  function createAdmitted(
    context: Context<Env>,
    route: Route,
    principal: Principal,
    revoked: AbortSignal,
  ): Call {
    const { req, env } = context
    const params: Record<string, string> = req.param()
    const signal = AbortSignal.any([req.raw.signal, revoked])
    const cut = (): void => void env.incoming?.socket.destroy()
    const call = createCall({ raw: req.raw, params }, route, principal, parts, signal, cut)
    if (route.scope !== null && !may(principal, route.scope))
      throw new ClewError(
        'forbidden',
        `This needs the scope ${route.scope}, which ${principal.name} does not have`,
        'Use a token that has it.',
        { scope: route.scope },
      )
    if (route.scope === 'write' && call.ledger.waiting > parts.limits.waitingAppends)
      throw new ClewError(
        'overloaded',
        'Too many appends are waiting for the store',
        'Send it again a little later. Nothing was written.',
        {},
      )
    return call
  }

  return {
    routes,
    route(route, answer) {
      routes.push(route)
      patterns.push({
        route,
        pattern: new RegExp(`^${route.path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
      })
      const path = route.path.replaceAll(/\{(\w+)\}/g, ':$1')
      hono.on(route.method.toUpperCase(), path, (context) => answerOne(context, route, answer))
    },
    fallback: (fallback) => void fallbacks.push(fallback),
    fetch: async (request, bindings = {}) => hono.fetch(request, bindings),
  }
}

/** True if a body was announced and has not arrived as a whole. */
function hasUnreadBody({ env: { incoming } }: Context<Env>): boolean {
  if (incoming === undefined || incoming.complete) return false
  const { headers } = incoming
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

const tokenEnded = (): ClewError =>
  new ClewError(
    'unauthenticated',
    'The token was revoked or has expired',
    'What was answered or read before that is stored; use another token for the rest.',
    {},
  )

/** Headers of every answer: no guessed content type, no embedding in other pages, no referrer for links. */
const ALWAYS: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
}

const wrongMethod = (method: string, others: readonly string[]): ClewError =>
  new ClewError(
    'wrong_method',
    `${method} is not what this address takes`,
    `Use ${others.join(' or ').toUpperCase()}.`,
    {},
  )

function callerOf(context: Context<Env>): Caller {
  return {
    method: context.req.method,
    header: (name) => context.req.header(name),
    address: context.env.incoming?.socket.remoteAddress,
  }
}

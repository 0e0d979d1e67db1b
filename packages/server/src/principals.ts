import { ClewError, type Ledger } from '@clew/ledger'
import type { Logger } from 'pino'
import { clientAddress } from './client-address.ts'
import { assertSameOrigin } from './same-origin.ts'
import type { Limits } from './limits.ts'
import { LOCAL, type Principal } from './principal.ts'
import { createBuckets } from './token-bucket.ts'
import { stateOf } from './tokens/token-run.ts'
import { digestOf } from './tokens/tokens.ts'
import {
  readViewToken,
  signViewToken,
  type ViewClaims,
  type ViewTarget,
  type ViewToken,
} from './tokens/view-token.ts'
import { watchTokens } from './tokens/watch-tokens.ts'

/** A caller before it is admitted: a request or the handshake of a socket. */
export interface Caller {
  readonly method: string
  /** A header by its lower-case name. */
  header(name: string): string | undefined
  /** Token from the handshake of a socket, in place of the header `authorization`. */
  readonly token?: string | undefined
  /** Remote address of the connection. */
  readonly address?: string | undefined
}

export interface Principals {
  /** The principal of a caller. Throws `unauthenticated`, `forbidden` (a page of another origin) or `rate_limited`. `isOpen`: no token needed. */
  admit(caller: Caller, isOpen?: boolean): Promise<Principal>
  /** Calls `ended` once, when the token is revoked (by any server) or expires. Returns how to stop watching. */
  watch(principal: Principal, ended: () => void): () => void
  /** A token that shows one run or stream of a workspace; without `issuer` it is made by the application itself. */
  createViewToken(options: ViewTokenOptions): ViewToken
}

export interface ViewTokenOptions {
  readonly workspace: string
  readonly target: ViewTarget
  readonly seconds: number
  readonly issuer?: Principal | undefined
}

export interface OwnPrincipals extends Principals {
  /** True if a valid token exists. */
  hasTokens(): boolean
  close(): void
}

export interface PrincipalOptions {
  readonly ledger: Ledger
  readonly log: Logger
  readonly limits: Limits
  /** False: callers without a token are admitted, after checks of Host and Origin. */
  readonly needsToken: boolean
  /** Another origin whose pages may call. */
  readonly origin?: string | undefined
  /** The server is reached only through one proxy, which writes `x-forwarded-for`. */
  readonly trustProxy?: boolean | undefined
  /** Key of view tokens, the same for all servers of a ledger. */
  readonly signingKey: string
}

interface Watchers {
  readonly principal: Principal
  readonly ends: Set<() => void>
}

/** Principal of routes that need no token. */
const ANYBODY: Principal = { id: 'anybody', name: 'anybody', workspace: null, scopes: [] }

const EXPIRY_MS = 1000

export async function createPrincipals(options: PrincipalOptions): Promise<OwnPrincipals> {
  const { ledger, log, limits, needsToken, origin, trustProxy = false, signingKey } = options
  const watchers = new Map<string, Watchers>()
  const views = new WeakMap<Principal, ViewClaims>()
  const tokens = await watchTokens(ledger, log, endInvalid)
  const requests = createBuckets(limits.requestsPerSecond, limits.requestBurst)
  const failures = createBuckets(limits.failuresPerSecond, limits.failureBurst)
  const clock = setInterval(endInvalid, EXPIRY_MS)
  clock.unref()

  function endInvalid(): void {
    for (const id of watchers.keys()) endIfInvalid(id)
  }

  function endIfInvalid(id: string): void {
    const watched = watchers.get(id)
    if (!watched || isValid(watched.principal)) return
    watchers.delete(id)
    for (const end of watched.ends) end()
  }

  const isTokenValid = (tokenId: string): boolean => {
    const token = tokens.byId(tokenId)
    return token !== undefined && stateOf(token, Date.now()) === 'valid'
  }

  function isViewValid({ expiresAtMs, issuer }: ViewClaims): boolean {
    return expiresAtMs > Date.now() && (issuer === LOCAL.id || isTokenValid(issuer))
  }

  function isValid(principal: Principal): boolean {
    const view = views.get(principal)
    return view ? isViewValid(view) : isTokenValid(principal.id)
  }

  function byViewToken(view: ViewClaims, token: string): Principal {
    if (!isViewValid(view)) throw unauthenticated('The view token is expired or revoked')
    const { workspace, target, issuer } = view
    const id = `view-${digestOf(token).slice(0, 16)}`
    const overMs = requests.take(id)
    if (overMs > 0) throw tooMany('The view token asks too often', overMs)
    const name = tokens.byId(issuer)?.name ?? 'view token'
    const principal: Principal = { id, name, workspace, scopes: ['read'], only: target }
    views.set(principal, view)
    return principal
  }

  /** Valid tokens are found before anything is limited: wrong ones from the same address must not keep their owners out. */
  async function byToken(token: string, address: string): Promise<Principal> {
    const view = readViewToken(signingKey, token)
    if (view) return byViewToken(view, token)
    const digest = digestOf(token)
    let found = tokens.byDigest(digest)
    if (!found) {
      const waitMs = failures.peek(address)
      if (waitMs > 0) throw tooMany('There were too many wrong tokens', waitMs)
      // Another process may have created it a moment ago.
      await tokens.refresh()
      found = tokens.byDigest(digest)
    }
    const state = found ? stateOf(found, Date.now()) : 'unknown'
    if (!found || state !== 'valid') {
      const waitMs = failures.take(address)
      if (waitMs > 0) throw tooMany('There were too many wrong tokens', waitMs)
      throw unauthenticated(`The token is ${state}`)
    }
    const overMs = requests.take(found.tokenId)
    if (overMs > 0) throw tooMany(`The token ${found.name} asks too often`, overMs)
    return { id: found.tokenId, name: found.name, workspace: found.workspace, scopes: found.scopes }
  }

  return {
    async admit(caller, isOpen = false) {
      // Without a token, any page in a browser on this machine could be the caller.
      if (!needsToken) assertSameOrigin(caller, origin)
      if (isOpen) return ANYBODY
      const token = caller.token ?? bearerOf(caller)
      if (token !== undefined) return byToken(token, clientAddress(caller, trustProxy))
      if (needsToken) throw unauthenticated('This needs a token')
      return LOCAL
    },
    watch(principal, ended) {
      const { id } = principal
      if (id === LOCAL.id || id === ANYBODY.id) return () => {}
      const watched = watchers.get(id) ?? { principal, ends: new Set() }
      const { ends } = watched
      // Each call has an entry of its own, also if the same function is passed twice.
      const end = (): void => ended()
      ends.add(end)
      watchers.set(id, watched)
      // The token may have been revoked since the connection was admitted.
      queueMicrotask(() => endIfInvalid(id))
      return () => {
        ends.delete(end)
        if (ends.size === 0 && watchers.get(id) === watched) watchers.delete(id)
      }
    },
    createViewToken: ({ workspace, target, seconds, issuer = LOCAL }) =>
      signViewToken(signingKey, {
        workspace,
        target,
        issuer: issuer.id,
        expiresAtMs: Date.now() + seconds * 1000,
      }),
    hasTokens: () => tokens.someValid(),
    close() {
      clearInterval(clock)
      tokens.close()
    },
  }
}

function bearerOf(caller: Caller): string | undefined {
  const header = caller.header('authorization')
  if (header === undefined) return undefined
  const token = /^Bearer +([\w.~+/=-]{1,2000})$/i.exec(header)?.[1]
  if (token !== undefined) return token
  throw unauthenticated('The header authorization is not of the form `Bearer TOKEN`')
}

const unauthenticated = (what: string): ClewError =>
  new ClewError(
    'unauthenticated',
    what,
    'Send `authorization: Bearer TOKEN`; `clew token create` on the machine of the store creates one.',
    {},
  )

function tooMany(what: string, waitMs: number): ClewError {
  const retryAfter = Math.max(1, Math.ceil(waitMs / 1000))
  return new ClewError('rate_limited', what, `Try again in ${retryAfter} s. Nothing was done.`, {
    retryAfter,
  })
}

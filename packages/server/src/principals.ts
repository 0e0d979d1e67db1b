import { ClewError, type Ledger } from '@clew/ledger'
import type { Logger } from 'pino'
import { assertSameOrigin } from './same-origin.ts'
import type { Limits } from './limits.ts'
import { LOCAL, type Principal } from './principal.ts'
import { createBuckets } from './token-bucket.ts'
import { stateOf, type TokenRecord } from './tokens/token-run.ts'
import { digestOf } from './tokens/tokens.ts'
import { watchTokens } from './tokens/watch-tokens.ts'

/** Credentials of a caller before admission, from a request or a socket handshake. */
export interface Caller {
  readonly method: string
  /** A header by its lower-case name. */
  header(name: string): string | undefined
  /** A token that came another way than in `authorization`: the handshake of a socket. */
  readonly token?: string | undefined
  /** Address of the other side. */
  readonly address?: string | undefined
}

export interface Principals {
  /**
   * Who this is, or an error: `unauthenticated`, `forbidden` (a page of another origin), `rate_limited`. For what is
   * open to everybody, nobody has to be known.
   */
  admit(caller: Caller, isOpen?: boolean): Promise<Principal>
  /** Calls `ended` once, when the token is revoked or expires, whichever server did it. Gives back how to stop. */
  watch(principal: Principal, ended: () => void): () => void
}

export interface OwnPrincipals extends Principals {
  /** Whether anybody could be let in by a token. */
  hasTokens(): boolean
  close(): void
}

export interface PrincipalOptions {
  readonly ledger: Ledger
  readonly log: Logger
  readonly limits: Limits
  /** Without: who is on this machine is let in as it is, with checks of Host and Origin. */
  readonly needsToken: boolean
  /** Another origin whose pages may call. */
  readonly origin?: string | undefined
}

/** Somebody, for what is open to all. */
const ANYBODY: Principal = { id: 'anybody', name: 'anybody', workspace: null, scopes: [] }

const EXPIRY_MS = 1000

export async function createPrincipals(options: PrincipalOptions): Promise<OwnPrincipals> {
  const { ledger, log, limits, needsToken, origin } = options
  const watchers = new Map<string, Set<() => void>>()
  const tokens = await watchTokens(ledger, log, endInvalid)
  const requests = createBuckets(limits.requestsPerSecond, limits.requestBurst)
  const failures = createBuckets(limits.failuresPerSecond, limits.failureBurst)
  const clock = setInterval(endInvalid, EXPIRY_MS)
  clock.unref()

  function endInvalid(): void {
    for (const [tokenId, ends] of watchers) {
      const token = tokens.byId(tokenId)
      if (token && stateOf(token, Date.now()) === 'valid') continue
      watchers.delete(tokenId)
      for (const end of ends) end()
    }
  }

  async function findToken(token: string): Promise<TokenRecord | undefined> {
    const digest = digestOf(token)
    const known = tokens.byDigest(digest)
    if (known) return known
    // It may have been made a moment ago, by another process.
    await tokens.refresh()
    return tokens.byDigest(digest)
  }

  async function byToken(token: string, address: string): Promise<Principal> {
    const waitMs = failures.peek(address)
    if (waitMs > 0) throw tooMany('There were too many wrong tokens', waitMs)
    const found = await findToken(token)
    const state = found ? stateOf(found, Date.now()) : 'unknown'
    if (!found || state !== 'valid') {
      failures.take(address)
      throw unauthenticated(`The token is ${state}`)
    }
    const overMs = requests.take(found.tokenId)
    if (overMs > 0) throw tooMany(`The token ${found.name} asks too often`, overMs)
    return { id: found.tokenId, name: found.name, workspace: found.workspace, scopes: found.scopes }
  }

  return {
    async admit(caller, isOpen = false) {
      // Who needs no token could be anybody's page in a browser on this machine.
      if (!needsToken) assertSameOrigin(caller, origin)
      if (isOpen) return ANYBODY
      const token = caller.token ?? bearerOf(caller)
      if (token !== undefined) return byToken(token, caller.address ?? '')
      if (needsToken) throw unauthenticated('This needs a token')
      return LOCAL
    },
    watch({ id }, ended) {
      if (id === LOCAL.id || id === ANYBODY.id) return () => {}
      const ends = watchers.get(id) ?? new Set()
      // Each call has its own entry, also where the same function is given twice.
      const end = (): void => ended()
      watchers.set(id, ends.add(end))
      // It may have been revoked since it was admitted.
      queueMicrotask(endInvalid)
      return () => {
        ends.delete(end)
        if (ends.size === 0 && watchers.get(id) === ends) watchers.delete(id)
      }
    },
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
  const token = /^Bearer +([\w.~+/=-]{1,500})$/i.exec(header)?.[1]
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

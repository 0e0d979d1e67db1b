import type { JsonObject, Ledger } from '@clew/ledger'
import type { Principal, Scope } from './principal.ts'
import type { Turns } from './turns.ts'

export interface RouteParameter {
  readonly name: string
  readonly in: 'path' | 'query'
  readonly description: string
  readonly required?: boolean | undefined
  /** JSON Schema; text without it. */
  readonly schema?: JsonObject | undefined
}

/** A body or an answer: JSON Schema by media type. */
export type Content = Readonly<Record<string, { readonly schema: JsonObject; readonly example?: unknown }>>

/**
 * One route as OpenAPI describes it. Routes are mounted in no other way, so each is in `/openapi.json`, has its scope checked
 * before it is called, and is covered by the test of access control.
 */
export interface Route {
  readonly id: string
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  /** With parameters as `{runId}`; `{workspaceId}` is the workspace of the call. */
  readonly path: string
  readonly summary: string
  readonly tag: string
  /** Scope that the caller needs; null for a route that needs no token, such as `/healthz`. */
  readonly scope: Scope | null
  readonly parameters?: readonly RouteParameter[] | undefined
  /** Accepts query names that are not among the parameters. */
  readonly anyQuery?: boolean | undefined
  readonly body?: Content | undefined
  readonly bodyRequired?: boolean | undefined
  /** True for bodies that another thread may read: `limits.jsonBytes` does not apply. */
  readonly isIngest?: boolean | undefined
  /** The successful answer. */
  readonly answer: { readonly status?: number; readonly description: string; readonly content?: Content }
}

/** One admitted request. */
export interface Call {
  readonly request: Request
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  readonly principal: Principal
  /** The workspace of this request; the principal may enter it. */
  readonly workspace: string
  readonly ledger: Ledger
  /** Aborts when the client closes the connection, or when its token is revoked or expires. */
  readonly signal: AbortSignal
  /** The whole body, decompressed; throws `too_large` beyond the limits. */
  bytes(): Promise<Uint8Array>
  /** The body as JSON; only `application/json` is accepted. */
  json(): Promise<unknown>
  /** Resolves when so many bytes of a body may be decoded on this thread; `bytes` and `json` wait for it. */
  readonly turns: Turns
  /** Destroys the connection: for a client that has stopped reading or sending. */
  cut(): void
}

export type Answer = (call: Call) => Response | Promise<Response>

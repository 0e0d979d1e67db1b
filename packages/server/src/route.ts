import type { JsonObject, Ledger } from '@clew/ledger'
import type { Principal, Scope } from './principal.ts'

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
 * One route as OpenAPI describes it. There is no other way to mount one, so each is in `/openapi.json`, has its scope
 * checked before it is reached, and is tried out by the test of access control.
 */
export interface Route {
  readonly id: string
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  /** With parameters as `{runId}`. `{workspaceId}` is the workspace that the caller is in. */
  readonly path: string
  readonly summary: string
  readonly tag: string
  /** Required scope; null for public routes such as the health check. */
  readonly scope: Scope | null
  readonly parameters?: readonly RouteParameter[] | undefined
  /** Takes any query instead of refusing names that are not among the parameters. */
  readonly anyQuery?: boolean | undefined
  readonly body?: Content | undefined
  readonly bodyRequired?: boolean | undefined
  /** Bytes of the body as sent; default `limits.bodyBytes`. */
  readonly bodyBytes?: number | undefined
  /** Successful answer. */
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
  /** The caller has gone. */
  readonly signal: AbortSignal
  /** The whole body, unpacked; `too_large` beyond the limits, so nothing can make the server hold more. */
  bytes(): Promise<Uint8Array>
  /** Ends the connection without a word: for who has stopped reading. */
  cut(): void
  /** The body as JSON; nothing but `application/json` is accepted. */
  json(): Promise<unknown>
  /** Ends the connection at once: for a client that has stopped reading. */
  cut(): void
}

export type Answer = (call: Call) => Response | Promise<Response>

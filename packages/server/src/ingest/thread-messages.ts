import type { ClewError, ErrorCode } from '@clew/ledger'
import type { Principal } from '../principal.ts'

/** An admitted request, as it is sent to the ingest thread. */
export interface CallMessage {
  readonly type: 'call'
  readonly id: number
  readonly routeId: string
  readonly url: string
  readonly headers: readonly (readonly [string, string])[]
  readonly params: Readonly<Record<string, string>>
  readonly principal: Principal
}

export type ToThread =
  | CallMessage
  /** The next part of a body, after `pull`. */
  | { readonly type: 'chunk'; readonly id: number; readonly bytes: Uint8Array; readonly isLast: boolean }
  /** The body broke off, or the token was revoked. */
  | { readonly type: 'abort'; readonly id: number; readonly error: SentError }

export type FromThread =
  | { readonly type: 'pull'; readonly id: number }
  | { readonly type: 'cut'; readonly id: number }
  | AnswerMessage
  | { readonly type: 'failed'; readonly id: number; readonly error: SentError }

export interface AnswerMessage {
  readonly type: 'answer'
  readonly id: number
  readonly status: number
  readonly headers: readonly (readonly [string, string])[]
  readonly body: Uint8Array
  /** For the metrics of the server: events appended, and codes of errors that the answer reports. */
  readonly appended: number
  readonly errors: readonly string[]
}

/** A `ClewError` as JSON; null for any other error, which the thread has logged and whose text may hold anything. */
export type SentError = {
  readonly code: ErrorCode
  readonly message: string
  readonly hint: string
  readonly fields: ClewError['fields']
} | null

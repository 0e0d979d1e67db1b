import { ClewError, type ErrorCode } from '@clew/ledger'

/** One status per code. What is not here is a defect of ours: 500. */
const STATUS: Readonly<Record<ErrorCode, number>> = {
  bad_envelope: 400,
  bad_payload: 400,
  bad_value: 400,
  bad_option: 400,
  bad_url: 400,
  bad_graph: 400,
  bad_write: 400,
  bad_answer: 400,
  bad_signal: 400,
  broken_import: 400,
  unauthenticated: 401,
  forbidden: 403,
  switched_off: 403,
  not_found: 404,
  wrong_method: 405,
  conflict: 409,
  wrong_seq: 409,
  stale_epoch: 409,
  busy: 409,
  stopped: 409,
  ended: 409,
  deadline: 409,
  unfinished: 409,
  too_late: 409,
  held: 409,
  erased: 409,
  pruned: 410,
  not_resumable: 409,
  ambiguous: 409,
  too_large: 413,
  wrong_media: 415,
  rate_limited: 429,
  bad_peer: 500,
  bad_key: 500,
  store_corrupt: 500,
  newer_store: 503,
  older_store: 503,
  not_a_store: 503,
  store_missing: 503,
  store_unreachable: 503,
  store_refused: 503,
  store_locked: 503,
  store_full: 503,
  store_readonly: 503,
  store_failed: 503,
  closed: 503,
  overloaded: 503,
}

/** After how many seconds it is worth coming back. */
const RETRY_SECONDS: Readonly<Record<number, string>> = { 429: '1', 503: '2' }

export interface ErrorBody {
  readonly error: {
    readonly code: ErrorCode | 'unexpected'
    readonly message: string
    readonly hint: string
    readonly fields: ClewError['fields']
  }
}

/** Answer for an error. Other errors than ClewError may quote anything, so nothing of them is sent (P3). */
export function errorBody(error: unknown): ErrorBody {
  if (error instanceof ClewError) return { error: error.toJSON() }
  const hint = 'This is a defect in Clew; the log of the server has more.'
  return { error: { code: 'unexpected', message: `Something went wrong. ${hint}`, hint, fields: {} } }
}

export function errorAnswer(error: unknown): Response {
  const status = error instanceof ClewError ? STATUS[error.code] : 500
  const headers: Record<string, string> = {}
  const retry = RETRY_SECONDS[status]
  if (retry !== undefined) headers['retry-after'] = String((error as ClewError).fields['retryAfter'] ?? retry)
  if (status === 401) headers['www-authenticate'] = 'Bearer realm="clew"'
  return Response.json(errorBody(error), { status, headers })
}

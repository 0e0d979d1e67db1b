import type { BodyRecord } from './body-record.ts'
import { keptHeaders } from './read-request.ts'
import type { TapeRules } from './tape-options.ts'

/** Part of a response that is recorded when its headers arrive. */
export interface ResponseHead {
  readonly status: number
  readonly statusText?: string | undefined
  readonly headers: Readonly<Record<string, string>>
  /** Final URL after redirects, if different from that of the request. */
  readonly url?: string | undefined
  /** False if there is no body, not even an empty one. */
  readonly hasBody: boolean
}

export function toHead(response: Response, requestUrl: string, rules: TapeRules): ResponseHead {
  const { status, statusText, headers, url, body } = response
  return {
    status,
    ...(statusText !== '' && { statusText }),
    headers: keptHeaders(headers, rules),
    ...(url !== '' && url !== requestUrl && { url }),
    hasBody: body !== null,
  }
}

/**
 * The recorded head, and the body where it was recorded with it. Also what a person says a request came to that was under way
 * when the process died: `{ status, headers, body }`, all of which may be left out.
 */
export function readHead(output: unknown): {
  readonly head: ResponseHead
  readonly body: BodyRecord | undefined
} {
  const { status, statusText, headers, url, hasBody, body } = (
    typeof output === 'object' && output !== null ? output : {}
  ) as Partial<ResponseHead> & { readonly body?: unknown }
  const head = { status: status ?? 200, statusText, headers: headers ?? {}, url, hasBody: hasBody ?? true }
  if (isBodyRecord(body)) return { head, body }
  return { head, body: hasBody === undefined ? bodyAsSaid(body ?? '') : undefined }
}

const isBodyRecord = (body: unknown): body is BodyRecord =>
  typeof body === 'object' && body !== null && Array.isArray((body as Partial<BodyRecord>).chunks)

const bodyAsSaid = (body: unknown): BodyRecord => ({
  chunks: body === '' ? [] : [[0, typeof body === 'string' ? body : JSON.stringify(body)]],
  startedAt: 0,
})

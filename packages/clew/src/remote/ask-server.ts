import { setTimeout as sleep } from 'node:timers/promises'
import { ClewError, type Codecs, type ErrorCode } from '@clew/ledger'
import type { RestPlace } from '@clew/server'

/** A server that is asked in place of a store. */
export interface RemoteServer {
  readonly url: string
  readonly token: string | undefined
  readonly workspace: string | undefined
  /** How long a question is asked again while the server cannot be reached or has no room. */
  readonly retryMs: number
  /** Aborts when the ledger is closed here. */
  readonly closed: AbortSignal
  readonly codecs: Codecs
}

export interface Question {
  readonly rest: Pick<RestPlace, 'method' | 'path' | 'also'>
  /** Path parameters; the others go to the query, or with `post` to the body. */
  readonly input: Readonly<Record<string, unknown>>
  /** The body as it is sent; then the input goes to path and query. */
  readonly body?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly signal?: AbortSignal | undefined
  /** The server counts as unreachable if it has not answered after this long. */
  readonly timeoutMs?: number | undefined
}

const RETRY_MS = { first: 250, max: 10_000 }
/** Codes of errors that pass: the server restarts, or has no room for now. */
const PASSING: ReadonlySet<string> = new Set(['store_unreachable', 'closed', 'overloaded', 'rate_limited'])

/** True for an answer that broke off, a server that cannot be reached, and a proxy without one behind it. */
export const isPassing = (error: unknown): boolean =>
  !(error instanceof ClewError) || PASSING.has(error.code) || Number(error.fields['status']) >= 502

/**
 * The answer as JSON, asked for again while the server cannot give it: for reads, and for writes that are the same when they
 * are sent again.
 */
export async function askAgain<T>(server: RemoteServer, question: Question): Promise<T> {
  const untilMs = performance.now() + server.retryMs
  for (let waitMs = RETRY_MS.first; ; waitMs = Math.min(2 * waitMs, RETRY_MS.max)) {
    try {
      return (await (await askServer(server, question)).json()) as T
    } catch (error) {
      const seconds = error instanceof ClewError ? Number(error.fields['retryAfter'] ?? 0) : 0
      const pauseMs = Math.max(waitMs, seconds * 1000)
      if (!isPassing(error) || server.closed.aborted || performance.now() + pauseMs > untilMs) throw error
      await sleep(pauseMs)
    }
  }
}

/** Calls an operation at its path of the list. Returns the answer, or throws the error in it. */
export async function askServer(server: RemoteServer, question: Question): Promise<Response> {
  if (server.closed.aborted)
    throw new ClewError('closed', `The ledger ${server.url} is closed`, 'Open it again before using it.')
  const { method, url, body } = toRequest(server, question)
  const headers: Record<string, string> = { ...question.headers }
  if (server.token !== undefined) headers['authorization'] = `Bearer ${server.token}`
  if (server.workspace !== undefined) headers['clew-workspace'] = server.workspace
  if (body !== undefined) headers['content-type'] = 'application/json'
  const { timeoutMs } = question
  const signal = timeoutMs === undefined ? question.signal : AbortSignal.timeout(timeoutMs)
  let response: Response
  try {
    response = await fetch(url, { method, headers, body: body ?? null, signal: signal ?? null })
  } catch (cause) {
    if (question.signal?.aborted === true) throw cause
    throw new ClewError(
      'store_unreachable',
      `The server ${server.url} cannot be reached`,
      'Check the address, and that `clew serve` runs there.',
      { url: server.url },
      cause,
    )
  }
  // A page in place of an answer: the address leads into a site, not to the API.
  if (response.ok && !response.headers.get('content-type')?.startsWith('text/html')) return response
  throw await toError(server, response)
}

function toRequest({ url }: RemoteServer, { rest, input, body }: Question) {
  const given = new Map(Object.entries(input).filter(([, value]) => value !== undefined))
  const named = [...rest.path.matchAll(/\{(\w+)\}/g)].map(([, field]) => field as string)
  const path = named.every((field) => given.has(field)) ? rest.path : (rest.also ?? rest.path)
  const place = path.replaceAll(/\{(\w+)\}/g, (_, field: string) => {
    const value = given.get(field)
    given.delete(field)
    return encodeURIComponent(String(value))
  })
  // Below the path of the server, which may be mounted in an application.
  const target = new URL(url.replace(/\/$/, '') + place)
  const method = rest.method.toUpperCase()
  if (rest.method === 'post' && body === undefined)
    return { method, url: target, body: JSON.stringify(Object.fromEntries(given)) }
  for (const [field, value] of given)
    target.searchParams.set(field, Array.isArray(value) ? value.join(',') : String(value))
  return { method, url: target, body }
}

async function toError(server: RemoteServer, response: Response): Promise<ClewError> {
  const body: unknown = await response.json().catch(() => undefined)
  const told = (body as { error?: Partial<ClewError> } | undefined)?.error
  if (typeof told?.code !== 'string' || typeof told.message !== 'string' || typeof told.hint !== 'string')
    return new ClewError(
      'store_refused',
      `The server ${server.url} answered with ${response.status}, and not as a Clew server does`,
      'Check the address: that of the server, without the path of a page.',
      { url: server.url, status: response.status },
    )
  const hint =
    told.code === 'unauthenticated'
      ? 'Set CLEW_TOKEN to a valid token of that server, or pass it as `token` to `openLedger`.'
      : told.hint
  const message = told.message.endsWith(told.hint)
    ? told.message.slice(0, -told.hint.length - 2)
    : told.message
  return new ClewError(told.code satisfies ErrorCode, message, hint, told.fields ?? {})
}

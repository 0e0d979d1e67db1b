import { ClewError, type ErrorCode } from '@clew/ledger'
import type { RestPlace } from '@clew/server'

/** A server that is asked in place of a store. */
export interface RemoteServer {
  readonly url: string
  readonly token: string | undefined
  readonly workspace: string | undefined
}

export interface Question {
  readonly rest: Pick<RestPlace, 'method' | 'path' | 'also'>
  readonly input: Readonly<Record<string, unknown>>
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly signal?: AbortSignal | undefined
}

/** Calls an operation at its path of the list. Returns the answer, or throws the error in it. */
export async function askServer(server: RemoteServer, question: Question): Promise<Response> {
  const { method, url, body } = toRequest(server, question)
  const headers: Record<string, string> = { ...question.headers }
  if (server.token !== undefined) headers['authorization'] = `Bearer ${server.token}`
  if (server.workspace !== undefined) headers['clew-workspace'] = server.workspace
  if (body !== undefined) headers['content-type'] = 'application/json'
  let response: Response
  try {
    response = await fetch(url, { method, headers, body: body ?? null, signal: question.signal ?? null })
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
  if (response.ok) return response
  throw await toError(server, response)
}

function toRequest({ url }: RemoteServer, { rest, input }: Question) {
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
  if (rest.method === 'post') return { method, url: target, body: JSON.stringify(Object.fromEntries(given)) }
  for (const [field, value] of given)
    target.searchParams.set(field, Array.isArray(value) ? value.join(',') : String(value))
  return { method, url: target, body: undefined }
}

async function toError(server: RemoteServer, response: Response): Promise<ClewError> {
  const body: unknown = await response.json().catch(() => undefined)
  const told = (body as { error?: Partial<ClewError> } | undefined)?.error
  if (typeof told?.code !== 'string' || typeof told.message !== 'string' || typeof told.hint !== 'string')
    return new ClewError(
      'store_refused',
      `The server ${server.url} answered with ${response.status}, and not as a Clew server does`,
      'Check the address.',
      { url: server.url, status: response.status },
    )
  const hint = told.code === 'unauthenticated' ? 'Set CLEW_TOKEN to a token of that server.' : told.hint
  const message = told.message.endsWith(told.hint)
    ? told.message.slice(0, -told.hint.length - 2)
    : told.message
  return new ClewError(told.code satisfies ErrorCode, message, hint, told.fields ?? {})
}

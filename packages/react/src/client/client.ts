/** Error that the server responded with. */
export interface RequestError extends Error {
  readonly status: number
  readonly code: string
  /** Advice to the user. */
  readonly hint: string | null
}

export const isRequestError = (error: unknown): error is RequestError =>
  error instanceof Error && typeof Reflect.get(error, 'status') === 'number'

const requestError = (status: number, code: string, message: string, hint: string | null): RequestError =>
  Object.assign(new Error(message), { status, code, hint })

export type Query = Readonly<Record<string, string | number | boolean | readonly string[] | null | undefined>>

/** The way to a Clew server: plain requests, each with what it needs to be allowed. */
export interface Client {
  readonly url: string
  readonly token: string | undefined
  get<Answer>(path: string, query?: Query, signal?: AbortSignal): Promise<Answer>
  post<Answer>(path: string, body: unknown): Promise<Answer>
  /** The response itself, for what arrives piece by piece. */
  open(
    path: string,
    query: Query,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<Response>
}

export interface ClientOptions {
  /** Base URL of the server; empty for the origin of the page. */
  readonly url?: string | undefined
  readonly token?: string | undefined
}

export function createClient({ url = '', token }: ClientOptions = {}): Client {
  const allowed: Readonly<Record<string, string>> =
    token === undefined ? {} : { authorization: `Bearer ${token}` }
  async function ask(path: string, init: RequestInit): Promise<Response> {
    const response = await fetch(`${url}${path}`, { ...init, headers: { ...allowed, ...init.headers } })
    if (!response.ok) throw await toError(response)
    return response
  }
  return {
    url,
    token,
    async get<Answer>(path: string, query: Query = {}, signal?: AbortSignal) {
      const response = await ask(`${path}${formatQuery(query)}`, { signal: signal ?? null })
      return (await response.json()) as Answer
    },
    async post<Answer>(path: string, body: unknown) {
      const response = await ask(path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      return (await response.json()) as Answer
    },
    open: (path, query, headers, signal) => ask(`${path}${formatQuery(query)}`, { headers, signal }),
  }
}

function formatQuery(query: Query): string {
  const params = new URLSearchParams()
  for (const [key, value] of Object.entries(query)) {
    if (value === undefined || value === null) continue
    params.set(key, Array.isArray(value) ? value.join(',') : String(value))
  }
  const text = params.toString()
  return text === '' ? '' : `?${text}`
}

async function toError(response: Response): Promise<RequestError> {
  const text = await response.text()
  const plain = (): RequestError =>
    requestError(
      response.status,
      'http',
      `The server answered ${response.status}`,
      text.slice(0, 200) || null,
    )
  try {
    const { error } = JSON.parse(text) as { error?: { code?: string; message?: string; hint?: string } }
    if (typeof error?.message !== 'string') return plain()
    return requestError(response.status, error.code ?? 'http', error.message, error.hint ?? null)
  } catch {
    return plain()
  }
}

export const runPath = (runId: string): string => `/v1/runs/${encodeURIComponent(runId)}`

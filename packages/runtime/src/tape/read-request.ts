import { ClewError, type JsonValue } from '@clew/ledger'
import type { TapedRequest, TapeRules } from './tape-options.ts'
import { decodeText } from './text.ts'

export type Fetch = typeof globalThis.fetch
export type FetchInput = Parameters<Fetch>[0]

/** A request that was asked for: what is recorded of it, and how it is sent. */
export interface ReadRequest {
  readonly taped: TapedRequest
  /** With the query, without the fragment: what a response says where it came from. */
  readonly url: string
  readonly signal: AbortSignal | undefined
  send(signal: AbortSignal): Promise<Response>
  /** Sends another request with the headers of this one. */
  sendAs(taped: TapedRequest, signal: AbortSignal): Promise<Response>
}

type Body = Pick<TapedRequest, 'body' | 'form' | 'base64'>

/** At once where the body is at hand, so that calls are counted in the order in which they are made. */
export function readRequest(
  input: FetchInput,
  init: RequestInit | undefined,
  rules: TapeRules,
  next: Fetch,
): ReadRequest | Promise<ReadRequest> {
  const given = init?.body ?? undefined
  const isPassing = given === undefined ? input instanceof Request && input.body !== null : isStream(given)
  const request = new Request(input, isPassing && given !== undefined ? { ...init, duplex: 'half' } : init)
  const signal = init?.signal ?? (input instanceof Request ? input.signal : undefined)
  const url = request.url.split('#', 1)[0] as string
  const type = request.headers.get('content-type') ?? ''
  const read = (body: Body, send: ReadRequest['send']): ReadRequest => ({
    taped: toTaped(request, url, type, body, rules),
    url,
    signal,
    send,
    sendAs: (taped, abort) => next(toRequest(taped, request.headers, abort)),
  })
  const sendGiven = (abort: AbortSignal): Promise<Response> => next(input, { ...init, signal: abort })
  if (request.body === null) return read({}, sendGiven)
  if (typeof given === 'string') return read(bodyOfText(given, type), sendGiven)
  if (given instanceof URLSearchParams) return read({ form: [...given] }, sendGiven)
  if (given instanceof ArrayBuffer) return read(bodyOfBytes(new Uint8Array(given), type), sendGiven)
  if (ArrayBuffer.isView(given))
    return read(
      bodyOfBytes(new Uint8Array(given.buffer, given.byteOffset, given.byteLength), type),
      sendGiven,
    )
  if (given instanceof FormData) return formOf(given).then((form) => read({ form }, sendGiven))
  return readFlowing()

  async function readFlowing(): Promise<ReadRequest> {
    const bytes = await request.arrayBuffer()
    // A consumed stream cannot be sent again; its bytes can.
    const sendBytes = (abort: AbortSignal): Promise<Response> =>
      next(new Request(request, { method: request.method, body: bytes, signal: abort }))
    return read(bodyOfBytes(new Uint8Array(bytes), type), isPassing ? sendBytes : sendGiven)
  }
}

/** A taped request to be sent, with the headers of the request that the code made. */
function toRequest(
  { method, url, query = [], headers: own = {}, body, form, base64 }: TapedRequest,
  given: Headers,
  signal: AbortSignal,
): Request {
  const address = new URL(url)
  for (const [name, value] of query) address.searchParams.append(name, value)
  const headers = new Headers({ ...own, ...Object.fromEntries(given) })
  headers.delete('content-length')
  const fields = form?.filter((field): field is [string, string] => typeof field[1] === 'string')
  if (form && fields?.length !== form.length)
    throw new ClewError(
      'bad_option',
      'A request with files cannot be replaced',
      'Replace its result instead, with { step, output }.',
    )
  const content =
    base64 !== undefined
      ? Buffer.from(base64, 'base64')
      : fields
        ? new URLSearchParams(fields)
        : typeof body === 'string' || body === undefined
          ? body
          : JSON.stringify(body)
  return new Request(address, { method, headers, signal, ...(content !== undefined && { body: content }) })
}

const isStream = (body: unknown): boolean =>
  body instanceof ReadableStream ||
  (typeof body === 'object' && body !== null && Symbol.asyncIterator in body)

function toTaped(request: Request, url: string, type: string, body: Body, rules: TapeRules): TapedRequest {
  const [address = url] = url.split('?', 1)
  const query = [...new URL(url).searchParams]
  const headers = keptHeaders(request.headers, rules)
  if (headers['content-type'] !== undefined) headers['content-type'] = withoutBoundary(type)
  return {
    method: request.method,
    url: address,
    ...(query.length > 0 && { query }),
    ...(Object.keys(headers).length > 0 && { headers }),
    ...body,
  }
}

export function keptHeaders(headers: Headers, { keepsHeader }: TapeRules): Record<string, string> {
  const kept: Record<string, string> = {}
  for (const [name, value] of headers) if (keepsHeader(name)) kept[name] = value
  return kept
}

const BOUNDARY = /;\s*boundary=(?:"([^"]+)"|([^;\s]+))/i
const withoutBoundary = (type: string): string => type.replace(BOUNDARY, '')

function bodyOfText(text: string, type: string): Body {
  if (/[/+]json\b/i.test(type)) {
    try {
      return { body: JSON.parse(text) as JsonValue }
    } catch {
      return { body: text }
    }
  }
  if (/^application\/x-www-form-urlencoded\b/i.test(type)) return { form: [...new URLSearchParams(text)] }
  // Made up anew for each request, so it says nothing.
  const [, quoted, plain] = BOUNDARY.exec(type) ?? []
  const boundary = quoted ?? plain
  return { body: boundary === undefined ? text : text.replaceAll(boundary, 'boundary') }
}

function bodyOfBytes(bytes: Uint8Array, type: string): Body {
  const text = decodeText([bytes])
  return text ? bodyOfText(text.join(''), type) : { base64: Buffer.from(bytes).toString('base64') }
}

const formOf = (form: FormData): Promise<[string, JsonValue][]> =>
  Promise.all(
    [...form].map(async ([name, value]): Promise<[string, JsonValue]> => {
      if (typeof value === 'string') return [name, value]
      const bytes = new Uint8Array(await value.arrayBuffer())
      const file = { file: value.name, type: value.type }
      return [name, { ...file, ...(bodyOfBytes(bytes, value.type) as Record<string, JsonValue>) }]
    }),
  )

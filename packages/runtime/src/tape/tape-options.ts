import { ClewError, compilePath, type JsonValue, type Safety } from '@clew/ledger'
import { createOptionCheck } from '../options/known-options.ts'

/** A request as it is recorded: of the headers those that the tape keeps, and one of `body`, `form` and `base64`. */
export interface TapedRequest {
  readonly method: string
  /** Without the query. */
  readonly url: string
  readonly query?: readonly (readonly [string, string])[] | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** JSON as its value, other text as text. */
  readonly body?: JsonValue | undefined
  readonly form?: readonly (readonly [string, JsonValue])[] | undefined
  readonly base64?: string | undefined
}

/** Parts of a request that may differ from the recorded one; they are kept, and not compared. */
export interface VolatileParts {
  readonly headers?: readonly string[] | undefined
  readonly query?: readonly string[] | undefined
  /** Paths in a JSON body, or fields of a form: `$.user`, `$.metadata.*`, `$.**.timestamp`. */
  readonly body?: readonly string[] | undefined
}

export interface TapeOptions {
  /** More headers to record, of requests and responses. The code is given no others, live as on resume. */
  readonly headers?: readonly string[] | undefined
  readonly volatile?: VolatileParts | undefined
  /**
   * Handling of a request in flight when the process died: a `read` (default) is sent again; for others a person decides
   * on their outcome. Responses of the others reach the code as a whole, not streamed.
   */
  readonly safety?: Safety | ((request: TapedRequest) => Safety) | undefined
  /** Sends the request again on resume if the response held secrets, instead of blocking the run (P2). */
  readonly refresh?: boolean | undefined
  /** Speed of replayed bodies: immediate (default), or as recorded. */
  readonly speed?: 'at once' | 'original' | undefined
  /** Requests that are no part of what the agent does, such as telemetry: sent as if there were no tape. */
  readonly ignore?: ((request: { readonly method: string; readonly url: string }) => boolean) | undefined
  /** False: usage of model calls is reported elsewhere and not read from responses (V7). */
  readonly usage?: boolean | undefined
  /** A longer response breaks off; default 16 MiB. */
  readonly mostBytes?: number | undefined
}

/** The same, checked and ready to be used. */
export interface TapeRules {
  keepsHeader(name: string): boolean
  readonly isVolatile: {
    header(name: string): boolean
    query(name: string): boolean
    body(path: readonly (string | number)[]): boolean
  }
  /** Undefined where the agent declares nothing: then it counts as a read. */
  safetyOf(request: TapedRequest): Safety | undefined
  readonly refresh: boolean
  readonly speed: 'at once' | 'original'
  isIgnored(method: string, url: string): boolean
  readonly usage: boolean
  readonly mostBytes: number
}

/** Headers to record: those about reading the body, retries and the identity of the call. No credentials. */
const KEPT = new Set(
  `accept accept-language accept-ranges age allow anthropic-beta anthropic-version cache-control content-disposition
  content-encoding content-language content-length content-range content-type date etag expires
  if-match if-modified-since if-none-match if-unmodified-since last-modified link location openai-beta
  openai-processing-ms openai-version prefer range request-id retry-after retry-after-ms x-request-id x-should-retry`.split(
    /\s+/,
  ),
)
const KEPT_FAMILIES = /^(?:x-ratelimit|ratelimit|anthropic-ratelimit)-/

const MAX_BYTES = 16 * 1024 * 1024
const SAFETIES: ReadonlySet<unknown> = new Set(['read', 'write', 'destructive', 'external'])

const checkNames = createOptionCheck<TapeOptions>({
  headers: true,
  volatile: true,
  safety: true,
  refresh: true,
  speed: true,
  ignore: true,
  usage: true,
  mostBytes: true,
})

export function checkTape(option: boolean | TapeOptions | undefined): TapeRules | undefined {
  if (option === undefined || option === false) return undefined
  if (option !== true) checkNames(option, 'recordFetch')
  const { headers = [], volatile = {}, safety, ignore, mostBytes = MAX_BYTES } = option === true ? {} : option
  const { refresh = false, speed = 'at once', usage = true } = option === true ? {} : option
  if (safety !== undefined && typeof safety !== 'function') checkSafety(safety)
  if (speed !== 'at once' && speed !== 'original') refuse('speed', "Give 'at once' or 'original'.")
  if (!Number.isInteger(mostBytes) || mostBytes < 1 || mostBytes > MAX_BYTES)
    refuse('mostBytes', `Give a number of bytes from 1 to ${MAX_BYTES}.`)
  const more = lowered(headers)
  const [names, query] = [lowered(volatile.headers ?? []), new Set(volatile.query)]
  const paths = (volatile.body ?? []).map((path) => compilePath(path))
  return {
    keepsHeader: (name) => KEPT.has(name) || KEPT_FAMILIES.test(name) || more.has(name),
    isVolatile: {
      header: (name) => names.has(name),
      query: (name) => query.has(name),
      body: (path) => paths.some((matches) => matches(path)),
    },
    safetyOf: (request) => (typeof safety === 'function' ? checkSafety(safety(request)) : safety),
    refresh,
    speed,
    isIgnored: (method, url) => ignore?.({ method, url }) ?? false,
    usage,
    mostBytes,
  }
}

const lowered = (names: readonly string[]): Set<string> => new Set(names.map((name) => name.toLowerCase()))

function checkSafety(safety: Safety): Safety {
  if (!SAFETIES.has(safety)) refuse('safety', "Give 'read', 'write', 'destructive' or 'external'.")
  return safety
}

function refuse(option: string, hint: string): never {
  throw new ClewError('bad_option', `recordFetch has a ${option} that cannot be used`, hint, { option })
}

import {
  ClewError,
  type ErrorCode,
  type ErrorFields,
  type Lease,
  type ProgressNote,
  type WireEnvelope,
} from '@clew/ledger'
import type { SessionStop, TakenSession, TakeRequest, TraceEvent, TracePort } from './port.ts'
import type { TracePorts } from './trace-ports.ts'

/**
 * The port over HTTP. Requests are POST with `content-type: application/json`, `authorization: Bearer <token>` where
 * a token is given, and `clew-workspace: <workspace>`. An error is `{ error: { code, message, hint, fields } }`.
 *
 * | path                | body                                      | answer         |
 * |---------------------|-------------------------------------------|----------------|
 * | /v1/events          | `EventsBody`, needs the scope write       | 2xx            |
 * | /v1/progress        | `ProgressBody`, write                     | 2xx            |
 * | /v1/progress/clear  | `ClearBody`, write                        | 2xx            |
 * | /v1/leases          | `TakeRequest`, write                      | `TakenSession` |
 * | /v1/leases/renew    | `LeaseBody`, write                        | 2xx            |
 * | /v1/leases/release  | `LeaseBody`, write                        | 2xx            |
 * | /v1/leases/stops    | `StopsBody`, write                        | `StopsAnswer`  |
 *
 * A server answers `/v1/leases` with `takeSession(ledger, body)` and `/v1/leases/stops` with `findStops(ledger,
 * body.sessionIds)` of this package, and the others with `append`,
 * `progress.put`, `progress.clear`, `leases.renew` and `leases.release` of the workspace's ledger.
 */
export interface EventsBody {
  readonly events: readonly WireEnvelope[]
  readonly options: { readonly epoch: number }
}

export interface ProgressBody {
  readonly notes: readonly ProgressNote[]
}

export interface ClearBody {
  readonly runId: string
  readonly stepId: string
}

export interface LeaseBody {
  readonly lease: Lease
}

export interface StopsBody {
  readonly sessionIds: readonly string[]
}

export interface StopsAnswer {
  readonly stops: readonly SessionStop[]
}

/** As much of `fetch` as is needed. */
export type Fetch = (
  url: string,
  request: {
    readonly method: 'POST'
    readonly headers: Readonly<Record<string, string>>
    readonly body: string
  },
) => Promise<{ readonly ok: boolean; readonly status: number; text(): Promise<string> }>

export interface RemotePortOptions {
  /** Address of the server: `http://127.0.0.1:2539`. */
  readonly server: string
  readonly token?: string | undefined
  readonly workspaceId: string
}

const FIRST_PAUSE_MS = 100
const MAX_PAUSE_MS = 2000
/** Time to wait for a server that restarts or is overloaded. */
const PATIENCE_MS = 30_000
/** Limit of sessions in one request. */
const MAX_SESSIONS = 1000

export function createRemotePort(
  { server, token, workspaceId }: RemotePortOptions,
  ports: Pick<TracePorts, 'fetch' | 'now' | 'sleep'>,
): TracePort {
  const address = server.replace(/\/+$/, '')
  const headers = {
    'content-type': 'application/json',
    'clew-workspace': workspaceId,
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  }

  async function post(path: string, body: unknown): Promise<unknown> {
    let response
    let text: string
    try {
      response = await ports.fetch(address + path, { method: 'POST', headers, body: JSON.stringify(body) })
      text = await response.text()
    } catch (cause) {
      throw unreachable(address, cause)
    }
    const answer = parse(text)
    if (response.ok) return answer
    throw toError(address, response.status, answer)
  }

  /** Events have ids, so that sending them again is free: what is not known to be written is. */
  async function postAgain(path: string, body: unknown): Promise<void> {
    const deadline = ports.now() + PATIENCE_MS
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS))
      try {
        await post(path, body)
        return
      } catch (error) {
        if (!(error instanceof ClewError) || !MAY_PASS.has(error.code) || ports.now() > deadline) throw error
        await ports.sleep(pauseMs)
      }
  }

  return {
    append: (events, epoch) =>
      postAgain('/v1/events', { events: events.map(toWireEvent), options: { epoch } } satisfies EventsBody),
    progress: async (notes) => void (await post('/v1/progress', { notes } satisfies ProgressBody)),
    clearProgress: async (runId, stepId) =>
      void (await post('/v1/progress/clear', { runId, stepId } satisfies ClearBody)),
    take: async (request) => (await post('/v1/leases', request satisfies TakeRequest)) as TakenSession,
    renew: async (lease) => void (await post('/v1/leases/renew', { lease } satisfies LeaseBody)),
    release: async (lease) => void (await post('/v1/leases/release', { lease } satisfies LeaseBody)),
    lookMs: 1000,
    async findStops(sessionIds) {
      const stops: SessionStop[] = []
      for (let at = 0; at < sessionIds.length; at += MAX_SESSIONS) {
        const body: StopsBody = { sessionIds: sessionIds.slice(at, at + MAX_SESSIONS) }
        stops.push(...((await post('/v1/leases/stops', body)) as StopsAnswer).stops)
      }
      return stops
    },
  }
}

const MAY_PASS: ReadonlySet<ErrorCode> = new Set([
  'store_unreachable',
  'store_locked',
  'store_full',
  'rate_limited',
  'closed',
])

const toWireEvent = ({ source, causationId, payload, ...event }: TraceEvent): WireEnvelope => ({
  event_id: event.eventId,
  event_type: event.eventType,
  timestamp: event.timestamp,
  source: source ?? { origin: 'agent', runtime: 'custom' },
  correlation_id: event.correlationId,
  causation_id: causationId ?? null,
  payload: payload ?? {},
})

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

interface ErrorBody {
  readonly error?: { code?: ErrorCode; message?: string; hint?: string; fields?: ErrorFields }
}

function toError(address: string, status: number, answer: unknown): ClewError {
  const { code, message, hint, fields } = (answer as ErrorBody | null)?.error ?? {}
  if (code !== undefined && message !== undefined && hint !== undefined) {
    // The message of a ClewError ends with its hint, which is added again here.
    const bare = message.endsWith(hint) ? message.slice(0, -hint.length).replace(/\. $/, '') : message
    return new ClewError(code, bare, hint, fields)
  }
  return status >= 500 || status === 429
    ? unreachable(address, undefined, status)
    : new ClewError(
        'store_refused',
        `The server at ${address} answered ${status}`,
        'Check the address: it must be a Clew server.',
        { status },
      )
}

const unreachable = (address: string, cause?: unknown, status?: number): ClewError =>
  new ClewError(
    'store_unreachable',
    `The server at ${address} ${status === undefined ? 'does not answer' : `answered ${status}`}`,
    'Start it with clew serve, or check the address; what was acknowledged before is kept.',
    { status },
    cause,
  )

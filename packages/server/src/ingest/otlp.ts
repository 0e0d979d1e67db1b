import {
  encodeOtlpAnswer,
  encodeOtlpStatus,
  fromOtlpLogs,
  type FromOtlpResult,
  fromOtlpTraces,
  type OtlpFormat,
  type OtlpSignal,
} from '@clew/adapters/otel'
import { ClewError, type EventInput, type Ledger } from '@clew/ledger'
import type { App } from '../create-app.ts'
import { errorAnswer, errorBody } from '../error-answer.ts'
import type { Call, Route } from '../route.ts'
import type { ServerParts } from '../server-parts.ts'
import { isRefusal } from './append-wire.ts'
import { mediaType, wrongMedia } from './mapped-records.ts'

const PATHS: Readonly<Record<OtlpSignal, string>> = { traces: '/v1/traces', logs: '/v1/logs' }

const routeOf = (signal: OtlpSignal): Route => ({
  id: `post${signal === 'traces' ? 'Traces' : 'Logs'}`,
  method: 'post',
  path: PATHS[signal],
  summary: `Ingest ${signal} of OpenTelemetry (OTLP/HTTP)`,
  tag: 'Ingest',
  scope: 'write',
  body: {
    'application/x-protobuf': { schema: { type: 'string', format: 'binary' } },
    'application/json': {
      schema: { type: 'object' },
      example: signal === 'traces' ? { resourceSpans: [] } : { resourceLogs: [] },
    },
  },
  bodyRequired: true,
  answer: {
    description: 'Committed; refused items are counted as partial success.',
    content: {
      'application/x-protobuf': { schema: { type: 'string', format: 'binary' } },
      'application/json': { schema: { type: 'object' } },
    },
  },
})

/** `POST /v1/traces` and `POST /v1/logs`, as exporters of OpenTelemetry send them; answered when it is committed (L5). */
export function mountOtlp(app: App, parts: ServerParts): void {
  for (const signal of ['traces', 'logs'] as const)
    app.route(routeOf(signal), async (call) => {
      const format = formatOf(mediaType(call))
      try {
        return await take(call, signal, format ?? refuseMedia(), parts)
      } catch (error) {
        return refuse(error, format ?? 'json', parts)
      }
    })
}

const formatOf = (type: string): OtlpFormat | undefined =>
  type.includes('protobuf') ? 'protobuf' : type.includes('json') ? 'json' : undefined

function refuseMedia(): never {
  throw wrongMedia('application/x-protobuf or application/json')
}

async function take(
  call: Call,
  signal: OtlpSignal,
  format: OtlpFormat,
  parts: ServerParts,
): Promise<Response> {
  const body = await call.bytes()
  const mapped = signal === 'traces' ? fromOtlpTraces(body, { format }) : fromOtlpLogs(body, { format })
  assertSome(mapped)
  parts.traced.add(call.workspace)
  const { written, refused } = await appendAll(call.ledger, mapped.events)
  parts.metrics.appended.inc(written)
  const rejected = mapped.problems.length + refused.spans
  const message = mapped.problems[0]?.reason ?? refused.reason
  return answer(200, format, encodeOtlpAnswer(format, signal, { rejected, message }))
}

/** Nothing of it could be read: that is a wrong body, such as logs on the path of traces, and no partial success. */
function assertSome({ events, problems, received }: FromOtlpResult): void {
  const [first] = problems
  if (!first || events.length > 0) return
  throw new ClewError(
    'broken_import',
    `None of the ${received} items can be accepted; the first: ${first.reason}`,
    'Logs go to /v1/logs, traces to /v1/traces; correct it and send it again.',
    { received },
  )
}

/** Events per commit; other requests run between two commits. */
const BATCH = 500

interface Refused {
  spans: number
  reason: string
}

/** A span that stands already with other content must not cost its neighbours: then each is tried by itself. */
async function appendAll(
  ledger: Ledger,
  events: readonly EventInput[],
): Promise<{ written: number; refused: Refused }> {
  const spans = new Set<string>()
  let reason = ''
  let written = 0
  for (let at = 0; at < events.length; at += BATCH) {
    const batch = events.slice(at, at + BATCH)
    try {
      written += (await ledger.append(batch)).length
    } catch (error) {
      if (!(error instanceof ClewError && isRefusal(error))) throw error
      const outcomes = await Promise.allSettled(batch.map((event) => ledger.append([event])))
      for (const [item, outcome] of outcomes.entries()) {
        if (outcome.status === 'fulfilled') {
          written++
          continue
        }
        const cause: unknown = outcome.reason
        if (!(cause instanceof ClewError && isRefusal(cause))) throw cause
        const stepId = batch[item]?.payload?.['stepId']
        if (typeof stepId === 'string') spans.add(`${batch[item]?.correlationId} ${stepId}`)
        reason ||= cause.message
      }
    }
  }
  // What several events of one span tell has its step in common; some of them name none.
  return { written, refused: { spans: reason === '' ? 0 : Math.max(1, spans.size), reason } }
}

const MEDIA: Readonly<Record<OtlpFormat, string>> = {
  protobuf: 'application/x-protobuf',
  json: 'application/json',
}

const answer = (status: number, format: OtlpFormat, body: Uint8Array | string, headers = {}): Response =>
  new Response(body as string | Uint8Array<ArrayBuffer>, {
    status,
    headers: { ...headers, 'content-type': MEDIA[format] },
  })

/** Codes of gRPC for statuses of HTTP; what is not among them is unknown. */
const GRPC: Readonly<Record<number, number>> = {
  400: 3,
  401: 16,
  403: 7,
  404: 5,
  409: 6,
  413: 8,
  415: 3,
  429: 8,
  503: 14,
}
const UNKNOWN = 2

/** Temporary failures answer with `retry-after` and a status that exporters retry; they drop all others. */
function refuse(error: unknown, format: OtlpFormat, { metrics, log }: ServerParts): Response {
  const plain = errorAnswer(error)
  const { code, message } = errorBody(error).error
  metrics.errors.inc({ code })
  if (code === 'unexpected') log.error({ err: error }, 'an export could not be taken')
  const retry = plain.headers.get('retry-after')
  const headers = retry === null ? {} : { 'retry-after': retry }
  return answer(
    plain.status,
    format,
    encodeOtlpStatus(format, GRPC[plain.status] ?? UNKNOWN, message),
    headers,
  )
}

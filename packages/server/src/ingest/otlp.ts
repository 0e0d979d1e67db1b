import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
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
  ...(signal === 'traces' && {
    parameters: [
      {
        name: 'toolCalls',
        in: 'query',
        description: 'where calls of tools are read from; auto decides by what instrumented the program',
        schema: { type: 'string', enum: ['auto', 'spans', 'messages'] },
      },
    ],
  }),
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
export function mountOtlp(app: Pick<App, 'route'>, parts: ServerParts): void {
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
  const mapped =
    signal === 'traces'
      ? fromOtlpTraces(body, { format, toolCalls: readToolCalls(call) })
      : fromOtlpLogs(body, { format })
  assertSome(mapped)
  parts.traced.add(call.workspace)
  const { written, refused } = await appendAll(call.ledger, mapped.events)
  parts.metrics.appended.inc(written)
  const rejected = mapped.problems.length + refused.spans
  const message = mapped.problems[0]?.reason ?? refused.reason
  return answer(200, format, encodeOtlpAnswer(format, signal, { rejected, message }))
}

const TOOL_CALLS = ['auto', 'spans', 'messages'] as const

function readToolCalls({ query }: Call): (typeof TOOL_CALLS)[number] {
  const given = query.get('toolCalls') ?? 'auto'
  const found = TOOL_CALLS.find((each) => each === given)
  if (found) return found
  throw new ClewError(
    'bad_option',
    "The query's toolCalls has an unknown value",
    `Use ${TOOL_CALLS.join(', ')}, or leave it out; nothing was written.`,
    { option: 'toolCalls' },
  )
}

/**
 * Refuses a body of which nothing could be read, such as logs on the path of traces. Log records that belong to no run do
 * not count: a program may log nothing else.
 */
function assertSome({ events, problems, received }: FromOtlpResult): void {
  const first = problems.find(({ withoutRun }) => withoutRun !== true)
  if (!first || events.length > 0) return
  throw new ClewError(
    'broken_import',
    `None of the ${received} items can be accepted; the first: ${first.reason}`,
    'Logs go to /v1/logs, traces to /v1/traces; correct it and send it again.',
    { received },
  )
}

/** Events of one commit. The event loop runs between two of them. */
const BATCH = 200

interface Refused {
  spans: number
  reason: string
}

/** If a batch is refused because of one span, such as one recorded with other content, its events are appended one by one. */
async function appendAll(
  ledger: Ledger,
  events: readonly EventInput[],
): Promise<{ written: number; refused: Refused }> {
  const spans = new Set<string>()
  let reason = ''
  let written = 0
  for (let at = 0; at < events.length; at += BATCH) {
    if (at > 0) await yieldToEventLoop()
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
  // Refused spans are counted by their step, which several events share and some do not name.
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

/** Codes of gRPC by HTTP status; others are UNKNOWN. */
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

/** Exporters retry on a status such as 503 with `retry-after`, and drop the data on others. */
function refuse(error: unknown, format: OtlpFormat, { metrics, log }: ServerParts): Response {
  const plain = errorAnswer(error)
  const { code, message } = errorBody(error).error
  metrics.errors.inc({ code })
  if (code === 'unexpected') log.error({ err: error }, 'an export could not be read')
  const retry = plain.headers.get('retry-after')
  const headers = retry === null ? {} : { 'retry-after': retry }
  return answer(
    plain.status,
    format,
    encodeOtlpStatus(format, GRPC[plain.status] ?? UNKNOWN, message),
    headers,
  )
}

import { hash } from 'node:crypto'
import {
  beganMs,
  beginsStep,
  type ClewEvent,
  ClewError,
  type EventOf,
  isOwn,
  isoText,
  type Ledger,
} from '@clew/ledger'
import { plainText } from '../foreign.ts'
import { encodeTracesJson } from './encode-json.ts'
import { encodeTracesProtobuf } from './encode-protobuf.ts'
import { type OtlpResource, NO_SCOPE, type OtlpSpan, type OtlpTraces } from './structure.ts'
import { endsRun, endsStep, type StepEnd, type StepStart, toRunSpan, toStepSpan } from './to-otlp.ts'

export interface ExportToOtlpOptions {
  /** Full URL to which traces are posted: `http://localhost:4318/v1/traces`. */
  readonly endpoint: string
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** How they are written; default `protobuf`. */
  readonly format?: 'protobuf' | 'json' | undefined
  /** Export input and output of steps; off by default, as in OpenTelemetry. */
  readonly content?: boolean | undefined
  /** `service.name` of the resource; default `clew`. */
  readonly serviceName?: string | undefined
  /** Under which the ledger keeps how far the export came; by default it follows from the endpoint. */
  readonly name?: string | undefined
  /** Position after which a new export starts, or `now`; default at the first event. */
  readonly from?: number | 'now' | undefined
  /** How long the other side may take for one batch, in milliseconds; default 10 seconds. */
  readonly timeoutMs?: number | undefined
  readonly signal?: AbortSignal | undefined
}

const TIMEOUT_MS = 10_000
const OPEN_STEPS = 10_000
const SCOPE = { ...NO_SCOPE, name: 'clew' }

/**
 * Exports ended steps and runs of a ledger as spans over OTLP/HTTP. At least once: a
 * batch that the other side did not take is sent again, and ids follow from run and step. Settles when the signal aborts or the
 * ledger closes; errors in the meantime are shown by `ledger.consumers()`.
 */
export function exportToOtlp(ledger: Ledger, options: ExportToOtlpOptions): Promise<void> {
  const { endpoint, name = `otlp-${hash('sha256', endpoint).slice(0, 16)}`, signal, from } = options
  const starts = createStarts(ledger)
  const resource: OtlpResource = {
    attributes: { 'service.name': options.serviceName ?? 'clew', 'clew.workspace': ledger.workspace },
    droppedAttributesCount: 0,
  }

  async function toSpans(events: readonly ClewEvent[]): Promise<OtlpSpan[]> {
    const spans: OtlpSpan[] = []
    for (const event of events) {
      starts.note(event)
      if (endsStep(event)) {
        const start = await starts.of(event)
        if (start) spans.push(toStepSpan(event, start, options.content ?? false))
      } else if (endsRun(event)) {
        const run = await ledger.getRun(event.correlationId)
        if (run) spans.push(toRunSpan(event, run))
      }
    }
    return spans
  }

  return ledger.consume(
    name,
    async (events) => {
      const spans = await toSpans(events)
      const scopeSpans = [{ scope: SCOPE, spans, schemaUrl: '' }]
      if (spans.length > 0) await post({ resourceSpans: [{ resource, scopeSpans, schemaUrl: '' }] }, options)
      starts.forget(events)
    },
    { signal, from },
  )
}

async function post(traces: OtlpTraces, options: ExportToOtlpOptions): Promise<void> {
  const { endpoint, headers, format = 'protobuf', timeoutMs = TIMEOUT_MS } = options
  const isJson = format === 'json'
  const answer = await fetch(endpoint, {
    method: 'POST',
    headers: { ...headers, 'content-type': isJson ? 'application/json' : 'application/x-protobuf' },
    body: isJson ? JSON.stringify(encodeTracesJson(traces)) : new Uint8Array(encodeTracesProtobuf(traces)),
    // Not ended by the caller's signal: a batch that was taken and not noted down would be sent again.
    signal: AbortSignal.timeout(timeoutMs),
  })
  await answer.body?.cancel()
  if (answer.ok) return
  throw new ClewError(
    'bad_peer',
    `The export of traces was answered with status ${answer.status}`,
    'It is tried again; look at the address, the token and the log of the other side.',
    { status: answer.status },
  )
}

type StepStarts = EventOf<'execution.step_started' | 'execution.step_completed'>

interface Starts {
  note(event: ClewEvent): void
  /** How the step began that this event ends. */
  of(event: StepEnd): Promise<StepStart | undefined>
  /** These events are exported: their starts are not needed again. */
  forget(events: readonly ClewEvent[]): void
}

const keyOf = ({ correlationId, payload: { attempt = 1, stepId } }: StepStarts | StepEnd): string =>
  `${attempt} ${stepId} ${correlationId}`

/** Starts of open steps, those of the last ones at hand; of all others the ledger knows as much as a span needs. */
function createStarts(ledger: Ledger): Starts {
  const open = new Map<string, StepStart>()
  return {
    note(event) {
      if (!isOwn(event, 'execution.step_started', 'execution.step_completed')) return
      const { payload } = event
      if (!beginsStep(event, open.has(keyOf(event)))) return
      if (open.size >= OPEN_STEPS) open.delete(open.keys().next().value as string)
      open.set(keyOf(event), {
        name: plainText(payload.name) ?? payload.stepId ?? '',
        kind: plainText(payload.kind) ?? 'step',
        parentStepId: plainText(payload.parentStepId) ?? null,
        startedAt: event.eventType === 'execution.step_started' ? event.timestamp : isoText(beganMs(event)),
        input: payload.input,
      })
    },
    async of(event) {
      const known = open.get(keyOf(event))
      if (known) return known
      const { stepId, attempt = 1 } = event.payload
      const steps = await ledger.getSkeleton(event.correlationId)
      const step = steps.find((each) => each.stepId === stepId && each.attempt === attempt)
      return (
        step && {
          name: step.nodeName,
          kind: step.kind,
          parentStepId: step.parentStepId,
          startedAt: step.createdAt,
        }
      )
    },
    forget(events) {
      for (const event of events) if (endsStep(event)) open.delete(keyOf(event))
    },
  }
}

import { type ClewEvent, type EventOf, isOwn, normaliseUsage, type Payload } from '@clew/ledger'
import { isObject, plainText } from '../foreign.ts'
import { sha256 } from './sink.ts'
import { readSpanRecord } from './read-span-record.ts'
import { EMPTY_SPAN, type OtlpAttributes, type OtlpSpan, type OtlpValue } from './structure.ts'

/** How a step began; what its end does not say again. */
export interface StepStart {
  readonly name: string
  readonly kind: string
  readonly parentStepId: string | null
  readonly startedAt: string
  readonly input?: unknown
}

/** Agent, thread and parent of a run. */
export interface RunStart {
  readonly agent: string | null
  readonly agentVersion: string | null
  readonly threadId: string | null
  readonly parentRunId: string | null
  readonly startedAt: string
}

const HEX_TRACE = /^(?!0{32})[0-9a-f]{32}$/
const HEX_SPAN = /^(?!0{16})[0-9a-f]{16}$/

/** Runs and steps that came as traces and spans keep their ids. */
const traceIdOf = (runId: string): string =>
  HEX_TRACE.test(runId) ? runId : sha256(`run ${runId}`).slice(0, 32)

const spanIdOf = (runId: string, stepId: string, attempt = 1): string =>
  attempt === 1 && HEX_SPAN.test(stepId) ? stepId : sha256(`step ${attempt} ${stepId} ${runId}`).slice(0, 16)

const runSpanId = (runId: string): string => sha256(`span ${runId}`).slice(0, 16)

const INTERNAL = 1
const CLIENT = 3
const FAILED = 2
const OUTSIDE: ReadonlySet<string> = new Set(['model', 'embedding', 'effect', 'retriever', 'reranker', 'mcp'])
const OPERATIONS: Readonly<Record<string, string>> = {
  model: 'chat',
  embedding: 'embeddings',
  tool: 'execute_tool',
  retriever: 'retrieval',
  agent: 'invoke_agent',
  workflow: 'invoke_workflow',
}

const RUN_ENDS: ReadonlySet<string> = new Set([
  'system.workflow_completed',
  'system.workflow_failed',
  'system.workflow_stopped',
])

/** An event that ended a step; its payload was not erased. */
export type StepEnd = EventOf<
  | 'execution.step_completed'
  | 'execution.step_failed'
  | 'execution.step_stopped'
  | 'execution.step_interrupted'
>

export const endsStep = (event: ClewEvent): event is StepEnd =>
  isOwn(
    event,
    'execution.step_completed',
    'execution.step_failed',
    'execution.step_stopped',
    'execution.step_interrupted',
  ) && event.payload.stepId !== undefined

/** Runs that were ingested as spans already have a span for the run. */
export const endsRun = ({ eventType, source }: ClewEvent): boolean =>
  RUN_ENDS.has(eventType) && source.runtime !== 'otel'

/** A step as a span, from the event that ended it. Content only `withContent`: what was asked and given back. */
export function toStepSpan(event: StepEnd, start: StepStart, withContent: boolean): OtlpSpan {
  const { correlationId: runId, payload, eventType } = event
  const { stepId = '', attempt = 1 } = payload
  const own = readSpanRecord((payload as Payload)['otel'])
  const isForeign = own !== undefined
  const error = eventType === 'execution.step_failed' ? messageOf(payload.error) : undefined
  return {
    ...EMPTY,
    kind: OUTSIDE.has(start.kind) ? CLIENT : INTERNAL,
    startTimeUnixNano: nanoOf(start.startedAt),
    endTimeUnixNano: nanoOf(event.timestamp),
    name: start.name,
    ...own,
    traceId: traceIdOf(runId),
    spanId: spanIdOf(runId, stepId, attempt),
    parentSpanId:
      start.parentStepId === null ? (isForeign ? '' : runSpanId(runId)) : spanIdOf(runId, start.parentStepId),
    attributes: {
      ...own?.attributes,
      'clew.run.id': runId,
      'clew.step.id': stepId,
      'clew.step.kind': start.kind,
      ...(attempt > 1 && { 'clew.step.attempt': attempt }),
      ...(eventType !== 'execution.step_completed' && { 'clew.step.status': eventType.slice(15) }),
      ...aboutCall(start, payload),
      ...(withContent && contentOf(start, payload)),
    },
    ...(error !== undefined && { status: { code: FAILED, message: error } }),
  }
}

/** A run as the span around its steps, from the event that ended it. */
export function toRunSpan(event: ClewEvent, run: RunStart): OtlpSpan {
  const { correlationId: runId, eventType } = event
  const { agent, agentVersion, threadId, parentRunId } = run
  const failed = isOwn(event, 'system.workflow_failed') ? messageOf(event.payload.error) : undefined
  return {
    ...EMPTY,
    traceId: traceIdOf(runId),
    spanId: runSpanId(runId),
    name: agent === null ? 'invoke_agent' : `invoke_agent ${agent}`,
    kind: INTERNAL,
    startTimeUnixNano: nanoOf(run.startedAt),
    endTimeUnixNano: nanoOf(event.timestamp),
    attributes: {
      'gen_ai.operation.name': 'invoke_agent',
      ...(agent !== null && { 'gen_ai.agent.name': agent }),
      ...(agentVersion !== null && { 'gen_ai.agent.version': agentVersion }),
      ...(threadId !== null && { 'gen_ai.conversation.id': threadId }),
      'clew.run.id': runId,
      'clew.run.status': eventType.slice(16),
    },
    links:
      parentRunId === null
        ? []
        : [
            {
              traceId: traceIdOf(parentRunId),
              spanId: runSpanId(parentRunId),
              traceState: '',
              flags: 0,
              attributes: { 'clew.link': 'parent run' },
              droppedAttributesCount: 0,
            },
          ],
    ...(failed !== undefined && { status: { code: FAILED, message: failed } }),
  }
}

const EMPTY: OtlpSpan = { ...EMPTY_SPAN, kind: INTERNAL }

/** Nanoseconds of RFC 3339 text, with all its digits. */
function nanoOf(time: string): bigint {
  const whole = BigInt(Math.floor(Date.parse(time) / 1000)) * 1_000_000_000n
  const digits = /\.(\d{1,9})/.exec(time)?.[1] ?? '0'
  return whole + BigInt(digits.padEnd(9, '0'))
}

const messageOf = (error: unknown): string =>
  (isObject(error) ? plainText(error['message']) : plainText(error)) ?? 'it failed'

function aboutCall({ kind, name }: StepStart, payload: Payload): OtlpAttributes {
  // The event may have been ingested from elsewhere, so the types of these fields are checked.
  const { model, provider, cost, usage: used } = payload
  const usage = normaliseUsage(used)
  const operation = Object.hasOwn(OPERATIONS, kind) ? OPERATIONS[kind] : undefined
  const amount = isObject(cost) ? cost['amount'] : undefined
  return {
    ...(operation !== undefined && { 'gen_ai.operation.name': operation }),
    ...(kind === 'tool' && { 'gen_ai.tool.name': name }),
    ...(typeof model === 'string' && { 'gen_ai.request.model': model }),
    ...(typeof provider === 'string' && { 'gen_ai.provider.name': provider }),
    ...(usage && {
      'gen_ai.usage.input_tokens': usage.inputTokens,
      'gen_ai.usage.output_tokens': usage.outputTokens,
      ...(usage.cacheReadTokens > 0 && { 'gen_ai.usage.cache_read.input_tokens': usage.cacheReadTokens }),
      ...(usage.cacheWriteTokens > 0 && {
        'gen_ai.usage.cache_creation.input_tokens': usage.cacheWriteTokens,
      }),
    }),
    ...(typeof amount === 'number' && { 'clew.cost.usd': amount }),
  }
}

function contentOf({ kind, input }: StepStart, payload: StepEnd['payload']): OtlpAttributes {
  const { output } = payload
  const asked = kind === 'tool' ? 'gen_ai.tool.call.arguments' : 'input.value'
  const given = kind === 'tool' ? 'gen_ai.tool.call.result' : 'output.value'
  return {
    ...(input !== undefined && { [asked]: textOf(input) }),
    ...(output !== undefined && { [given]: textOf(output) }),
  }
}

const textOf = (value: unknown): OtlpValue =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? '')

import { inputDigest, type JsonObject, type JsonValue } from '@clew/ledger'
import { classifySpan, type SpanKind } from './classify.ts'
import { type Conversation, readConversation, readInputOutput } from './conversation.ts'
import { createFacts, type SpanAttributes } from './span-attributes.ts'
import { readIdentity } from './identity.ts'
import { readMessages } from './model-message.ts'
import { type Call, tellInput, tellOutput, toStepValues } from './model-span.ts'
import { readModelUse, readTotalUse } from './model-use.ts'
import { RANK, type RunSink, sha256 } from './sink.ts'
import { addSource, type Source } from './source.ts'
import { readFailure, toSpanRecord } from './span-record.ts'
import type { OtlpSpan } from './structure.ts'
import { tellEvaluations, tellMemory, tellRequest, tellTool, toolNameOf } from './tool-spans.ts'
import type { SpanMapping } from './span-mapping.ts'

/** Fields of the step of a span: input, output, and those of its kind. */
interface MappedSpan {
  readonly values: JsonObject
  readonly use: JsonObject
  readonly conversation?: Conversation | undefined
}

const MODELS: ReadonlySet<SpanKind> = new Set(['model', 'embedding', 'reranker'])

/**
 * Adds the events of one span. They follow from this span alone, so it may come at any time, with any others, any number of
 * times (L4). A span that succeeded is one event for its step, start and end in one, beside its messages and calls.
 */
export function mapSpan(
  sink: RunSink,
  span: OtlpSpan,
  source: Source,
  toolCalls: 'spans' | 'messages',
): void {
  const facts = createFacts(span.attributes)
  if (facts.text('logfire.span_type') === 'pending_span') return mapPending(sink, span, facts, source)
  const kind = classifySpan(facts, span.name)
  const start = span.startTimeUnixNano || span.endTimeUnixNano
  if (span.endTimeUnixNano === 0n) return tellRunning(sink, span, facts, source, kind)
  const end = span.endTimeUnixNano < start ? start : span.endTimeUnixNano
  const name = (kind === 'tool' ? toolNameOf(facts, span.name) : span.name) || kind
  const failure = readFailure(span, facts)
  const work: SpanMapping = { sink, span, facts, stepId: span.spanId, name, start, end, failure }
  sink.begin({ spanId: span.spanId, parentSpanId: span.parentSpanId, start, end })
  const identity = readIdentity(facts, source)
  const sourceId = addSource(sink, source, start)
  const { values, use, conversation } = tell(work, kind, toolCalls)
  const otel = toSpanRecord(span, facts, {
    name,
    source: sourceId,
    withoutMessages: conversation?.isFromEvents ?? false,
  })
  const { input, ...outcome } = values
  const begun = {
    stepId: span.spanId,
    name,
    kind,
    parentStepId: span.parentSpanId === '' ? null : span.parentSpanId,
    ...identity,
    ...(input !== undefined && { input }),
    ...(kind === 'tool' && input !== undefined && { inputDigest: inputDigest(sha256, input) }),
  }
  const cause =
    span.parentSpanId === '' ? sink.derive(span.spanId, 'run') : sink.stepEventId(span.parentSpanId)
  const origin = kind === 'span' ? 'integration' : 'agent'
  const step = { key: [span.spanId, 'step'], rank: RANK.begin, origin, cause } as const
  if (failure) {
    sink.add({ ...step, type: 'execution.step_started', time: start, payload: begun })
    sink.add({
      type: 'execution.step_failed',
      key: [span.spanId, 'end'],
      time: end,
      rank: RANK.end,
      origin,
      cause: sink.stepEventId(span.spanId),
      payload: { stepId: span.spanId, name, error: failure, ...use, otel },
    })
  } else {
    const durationMs = Number(end - start) / 1e6
    const payload = { ...begun, ...outcome, durationMs, ...use, otel }
    sink.add({ ...step, type: 'execution.step_completed', time: end, place: start, payload })
  }
  if (span.parentSpanId === '') tellRun(work, kind, identity, values)
}

/** Adds a span that Logfire announces when it starts: it has an id of its own, below the span it announces. */
function mapPending(sink: RunSink, span: OtlpSpan, facts: SpanAttributes, source: Source): void {
  const around = facts.text('logfire.pending_parent_id') ?? ''
  const parentSpanId = /^0*$/.test(around) ? '' : around
  if (span.parentSpanId === '') return
  const real = { ...span, spanId: span.parentSpanId, parentSpanId }
  tellRunning(sink, real, facts, source, classifySpan(facts, span.name))
}

function tellRunning(
  sink: RunSink,
  span: OtlpSpan,
  facts: SpanAttributes,
  source: Source,
  kind: SpanKind,
): void {
  const time = span.startTimeUnixNano
  const name = (kind === 'tool' ? toolNameOf(facts, span.name) : span.name) || kind
  sink.begin({ spanId: span.spanId, parentSpanId: span.parentSpanId, start: time, end: undefined })
  const identity = readIdentity(facts, source)
  const sourceId = addSource(sink, source, time)
  sink.add({
    type: 'execution.step_started',
    key: [span.spanId, 'pending'],
    time,
    rank: RANK.begin,
    origin: kind === 'span' ? 'integration' : 'agent',
    cause: span.parentSpanId === '' ? null : sink.stepEventId(span.parentSpanId),
    payload: {
      stepId: span.spanId,
      name,
      kind,
      parentStepId: span.parentSpanId === '' ? null : span.parentSpanId,
      ...identity,
      otel: toSpanRecord(span, facts, { name, source: sourceId, withoutMessages: false }),
    },
  })
}

function tell(work: SpanMapping, kind: SpanKind, toolCalls: 'spans' | 'messages'): MappedSpan {
  const { facts, span } = work
  if (kind === 'model') return tellModel(work, toolCalls)
  if (kind === 'tool') return { values: tellTool(work), use: {} }
  // The meaning of its attributes is unknown: they stay attributes.
  if (kind === 'span') return { values: {}, use: {} }
  const use = MODELS.has(kind) ? readModelUse(facts) : readTotalUse(facts)
  if (kind === 'retriever' || kind === 'reranker' || kind === 'mcp' || kind === 'question')
    return { values: tellRequest(work, kind), use }
  if (kind === 'memory') tellMemory(work)
  tellEvaluations(work.sink, facts, { key: [span.spanId], time: work.end, stepId: work.stepId })
  const { input, output } = readInputOutput(facts)
  if (facts.text('mastra.span.type') === 'model_step')
    tellInput(callOf(work, {}, toolCalls), readMessages(input, 'user') ?? [])
  const values = { ...(input !== undefined && { input }), ...(output !== undefined && { output }) }
  return { values, use }
}

function tellModel(work: SpanMapping, toolCalls: 'spans' | 'messages'): MappedSpan {
  const { facts, span, failure } = work
  const use = readModelUse(facts)
  const conversation = readConversation(facts, span.events)
  const call = callOf(work, use, toolCalls)
  tellInput(call, conversation.input)
  if (!failure || conversation.output.some((said) => said.content !== null))
    tellOutput(call, conversation.output)
  const tools = readTools(facts)
  const values = toStepValues(conversation, tools === undefined ? {} : { tools })
  return { values, use, conversation }
}

function callOf(
  { sink, stepId, start, end }: SpanMapping,
  { model, provider }: JsonObject,
  toolCalls: 'spans' | 'messages',
): Call {
  return {
    sink,
    stepId,
    start,
    end,
    use: { ...(model !== undefined && { model }), ...(provider !== undefined && { provider }) },
    hasToolsInMessages: toolCalls === 'messages',
  }
}

function readTools(facts: SpanAttributes): JsonValue | undefined {
  return facts.take('gen_ai.tool.definitions', 'ai.prompt.tools') ?? facts.takeTree('llm.tools')
}

/** Adds start and end of the run, which is the span without a parent. */
function tellRun(work: SpanMapping, kind: SpanKind, identity: JsonObject, values: JsonObject): void {
  const { sink, span, start, end, failure, name } = work
  // Input and output of a model are recorded as messages.
  const { input, output } = MODELS.has(kind) ? {} : values
  const runId = sink.add({
    type: 'system.workflow_started',
    key: [span.spanId, 'run'],
    time: start,
    rank: RANK.runStart,
    origin: 'agent',
    cause: null,
    payload: { agent: name, ...identity, ...(input !== undefined && { input }) },
  })
  sink.add({
    type: failure ? 'system.workflow_failed' : 'system.workflow_completed',
    key: [span.spanId, 'run-end'],
    time: end,
    rank: RANK.runEnd,
    origin: 'agent',
    cause: runId,
    payload: failure ? { error: failure } : output === undefined ? {} : { output },
  })
}

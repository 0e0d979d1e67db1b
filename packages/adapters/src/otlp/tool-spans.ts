import type { JsonObject, JsonValue, Payload } from '@clew/ledger'
import { isObject, plainText, readArguments } from '../foreign.ts'
import { toSources } from '../langchain/sources.ts'
import type { SpanKind } from './classify.ts'
import { readInputOutput } from './conversation.ts'
import { type SpanAttributes, parseText } from './span-attributes.ts'
import { RANK, type RunSink } from './sink.ts'
import type { SpanMapping } from './span-mapping.ts'
import { unwrapCall, unwrapToolMessage } from './unwrap-values.ts'

export const toolNameOf = (facts: SpanAttributes, spanName: string): string =>
  facts.text(
    'gen_ai.tool.name',
    'tool.name',
    'ai.toolCall.name',
    'mcp.tool.name',
    'tool_name',
    'traceloop.entity.name',
  ) ?? spanName.replace(/^(?:execute_tool|tools\/call|running tool:?) /, '')

/** Adds the call of a tool and its result. Returns input and output of the step. */
export function tellTool(work: SpanMapping): JsonObject {
  const { sink, facts, stepId, name, start, end, failure } = work
  const asked = facts.take(
    'gen_ai.tool.call.arguments',
    'ai.toolCall.args',
    'ai.toolCall.input',
    'tool_arguments',
    'gcp.vertex.agent.tool_call_args',
    'tool_input',
    'langfuse.observation.input',
    'traceloop.entity.input',
    'mlflow.spanInputs',
    'input.value',
    'tool.parameters',
    'gen_ai.input.messages',
  )
  const returned = facts.take(
    'gen_ai.tool.call.result',
    'ai.toolCall.result',
    'ai.toolCall.output',
    'tool_response',
    'gcp.vertex.agent.tool_response',
    'langfuse.observation.output',
    'traceloop.entity.output',
    'mlflow.spanOutputs',
    'output.value',
    'gen_ai.output.messages',
  )
  const message = unwrapToolMessage(returned)
  const output = message ? message.result : returned
  const callId =
    facts.text('gen_ai.tool.call.id', 'tool.id', 'tool_call.id', 'ai.toolCall.id', 'tool_use_id') ??
    message?.callId ??
    stepId
  const known = { toolCallId: callId, name, stepId }
  const given = readArguments(unwrapCall(asked))
  const call = sink.add({
    type: 'execution.tool_call',
    key: [stepId, 'call'],
    time: start,
    rank: RANK.call,
    origin: 'agent',
    cause: sink.stepEventId(stepId),
    payload: { ...known, ...given },
  })
  sink.add({
    type: failure ? 'execution.tool_error' : 'execution.tool_result',
    key: [stepId, 'result'],
    time: end,
    rank: RANK.result,
    origin: 'integration',
    cause: call,
    payload: failure
      ? { ...known, error: failure, ...(output !== undefined && { result: output }) }
      : { ...known, result: output ?? null },
  })
  const input = given['arguments']
  return { ...(input !== undefined && { input }), ...(output !== undefined && { output }) }
}

/** A search, or a request that is no call of a tool: asked at the start, answered at the end. */
export function tellRequest(work: SpanMapping, kind: SpanKind): JsonObject {
  const { sink, facts, span, stepId, start, end, failure } = work
  const method = facts.text('mcp.method.name')
  const search = facts.take('gen_ai.retrieval.query.text', 'gen_ai.retrieval.query')
  const { input: said, output: answered } = readInputOutput(facts)
  const input = search ?? said
  const documents = readDocuments(facts)
  const output = documents ?? answered
  const values = { ...(input !== undefined && { input }), ...(output !== undefined && { output }) }
  const both = { origin: 'integration', cause: sink.stepEventId(stepId) } as const
  if (kind === 'question') {
    const pauseId = span.spanId
    const asked = sink.add({
      ...both,
      type: 'ui.input_requested',
      key: [stepId, 'call'],
      time: start,
      rank: RANK.call,
      payload: { pauseId, question: input ?? null },
    })
    const payload = { pauseId, answer: output ?? null }
    const key = [stepId, 'result']
    sink.add({
      type: 'ui.input_received',
      key,
      time: end,
      rank: RANK.result,
      origin: 'ui',
      cause: asked,
      payload,
    })
    return values
  }
  const call: Payload = {
    callId: span.spanId,
    service:
      facts.text('gen_ai.data_source.id', 'server.address', 'db.system.name', 'rpc.service') ?? work.name,
    operation: method ?? (kind === 'reranker' ? 'rerank' : 'retrieve'),
    stepId,
  }
  const begun = sink.add({
    ...both,
    type: 'integration.call',
    key: [stepId, 'call'],
    time: start,
    rank: RANK.call,
    payload: { ...call, ...(input !== undefined && { query: input }) },
  })
  sink.add({
    type: 'integration.response',
    key: [stepId, 'result'],
    time: end,
    rank: RANK.result,
    origin: 'integration',
    cause: begun,
    payload: {
      ...call,
      ...(Array.isArray(documents) && { sources: toSources(documents.map(toDocument)) }),
      ...(failure && { error: failure }),
    },
  })
  return values
}

function readDocuments(facts: SpanAttributes): JsonValue | undefined {
  const listed = facts.take('gen_ai.retrieval.documents')
  if (listed !== undefined) return listed
  const found = facts.takeTree('retrieval.documents') ?? facts.takeTree('reranker.output_documents')
  if (!Array.isArray(found)) return found
  return found.map((item) => (isObject(item) && isObject(item['document']) ? item['document'] : item))
}

function toDocument(item: JsonValue): { pageContent: string; metadata: JsonObject } {
  if (!isObject(item))
    return { pageContent: typeof item === 'string' ? item : JSON.stringify(item), metadata: {} }
  const metadata = parseText(item['metadata'] ?? null)
  const { id, title, url } = item
  return {
    pageContent: plainText(item['content']) ?? '',
    metadata: {
      ...(id !== undefined && { name: id }),
      ...(title !== undefined && { title }),
      ...(url !== undefined && { url }),
      ...(isObject(metadata) && metadata),
    },
  }
}

/** Maps a span that wrote to or read from a memory. */
export function tellMemory({ sink, facts, stepId, end, failure }: SpanMapping): void {
  if (failure) return
  const operation = facts.text('gen_ai.operation.name') ?? ''
  const namespace = facts.text(
    'gen_ai.memory.store.id',
    'gen_ai.memory.store.name',
    'gen_ai.memory.namespace',
  )
  const key = facts.text('gen_ai.memory.id', 'gen_ai.memory.key')
  const value = facts.take('gen_ai.memory.content', 'gen_ai.memory.records')
  sink.add({
    type: operation.startsWith('delete') ? 'execution.memory_forgotten' : 'execution.memory_written',
    key: [stepId, 'memory'],
    time: end,
    rank: RANK.note,
    origin: 'agent',
    cause: sink.stepEventId(stepId),
    payload: {
      ...(namespace !== undefined && { namespace }),
      ...(key !== undefined && { key }),
      ...(value !== undefined && { value }),
      stepId,
    },
  })
}

export interface EvaluationPlace {
  readonly key: readonly (string | number)[]
  readonly time: bigint
  readonly stepId: string | undefined
}

/** Scores that something was given, in the names of OpenTelemetry and of OpenInference. */
export function tellEvaluations(
  sink: RunSink,
  facts: SpanAttributes,
  { key, time, stepId }: EvaluationPlace,
): void {
  const found: JsonObject[] = []
  const name = facts.text('gen_ai.evaluation.name')
  if (name !== undefined)
    found.push(
      evaluation(name, {
        score: facts.attributes['gen_ai.evaluation.score.value'],
        label: facts.attributes['gen_ai.evaluation.score.label'],
        explanation: facts.attributes['gen_ai.evaluation.explanation'],
      }),
    )
  for (const tree of [facts.takeTree('annotations'), facts.takeTree('evaluations')])
    for (const item of Array.isArray(tree) ? tree : []) {
      const inner = isObject(item) ? (item['annotation'] ?? item['evaluation']) : undefined
      if (isObject(inner)) found.push(evaluation(plainText(inner['name']) ?? 'evaluation', inner))
    }
  for (const [nth, payload] of found.entries())
    sink.add({
      type: 'system.evaluation',
      key: [...key, 'evaluation', nth],
      time,
      rank: RANK.note,
      origin: 'system',
      cause: stepId === undefined ? null : sink.stepEventId(stepId),
      payload: { ...payload, ...(stepId !== undefined && { stepId }) },
    })
}

function evaluation(name: string, found: Readonly<Record<string, unknown>>): JsonObject {
  const { score, label, explanation } = found
  return {
    name,
    ...(typeof score === 'number' && Number.isFinite(score) && { score }),
    ...(typeof label === 'string' && { label }),
    ...(typeof explanation === 'string' && { explanation }),
  }
}

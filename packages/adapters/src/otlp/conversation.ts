import type { JsonObject, JsonValue } from '@clew/ledger'
import { isObject, plainText } from '../foreign.ts'
import { type SpanAttributes, parseText, toJsonObject } from './span-attributes.ts'
import { readInstructions, readMessage, readMessages, type ModelMessage } from './model-message.ts'
import type { OtlpSpanEvent } from './structure.ts'
import { unwrapCall } from './unwrap-values.ts'

/** Input and output of a model, as messages if they can be read as such. */
export interface Conversation {
  readonly input: readonly ModelMessage[]
  readonly output: readonly ModelMessage[]
  /** Input and output that are no messages. */
  readonly given: JsonValue | undefined
  readonly returned: JsonValue | undefined
  /** The messages were events of the span, which are then left out of its record. */
  readonly isFromEvents: boolean
}

/** Names of span events that are messages; all others stay with the span. */
export const MESSAGE_EVENT =
  /^gen_ai\.(?:(?:system|user|assistant|tool)\.message|choice|content\.(?:prompt|completion))$/

/** Reads the first convention that is present, the most precise ones first; attributes of the others stay with the span. */
export function readConversation(facts: SpanAttributes, events: readonly OtlpSpanEvent[]): Conversation {
  const told = readEvents(events)
  const ownInput = readInput(facts)
  const ownOutput = readOutput(facts)
  const input = ownInput ?? nonEmpty(told.input)
  const output = ownOutput ?? nonEmpty(told.output)
  const instructions = readInstructions(facts.take('gen_ai.system_instructions') ?? readSystem(facts, input))
  return {
    input: [...instructions, ...(input ?? [])],
    output: output ?? [],
    given: input ? undefined : readGiven(facts),
    returned: output ? undefined : readReturned(facts),
    isFromEvents: (!ownInput || told.input.length === 0) && (!ownOutput || told.output.length === 0),
  }
}

/** The system prompt of a call of Anthropic's API, which OpenInference leaves among the parameters. */
function readSystem(
  facts: SpanAttributes,
  input: readonly ModelMessage[] | undefined,
): JsonValue | undefined {
  const text = facts.text('llm.invocation_parameters')
  if (text === undefined || !input || input.some(({ role }) => role === 'system')) return undefined
  const parameters = parseText(text)
  return isObject(parameters) ? parameters['system'] : undefined
}

const nonEmpty = (list: ModelMessage[]): ModelMessage[] | undefined => (list.length > 0 ? list : undefined)

const INPUT_ATTRIBUTES = [
  'gen_ai.input.messages',
  'gen_ai.prompt',
  'ai.prompt.messages',
  'ai.prompt',
  'langfuse.observation.input',
  'gcp.vertex.agent.llm_request',
  'mlflow.spanInputs',
  'traceloop.entity.input',
  'input.value',
  'input',
] as const

const OUTPUT_ATTRIBUTES = [
  'gen_ai.output.messages',
  'gen_ai.completion',
  'langfuse.observation.output',
  'gcp.vertex.agent.llm_response',
  'mlflow.spanOutputs',
  'traceloop.entity.output',
  'output.value',
  'output',
] as const

function readInput(facts: SpanAttributes): ModelMessage[] | undefined {
  return (
    readFlat(facts, 'gen_ai.prompt', 'user') ??
    readFlat(facts, 'llm.input_messages', 'user') ??
    readFlat(facts, 'llm.prompts', 'user') ??
    readFirst(facts, INPUT_ATTRIBUTES, 'user') ??
    readPydantic(facts)?.input
  )
}

function readOutput(facts: SpanAttributes): ModelMessage[] | undefined {
  return (
    readFlat(facts, 'gen_ai.completion', 'assistant') ??
    readFlat(facts, 'llm.output_messages', 'assistant') ??
    readFlat(facts, 'llm.completions', 'assistant') ??
    readAiSdk(facts) ??
    readFirst(facts, OUTPUT_ATTRIBUTES, 'assistant') ??
    readPydantic(facts)?.output
  )
}

function readFlat(facts: SpanAttributes, prefix: string, role: string): ModelMessage[] | undefined {
  if (!hasPrefix(facts, `${prefix}.0.`)) return undefined
  return readMessages(facts.takeTree(prefix), role)
}

function hasPrefix({ attributes }: SpanAttributes, prefix: string): boolean {
  for (const key in attributes) if (key.startsWith(prefix)) return true
  return false
}

const readFirst = (
  facts: SpanAttributes,
  keys: readonly string[],
  role: string,
): ModelMessage[] | undefined =>
  facts.takeAs(keys, (value) => {
    const messages = readMessages(value, role)
    return messages === undefined || messages.length === 0 ? undefined : messages
  })

const readGiven = (facts: SpanAttributes): JsonValue | undefined => facts.take(...INPUT_ATTRIBUTES)
const readReturned = (facts: SpanAttributes): JsonValue | undefined =>
  facts.take('ai.response.object', 'ai.result.object', ...OUTPUT_ATTRIBUTES)

function readAiSdk(facts: SpanAttributes): ModelMessage[] | undefined {
  const text = facts.take('ai.response.text', 'ai.result.text', 'ai.response.object', 'ai.result.object')
  const calls = facts.take('ai.response.toolCalls', 'ai.result.toolCalls')
  const thought = facts.take('ai.response.reasoning')
  if (text === undefined && calls === undefined && thought === undefined) return undefined
  const message: JsonObject = { role: 'assistant', content: asText(text) }
  if (calls !== undefined) message['tool_calls'] = calls
  if (thought !== undefined) message['reasoning'] = asText(thought)
  const finish = facts.text('ai.response.finishReason')
  if (finish !== undefined) message['finish_reason'] = finish
  return [readMessage(message, 'assistant')]
}

/** Text of an answer: one that happens to be JSON was parsed, and is turned back into text. */
const asText = (value: JsonValue | undefined): JsonValue =>
  value === undefined || typeof value === 'string' ? (value ?? null) : JSON.stringify(value)

/** Messages of older versions of Pydantic AI: one list of events per call. */
function readPydantic(facts: SpanAttributes): { input: ModelMessage[]; output: ModelMessage[] } | undefined {
  const list = facts.take('events', 'all_messages_events')
  if (!Array.isArray(list)) return undefined
  return readEvents(
    list.filter(isObject).map((body) => ({
      name: plainText(body['event.name']) ?? '',
      body,
    })),
  )
}

interface MessageEvent {
  readonly name: string
  readonly body: JsonObject
}

function readEvents(events: readonly (OtlpSpanEvent | MessageEvent)[]): {
  input: ModelMessage[]
  output: ModelMessage[]
} {
  const input: ModelMessage[] = []
  const output: ModelMessage[] = []
  for (const event of events) {
    if (!MESSAGE_EVENT.test(event.name)) continue
    const body = 'body' in event ? event.body : toJsonObject(event.attributes)
    const read = readMessageEvent(event.name, body)
    if (read.isOutput) output.push(...read.messages)
    else input.push(...read.messages)
  }
  return { input, output }
}

/** Reads a message from an event of a span, or from the body of a log record. */
export function readMessageEvent(
  name: string,
  body: JsonObject,
): { isOutput: boolean; messages: ModelMessage[] } {
  const what = name.slice('gen_ai.'.length)
  if (what === 'content.prompt')
    return { isOutput: false, messages: readMessages(parseText(body['gen_ai.prompt'] ?? null), 'user') ?? [] }
  if (what === 'content.completion')
    return {
      isOutput: true,
      messages: readMessages(parseText(body['gen_ai.completion'] ?? null), 'assistant') ?? [],
    }
  if (what === 'choice') return { isOutput: true, messages: [readMessage(body, 'assistant')] }
  const role = what.slice(0, what.indexOf('.'))
  const { id, ...rest } = body
  const named = role === 'tool' && id !== undefined ? { tool_call_id: id, ...rest } : body
  return { isOutput: false, messages: [readMessage({ role, ...named }, role)] }
}

/** Input and output of a span that is not a call of a model. */
export function readInputOutput(facts: SpanAttributes): {
  input: JsonValue | undefined
  output: JsonValue | undefined
} {
  // Mastra names the attributes after the type of the span.
  const mastra = `mastra.${facts.text('mastra.span.type') ?? ''}`
  const input = facts.take(
    'langfuse.observation.input',
    'langfuse.trace.input',
    'traceloop.entity.input',
    'ai.prompt',
    'ai.value',
    'ai.values',
    'mlflow.spanInputs',
    'input.value',
    'gen_ai.input.messages',
    'gen_ai.prompt',
    `${mastra}.input`,
    'input',
  )
  return {
    input: unwrapCall(input),
    output: facts.take(
      'langfuse.observation.output',
      'langfuse.trace.output',
      'traceloop.entity.output',
      'ai.response.text',
      'ai.response.object',
      'mlflow.spanOutputs',
      'output.value',
      'final_result',
      'gen_ai.output.messages',
      'gen_ai.completion',
      `${mastra}.output`,
      'output',
    ),
  }
}

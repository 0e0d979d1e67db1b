import type { JsonObject, JsonValue } from '@clew/ledger'
import { isObject, plainText, readArguments } from '../foreign.ts'
import { parseText } from './span-attributes.ts'

export interface AskedCall {
  readonly id: string | undefined
  readonly name: string
  readonly arguments: JsonValue | undefined
}

export interface GivenResult {
  readonly id: string | undefined
  readonly name: string | undefined
  readonly result: JsonValue
}

/** One message to or from a model, whatever its maker calls the parts of it. */
export interface ModelMessage {
  readonly role: string
  /** Text, or a list of parts; null when it only calls tools or brings their results. */
  readonly content: JsonValue
  readonly name: string | undefined
  readonly reasoning: readonly string[]
  readonly calls: readonly AskedCall[]
  readonly results: readonly GivenResult[]
  readonly finishReason: string | undefined
}

const ROLES: Readonly<Record<string, string>> = {
  human: 'user',
  ai: 'assistant',
  model: 'assistant',
  function: 'tool',
  HumanMessage: 'user',
  AIMessage: 'assistant',
  AIMessageChunk: 'assistant',
  SystemMessage: 'system',
  ToolMessage: 'tool',
}

const roleOf = (name: string): string => (Object.hasOwn(ROLES, name) ? (ROLES[name] as string) : name)

/**
 * The messages in a value: a list of them, one of them, or an object that has them. Undefined when it is something
 * else; a bare text is one message of the role that is expected.
 */
export function readMessages(value: JsonValue | undefined, role: string): ModelMessage[] | undefined {
  if (value === undefined || value === null || value === '') return undefined
  if (typeof value === 'string') return [spoken(role, value)]
  if (Array.isArray(value)) return readMessageList(value, role)
  if (!isObject(value)) return undefined
  for (const key of ['messages', 'contents', 'choices', 'generations']) {
    const inside = value[key]
    if (!Array.isArray(inside)) continue
    const system = role === 'user' ? readMessages(value['system'], 'system') : undefined
    return [...(system ?? []), ...(readMessageList(inside, role) ?? [])]
  }
  if (value['prompt'] !== undefined && role === 'user') {
    const system = readMessages(value['system'], 'system') ?? []
    return [...system, ...(readMessages(value['prompt'], role) ?? [])]
  }
  return isMessage(value) ? [readMessage(value, role)] : undefined
}

function readMessageList(list: readonly JsonValue[], role: string): ModelMessage[] | undefined {
  // Frameworks that ask for several answers at once have a list for each.
  if (list.length > 0 && list.every((item) => Array.isArray(item))) return readMessageList(list.flat(), role)
  if (!list.every((item) => isObject(item) && isMessage(item))) return undefined
  return (list as JsonObject[]).map((item) => readMessage(item, role))
}

const MESSAGE_KEYS = ['role', 'parts', 'message', 'kwargs', 'message_content', 'tool_calls', 'content']

const isMessage = (value: JsonObject): boolean => MESSAGE_KEYS.some((key) => value[key] !== undefined)

const spoken = (role: string, content: JsonValue): ModelMessage => ({
  role,
  content,
  name: undefined,
  reasoning: [],
  calls: [],
  results: [],
  finishReason: undefined,
})

/** Instructions come as parts of their own, without a role. */
export function readInstructions(value: JsonValue | undefined): ModelMessage[] {
  if (value === undefined || value === null || value === '') return []
  if (Array.isArray(value) && value.every((part) => !isObject(part) || part['role'] === undefined))
    return [readMessage({ role: 'system', parts: value }, 'system')]
  return readMessages(value, 'system') ?? [spoken('system', value)]
}

/** Unwraps a message from a provider's choice, candidate or constructor. */
function unwrap(found: JsonObject): JsonObject {
  const { kwargs, id } = found
  if (isObject(kwargs) && Array.isArray(id))
    return {
      role: roleOf(plainText(id.at(-1)) ?? ''),
      ...kwargs,
      finish_reason: kwargs['finish_reason'] ?? null,
    }
  const inner = typeof found['message'] === 'string' ? parseText(found['message']) : found['message']
  const finish = found['finish_reason']
  if (isObject(inner)) return { ...inner, ...(finish !== undefined && { finish_reason: finish }) }
  return found
}

export function readMessage(given: JsonObject, otherwise: string): ModelMessage {
  const found = unwrap(given)
  const draft: MutableMessage = { texts: [], reasoning: [], calls: [], results: [] }
  const content = parseParts(found['parts'] ?? found['contents'] ?? found['content'])
  const callId = plainText(found['tool_call_id']) ?? plainText(found['toolCallId'])
  const named = roleOf(plainText(found['role']) ?? plainText(found['type']) ?? otherwise)
  // Anthropic's API returns results of tools in messages of the user, and OpenInference keeps that role.
  const role = named === 'user' && callId !== undefined ? 'tool' : named
  const name = plainText(found['name'])
  if (role === 'tool' && !hasResults(content))
    draft.results.push({ id: callId, name, result: content ?? null })
  else for (const part of Array.isArray(content) ? content : [content ?? null]) addPart(draft, part)
  addCalls(draft, found['tool_calls'] ?? found['toolCalls'])
  if (isObject(found['function_call'])) addCall(draft, found['function_call'], undefined)
  const thought = plainText(found['reasoning_content']) ?? plainText(found['reasoning'])
  if (thought !== undefined && !draft.reasoning.includes(thought)) draft.reasoning.push(thought)
  return {
    role,
    content: toContent(draft.texts),
    name,
    reasoning: draft.reasoning,
    calls: draft.calls,
    results: draft.results,
    finishReason: plainText(found['finish_reason']),
  }
}

/** Parts may come as JSON text. A text that merely looks like JSON is an answer and stays as it is. */
function parseParts(value: JsonValue | undefined): JsonValue | undefined {
  if (typeof value !== 'string') return value
  const parsed = parseText(value)
  return Array.isArray(parsed) && parsed.length > 0 && parsed.every((part) => isObject(part) && isPart(part))
    ? parsed
    : value
}

const isPart = (part: JsonObject): boolean => typeof part['type'] === 'string'

const RESULT_TYPES: ReadonlySet<string> = new Set(['tool_call_response', 'tool-result', 'tool_result'])

const hasResults = (content: JsonValue | undefined): boolean =>
  Array.isArray(content) &&
  content.some(
    (part) =>
      isObject(part) &&
      (RESULT_TYPES.has(plainText(part['type']) ?? '') || part['functionResponse'] !== undefined),
  )

interface MutableMessage {
  readonly texts: JsonValue[]
  readonly reasoning: string[]
  readonly calls: AskedCall[]
  readonly results: GivenResult[]
}

function addPart(draft: MutableMessage, given: JsonValue): void {
  if (!isObject(given)) {
    if (given !== null && given !== '') draft.texts.push(given)
    return
  }
  const part = isObject(given['message_content']) ? given['message_content'] : given
  const type = plainText(part['type']) ?? ''
  const text = part['text'] ?? part['content']
  if (type === 'reasoning' || type === 'thinking') {
    const thought = plainText(part['thinking']) ?? plainText(text)
    if (thought !== undefined) draft.reasoning.push(thought)
  } else if (type === 'tool_call' || type === 'tool-call' || type === 'tool_use')
    addCall(draft, part, undefined)
  else if (isObject(part['functionCall'])) addCall(draft, part['functionCall'], undefined)
  else if (RESULT_TYPES.has(type)) addResult(draft, part)
  else if (isObject(part['functionResponse'])) addResult(draft, part['functionResponse'])
  else if ((type === 'text' || type === '') && typeof text === 'string')
    draft.texts.push({ type: 'text', text })
  else draft.texts.push(part)
}

function addResult(draft: MutableMessage, part: JsonObject): void {
  const output = part['output']
  // The AI SDK says of which type a value is.
  const value = isObject(output) && output['value'] !== undefined ? output['value'] : output
  draft.results.push({
    id: plainText(part['id']) ?? plainText(part['toolCallId']) ?? plainText(part['tool_use_id']),
    name: plainText(part['name']) ?? plainText(part['toolName']),
    result: part['response'] ?? part['result'] ?? value ?? part['content'] ?? null,
  })
}

function addCalls(draft: MutableMessage, value: JsonValue | undefined): void {
  const calls = typeof value === 'string' ? parseText(value) : value
  if (!Array.isArray(calls)) return
  for (const call of calls) if (isObject(call)) addCall(draft, call, plainText(call['id']))
}

function addCall(draft: MutableMessage, given: JsonObject, around: string | undefined): void {
  const found = isObject(given['tool_call']) ? given['tool_call'] : given
  const called = isObject(found['function']) ? found['function'] : found
  const id = plainText(found['id']) ?? plainText(found['toolCallId']) ?? around
  const name = plainText(called['name']) ?? plainText(called['toolName'])
  if (name === undefined || draft.calls.some((call) => id !== undefined && call.id === id)) return
  const given_ = called['arguments'] ?? called['args'] ?? called['input']
  draft.calls.push({ id, name, arguments: readArguments(given_)['arguments'] })
}

/** One text is plain text; several, or what is not text, stay parts. */
function toContent(parts: readonly JsonValue[]): JsonValue {
  if (parts.length === 0) return null
  const [first] = parts
  if (parts.length > 1 || first === undefined) return [...parts]
  if (typeof first === 'string') return first
  return isObject(first) && first['type'] === 'text' && typeof first['text'] === 'string'
    ? first['text']
    : [first]
}

/** A message as the input of a step keeps it. */
export function toRecord({ role, content, name, calls, results, reasoning }: ModelMessage): JsonObject {
  return {
    role,
    content,
    ...(name !== undefined && { name }),
    ...(reasoning.length > 0 && { reasoning: [...reasoning] }),
    ...(calls.length > 0 && { toolCalls: calls.map(toCallRecord) }),
    ...(results.length > 0 && {
      results: results.map(({ id, name: tool, result }) => ({
        ...(id !== undefined && { toolCallId: id }),
        ...(tool !== undefined && { name: tool }),
        result,
      })),
    }),
  }
}

export const toCallRecord = ({ id, name, arguments: given }: AskedCall): JsonObject => ({
  ...(id !== undefined && { id }),
  name,
  ...(given !== undefined && { arguments: given }),
})

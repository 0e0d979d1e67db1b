import { contentText } from '../fold/content-text.ts'
import { textOf } from '../fold/fields.ts'
import { isObject } from '../json.ts'
import { parseArguments, splitParts } from './content-parts.ts'

export type MessageRole = 'system' | 'user' | 'assistant' | 'tool'

export interface ParsedToolCall {
  readonly id: string | null
  readonly name: string
  /** JSON text is read as its value. */
  readonly arguments: unknown
}

export interface ParsedToolResult {
  readonly toolCallId: string | null
  readonly name: string | null
  readonly content: unknown
  readonly isError: boolean
}

/** One message of a conversation, read from whatever form it was recorded in. */
export interface ParsedMessage {
  readonly role: MessageRole
  readonly id: string | null
  readonly name: string | null
  /** Text or content parts without reasoning, calls and results; null if there are none. */
  readonly content: unknown
  readonly reasoning: string | null
  readonly toolCalls: readonly ParsedToolCall[]
  readonly toolResults: readonly ParsedToolResult[]
  readonly model: string | null
}

const ROLES: Readonly<Record<string, MessageRole>> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  human: 'user',
  assistant: 'assistant',
  ai: 'assistant',
  model: 'assistant',
  tool: 'tool',
  function: 'tool',
}

/** Own entries only: a role like `constructor` is none. */
export const toMessageRole = (role: unknown): MessageRole | undefined =>
  typeof role === 'string' && Object.hasOwn(ROLES, role) ? ROLES[role] : undefined

/**
 * Reads a message in the forms that people use: OpenAI's chat and responses, Anthropic's, the AI SDK's, Gemini's,
 * LangChain's (plain and serialized) and Clew's own. Undefined if the value is no message.
 */
export function parseMessage(value: unknown): ParsedMessage | undefined {
  if (!isObject(value)) return undefined
  const item = parseResponseItem(value)
  if (item) return item
  const given = fieldsOf(value)
  if (!given) return undefined
  const { role, fields } = given
  const content = fields['content'] ?? fields['parts']
  const calls = fields['tool_calls'] ?? fields['toolCalls']
  if (content === undefined && !Array.isArray(calls)) return undefined
  const extra = isObject(fields['additional_kwargs']) ? fields['additional_kwargs'] : {}
  const { rest, reasoning, toolCalls, toolResults } = splitParts(content)
  const name = textOf(fields['name'])
  const own = {
    role,
    id: textOf(fields['id']),
    name,
    reasoning:
      reasoning ??
      plainText(fields['reasoning_content'] ?? fields['reasoning'] ?? extra['reasoning_content']),
    toolCalls: [...(Array.isArray(calls) ? calls.flatMap(parseToolCall) : []), ...toolCalls],
    model: modelOf(fields),
  }
  if (role !== 'tool' || toolResults.length > 0) return { ...own, content: rest, toolResults }
  const toolCallId = textOf(fields['tool_call_id']) ?? textOf(fields['toolCallId'])
  const isError = fields['status'] === 'error' || fields['isError'] === true || fields['is_error'] === true
  return { ...own, content: null, toolResults: [{ toolCallId, name, content: content ?? null, isError }] }
}

/**
 * The messages of a list, or of one value; what takes a message out of a state is left out. Undefined unless every item is
 * one: then it is other data.
 */
export function parseMessages(value: unknown): ParsedMessage[] | undefined {
  const list = Array.isArray(value) ? (value as readonly unknown[]) : [value]
  if (list.length === 0) return undefined
  const parsed: ParsedMessage[] = []
  for (const item of list) {
    if (isObject(item) && (item['role'] === 'remove' || item['$langgraph'] === 'RemoveMessage')) continue
    const message = parseMessage(item)
    if (!message) return undefined
    parsed.push(message)
  }
  return parsed
}

/** The same text for two forms of one message. */
export const messageKey = ({ role, content, toolCalls, toolResults }: ParsedMessage): string =>
  [
    role,
    contentText(content),
    ...toolCalls.map(({ id, name }) => `${id ?? ''} ${name}`),
    ...toolResults.map(({ toolCallId, content: result }) => `${toolCallId ?? ''} ${contentText(result)}`),
  ].join('\n')

const TYPES: ReadonlySet<unknown> = new Set(['human', 'ai', 'system', 'tool', 'function', 'developer'])

function fieldsOf(
  value: Record<string, unknown>,
): { role: MessageRole; fields: Record<string, unknown> } | undefined {
  const role = toMessageRole(value['role'])
  if (role) return { role, fields: value }
  const type = value['type']
  // LangChain: `{ type: 'human', content }`, and serialized `{ lc, type: 'constructor', id: […, 'HumanMessage'], kwargs }`.
  if (TYPES.has(type)) {
    const fields = isObject(value['data']) ? value['data'] : value
    return { role: toMessageRole(type) as MessageRole, fields }
  }
  // In the state of a graph of LangGraph: `{ $langgraph: 'AIMessage', fields }`.
  if (typeof value['$langgraph'] === 'string' && isObject(value['fields']))
    return ofClass(value['$langgraph'], value['fields'])
  const { id, kwargs } = value
  if (type !== 'constructor' || !Array.isArray(id) || !isObject(kwargs)) return undefined
  return ofClass(String(id.at(-1)), kwargs)
}

function ofClass(
  className: string,
  fields: Record<string, unknown>,
): { role: MessageRole; fields: Record<string, unknown> } | undefined {
  const [, name = ''] = /^(\w+?)Message(?:Chunk)?$/.exec(className) ?? []
  const role = toMessageRole(name.toLowerCase()) ?? toMessageRole(fields['role'])
  return role && { role, fields }
}

function parseToolCall(call: unknown): ParsedToolCall[] {
  if (!isObject(call)) return []
  const inner = isObject(call['function']) ? call['function'] : call
  const name = textOf(inner['name']) ?? textOf(inner['toolName'])
  if (name === null) return []
  const given = inner['arguments'] ?? inner['args'] ?? inner['input'] ?? null
  return [{ id: textOf(call['id']) ?? textOf(call['toolCallId']), name, arguments: parseArguments(given) }]
}

/** Items of OpenAI's Responses API that stand beside messages in its lists. */
function parseResponseItem(value: Record<string, unknown>): ParsedMessage | undefined {
  const { type, call_id: callId, output, name } = value
  const nothing = { id: null, name: null, content: null, reasoning: null, toolCalls: [], toolResults: [] }
  const none = { ...nothing, model: null }
  if (type === 'function_call' && typeof name === 'string') {
    const call = { id: textOf(callId), name, arguments: parseArguments(value['arguments'] ?? null) }
    return { ...none, role: 'assistant', toolCalls: [call] }
  }
  if (type === 'function_call_output') {
    const result = { toolCallId: textOf(callId), name: null, content: output ?? null, isError: false }
    return { ...none, role: 'tool', toolResults: [result] }
  }
  if (type === 'reasoning' && Array.isArray(value['summary']))
    return { ...none, role: 'assistant', reasoning: plainText(value['summary']) }
  return undefined
}

function modelOf(fields: Record<string, unknown>): string | null {
  const told = isObject(fields['response_metadata']) ? fields['response_metadata'] : {}
  return textOf(fields['model']) ?? textOf(told['model_name']) ?? textOf(told['model'])
}

const plainText = (value: unknown): string | null => contentText(value) || null

import { contentText } from '../fold/content-text.ts'
import { textOf } from '../fold/fields.ts'
import { isObject } from '../json.ts'
import type { ParsedToolCall, ParsedToolResult } from './parse-message.ts'

interface SplitParts {
  /** The remaining content for people: a text, parts, or null. */
  readonly rest: unknown
  readonly reasoning: string | null
  readonly toolCalls: readonly ParsedToolCall[]
  readonly toolResults: readonly ParsedToolResult[]
}

const THINKING: ReadonlySet<unknown> = new Set(['thinking', 'redacted_thinking', 'reasoning'])
const CALLS: ReadonlySet<unknown> = new Set(['tool_use', 'server_tool_use', 'tool-call', 'tool_call'])
const RESULTS: ReadonlySet<unknown> = new Set(['tool_result', 'tool-result'])
const TEXTS: ReadonlySet<unknown> = new Set(['text', 'input_text', 'output_text'])

/** Sorts the parts of a message's content: makers of models put calls, results and reasoning among them. */
export function splitParts(content: unknown): SplitParts {
  if (!Array.isArray(content)) return { rest: emptyAsNull(content), ...NOTHING }
  const thinking: unknown[] = []
  const toolCalls: ParsedToolCall[] = []
  const toolResults: ParsedToolResult[] = []
  const rest: unknown[] = []
  for (const part of content as unknown[]) {
    const type = isObject(part) ? part['type'] : undefined
    if (!isObject(part)) rest.push(part)
    else if (THINKING.has(type) || part['thought'] === true) thinking.push(part)
    else if (CALLS.has(type)) toolCalls.push(toCall(part))
    else if (RESULTS.has(type)) toolResults.push(toResult(part))
    else if (isObject(part['functionCall'])) toolCalls.push(toCall(part['functionCall']))
    else if (isObject(part['functionResponse'])) toolResults.push(toResult(part['functionResponse']))
    else rest.push(toPart(part))
  }
  return { rest: joined(rest), reasoning: contentText(thinking) || null, toolCalls, toolResults }
}

const NOTHING = { reasoning: null, toolCalls: [], toolResults: [] }

const emptyAsNull = (content: unknown): unknown => (content === '' ? null : (content ?? null))

/** A single text needs no list around it. */
function joined(parts: readonly unknown[]): unknown {
  const [first] = parts
  if (first === undefined) return null
  const isText = parts.length === 1 && isObject(first) && first['type'] === 'text'
  return isText ? emptyAsNull(first['text']) : parts
}

/** Text in the one spelling that chat models share. */
function toPart(part: Record<string, unknown>): unknown {
  const { type, text } = part
  if (typeof text !== 'string' || (type !== undefined && !TEXTS.has(type))) return part
  return type === 'text' ? part : { type: 'text', text }
}

function toCall(part: Record<string, unknown>): ParsedToolCall {
  const given = part['input'] ?? part['args'] ?? part['arguments'] ?? null
  return {
    id: textOf(part['id']) ?? textOf(part['toolCallId']),
    name: textOf(part['name']) ?? textOf(part['toolName']) ?? 'unknown',
    arguments: parseArguments(given),
  }
}

function toResult(part: Record<string, unknown>): ParsedToolResult {
  const output = part['output'] ?? part['content'] ?? part['result'] ?? part['response'] ?? null
  // The AI SDK wraps a result with what it is.
  const { type, value } = isObject(output) ? output : {}
  const isWrapped = typeof type === 'string' && value !== undefined
  return {
    toolCallId: textOf(part['tool_use_id']) ?? textOf(part['toolCallId']) ?? textOf(part['id']),
    name: textOf(part['toolName']) ?? textOf(part['name']),
    content: isWrapped ? value : output,
    isError: part['is_error'] === true || (isWrapped && type.startsWith('error')),
  }
}

/** Arguments travel as JSON text with some makers and as values with others. */
export function parseArguments(given: unknown): unknown {
  if (typeof given !== 'string') return given
  try {
    return JSON.parse(given) as unknown
  } catch {
    return given
  }
}

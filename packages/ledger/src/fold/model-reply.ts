import { isObject } from '../json.ts'
import { contentText } from './content-text.ts'

/** A model's answer to one call. */
export interface ModelReply {
  readonly reasoning: string | null
  /** Text, or content parts; null when it only asked for tools. */
  readonly content: unknown
  readonly calls: readonly { readonly name: string; readonly arguments: unknown }[]
}

/**
 * Reads what an effect gave back as the answer of a model, in the forms of those that people use: chat completions,
 * messages with content blocks, and results with `text`, `reasoning` and `toolCalls`. Undefined when it is none.
 */
export function parseModelReply(output: unknown): ModelReply | undefined {
  if (!isObject(output)) return undefined
  const choice = Array.isArray(output['choices']) ? output['choices'][0] : undefined
  const message = isObject(choice) && isObject(choice['message']) ? choice['message'] : output['message']
  const thought = output['thought'] ?? output['reasoningText'] ?? output['reasoning']
  if (isObject(message) && message['role'] === 'assistant') return ofMessage(message, thought)
  if (output['role'] === 'assistant') return ofMessage(output, thought)
  if (typeof output['text'] !== 'string' || !('toolCalls' in output || 'finishReason' in output))
    return undefined
  return {
    reasoning: textOrNull(thought),
    content: output['text'] || null,
    calls: callsOf(output['toolCalls']),
  }
}

function ofMessage(message: Readonly<Record<string, unknown>>, thought: unknown): ModelReply {
  const { content } = message
  const parts = Array.isArray(content) ? content.filter(isObject) : []
  const thinking = parts.filter(({ type }) => type === 'thinking' || type === 'reasoning')
  const used = parts.filter(({ type }) => type === 'tool_use' || type === 'tool-call')
  const said =
    parts.length === 0 ? content : parts.filter((part) => !thinking.includes(part) && !used.includes(part))
  const own = message['reasoning_content'] ?? message['reasoning'] ?? thought
  return {
    reasoning: thinking.length > 0 ? contentText(thinking) : textOrNull(own),
    content: said === '' || (Array.isArray(said) && said.length === 0) ? null : (said ?? null),
    calls: [...callsOf(message['tool_calls']), ...callsOf(used)],
  }
}

function callsOf(given: unknown): ModelReply['calls'] {
  if (!Array.isArray(given)) return []
  return given.filter(isObject).map((call) => {
    const part = isObject(call['function']) ? call['function'] : call
    const name = part['name'] ?? part['toolName']
    return {
      name: typeof name === 'string' ? name : 'a tool',
      arguments: part['arguments'] ?? part['input'] ?? part['args'] ?? null,
    }
  })
}

const textOrNull = (value: unknown): string | null => {
  const text = contentText(value)
  return text === '' ? null : text
}

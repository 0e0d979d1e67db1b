import { contentText } from '../fold/content-text.ts'
import { textOf } from '../fold/fields.ts'
import { isObject } from '../json.ts'
import { type ParsedMessage, parseMessage } from './parse-message.ts'

/**
 * Reads what a model gave back as a message of the assistant: chat completions, content blocks, output items, candidates,
 * and results with `text`, `reasoning` and `toolCalls`. Undefined when it is none.
 */
export function parseModelReply(output: unknown): ParsedMessage | undefined {
  if (!isObject(output)) return undefined
  const message = messageIn(output)
  if (!message || message.role !== 'assistant') return undefined
  const thought = output['thought'] ?? output['reasoningText'] ?? output['reasoning']
  const reasoning = message.reasoning ?? (contentText(thought) || null)
  return { ...message, reasoning, model: message.model ?? textOf(output['model']) }
}

function messageIn(output: Record<string, unknown>): ParsedMessage | undefined {
  const choice: unknown = Array.isArray(output['choices']) ? output['choices'][0] : undefined
  if (isObject(choice)) return parseMessage(choice['message'])
  if (Array.isArray(output['output'])) return joinItems(output['output'])
  const candidate: unknown = Array.isArray(output['candidates']) ? output['candidates'][0] : undefined
  if (isObject(candidate)) return parseMessage(candidate['content'])
  if (isObject(output['message'])) return parseMessage(output['message'])
  if (output['role'] !== undefined || output['type'] === 'ai' || output['type'] === 'constructor')
    return parseMessage(output)
  const { text, toolCalls } = output
  if (typeof text !== 'string' || !('toolCalls' in output || 'finishReason' in output)) return undefined
  return parseMessage({ role: 'assistant', content: text, toolCalls })
}

/** Output items of one response are one turn: reasoning, words and calls. */
function joinItems(items: readonly unknown[]): ParsedMessage | undefined {
  const parsed = items.flatMap((item) => parseMessage(item) ?? [])
  const [first] = parsed
  if (!first) return undefined
  const words = parsed.filter(({ content }) => content !== null)
  return {
    ...first,
    id: null,
    content: words.length > 1 ? words.flatMap(({ content }) => content) : (words[0]?.content ?? null),
    reasoning: parsed.flatMap(({ reasoning }) => reasoning ?? []).join('\n') || null,
    toolCalls: parsed.flatMap(({ toolCalls }) => toolCalls),
  }
}

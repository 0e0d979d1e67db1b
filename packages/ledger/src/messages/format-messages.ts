import { contentText, jsonText } from '../fold/content-text.ts'
import { ClewError } from '../errors.ts'
import { isObject } from '../json.ts'
import { type ParsedMessage, parseMessage } from './parse-message.ts'

export interface ChatToolCall {
  readonly id: string
  readonly type: 'function'
  readonly function: { readonly name: string; readonly arguments: string }
}

/** A message in the form of OpenAI's chats, which most models take; the spelling is theirs. */
export interface ChatMessage {
  readonly role: string
  readonly content: unknown
  readonly name?: string
  readonly tool_calls?: readonly ChatToolCall[]
  readonly tool_call_id?: string
}

/** A conversation in the form of Anthropic's messages, which keep the system prompt apart. */
export interface AnthropicChat {
  readonly system?: string
  readonly messages: readonly AnthropicMessage[]
}

export interface AnthropicMessage {
  readonly role: 'user' | 'assistant'
  readonly content: string | readonly AnthropicBlock[]
}

export interface AnthropicBlock {
  readonly type: string
  readonly [field: string]: unknown
}

/** Result type of each form. */
export interface ModelForms {
  readonly openai: ChatMessage[]
  readonly anthropic: AnthropicChat
}
export type ModelForm = keyof ModelForms

/** Messages of any form, such as those of a state, in the form that a model takes. */
export function formatMessages<Form extends ModelForm>(
  messages: readonly unknown[],
  form: Form,
): ModelForms[Form] {
  const chat = messages.flatMap((message, at) => {
    const parsed = parseMessage(message)
    if (parsed) return toChat(parsed, at)
    throw new ClewError(
      'bad_value',
      `Item ${at} of the list is no message`,
      "Give messages such as { role: 'user', content: '…' }.",
      { item: at },
    )
  })
  return formatChat(chat, form)
}

/** A conversation in OpenAI's form, in the one that is asked for. */
export function formatChat<Form extends ModelForm>(chat: ChatMessage[], form: Form): ModelForms[Form] {
  const forms: { readonly [F in ModelForm]: () => ModelForms[F] } = {
    openai: () => chat,
    anthropic: () => toAnthropic(chat),
  }
  return forms[form]()
}

function toChat({ role, content, name, toolCalls, toolResults }: ParsedMessage, at: number): ChatMessage[] {
  const results = toolResults.map(
    (result, n): ChatMessage => ({
      role: 'tool',
      tool_call_id: result.toolCallId ?? `call_${at}_${n}`,
      content: dataText(result.content),
    }),
  )
  if (content === null && toolCalls.length === 0) return results
  const calls = toolCalls.map(
    (call, n): ChatToolCall => ({
      id: call.id ?? `call_${at}_${n}`,
      type: 'function',
      function: { name: call.name, arguments: dataText(call.arguments ?? {}) },
    }),
  )
  const said = {
    role,
    content,
    ...(name !== null && { name }),
    ...(calls.length > 0 && { tool_calls: calls }),
  }
  return [...results, said]
}

export const dataText = (value: unknown): string => (typeof value === 'string' ? value : jsonText(value))

/** Neighbours of one role become one message: results of tools are blocks of the user's. */
function toAnthropic(chat: readonly ChatMessage[]): AnthropicChat {
  const system = chat.filter(({ role }) => role === 'system').map(({ content }) => contentText(content))
  const messages: { role: 'user' | 'assistant'; content: AnthropicBlock[] }[] = []
  for (const message of chat) {
    if (message.role === 'system') continue
    const role = message.role === 'assistant' ? 'assistant' : 'user'
    const last = messages.at(-1)
    if (last?.role === role) last.content.push(...blocksOf(message))
    else messages.push({ role, content: blocksOf(message) })
  }
  return {
    ...(system.length > 0 && { system: system.join('\n\n') }),
    messages: messages
      .filter(({ content }) => content.length > 0)
      .map(({ role, content }) => ({ role, content: onlyText(content) ?? content })),
  }
}

function onlyText(blocks: readonly AnthropicBlock[]): string | undefined {
  const [first] = blocks
  return blocks.length === 1 && first?.type === 'text' ? String(first['text']) : undefined
}

function blocksOf({
  role,
  content,
  tool_calls: calls = [],
  tool_call_id: id,
}: ChatMessage): AnthropicBlock[] {
  if (role === 'tool') return [{ type: 'tool_result', tool_use_id: id, content: contentText(content) }]
  const parts: readonly unknown[] = Array.isArray(content) ? content : [content]
  return [
    ...parts.flatMap(toBlock),
    ...calls.map(({ id: callId, function: { name, arguments: given } }) => ({
      type: 'tool_use',
      id: callId,
      name,
      input: objectOf(given),
    })),
  ]
}

/** Blocks that hold nothing are refused by the model. */
function toBlock(part: unknown): AnthropicBlock[] {
  if (isObject(part) && part['type'] === 'image_url') {
    const { url = part['image_url'] } = isObject(part['image_url']) ? part['image_url'] : {}
    return [{ type: 'image', source: imageSource(String(url)) }]
  }
  if (isObject(part) && (part['type'] === 'image' || part['type'] === 'document') && isObject(part['source']))
    return [{ ...part, type: part['type'] }]
  const text = contentText([part])
  return text === '' ? [] : [{ type: 'text', text }]
}

function imageSource(url: string): object {
  const [, type, data] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? []
  return data === undefined ? { type: 'url', url } : { type: 'base64', media_type: type, data }
}

function objectOf(given: string): object {
  try {
    const value: unknown = JSON.parse(given)
    return isObject(value) ? value : { value }
  } catch {
    return { value: given }
  }
}

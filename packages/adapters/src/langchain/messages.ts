import type { BaseMessage } from '@langchain/core/messages'
import type { Payload } from '@clew/ledger'
import { isObject } from '../foreign.ts'

const ROLES: Readonly<Record<string, string>> = { human: 'user', ai: 'assistant', developer: 'system' }

export const roleOf = (message: BaseMessage): string => {
  const type = message.type
  // A message of a role of its own says which.
  const own: unknown = type === 'generic' ? Reflect.get(message, 'role') : undefined
  return typeof own === 'string' ? own : (ROLES[type] ?? type)
}

export interface ToolCallFound {
  readonly id: string | undefined
  readonly name: string
  readonly args: unknown
}

export function toolCallsOf(message: BaseMessage): ToolCallFound[] {
  const calls: unknown = Reflect.get(message, 'tool_calls')
  if (!Array.isArray(calls)) return []
  return calls.filter(isObject).map((call) => ({
    id: typeof call['id'] === 'string' ? call['id'] : undefined,
    name: typeof call['name'] === 'string' ? call['name'] : 'tool',
    args: call['args'],
  }))
}

/** A message as the record keeps it, with the names that the views know. */
export function toMessageRecord(message: BaseMessage): Payload {
  const calls = toolCallsOf(message)
  const toolCallId: unknown = Reflect.get(message, 'tool_call_id')
  return {
    role: roleOf(message),
    content: message.content,
    ...(message.name !== undefined && { name: message.name }),
    ...(message.id !== undefined && { id: message.id }),
    ...(calls.length > 0 && { toolCalls: calls }),
    ...(typeof toolCallId === 'string' && { toolCallId }),
    ...(Reflect.get(message, 'status') === 'error' && { status: 'error' }),
  }
}

/** The messages that this call brings and no answer before it has seen: a history is not told again with every call. */
export function freshMessages(messages: readonly BaseMessage[]): BaseMessage[] {
  const last = messages.findLastIndex((message) => message.type === 'ai')
  return messages.slice(last + 1).filter((message) => message.type !== 'tool' && message.type !== 'function')
}

/** Thinking in the spellings of its makers; null when there is none. */
export function reasoningOf(message: BaseMessage): string | null {
  const texts: string[] = []
  const blocks = Array.isArray(message.content) ? (message.content as unknown[]) : []
  for (const block of blocks) {
    if (!isObject(block)) continue
    if (block['type'] === 'thinking') add(texts, block['thinking'])
    if (block['type'] === 'reasoning') {
      add(texts, block['reasoning'])
      addSummary(texts, block['summary'])
    }
  }
  const { reasoning_content: plain, reasoning } = message.additional_kwargs as Record<string, unknown>
  add(texts, plain)
  if (isObject(reasoning)) addSummary(texts, reasoning['summary'])
  return texts.length > 0 ? texts.join('\n') : null
}

function add(texts: string[], value: unknown): void {
  if (typeof value === 'string' && value !== '' && !texts.includes(value)) texts.push(value)
}

function addSummary(texts: string[], summary: unknown): void {
  if (Array.isArray(summary)) for (const part of summary) add(texts, isObject(part) ? part['text'] : part)
}

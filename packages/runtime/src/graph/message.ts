import { type ChatToolCall, ClewError, toMessageRole } from '@clew/ledger'
import { isPlain } from './frozen-copy.ts'

export interface ToolCall {
  readonly id: string
  readonly name: string
  readonly arguments: unknown
}

/** A part of a message that is more than text: `{ type: 'image', … }`. */
export interface ContentPart {
  readonly type: string
  readonly [detail: string]: unknown
}

export type MessageContent = string | readonly ContentPart[]

/**
 * One message of a conversation, as plain JSON, in the form in which it was sent: roles, calls and results have their names
 * here or those that chat models use. Views read both alike.
 */
export interface Message {
  readonly id?: string | undefined
  readonly role: MessageRole
  /** Null where a model only makes calls. */
  readonly content: MessageContent | null
  readonly toolCalls?: readonly ToolCall[] | undefined
  readonly tool_calls?: readonly ChatToolCall[] | undefined
  /** Call that a tool's message answers. */
  readonly toolCallId?: string | undefined
  readonly tool_call_id?: string | undefined
  readonly name?: string | undefined
}

/** `human` is `user`, `ai` is `assistant`, `developer` is `system` under another name. */
export type MessageRole = 'human' | 'ai' | 'system' | 'tool' | 'user' | 'assistant' | 'developer'

/** A message in a `messages()` channel: it has an id, its own or one that was handed out. */
export interface KeptMessage extends Message {
  readonly id: string
}

/** Written to a `messages()` channel, it takes a message out; one that is not there is no error. */
export interface MessageRemoval {
  readonly role: 'remove'
  readonly id: string
}

export type MessageDetail = Omit<Message, 'role' | 'content'>

const of =
  (role: Message['role']) =>
  (content: MessageContent, detail: MessageDetail = {}): Message => ({ ...detail, role, content })

export const Message = {
  human: of('human'),
  ai: of('ai'),
  system: of('system'),
  tool: (content: MessageContent, detail: MessageDetail & { readonly toolCallId: string }): Message => ({
    ...detail,
    role: 'tool',
    content,
  }),
  remove: (id: string): MessageRemoval => ({ role: 'remove', id }),
  /** Text of the content: a string, or all text parts joined. */
  text: ({ content }: Pick<Message, 'content'>): string =>
    typeof content === 'string' ? content : (content ?? []).map(textOf).join(''),
}

const textOf = ({ type, text }: ContentPart): string =>
  type === 'text' && typeof text === 'string' ? text : ''

/** Refuses what is no message, before it is recorded as one. */
export function assertMessage(value: unknown, where: string): asserts value is Message | MessageRemoval {
  const fault = !isPlain(value)
    ? 'is not a plain object'
    : value['role'] !== 'remove' && toMessageRole(value['role']) === undefined
      ? 'has no role of user, assistant, system or tool'
      : value['role'] === 'remove' && typeof value['id'] !== 'string'
        ? 'removes a message without naming its id'
        : value['id'] !== undefined && typeof value['id'] !== 'string'
          ? 'has an id that is no text'
          : undefined
  if (fault === undefined) return
  throw new ClewError(
    'bad_write',
    `The message at ${where} ${fault}`,
    "Write messages as { role, content }, for example { role: 'user', content: '…' }.",
    { path: where },
  )
}

/** The part of the chat-completions protocol that the examples speak. */

export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool'
  readonly content: string | null
  readonly tool_calls?: readonly ToolCall[] | undefined
  readonly tool_call_id?: string | undefined
}

export interface ToolCall {
  readonly id: string
  readonly type: 'function'
  readonly function: { readonly name: string; readonly arguments: string }
}

export interface ChatRequest {
  readonly model: string
  readonly messages: readonly ChatMessage[]
  readonly tools?: readonly unknown[] | undefined
  readonly stream?: boolean | undefined
}

export interface ChatUsage {
  readonly prompt_tokens: number
  readonly completion_tokens: number
}

export interface ChatAnswer {
  readonly model: string
  readonly message: ChatMessage
  readonly usage: ChatUsage
}

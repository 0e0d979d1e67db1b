/** The part of the chat-completions protocol that the demo speaks. */
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

export interface ChatUsage {
  readonly prompt_tokens: number
  readonly completion_tokens: number
}

export interface ChatChunk {
  readonly model: string
  readonly choices: readonly {
    readonly delta: {
      readonly content?: string | null
      /** Thoughts of models that return them. */
      readonly reasoning_content?: string | null
      readonly tool_calls?: readonly {
        readonly index: number
        readonly id?: string
        readonly function?: { readonly name?: string; readonly arguments?: string }
      }[]
    }
  }[]
  readonly usage?: ChatUsage | null
}

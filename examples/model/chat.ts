/** A small chat-completions client on fetch, for answers at once and as a stream. */
import type { ChatAnswer, ChatMessage, ChatRequest, ChatUsage, ToolCall } from './protocol.ts'

export interface ChatCall {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: ChatRequest
}

export interface ChatOptions {
  readonly idempotencyKey?: string | undefined
  readonly signal?: AbortSignal | undefined
  /** With it, the answer is asked for as a stream. */
  readonly onToken?: ((text: string) => void) | undefined
}

export async function chat({ url, headers, body }: ChatCall, options: ChatOptions = {}): Promise<ChatAnswer> {
  const { idempotencyKey, signal, onToken } = options
  const response = await fetch(`${url}/chat/completions`, {
    method: 'POST',
    headers: {
      ...headers,
      'content-type': 'application/json',
      ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
    },
    body: JSON.stringify({ ...body, stream: onToken !== undefined }),
    ...(signal && { signal }),
  })
  if (!response.ok) {
    const { error } = (await response.json()) as { error: { message: string } }
    throw Object.assign(new Error(`${response.status}: ${error.message}`), {
      code: `http_${response.status}`,
    })
  }
  if (onToken && response.body) return readStream(response.body, onToken)
  const { model, choices, usage } = (await response.json()) as Completion
  return { model, message: choices[0].message, usage }
}

interface Completion {
  readonly model: string
  readonly choices: readonly [{ readonly message: ChatMessage }]
  readonly usage: ChatUsage
}

interface Chunk {
  readonly model: string
  readonly choices: readonly {
    readonly delta: { content?: string; tool_calls?: (ToolCall & { index: number })[] }
  }[]
  readonly usage?: ChatUsage | undefined
}

async function readStream(
  body: ReadableStream<Uint8Array>,
  onToken: (text: string) => void,
): Promise<ChatAnswer> {
  let [text, rest, model] = ['', '', '']
  let usage: ChatUsage = { prompt_tokens: 0, completion_tokens: 0 }
  const calls: { id: string; name: string; arguments: string }[] = []
  for await (const piece of body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + piece).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      if (!line.startsWith('data: ') || line === 'data: [DONE]') continue
      const chunk = JSON.parse(line.slice(6)) as Chunk
      model = chunk.model
      usage = chunk.usage ?? usage
      for (const { delta } of chunk.choices) {
        if (delta.content) onToken(delta.content)
        text += delta.content ?? ''
        for (const { index, id, function: part } of delta.tool_calls ?? []) {
          calls[index] ??= { id, name: part.name, arguments: '' }
          calls[index].arguments += part.arguments
        }
      }
    }
  }
  const tool_calls = calls.map(({ id, ...each }): ToolCall => ({ id, type: 'function', function: each }))
  const message: ChatMessage = {
    role: 'assistant',
    content: text || null,
    ...(calls.length > 0 && { tool_calls }),
  }
  return { model, message, usage }
}

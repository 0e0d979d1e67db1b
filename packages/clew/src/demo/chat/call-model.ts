import type { ChatChunk, ChatMessage, ChatUsage, ToolCall } from './chat-protocol.ts'

export interface ModelAccess {
  readonly url: string
  readonly key: string
  readonly model: string
  /** Shown to people: which one answers. */
  readonly about: string
}

/** A real model when its key is in the environment; else the one that is scripted. */
export function modelFrom(env: NodeJS.ProcessEnv, scripted: string): ModelAccess {
  const wanted = env['CLEW_DEMO_MODEL']
  const openai = env['OPENAI_API_KEY']
  if (openai) {
    const url = env['OPENAI_BASE_URL'] ?? 'https://api.openai.com/v1'
    const model = wanted ?? 'gpt-4o-mini'
    return { url, key: openai, model, about: `${model} at ${new URL(url).host}` }
  }
  const anthropic = env['ANTHROPIC_API_KEY']
  if (anthropic) {
    const model = wanted ?? 'claude-sonnet-4-5'
    return { url: 'https://api.anthropic.com/v1', key: anthropic, model, about: `${model} of Anthropic` }
  }
  return { url: scripted, key: 'none', model: 'scripted', about: 'a scripted model' }
}

export interface ModelCall {
  readonly messages: readonly ChatMessage[]
  readonly tools: readonly unknown[]
  /** False: it has what it needs, and answers. */
  readonly mayCall: boolean
}

export interface ModelAnswer {
  readonly model: string
  readonly thought: string
  readonly message: ChatMessage
  readonly usage: ChatUsage
}

interface Listening {
  readonly signal: AbortSignal
  readonly idempotencyKey: string
  /** Thoughts and words as they come. */
  readonly onToken: (text: string) => void
}

export async function callModel(
  access: ModelAccess,
  call: ModelCall,
  { signal, idempotencyKey, onToken }: Listening,
): Promise<ModelAnswer> {
  const response = await fetch(`${access.url}/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${access.key}`,
      'idempotency-key': idempotencyKey,
    },
    body: JSON.stringify({
      model: access.model,
      messages: call.messages,
      tools: call.tools,
      tool_choice: call.mayCall ? 'auto' : 'none',
      stream: true,
      stream_options: { include_usage: true },
    }),
    signal,
  })
  if (!response.ok || !response.body) throw await refusalOf(access, response)
  return readAnswer(response.body, onToken)
}

/** Error text of a service, as far as its response has one. */
async function refusalOf({ about }: ModelAccess, response: Response): Promise<Error> {
  const { status } = response
  const said = /"message"\s*:\s*"((?:[^"\\]|\\.)*)"/.exec(await response.text())?.[1]
  const why =
    status === 401 || status === 403
      ? 'refused the key'
      : status === 429 || status >= 500
        ? `is overloaded (${status})`
        : `answered ${status}`
  const message = `The model (${about}) ${why}${said === undefined ? '' : `: ${said}`}`
  return Object.assign(new Error(message), { name: 'ModelError', code: `http_${status}` })
}

/** Whether asking again would get the same answer. */
export const isRefusal = (code: string): boolean => /^http_4(?!08|29)/.test(code)

async function readAnswer(
  body: ReadableStream<Uint8Array>,
  onToken: (text: string) => void,
): Promise<ModelAnswer> {
  let [thought, text, rest, model] = ['', '', '', '']
  let usage: ChatUsage = { prompt_tokens: 0, completion_tokens: 0 }
  const calls: { id: string; name: string; arguments: string }[] = []
  for await (const piece of body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + piece).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      if (!line.startsWith('data: ') || line.startsWith('data: [DONE]')) continue
      const chunk = JSON.parse(line.slice(6)) as ChatChunk
      model = chunk.model
      usage = chunk.usage ?? usage
      for (const { delta } of chunk.choices) {
        if (delta.content && text === '' && thought !== '') onToken('\n\n')
        onToken(delta.reasoning_content ?? delta.content ?? '')
        thought += delta.reasoning_content ?? ''
        text += delta.content ?? ''
        for (const { index, id, function: part } of delta.tool_calls ?? []) {
          calls[index] ??= { id: id ?? `call-${index}`, name: '', arguments: '' }
          calls[index].name += part?.name ?? ''
          calls[index].arguments += part?.arguments ?? ''
        }
      }
    }
  }
  const tool_calls = calls.map(({ id, ...each }): ToolCall => ({ id, type: 'function', function: each }))
  const message: ChatMessage = {
    role: 'assistant',
    content: text === '' ? null : text,
    ...(calls.length > 0 && { tool_calls }),
  }
  return { model, thought, message, usage }
}

/** A model that costs nothing: an HTTP server on this machine that answers from a script, always the same way. */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import type { ChatAnswer, ChatMessage, ChatRequest, ToolCall } from './protocol.ts'

/** What the model says next, or undefined when this rule has nothing to say. */
export type Rule = (messages: readonly ChatMessage[]) => Reply | undefined

export interface Reply {
  readonly say?: string | undefined
  readonly call?: readonly { readonly tool: string; readonly with: unknown }[] | undefined
}

/** What goes wrong with a request; they are counted from 1. */
export type Fault = (request: number) => { readonly status?: number; readonly delayMs?: number } | undefined

export interface ScriptedModel {
  readonly url: string
  /** Answers that were paid for. A repeated request with the same Idempotency-Key is answered, not paid for again. */
  readonly paid: ReadonlyMap<string, ChatAnswer>
  /** All that came in, refused ones included. */
  readonly requests: number
  close(): Promise<void>
}

interface Script {
  readonly apiKey: string
  readonly rules: readonly Rule[]
  readonly fault?: Fault | undefined
}

export async function startScriptedModel({ apiKey, rules, fault }: Script): Promise<ScriptedModel> {
  const paid = new Map<string, ChatAnswer>()
  let requests = 0

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const number = ++requests
    const text = Buffer.concat(await request.toArray()).toString('utf8')
    const given = request.headers.authorization?.replace('Bearer ', '') ?? ''
    if (request.method !== 'POST' || request.url !== '/v1/chat/completions')
      return refuse(response, 404, `there is no ${request.method} ${request.url}`)
    // As the real ones do, it repeats the wrong key in its answer: errors are a place where secrets leak.
    if (given !== apiKey) return refuse(response, 401, `incorrect API key provided: ${given}`)
    const { status, delayMs = 0 } = fault?.(number) ?? {}
    if (delayMs > 0) await setTimeout(delayMs)
    if (status !== undefined) return refuse(response, status, status === 429 ? 'slow down' : 'out of order')
    const body = JSON.parse(text) as ChatRequest
    const key = String(request.headers['idempotency-key'] ?? number)
    const answer = paid.get(key) ?? answerTo(body, rules)
    paid.set(key, answer)
    if (body.stream) stream(response, answer)
    else reply(response, 200, toCompletion(answer))
  }

  const server = createServer((request, response) => {
    respond(request, response).catch((error: unknown) => refuse(response, 500, String(error)))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    paid,
    get requests() {
      return requests
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function answerTo({ model, messages, tools }: ChatRequest, rules: readonly Rule[]): ChatAnswer {
  const { say, call = [] } = rules.map((rule) => rule(messages)).find((each) => each) ?? {
    say: 'I do not know.',
  }
  const tool_calls = call.map(({ tool, with: input }, index): ToolCall => {
    const id = createHash('sha256').update(`${messages.length} ${index} ${tool}`).digest('hex').slice(0, 8)
    return { id: `call_${id}`, type: 'function', function: { name: tool, arguments: JSON.stringify(input) } }
  })
  const message: ChatMessage = {
    role: 'assistant',
    content: say ?? null,
    ...(tool_calls.length > 0 && { tool_calls }),
  }
  const usage = { prompt_tokens: tokensOf({ messages, tools }), completion_tokens: tokensOf(message) }
  return { model, message, usage }
}

const tokensOf = (value: unknown): number => Math.ceil(JSON.stringify(value).length / 4)

const toCompletion = ({ model, message, usage }: ChatAnswer): unknown => ({
  object: 'chat.completion',
  model,
  choices: [{ index: 0, message, finish_reason: message.tool_calls ? 'tool_calls' : 'stop' }],
  usage,
})

/** Word by word, then the tool calls, then the usage, then [DONE]. */
function stream(response: ServerResponse, { model, message, usage }: ChatAnswer): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const send = (choice: object | undefined, more: object = {}): void => {
    const choices = choice ? [{ index: 0, finish_reason: null, ...choice }] : []
    response.write(
      `data: ${JSON.stringify({ object: 'chat.completion.chunk', model, choices, ...more })}\n\n`,
    )
  }
  for (const word of message.content?.match(/\S+\s*/g) ?? []) send({ delta: { content: word } })
  for (const [index, call] of (message.tool_calls ?? []).entries()) {
    const { name, arguments: text } = call.function
    const half = Math.ceil(text.length / 2)
    send({ delta: { tool_calls: [{ index, ...call, function: { name, arguments: text.slice(0, half) } }] } })
    send({ delta: { tool_calls: [{ index, function: { arguments: text.slice(half) } }] } })
  }
  send({ delta: {}, finish_reason: message.tool_calls ? 'tool_calls' : 'stop' })
  send(undefined, { usage })
  response.end('data: [DONE]\n\n')
}

const refuse = (response: ServerResponse, status: number, message: string): void =>
  reply(response, status, { error: { message } })

function reply(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}

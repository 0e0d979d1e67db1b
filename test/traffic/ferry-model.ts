import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ChatMessage } from '../../examples/model/protocol.ts'
import { startScriptedModel } from '../../examples/model/scripted-model.ts'

/** The programs in `sdks` use the same. */
const API_KEY = 'sk-local-not-a-secret'

/** The scripted model of the examples, reached by OpenAI's chat completions and by Anthropic's messages. */
export async function startFerryModel(): Promise<{ readonly url: string; close(): Promise<void> }> {
  const scripted = await startScriptedModel({
    apiKey: API_KEY,
    rules: [
      (messages) => (messages.some(({ role }) => role === 'tool') ? { say: 'At 09:05.' } : undefined),
      () => ({ call: [{ tool: 'timetable', with: { day: 'Sunday' } }] }),
    ],
  })
  let count = 0

  async function complete(body: object): Promise<Completion> {
    const response = await fetch(`${scripted.url}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${API_KEY}` },
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`the scripted model answered ${response.status}`)
    return (await response.json()) as Completion
  }

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const answered = JSON.stringify(await answer(request))
    response.setHeader('content-type', 'application/json')
    response.end(answered)
  }

  async function answer(request: IncomingMessage): Promise<object> {
    const body = JSON.parse(Buffer.concat(await request.toArray()).toString('utf8')) as AnthropicRequest
    const nth = ++count
    if (request.url === '/v1/messages') {
      const asked = { model: body.model, messages: body.messages.flatMap(toChatMessages) }
      return toAnthropic(await complete(asked), nth)
    }
    const completion = await complete(body)
    const { prompt_tokens, completion_tokens } = completion.usage
    const usage = { ...completion.usage, total_tokens: prompt_tokens + completion_tokens }
    return { id: `chatcmpl-${nth}`, created: 1, ...completion, usage }
  }

  const server = createServer((request, response) => {
    respond(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => void server.close(resolve))
      await scripted.close()
    },
  }
}

interface Completion {
  readonly model: string
  readonly choices: readonly [{ readonly message: ChatMessage }]
  readonly usage: { readonly prompt_tokens: number; readonly completion_tokens: number }
}

interface AnthropicRequest {
  readonly model: string
  readonly messages: readonly AnthropicMessage[]
}

interface AnthropicMessage {
  readonly role: 'user' | 'assistant'
  readonly content: string | readonly { readonly type: string; readonly content?: string }[]
}

/** As far as the script looks: what role a message has, and whether it brings the result of a tool. */
function toChatMessages({ role, content }: AnthropicMessage): object[] {
  if (typeof content === 'string') return [{ role, content }]
  return content.map((block) => ({
    role: block.type === 'tool_result' ? 'tool' : role,
    content: block.content,
  }))
}

function toAnthropic({ model, choices, usage }: Completion, nth: number): object {
  const { content, tool_calls = [] } = choices[0].message
  return {
    id: `msg_${nth}`,
    type: 'message',
    role: 'assistant',
    model,
    content: [
      ...(content === null ? [] : [{ type: 'text', text: content }]),
      ...tool_calls.map(({ id, function: { name, arguments: text } }) => ({
        type: 'tool_use',
        id: id.replace('call_', 'toolu_'),
        name,
        input: JSON.parse(text),
      })),
    ],
    stop_reason: tool_calls.length > 0 ? 'tool_use' : 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: usage.prompt_tokens, output_tokens: usage.completion_tokens },
  }
}

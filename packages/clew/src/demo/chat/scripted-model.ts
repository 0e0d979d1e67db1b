import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ChatChunk, ChatMessage } from './chat-protocol.ts'
import { nextReply, type Reply } from './script.ts'

export interface ScriptedModel {
  readonly url: string
  close(): Promise<void>
}

interface Pace {
  /** Between two words. */
  readonly wordMs: number
  /** One in this many requests is refused, as by an overloaded service. */
  readonly refuseEvery: number
}

/** A model that costs nothing: speaks the protocol of real ones over HTTP, word by word, and is sometimes overloaded. */
export async function startScriptedModel({ wordMs, refuseEvery }: Pace): Promise<ScriptedModel> {
  let requests = 0
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(error as Error))
  })

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { messages, tool_choice } = JSON.parse(await readText(request)) as {
      messages: ChatMessage[]
      tool_choice?: string
    }
    requests++
    if (requests % refuseEvery === 0) {
      response.writeHead(503, { 'retry-after': '1' }).end()
      return
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const send = (chunk: object): void => void response.write(`data: ${JSON.stringify(chunk)}\n\n`)
    const reply = nextReply(messages, tool_choice !== 'none')
    for (const delta of deltasOf(reply, `call-${messages.length}`)) {
      if (response.destroyed) return
      send({ model: 'scripted', choices: [{ delta }] } satisfies ChatChunk)
      await sleep(wordMs)
    }
    const usage = {
      prompt_tokens: Math.ceil(JSON.stringify(messages).length / 4),
      completion_tokens: Math.ceil(JSON.stringify(reply).length / 4),
    }
    send({ model: 'scripted', choices: [], usage } satisfies ChatChunk)
    response.end('data: [DONE]\n\n')
  }

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function* deltasOf(
  { thought, say = '', calls = [] }: Reply,
  callId: string,
): Generator<ChatChunk['choices'][number]['delta']> {
  for (const reasoning_content of wordsWithSpaces(thought)) yield { reasoning_content }
  for (const content of wordsWithSpaces(say)) yield { content }
  for (const [index, call] of calls.entries())
    yield {
      tool_calls: [
        {
          index,
          id: `${callId}-${index + 1}`,
          function: { name: call.tool, arguments: JSON.stringify(call.with) },
        },
      ],
    }
}

const wordsWithSpaces = (text: string): string[] => text.match(/\S+\s*/g) ?? []

async function readText(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += chunk as string
  return text
}

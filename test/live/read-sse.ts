import { request } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { once } from 'node:events'

export interface SseMessage {
  readonly id: string | null
  readonly data: string | null
}

/** Messages of a stream as they come; ends when the server ends it. */
export async function* readSse(response: Response): AsyncGenerator<SseMessage> {
  if (!response.body) throw new Error(`answered ${response.status} without a stream`)
  let rest = ''
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const parts = (rest + chunk).split('\n\n')
    rest = parts.pop() as string
    for (const part of parts) {
      const field = (name: string): string | null =>
        part
          .split('\n')
          .find((line) => line.startsWith(`${name}: `))
          ?.slice(name.length + 2) ?? null
      const message = { id: field('id'), data: field('data') }
      if (message.id !== null || message.data !== null) yield message
    }
  }
}

/** The messages that carry data, so many of them. */
export async function take(response: Response, count: number): Promise<SseMessage[]> {
  const messages: SseMessage[] = []
  for await (const message of readSse(response)) {
    if (message.data !== null) messages.push(message)
    if (messages.length === count) break
  }
  return messages
}

/** An answer of which nothing is read. */
export async function openUnread(url: string): Promise<IncomingMessage> {
  const asked = request(url)
  asked.end()
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  response.pause()
  return response
}

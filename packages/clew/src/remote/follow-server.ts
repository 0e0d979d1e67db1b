import { setTimeout as sleep } from 'node:timers/promises'
import { ClewError, type WireEvent } from '@clew/ledger'
import { askServer, type Question, type RemoteServer } from './ask-server.ts'

const RETRY_MS = { least: 250, most: 10_000 }

/**
 * Events of a server as they happen. A stream that breaks off is taken up after the last event that came, so that
 * nothing is missed and nothing comes twice; it ends when the server says that no more will come.
 */
export async function* followServer(server: RemoteServer, question: Question): AsyncGenerator<WireEvent> {
  const { signal } = question
  const isOver = (): boolean => signal?.aborted === true
  let isConnected = false
  let lastId: string | undefined
  let waitMs = RETRY_MS.least
  while (!isOver()) {
    try {
      const headers = {
        accept: 'text/event-stream',
        ...(lastId !== undefined && { 'last-event-id': lastId }),
      }
      const response = await askServer(server, { ...question, headers })
      if (response.status === 204 || !response.body) return
      isConnected = true
      for await (const { id, data } of readMessages(response.body)) {
        lastId = id ?? lastId
        waitMs = RETRY_MS.least
        if (data !== undefined) yield JSON.parse(data) as WireEvent
      }
    } catch (error) {
      if (isOver()) return
      // A failure of the first connection is reported; a later one is taken for a server that restarts.
      if (!isConnected || !isPassing(error)) throw error
    }
    await sleep(waitMs, undefined, { signal }).catch(() => undefined)
    waitMs = Math.min(waitMs * 2, RETRY_MS.most)
  }
}

const PASSING: ReadonlySet<string> = new Set(['store_unreachable', 'closed', 'overloaded', 'rate_limited'])

const isPassing = (error: unknown): boolean => !(error instanceof ClewError) || PASSING.has(error.code)

interface Message {
  readonly id: string | undefined
  readonly data: string | undefined
}

/** Server-sent events, as far as Clew uses them: an id, and one line of data. */
async function* readMessages(body: ReadableStream<Uint8Array>): AsyncGenerator<Message> {
  let rest = ''
  for await (const text of body.pipeThrough(new TextDecoderStream())) {
    const blocks = (rest + text).split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      const field = (name: string): string | undefined =>
        block
          .split('\n')
          .find((line) => line.startsWith(`${name}: `))
          ?.slice(name.length + 2)
      yield { id: field('id'), data: field('data') }
    }
  }
}

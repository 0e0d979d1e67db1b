import { setTimeout as sleep } from 'node:timers/promises'
import type { WireEvent } from '@clew/ledger'
import { askServer, isPassing, type Question, type RemoteServer } from './ask-server.ts'

const RETRY_MS = { least: 250, most: 10_000 }

/** An event, or the place up to which a stream has come without one that was asked for. */
export interface FollowedLine {
  readonly place: number
  readonly event: WireEvent | undefined
}

/** The events alone. */
export async function* followServer(server: RemoteServer, question: Question): AsyncGenerator<WireEvent> {
  for await (const { event } of followLines(server, question)) if (event) yield event
}

/**
 * Events of a server as they happen. A stream that breaks off is taken up after the last event that came, so that
 * nothing is missed and nothing comes twice; it ends when the server says that no more will come.
 */
export async function* followLines(server: RemoteServer, question: Question): AsyncGenerator<FollowedLine> {
  const signal = AbortSignal.any([server.closed, ...(question.signal ? [question.signal] : [])])
  const isOver = (): boolean => signal.aborted
  const untilMs = performance.now() + server.retryMs
  let isConnected = false
  let lastId: string | undefined
  let waitMs = RETRY_MS.least
  while (!isOver()) {
    try {
      const headers = {
        accept: 'text/event-stream',
        ...(lastId !== undefined && { 'last-event-id': lastId }),
      }
      const response = await askServer(server, { ...question, signal, headers })
      if (response.status === 204 || !response.body) return
      isConnected = true
      for await (const { id, data } of readMessages(response.body)) {
        lastId = id ?? lastId
        waitMs = RETRY_MS.least
        const event = data === undefined ? undefined : (JSON.parse(data) as WireEvent)
        if (lastId !== undefined) yield { place: Number(lastId), event }
      }
    } catch (error) {
      if (isOver()) return
      // A failure of the first connection is reported in time; a later one is taken for a server that restarts.
      if (!isPassing(error) || (!isConnected && performance.now() + waitMs > untilMs)) throw error
    }
    await sleep(waitMs, undefined, { signal }).catch(() => undefined)
    waitMs = Math.min(waitMs * 2, RETRY_MS.most)
  }
}

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

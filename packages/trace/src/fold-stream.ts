import type { ClewEvent, JsonValue } from '@clew/ledger'
import type { Content, MessageAuthor, StreamMessage } from './payloads.ts'
import type { StreamView } from './session-view.ts'
import { isObject, sourcesOf, textOf } from './to-trace-step.ts'

/** The messages of a stream, from the events of its book or from a part of them. */
export interface FoldedStream {
  readonly stream: StreamView | null
  /** In the order of their creation. */
  readonly messages: readonly StreamMessage[]
}

/** What servers and pages show of a stream. Changes of messages that are not among the events are passed over. */
export function foldStream(events: Iterable<ClewEvent>): FoldedStream {
  let created: StreamView | null = null
  let updatedAt = ''
  const messages = new Map<string, StreamMessage>()
  for (const event of events) {
    updatedAt = event.timestamp
    if (event.eventType === 'ui.stream_created') created ??= toStream(event)
    if (event.eventType === 'ui.message_created') {
      const message = toMessage(event)
      if (!messages.has(message.messageId)) messages.set(message.messageId, message)
    }
    const before = messages.get(textOf(event.payload['messageId']) ?? '')
    if (before) messages.set(before.messageId, changeMessage(before, event))
  }
  return { stream: created && { ...created, updatedAt }, messages: [...messages.values()] }
}

function changeMessage(
  message: StreamMessage,
  { eventType, payload, timestamp, ledger }: ClewEvent,
): StreamMessage {
  // What was deleted stays so.
  if (message.deletedAt !== null) return message
  const { seq } = ledger
  switch (eventType) {
    case 'ui.message_edited':
      return { ...message, content: contentOf(payload), editedAt: timestamp, seq }
    case 'ui.message_deleted':
      return { ...message, content: null, sources: [], deletedAt: timestamp, seq }
    case 'ui.thread_created':
      return { ...message, threadStreamId: textOf(payload['threadStreamId']), seq }
    default:
      return message
  }
}

export function toStream({ payload, timestamp, ledger, correlationId }: ClewEvent): StreamView {
  return {
    streamId: textOf(payload['streamId']) ?? correlationId,
    workspaceId: ledger.workspace,
    title: textOf(payload['title']),
    parentStreamId: textOf(payload['parentStreamId']),
    parentMessageId: textOf(payload['parentMessageId']),
    createdAt: timestamp,
    updatedAt: timestamp,
  }
}

export function toMessage(event: ClewEvent): StreamMessage {
  const { payload, timestamp, ledger } = event
  return {
    messageId: textOf(payload['messageId']) ?? event.eventId,
    streamId: textOf(payload['streamId']) ?? event.correlationId,
    author: toAuthor(payload['author']),
    content: contentOf(payload),
    sessionId: textOf(payload['sessionId']),
    sources: sourcesOf(payload['sources']),
    createdAt: timestamp,
    editedAt: null,
    deletedAt: null,
    position: ledger.position,
    seq: ledger.seq,
    threadStreamId: null,
    replyCount: 0,
    lastReplyAt: null,
  }
}

const contentOf = (payload: ClewEvent['payload']): Content => (payload['content'] ?? null) as JsonValue

function toAuthor(given: unknown): MessageAuthor {
  const author = isObject(given) ? given : {}
  const type = author['type']
  return {
    type: type === 'user' || type === 'persona' ? type : 'system',
    id: textOf(author['id']) ?? '',
    name: textOf(author['name']),
  }
}

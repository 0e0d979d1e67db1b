import { asErasable, type ClewEvent, type ErasableEvent, type JsonValue, type PayloadOf } from '@clew/ledger'
import type { Content, MessageAuthor, StreamMessage } from './payloads.ts'
import type { StreamView } from './session-view.ts'
import { sourcesOf } from './to-trace-step.ts'

/** The messages of a stream, from the events of its run or from a part of them. */
export interface FoldedStream {
  readonly stream: StreamView | null
  /** In the order of their creation. */
  readonly messages: readonly StreamMessage[]
}

/** View of a stream for servers and pages. Changes of messages outside of the given events are ignored. */
export function foldStream(events: Iterable<ClewEvent>): FoldedStream {
  let created: StreamView | null = null
  let updatedAt = ''
  const messages = new Map<string, StreamMessage>()
  for (const event of events) {
    updatedAt = event.timestamp
    const own = asErasable(event)
    switch (own?.eventType) {
      case 'ui.stream_created':
        created ??= toStream(own)
        break
      case 'ui.message_created': {
        const message = toMessage(own)
        if (!messages.has(message.messageId)) messages.set(message.messageId, message)
        break
      }
      case 'ui.message_edited':
      case 'ui.message_deleted':
      case 'ui.thread_created': {
        const before = messages.get(own.payload.messageId ?? '')
        if (before) messages.set(before.messageId, changeMessage(before, own))
        break
      }
      default:
    }
  }
  return { stream: created && { ...created, updatedAt }, messages: [...messages.values()] }
}

function changeMessage(
  message: StreamMessage,
  event: ErasableEvent<'ui.message_edited' | 'ui.message_deleted' | 'ui.thread_created'>,
): StreamMessage {
  // A deleted message stays deleted.
  if (message.deletedAt !== null) return message
  const { timestamp } = event
  const { seq } = event.ledger
  switch (event.eventType) {
    case 'ui.message_edited':
      return { ...message, content: contentOf(event.payload), editedAt: timestamp, seq }
    case 'ui.message_deleted':
      return { ...message, content: null, sources: [], deletedAt: timestamp, seq }
    case 'ui.thread_created':
      return { ...message, threadStreamId: event.payload.threadStreamId ?? null, seq }
  }
}

/** The stream that an event begins; null for another event. */
export function streamBegunBy(event: ClewEvent): StreamView | null {
  const own = asErasable(event)
  return own?.eventType === 'ui.stream_created' ? toStream(own) : null
}

export function toStream(event: ErasableEvent<'ui.stream_created'>): StreamView {
  const { timestamp, ledger, correlationId } = event
  const {
    streamId = correlationId,
    title = null,
    parentStreamId = null,
    parentMessageId = null,
  } = event.payload
  return {
    streamId,
    workspaceId: ledger.workspace,
    title,
    parentStreamId,
    parentMessageId,
    createdAt: timestamp,
    updatedAt: timestamp,
  }
}

export function toMessage(event: ErasableEvent<'ui.message_created'>): StreamMessage {
  const { payload, timestamp, ledger } = event
  return {
    messageId: payload.messageId ?? event.eventId,
    streamId: payload.streamId ?? event.correlationId,
    author: toAuthor(payload.author),
    content: contentOf(payload),
    sessionId: payload.sessionId ?? null,
    sources: sourcesOf(payload.sources),
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

export const contentOf = ({ content = null }: { readonly content?: unknown }): Content => content as JsonValue

function toAuthor(given: PayloadOf<'ui.message_created'>['author']): MessageAuthor {
  const { type, id = '', name = null } = given ?? {}
  return { type: type === 'user' || type === 'persona' ? type : 'system', id, name }
}

import { asErasable, type ClewEvent, type ErasableEvent } from '@clew/ledger'
import { contentOf, toMessage, toStream } from './fold-stream.ts'
import { MESSAGE_CREATED, MESSAGE_UPDATED, STREAM_CREATED } from './names.ts'
import type { RoomMessage, TraceMessage } from './payloads.ts'
import type { RelayContext } from './relay-event.ts'
import { streamRoom } from './rooms.ts'
import { textOf } from './to-trace-step.ts'

/** One event of a stream's run. */
export function relayStream(event: ClewEvent, { parent, replies }: RelayContext): RoomMessage[] {
  const { workspace: workspaceId } = event.ledger
  const streamId = textOf(event.payload.streamId) ?? ''
  const own = asErasable(event)
  const first = own && toldOf(own, streamId)
  if (!first) return []
  const told: RoomMessage[] = [{ ...first, room: streamRoom(workspaceId, streamId) }]
  if (parent && replies && COUNTED.has(event.eventType))
    told.push({
      name: MESSAGE_UPDATED,
      room: streamRoom(workspaceId, parent.streamId),
      payload: {
        workspaceId,
        ...parent,
        updateType: 'replies',
        threadStreamId: streamId,
        replyCount: replies.count,
        lastReplyAt: replies.lastAt,
      },
    })
  return told
}

const COUNTED: ReadonlySet<string> = new Set(['ui.message_created', 'ui.message_deleted'])

function toldOf(event: ErasableEvent, streamId: string): TraceMessage | null {
  const { timestamp } = event
  const { workspace: workspaceId, seq } = event.ledger
  const of = (messageId = event.eventId) => ({ workspaceId, streamId, messageId })
  switch (event.eventType) {
    case 'ui.stream_created': {
      const { updatedAt: _, ...created } = toStream(event)
      return { name: STREAM_CREATED, payload: created }
    }
    case 'ui.thread_created': {
      const { messageId, threadStreamId = '' } = event.payload
      const opened = { updateType: 'replies', threadStreamId, replyCount: 0, lastReplyAt: null } as const
      return { name: MESSAGE_UPDATED, payload: { ...of(messageId), ...opened } }
    }
    case 'ui.message_created':
      return {
        name: MESSAGE_CREATED,
        payload: { ...of(event.payload.messageId), message: toMessage(event) },
      }
    case 'ui.message_edited': {
      const content = contentOf(event.payload)
      const edited = { updateType: 'content', content, editedAt: timestamp, seq } as const
      return { name: MESSAGE_UPDATED, payload: { ...of(event.payload.messageId), ...edited } }
    }
    case 'ui.message_deleted': {
      const deleted = { updateType: 'deleted', deletedAt: timestamp, seq } as const
      return { name: MESSAGE_UPDATED, payload: { ...of(event.payload.messageId), ...deleted } }
    }
    default:
      return null
  }
}

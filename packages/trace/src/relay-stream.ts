import type { ClewEvent, JsonValue } from '@clew/ledger'
import { toMessage, toStream } from './fold-stream.ts'
import { MESSAGE_CREATED, MESSAGE_UPDATED, STREAM_CREATED } from './names.ts'
import type { Relayed, Told } from './payloads.ts'
import type { RelayContext } from './relay-event.ts'
import { streamRoom } from './rooms.ts'
import { textOf } from './to-trace-step.ts'

/** One event of a stream's book. */
export function relayStream(event: ClewEvent, { parent, replies }: RelayContext): Relayed[] {
  const { workspace: workspaceId } = event.ledger
  const streamId = textOf(event.payload['streamId']) ?? ''
  const own = toldOf(event, streamId)
  if (!own) return []
  const told: Relayed[] = [{ ...own, room: streamRoom(workspaceId, streamId) }]
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

function toldOf(event: ClewEvent, streamId: string): Told | null {
  const { eventType, payload, timestamp } = event
  const { workspace: workspaceId, seq } = event.ledger
  const of = { workspaceId, streamId, messageId: textOf(payload['messageId']) ?? event.eventId }
  switch (eventType) {
    case 'ui.stream_created': {
      const { updatedAt: _, ...created } = toStream(event)
      return { name: STREAM_CREATED, payload: created }
    }
    case 'ui.thread_created': {
      const threadStreamId = textOf(payload['threadStreamId']) ?? ''
      const opened = { updateType: 'replies', threadStreamId, replyCount: 0, lastReplyAt: null } as const
      return { name: MESSAGE_UPDATED, payload: { ...of, ...opened } }
    }
    case 'ui.message_created':
      return { name: MESSAGE_CREATED, payload: { ...of, message: toMessage(event) } }
    case 'ui.message_edited': {
      const content = (payload['content'] ?? null) as JsonValue
      const edited = { updateType: 'content', content, editedAt: timestamp, seq } as const
      return { name: MESSAGE_UPDATED, payload: { ...of, ...edited } }
    }
    case 'ui.message_deleted': {
      const deleted = { updateType: 'deleted', deletedAt: timestamp, seq } as const
      return { name: MESSAGE_UPDATED, payload: { ...of, ...deleted } }
    }
    default:
      return null
  }
}

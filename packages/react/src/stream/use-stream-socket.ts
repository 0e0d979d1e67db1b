import { type StreamPage, streamRoom } from '@clew/trace'
import { useMemo, useState } from 'react'
import type { LinkState } from '../client/follow.ts'
import { useClient } from '../client/provider.tsx'
import { useRoom } from '../live/use-room.ts'
import { catchUp } from './catch-up.ts'
import {
  EMPTY_STREAM,
  type LiveStream,
  type MessageActivity,
  mergeStream,
  type StreamEntry,
  streamItems,
} from './merge-stream.ts'

export interface StreamTrace {
  readonly stream: LiveStream['stream']
  /** Messages and cards of sessions, oldest first. */
  readonly items: readonly StreamEntry[]
  /** Agents at work in the thread on a message (T5). */
  activityOf(messageId: string): MessageActivity | null
  readonly hasEarlier: boolean
  readEarlier(): Promise<void>
  readonly link: LinkState
  readonly isLoading: boolean
  readonly error: unknown
}

interface FetchedPage {
  readonly page: StreamPage
  readonly known: LiveStream
}

/** A stream as it grows: messages, session cards, what agents are doing in its threads. */
export function useStreamSocket(
  streamId: string | null,
  { workspaceId = 'default' }: { readonly workspaceId?: string | undefined } = {},
): StreamTrace {
  const client = useClient()
  const [isReading, setReading] = useState(false)
  const path = `/api/workspaces/${encodeURIComponent(workspaceId)}/streams/${encodeURIComponent(streamId ?? '')}/messages`
  const { state, add, link, isLoading, error } = useRoom<LiveStream, FetchedPage>(
    streamId === null ? null : streamRoom(workspaceId, streamId),
    {
      empty: EMPTY_STREAM,
      merge: (before, incoming) =>
        'name' in incoming
          ? mergeStream(before, incoming, streamId ?? '')
          : catchUp(mergeStream(before, incoming.page, streamId ?? ''), incoming.page, incoming.known),
      fetch: async (signal, known) => ({ page: await client.get(path, {}, signal), known }),
    },
  )
  const items = useMemo(() => streamItems(state), [state])
  const { previousCursor } = state
  return {
    stream: state.stream,
    items,
    activityOf: (messageId) =>
      [...state.activities.values()].find((each) => each.messageId === messageId && each.isActive) ?? null,
    hasEarlier: typeof previousCursor === 'string',
    async readEarlier() {
      if (typeof previousCursor !== 'string' || isReading) return
      setReading(true)
      try {
        add({ page: await client.get<StreamPage>(path, { cursor: previousCursor }), known: EMPTY_STREAM })
      } finally {
        setReading(false)
      }
    },
    link,
    isLoading,
    error,
  }
}

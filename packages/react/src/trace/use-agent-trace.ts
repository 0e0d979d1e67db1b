import type { Persona } from '@clew/ledger'
import {
  EMPTY_SESSION,
  type LiveSession,
  liveSteps,
  mergeSession,
  type SessionDetail,
  type SessionHead,
  sessionRoom,
  type SessionView,
  type Told,
  type TraceStep,
} from '@clew/trace'
import { useMemo } from 'react'
import type { LinkState } from '../client/follow.ts'
import { useClient } from '../client/provider.tsx'
import { useRoom } from '../live/use-room.ts'

export interface AgentTrace {
  readonly steps: readonly TraceStep[]
  /** The text so far of steps at work, by step id. */
  readonly streamingContent: ReadonlyMap<string, TraceStep['content']>
  readonly session: SessionHead | null
  readonly persona: Persona | null
  readonly status: SessionHead['status'] | null
  /** Sessions on the same message, newest first; this one is among them. */
  readonly relatedSessions: readonly SessionView[]
  readonly link: LinkState
  readonly isLoading: boolean
  readonly error: unknown
}

export interface AgentTraceOptions {
  /** Default `default`. */
  readonly workspaceId?: string | undefined
}

interface Traced {
  readonly live: LiveSession
  readonly related: readonly SessionView[]
}

const EMPTY: Traced = { live: EMPTY_SESSION, related: [] }

/** A session as it works, and as it was: live and after a reload the same (T3). Null: no session is looked at. */
export function useAgentTrace(
  sessionId: string | null,
  { workspaceId = 'default' }: AgentTraceOptions = {},
): AgentTrace {
  const client = useClient()
  const room = sessionId === null ? null : sessionRoom(workspaceId, sessionId)
  const { state, ...rest } = useRoom<Traced, SessionDetail>(room, {
    empty: EMPTY,
    merge: (before, incoming) => mergeTraced(before, incoming, sessionId),
    fetch: (signal) =>
      client.get(
        `/api/workspaces/${encodeURIComponent(workspaceId)}/agent-sessions/${encodeURIComponent(sessionId ?? '')}`,
        {},
        signal,
      ),
  })
  const { live, related } = state
  const steps = useMemo(() => liveSteps(live), [live])
  const streamingContent = useMemo(
    () => new Map(steps.flatMap(({ stepId, progress }) => (progress ? [[stepId, progress.content]] : []))),
    [steps],
  )
  return {
    steps,
    streamingContent,
    session: live.head,
    persona: live.head?.persona ?? null,
    status: live.head?.status ?? null,
    relatedSessions: related,
    link: rest.link,
    isLoading: rest.isLoading,
    error: rest.error,
  }
}

function mergeTraced(state: Traced, incoming: Told | SessionDetail, sessionId: string | null): Traced {
  if (!('name' in incoming))
    return { live: mergeSession(state.live, incoming), related: incoming.relatedSessions }
  // One socket serves all rooms of a page.
  if (!('sessionId' in incoming.payload) || incoming.payload.sessionId !== sessionId) return state
  return { ...state, live: mergeSession(state.live, incoming) }
}

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
  type TraceMessage,
  type TraceStep,
} from '@clew/trace'
import { useMemo, useState } from 'react'
import type { Client } from '../client/client.ts'
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
  /** Steps before these that have not been read. */
  readonly earlierSteps: number
  readEarlier(): Promise<void>
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
  /** The place before which nothing has been read; null when all from the first step on has been. */
  readonly previousCursor: string | null
  /** Seq of the first step that has been read. */
  readonly firstSeq: number
  readonly firstNumber: number
}

const EMPTY: Traced = {
  live: EMPTY_SESSION,
  related: [],
  previousCursor: null,
  firstSeq: Number.POSITIVE_INFINITY,
  firstNumber: 1,
}

/** A session may have very many steps, each with all that it said: so many are read at once, the newest first. */
const AT_ONCE = 200

/** A session as it works, and as it was: live and after a reload the same (T3). Null: no session is looked at. */
export function useAgentTrace(
  sessionId: string | null,
  { workspaceId = 'default' }: AgentTraceOptions = {},
): AgentTrace {
  const client = useClient()
  const room = sessionId === null ? null : sessionRoom(workspaceId, sessionId)
  const path = `/api/workspaces/${encodeURIComponent(workspaceId)}/agent-sessions/${encodeURIComponent(sessionId ?? '')}`
  const [isReading, setReading] = useState(false)
  const { state, add, ...rest } = useRoom<Traced, SessionDetail>(room, {
    empty: EMPTY,
    merge: (before, incoming) => mergeTraced(before, incoming, sessionId),
    fetch: (signal, known) => fetchNewest(client, path, known, signal),
  })
  const { live, related, previousCursor } = state
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
    earlierSteps: previousCursor === null ? 0 : state.firstNumber - 1,
    async readEarlier() {
      if (previousCursor === null || isReading) return
      setReading(true)
      try {
        add(await client.get<SessionDetail>(path, { limit: AT_ONCE, cursor: previousCursor }))
      } finally {
        setReading(false)
      }
    },
    link: rest.link,
    isLoading: rest.isLoading,
    error: rest.error,
  }
}

/** The newest steps; after a reconnect as far back as what is known, so that nothing is missing in between. */
async function fetchNewest(
  client: Client,
  path: string,
  known: Traced,
  signal: AbortSignal,
): Promise<SessionDetail> {
  let knownSeq = Number.POSITIVE_INFINITY
  if (known.firstSeq !== EMPTY.firstSeq) {
    knownSeq = 0
    for (const { step } of known.live.steps.values()) knownSeq = Math.max(knownSeq, step?.startedSeq ?? 0)
  }
  let detail = await client.get<SessionDetail>(path, { limit: AT_ONCE }, signal)
  while (detail.previousCursor !== null && (detail.steps[0]?.startedSeq ?? 0) > knownSeq) {
    const query = { limit: AT_ONCE, cursor: detail.previousCursor }
    const { steps, previousCursor } = await client.get<SessionDetail>(path, query, signal)
    detail = { ...detail, steps: [...steps, ...detail.steps], previousCursor }
  }
  return detail
}

function mergeTraced(
  state: Traced,
  incoming: TraceMessage | SessionDetail,
  sessionId: string | null,
): Traced {
  if (!('name' in incoming)) {
    const live = mergeSession(state.live, incoming)
    const [first] = incoming.steps
    const isFirst = first ? first.startedSeq < state.firstSeq : state.firstSeq === EMPTY.firstSeq
    return {
      live,
      // A page of earlier steps comes without them.
      related: incoming.relatedSessions.length > 0 ? incoming.relatedSessions : state.related,
      previousCursor: isFirst ? incoming.previousCursor : state.previousCursor,
      firstSeq: isFirst ? (first?.startedSeq ?? EMPTY.firstSeq) : state.firstSeq,
      firstNumber: isFirst ? (first?.stepNumber ?? 1) : state.firstNumber,
    }
  }
  // One socket serves all rooms of a page.
  if (!('sessionId' in incoming.payload) || incoming.payload.sessionId !== sessionId) return state
  return { ...state, live: mergeSession(state.live, incoming) }
}

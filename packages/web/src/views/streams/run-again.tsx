import type { RunSummary } from '@clew/ledger'
import { type AgentTrace, useAgentTrace, useClient } from '@clew/react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { RotateCcw } from 'lucide-react'
import { type ReactElement, useEffect, useEffectEvent, useState } from 'react'
import { rerunPath } from './paths.ts'

interface RunAgainProps {
  readonly sessionId: string
  readonly trace: AgentTrace
  readonly onBegun: (sessionId: string) => void
  /** Leads to the stream, where questions are answered. */
  readonly onStream: () => void
}

const LOOK_AGAIN_MS = 2000

/** Asks for another answer in the place of this one, and goes to it when an agent has begun it. */
export function RunAgain({ sessionId, trace, onBegun, onStream }: RunAgainProps): ReactElement | null {
  const client = useClient()
  const ask = useMutation({ mutationFn: () => client.post<{ sessionId: string }>(rerunPath(sessionId), {}) })
  const [isSure, setSure] = useState(false)
  const wanted = ask.data?.sessionId ?? null
  const { session } = useAgentTrace(wanted)
  const isBegun = session !== null
  const tell = useEffectEvent(() => wanted !== null && onBegun(wanted))
  useEffect(() => {
    if (isBegun) tell()
  }, [isBegun])
  const streamId = trace.session?.streamId ?? null
  const waiting = useQuery({
    queryKey: ['waiting', streamId],
    queryFn: ({ signal }) =>
      client.get<{ runs: readonly RunSummary[] }>(
        '/v1/runs',
        { threadId: streamId, status: 'paused', limit: 1 },
        signal,
      ),
    enabled: wanted !== null && !isBegun && streamId !== null,
    refetchInterval: LOOK_AGAIN_MS,
  })
  const { status } = trace
  if (status === null || status === 'running' || status === 'superseded') return null
  const isAsked = ask.isPending || wanted !== null
  return (
    <>
      {ask.error && (
        <span className="quiet" role="alert">
          {ask.error.message}
        </span>
      )}
      {wanted !== null && (waiting.data?.runs.length ?? 0) > 0 && (
        <span className="quiet" role="status">
          A message in this stream has no answer yet.{' '}
          <button type="button" className="clew-link" onClick={onStream}>
            Show it
          </button>
        </span>
      )}
      {isSure && !isAsked && (
        <span className="quiet">
          The agent works live, and its answer takes the place of this one in the stream.
        </span>
      )}
      <button
        type="button"
        className="button"
        disabled={isAsked}
        onClick={() => (isSure ? ask.mutate() : setSure(true))}
      >
        <RotateCcw size={14} aria-hidden="true" />
        {isAsked ? 'Waiting for an agent…' : isSure ? 'Replace the answer' : 'Run again…'}
      </button>
    </>
  )
}

import { type AgentTrace, useAgentTrace, useClient } from '@clew/react'
import { useMutation } from '@tanstack/react-query'
import { RotateCcw } from 'lucide-react'
import { type ReactElement, useEffect, useEffectEvent } from 'react'
import { rerunPath } from './paths.ts'

interface RunAgainProps {
  readonly sessionId: string
  readonly status: AgentTrace['status']
  readonly onBegun: (sessionId: string) => void
}

/** Asks for another answer in the place of this one, and goes to it when an agent has begun it. */
export function RunAgain({ sessionId, status, onBegun }: RunAgainProps): ReactElement | null {
  const client = useClient()
  const ask = useMutation({ mutationFn: () => client.post<{ sessionId: string }>(rerunPath(sessionId), {}) })
  const wanted = ask.data?.sessionId ?? null
  const { session } = useAgentTrace(wanted)
  const isBegun = session !== null
  const tell = useEffectEvent(() => wanted !== null && onBegun(wanted))
  useEffect(() => {
    if (isBegun) tell()
  }, [isBegun])
  if (status === null || status === 'running' || status === 'superseded') return null
  const isAsked = ask.isPending || wanted !== null
  return (
    <>
      {ask.error && (
        <span className="quiet" role="alert">
          {ask.error.message}
        </span>
      )}
      <button type="button" className="button" disabled={isAsked} onClick={() => ask.mutate()}>
        <RotateCcw size={14} aria-hidden="true" />
        {isAsked ? 'Waiting for an agent…' : 'Run again'}
      </button>
    </>
  )
}

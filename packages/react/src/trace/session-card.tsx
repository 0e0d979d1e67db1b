import { laterHead, type SessionHead } from '@clew/trace'
import { type ReactElement, type ReactNode, useEffect, useState } from 'react'
import { formatDuration, plural } from '../theme/format.ts'
import { StatusMark } from '../theme/status.tsx'
import { KindGlyph, stepKindOf } from '../theme/step-kinds.tsx'
import { useAgentTrace } from './use-agent-trace.ts'

export interface SessionCardProps {
  readonly session: SessionHead
  /** Text of the message that the session answers. */
  readonly asked?: string | null | undefined
  /** Another session has answered the same before: this one is a fork of it, or a second try. */
  readonly isAgain?: boolean | undefined
  readonly onOpen: () => void
  /** Below the card, such as the answer to what it asks. */
  readonly children?: ReactNode
}

/** A session in its stream: one card for all of its life, as high at its end as at its beginning. */
export function SessionCard({
  session: given,
  asked = null,
  isAgain = false,
  onOpen,
  children,
}: SessionCardProps): ReactElement {
  const { sessionId, workspaceId } = given
  const trace = useAgentTrace(given.status === 'running' ? sessionId : null, { workspaceId })
  const session = trace.session ? laterHead(given, trace.session) : given
  const { status, persona, stepCount, currentStepType } = session
  const isAtWork = status === 'running'
  const words = [...trace.streamingContent.values()].findLast((content) => typeof content === 'string')
  const elapsed = useElapsed(session)
  const name = persona?.name ?? 'an agent'
  return (
    <article
      className="clew-card"
      data-status={status}
      tabIndex={-1}
      aria-label={`Session of ${name}, ${status}`}
    >
      <div className="clew-card-head">
        <StatusMark status={status} />
        <span className="clew-card-who">{name}</span>
        <span className="clew-card-facts">
          <span className="clew-card-steps">{plural(stepCount, 'step')} · </span>
          {elapsed}
        </span>
        <button type="button" className="clew-link clew-end" onClick={onOpen}>
          show trace
        </button>
      </div>
      <p className="clew-card-line">
        {isAtWork && currentStepType !== null ? (
          <>
            <KindGlyph kind={currentStepType} size={13} />
            <span className="clew-card-kind">{stepKindOf(currentStepType).label}</span>
            {words !== undefined && <span className="clew-card-words">{lastLine(words)}</span>}
          </>
        ) : (
          <Saying session={session} asked={asked} isAgain={isAgain} />
        )}
      </p>
      {children}
    </article>
  )
}

function Saying({
  session,
  asked,
  isAgain,
}: {
  readonly session: SessionHead
  readonly asked: string | null
  readonly isAgain: boolean
}): ReactElement {
  const text = saying(session, asked, isAgain)
  return (
    <span className={session.status === 'failed' ? 'clew-row-error' : undefined} title={text} dir="auto">
      {text}
    </span>
  )
}

function saying({ status, error }: SessionHead, asked: string | null, isAgain: boolean): string {
  const question = asked === null ? 'it' : `“${asked.slice(0, 200)}”`
  switch (status) {
    case 'failed':
      return error?.message ?? error?.name ?? 'It failed.'
    case 'paused':
      return 'It waits for an answer.'
    case 'interrupted':
      return 'Its process is gone. It continues when another process resumes it.'
    case 'pending':
    case 'running':
      return `It begins with ${question}.`
    case 'blocked':
      return 'Code and record diverge: see the run.'
    case 'stopped':
      return 'It was stopped.'
    default:
      return asked === null ? 'It has answered.' : `${isAgain ? 'Once more on' : 'On'} ${question}`
  }
}

/** As much as a line can show; the text may be long, and this runs with each piece of it. */
const lastLine = (text: string): string => text.slice(-400).trimEnd().split('\n').at(-1)?.slice(-160) ?? ''

/** Elapsed time: counted in seconds while the session runs, exact after its end. */
function useElapsed({ status, startedAt, endedAt }: SessionHead): string {
  const [nowMs, setNow] = useState(() => Date.now())
  const isAtWork = status === 'running'
  useEffect(() => {
    if (!isAtWork) return undefined
    const timer = setInterval(() => setNow(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [isAtWork])
  const ms = Math.max(0, (endedAt === null ? nowMs : Date.parse(endedAt)) - Date.parse(startedAt))
  return endedAt === null && ms < 60_000 ? `${Math.floor(ms / 1000)} s` : formatDuration(ms)
}

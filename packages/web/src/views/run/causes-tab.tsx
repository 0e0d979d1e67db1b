import { formatClock, formatExact, plural, useClient } from '@clew/react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ArrowDown, ArrowUp } from 'lucide-react'
import type { ReactElement } from 'react'
import { ErrorNote } from '../../parts/note.tsx'
import type { TabProps } from './run-page.tsx'
import { useEvent } from './use-event.ts'

interface EventReference {
  readonly runId: string
  readonly seq: number
  readonly eventId: string
  readonly eventType: string
  readonly timestamp: string
  readonly about: string | null
}

interface Chain {
  readonly event: EventReference
  readonly events: readonly EventReference[]
  readonly more: number
  readonly missingCause: string | null
}

/** From one event back to where it came from, and on to all that came of it. */
export function CausesTab({ runId, view, search, chosen, choose }: TabProps): ReactElement {
  const failed = view.steps.find(({ status }) => status === 'failed')
  const seq = search.event ?? chosen?.startedSeq ?? failed?.endedSeq ?? view.lastSeq
  const { data: event, error } = useEvent(runId, seq > 0 ? seq : null)
  const causes = useChain(event?.eventId, 'causes')
  const effects = useChain(event?.eventId, 'effects')
  const problem = error ?? causes.error ?? effects.error
  if (problem) return <ErrorNote error={problem} />
  if (!causes.data || !effects.data) return <p className="tab-empty">Loading causes and effects…</p>
  const { missingCause } = causes.data
  return (
    <div className="scroll causes">
      <h2>
        <ArrowUp size={13} aria-hidden="true" />{' '}
        {causes.data.events.length === 0
          ? 'It has no recorded cause'
          : `Caused by ${plural(causes.data.events.length, 'event')}`}
        {causes.data.more > 0 && ` and ${causes.data.more} farther back`}
      </h2>
      {missingCause !== null && <p className="quiet">Its cause {missingCause} has not arrived.</p>}
      <ol>
        {causes.data.events.toReversed().map((each) => (
          <Reference key={each.eventId} event={each} runId={runId} choose={choose} />
        ))}
        <Reference event={causes.data.event} runId={runId} choose={choose} isHere />
        {effects.data.events.map((each) => (
          <Reference key={each.eventId} event={each} runId={runId} choose={choose} />
        ))}
      </ol>
      <h2>
        <ArrowDown size={13} aria-hidden="true" />{' '}
        {effects.data.events.length === 0
          ? 'It has no recorded effects'
          : `Led to ${plural(effects.data.events.length + effects.data.more, 'event')}`}
      </h2>
    </div>
  )
}

function useChain(eventId: string | undefined, way: 'causes' | 'effects') {
  const client = useClient()
  return useQuery({
    queryKey: [way, eventId],
    enabled: eventId !== undefined,
    queryFn: ({ signal }) =>
      client.get<Chain>(`/v1/events/${encodeURIComponent(eventId ?? '')}/${way}`, { limit: 200 }, signal),
  })
}

interface ReferenceProps {
  readonly event: EventReference
  readonly runId: string
  readonly choose: TabProps['choose']
  readonly isHere?: boolean
}

function Reference({ event, runId, choose, isHere = false }: ReferenceProps): ReactElement {
  const { seq, eventType, about, timestamp } = event
  const text = (
    <>
      <span className="clew-mono quiet">#{seq}</span>
      <span>{eventType}</span>
      {about !== null && <span className="clew-mono">{about}</span>}
      <time className="quiet end" dateTime={timestamp} title={formatExact(timestamp)}>
        {formatClock(timestamp)}
      </time>
    </>
  )
  return (
    <li data-here={isHere}>
      {event.runId === runId ? (
        <button
          type="button"
          aria-current={isHere ? 'true' : undefined}
          onClick={() => choose({ event: seq, step: undefined })}
        >
          {text}
        </button>
      ) : (
        <Link to="/runs/$runId" params={{ runId: event.runId }} search={{ tab: 'causes', event: seq }}>
          {text}
          <span className="clew-chip">other run</span>
        </Link>
      )}
    </li>
  )
}

import { type ClewEvent, fromWire, stepLabel, type WireEvent } from '@clew/ledger'
import { formatDuration, previewValue, runPath, useClient } from '@clew/react'
import { useQueries } from '@tanstack/react-query'
import { useVirtualizer } from '@tanstack/react-virtual'
import { type ReactElement, useEffect, useRef } from 'react'
import { useShortcut } from '../../frame/shortcuts.ts'
import { Missing } from './gaps.tsx'
import type { TabProps } from './run-page.tsx'

const ROW = 26
const AT_ONCE = 100

/** Every event as it was recorded. Seqs are dense, so only what is in sight is read, wherever that is. */
export function EventsTab({ runId, view, search, chosen, untilSeq, choose }: TabProps): ReactElement {
  const client = useClient()
  const scroll = useRef<HTMLDivElement>(null)
  const count = view.lastSeq
  const list = useVirtualizer({
    count,
    getScrollElement: () => scroll.current,
    estimateSize: () => ROW,
    overscan: 20,
  })
  const hasEvents = count > 0
  const items = list.getVirtualItems()
  const first = Math.floor((items[0]?.index ?? 0) / AT_ONCE)
  const last = Math.floor((items.at(-1)?.index ?? 0) / AT_ONCE)
  const pages = useQueries({
    queries: Array.from({ length: count === 0 ? 0 : last - first + 1 }, (_, index) => {
      const page = first + index
      const end = Math.min(count, (page + 1) * AT_ONCE)
      return {
        queryKey: ['events', runId, page, end],
        queryFn: async ({ signal }: { signal: AbortSignal }) => {
          const query = { afterSeq: page * AT_ONCE, limit: AT_ONCE }
          const { events } = await client.get<{ events: WireEvent[] }>(
            `${runPath(runId)}/events`,
            query,
            signal,
          )
          return new Map(events.map((event) => [event.ledger.seq, fromWire(event)]))
        },
        staleTime: 60_000,
      }
    }),
  })
  const here = search.event ?? chosen?.startedSeq
  useEffect(() => {
    if (here !== undefined && hasEvents) list.scrollToIndex(here - 1)
  }, [here, hasEvents])
  const move = (by: number): void => {
    const next = Math.max(1, Math.min(count, (here ?? 0) + by))
    choose({ event: next, step: undefined })
  }
  useShortcut('down', () => move(1))
  useShortcut('up', () => move(-1))
  const startedMs = Date.parse(view.run?.startedAt ?? '')
  return (
    <div className="scroll events" ref={scroll}>
      <div role="list" aria-label="Events" style={{ height: list.getTotalSize(), position: 'relative' }}>
        {items.map((item) => {
          const seq = item.index + 1
          const page = pages[Math.floor(item.index / AT_ONCE) - first]
          const event = page?.data?.get(seq)
          return (
            <div
              key={item.key}
              role="listitem"
              className="event-row"
              data-later={untilSeq !== null && seq > untilSeq}
              data-chosen={seq === here}
              style={{ transform: `translateY(${item.start}px)` }}
            >
              <button type="button" onClick={() => choose({ event: seq, step: undefined })}>
                <span className="quiet clew-mono event-seq">{seq}</span>
                {event ? (
                  <EventText runId={runId} event={event} startedMs={startedMs} />
                ) : page?.data ? (
                  <Missing runId={runId} place={{ seq, pruned: true }} />
                ) : (
                  <span className="quiet">…</span>
                )}
              </button>
            </div>
          )
        })}
      </div>
    </div>
  )
}

function EventText({
  runId,
  event,
  startedMs,
}: {
  readonly runId: string
  readonly event: ClewEvent
  readonly startedMs: number
}): ReactElement {
  const { payload, eventType } = event
  const [stepId, name, ...others] = ['stepId', 'name', 'role', 'pauseId'].map((key) => {
    const value = payload[key]
    return typeof value === 'string' ? value : undefined
  })
  const about =
    stepId === undefined ? (name ?? others.find((value) => value !== undefined)) : stepLabel(stepId, name)
  const dot = eventType.indexOf('.')
  return (
    <>
      <span className="quiet clew-mono event-time">
        {formatDuration(Date.parse(event.timestamp) - startedMs)}
      </span>
      <span className="event-type">
        <span className="quiet">{eventType.slice(0, dot + 1)}</span>
        {eventType.slice(dot + 1)}
      </span>
      <span className="event-about clew-mono">{about}</span>
      <span className="event-preview clew-mono">
        {event.ledger.erased ? <Missing runId={runId} place={event.ledger} /> : previewValue(payload, 160)}
      </span>
    </>
  )
}

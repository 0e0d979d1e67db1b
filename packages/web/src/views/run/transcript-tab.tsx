import { type StoryRow, tellStory, TranscriptRow } from '@clew/react'
import { useVirtualizer } from '@tanstack/react-virtual'
import { type ReactElement, useEffect, useMemo, useRef } from 'react'
import { PauseForm } from './pause-form.tsx'
import { RunLink } from './run-head.tsx'
import type { TabProps } from './run-page.tsx'
import { stepKey } from './step-key.ts'

/** The story of the run: what was said, and between it what was done. */
export function TranscriptTab({ runId, view, search, chosen, untilSeq, choose }: TabProps): ReactElement {
  const { entries, steps, run } = view
  const rows = useMemo(() => tellStory(entries, steps), [entries, steps])
  const scroll = useRef<HTMLDivElement>(null)
  const isLive = run?.status === 'running'
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroll.current,
    estimateSize: (index) => (rows[index]?.type === 'steps' ? 26 : 52),
    overscan: 10,
    paddingStart: 10,
    paddingEnd: 32,
    getItemKey: (index) => rows[index]?.key ?? index,
  })

  const here = useMemo(
    () => rows.findIndex((row) => isChosen(row, search.event, search.step)),
    [rows, search.event, search.step],
  )
  const shown = useRef('')
  useEffect(() => {
    const wanted = `${search.step} ${search.event}`
    if (here < 0 || shown.current === wanted) return
    shown.current = wanted
    list.scrollToIndex(here, { align: 'auto' })
  })

  // At the end of a live run the end stays in sight; who has scrolled up is left alone.
  const atEnd = useRef(true)
  useEffect(() => {
    const box = scroll.current
    if (box && isLive && atEnd.current) box.scrollTop = box.scrollHeight
  }, [rows, isLive])

  const pick = (row: StoryRow): void => {
    if (row.type === 'entry') choose({ event: row.seq, step: undefined })
    else
      choose({
        step: stepKey(
          row.steps.find(({ status }) => status === 'failed') ?? (row.steps[0] as (typeof row.steps)[0]),
        ),
        event: undefined,
      })
  }
  return (
    <div
      className="scroll"
      ref={scroll}
      onScroll={({ currentTarget: box }) => {
        atEnd.current = box.scrollHeight - box.scrollTop - box.clientHeight < 60
      }}
    >
      <div
        className="story"
        style={{ height: list.getTotalSize() }}
        role="feed"
        aria-busy={!view.complete}
        aria-label="Transcript"
      >
        {list.getVirtualItems().map((item) => {
          const row = rows[item.index]
          if (!row) return null
          return (
            <article
              key={item.key}
              data-index={item.index}
              ref={list.measureElement}
              className="story-place"
              data-later={untilSeq !== null && row.seq > untilSeq}
              aria-posinset={item.index + 1}
              aria-setsize={view.complete ? rows.length : -1}
              style={{ transform: `translateY(${item.start}px)` }}
            >
              <TranscriptRow
                row={row}
                isChosen={
                  item.index === here ||
                  (chosen !== undefined && row.type === 'entry' && row.entry.stepId === chosen.stepId)
                }
                isLive={isLive && item.index === rows.length - 1}
                onChoose={pick}
                renderPause={(entry) => (
                  <PauseForm runId={runId} entry={entry} isWaiting={run?.status === 'paused'} />
                )}
                renderRunLink={(childRunId) => <RunLink runId={childRunId} />}
              />
            </article>
          )
        })}
      </div>
    </div>
  )
}

function isChosen(row: StoryRow, event: number | undefined, step: string | undefined): boolean {
  if (row.type === 'entry') return event !== undefined && row.seq === event
  return step !== undefined && row.steps.some((each) => stepKey(each) === step)
}

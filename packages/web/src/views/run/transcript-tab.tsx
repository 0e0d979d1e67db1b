import type { StepSkeleton } from '@clew/ledger'
import { type RunView, type TranscriptItem, TranscriptRow, type TranscriptRowProps } from '@clew/react'
import { type ReactElement, useCallback, useEffect, useMemo, useRef } from 'react'
import { useVirtualList } from '../../parts/use-virtual-list.ts'
import { Missing } from './gaps.tsx'
import { QuestionCard } from './question-card.tsx'
import { recoveryAt } from './recovery.ts'
import { RunLink } from './run-head.tsx'
import type { TabProps } from './run-page.tsx'
import { stepKey } from './step-key.ts'
import { UNREAD_HEIGHT, UnreadRow } from './unread-row.tsx'

/** The story of the run: what was said, and between it what was done. */
export function TranscriptTab(props: TabProps): ReactElement {
  const { runId, view, story: rows, search, chosen, untilSeq, choose } = props
  const { run } = view
  const scroll = useRef<HTMLDivElement>(null)
  const isLive = run?.status === 'running'
  const keyOf = useCallback((row: number) => rows[row]?.key ?? '', [rows])
  const guess = useCallback((row: number) => guessHeight(rows[row]), [rows])
  const list = useVirtualList({ count: rows.length, scroll, keyOf, guess, paddingTop: 10, paddingBottom: 32 })

  const here = useMemo(() => {
    if (search.event === undefined && search.step === undefined) return -1
    const own = rows.findIndex((row) => isChosen(row, search.event, search.step))
    // The row that shows a step stands for it.
    return own >= 0 || !chosen
      ? own
      : rows.findIndex((row) => row.type === 'entry' && row.step !== null && isSame(row.step, chosen))
  }, [rows, search.event, search.step, chosen])
  const shown = useRef('')
  useEffect(() => {
    const wanted = `${search.step} ${search.event}`
    if (here < 0 || shown.current === wanted) return
    shown.current = wanted
    list.show(here)
  })

  // At the end of a live run the end stays in sight; who has scrolled up is left alone.
  const atEnd = useRef(true)
  // Also what it ends with, or stops to ask, is seen by who has seen it run.
  const wasLive = useRef(isLive)
  wasLive.current ||= isLive
  useEffect(() => {
    const box = scroll.current
    if (box && wasLive.current && atEnd.current) box.scrollTop = box.scrollHeight
  }, [rows, list.height])

  // The same from one rendering to the next, so that scrolling draws only the rows that come into view.
  const latest = useRef(choose)
  latest.current = choose
  const pick = useCallback((row: TranscriptItem): void => {
    const step = stepToldBy(row)
    latest.current(step ? { step: stepKey(step), event: undefined } : { event: row.seq, step: undefined })
  }, [])
  const isWaiting = run?.status === 'paused'
  const renderPause = useCallback<NonNullable<TranscriptRowProps['renderPause']>>(
    (entry) => <QuestionCard runId={runId} entry={entry} isWaiting={isWaiting} />,
    [runId, isWaiting],
  )
  const renderErased = useCallback<NonNullable<TranscriptRowProps['renderErased']>>(
    (entry) => <Missing runId={runId} place={entry} />,
    [runId],
  )
  const { steps } = view
  const statusText = useCallback<NonNullable<TranscriptRowProps['statusText']>>(
    (entry) => (entry.status === 'resumed' ? recoveryAt(entry, steps)?.text : undefined),
    [steps],
  )
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
        style={{ height: list.height }}
        role="feed"
        aria-busy={!view.complete}
        aria-label="Transcript"
      >
        {list.rows.map(({ row: index, top }) => {
          const row = rows[index]
          if (!row) return null
          const told: TranscriptRowProps = {
            row,
            isChosen:
              index === here ||
              (row.type === 'entry' && row.step !== null && chosen !== undefined && isSame(row.step, chosen)),
            isLive: isLive && index === rows.length - 1,
            text: isLive ? textOfRow(row, view.texts) : undefined,
            onChoose: pick,
            renderPause,
            renderRunLink,
            renderErased,
            // Others would be drawn again with each new step.
            ...(row.type === 'entry' && row.entry.kind === 'status' && { statusText }),
          }
          return (
            <article
              key={row.key}
              data-row={index}
              ref={list.measured}
              className="story-place"
              data-later={untilSeq !== null && row.seq > untilSeq}
              aria-posinset={index + 1}
              aria-setsize={view.complete ? rows.length : -1}
              style={{ transform: `translateY(${top}px)` }}
            >
              {row.type === 'steps' && row.isUnread ? (
                <UnreadRow
                  {...told}
                  row={row}
                  runId={runId}
                  lastSeq={view.lastSeq}
                  isPassing={list.isScrolling}
                />
              ) : (
                <TranscriptRow {...told} />
              )}
            </article>
          )
        })}
      </div>
    </div>
  )
}

/** Until it was seen: a line for steps, two for what was said or has still to be read. */
const guessHeight = (row: TranscriptItem | undefined): number =>
  row?.type === 'steps' && !row.isUnread ? 26 : UNREAD_HEIGHT

const renderRunLink = (childRunId: string): ReactElement => <RunLink runId={childRunId} />

/** Text of the newest streaming step in the row. */
function textOfRow(row: TranscriptItem, texts: RunView['texts']): string | undefined {
  if (texts.size === 0) return undefined
  if (row.type === 'entry') {
    const stepId = row.step?.stepId ?? row.entry.stepId
    return [...texts].findLast(([key]) => key.slice(key.indexOf(' ') + 1) === stepId)?.[1]
  }
  const speaking = row.steps
    .slice(-AT_WORK_AT_ONCE)
    .findLast(({ attempt, stepId }) => texts.has(`${attempt} ${stepId}`))
  return speaking && texts.get(`${speaking.attempt} ${speaking.stepId}`)
}
const AT_WORK_AT_ONCE = 50

/** The step that a row shows as a whole; a row that shows a part of a step stands for an event. */
function stepToldBy(row: TranscriptItem): StepSkeleton | undefined {
  if (row.type === 'steps') return row.steps.find(({ status }) => status === 'failed') ?? row.steps[0]
  const { step, seq, entry } = row
  if (step === null) return undefined
  const isPerformer = entry.kind === 'tool_call' && entry.performedBy === step.stepId
  const isSpoken = entry.kind === 'message' && step.kind === 'model'
  return isPerformer || isSpoken || step.startedSeq === seq || step.endedSeq === seq ? step : undefined
}

const isSame = (a: StepSkeleton, b: StepSkeleton): boolean => a.stepId === b.stepId && a.attempt === b.attempt

function isChosen(row: TranscriptItem, event: number | undefined, step: string | undefined): boolean {
  if (row.type === 'entry') return event !== undefined && row.seq === event
  return step !== undefined && row.steps.some((each) => stepKey(each) === step)
}

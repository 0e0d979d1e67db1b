import { formatDuration, plural } from '@clew/react'
import { type ReactElement, useEffect, useMemo, useRef, useState } from 'react'
import { useShortcut } from '../../frame/shortcuts.ts'
import { useScrollView } from '../../parts/use-scroll-view.ts'
import { MiniMap } from './mini-map.tsx'
import type { TabProps } from './run-page.tsx'
import { stepKey } from './step-key.ts'
import { type TimelineLayout, visibleRows } from './timeline-layout.ts'
import { TimelineRow } from './timeline-row.tsx'
import { useZoom } from './use-zoom.ts'
import { type Span, zoomSpan } from './zoom.ts'

const ROW = 26
/** Rows that are drawn above and below those in view. */
const AROUND = 12

/** Tree on the left, bars on the right, one row each; what is folded says how much it hides. */
export function TimelineTab({ view, timeline, search, chosen, untilSeq, choose }: TabProps): ReactElement {
  const { steps } = view
  const layout = useMemo(() => {
    timeline.take(steps)
    return timeline.layOut()
  }, [timeline, steps])
  const [folded, setFolded] = useState<ReadonlySet<number>>(new Set())
  const [zoom, setZoom] = useZoom(search.zoom, choose)
  const rows = useMemo(() => visibleRows(layout, folded), [layout, folded])
  const errors = useMemo(() => steps.filter(({ status }) => status === 'failed').length, [steps])
  const span: Span = zoom ?? { fromMs: 0, toMs: layout.spanMs }
  const scroll = useRef<HTMLDivElement>(null)
  const isEmpty = layout.count === 0
  const seen = useScrollView(scroll, !isEmpty)
  const first = Math.max(0, Math.floor(seen.top / ROW) - AROUND)
  const inView = [...rows.subarray(first, Math.ceil((seen.top + seen.height) / ROW) + AROUND)]

  function toggle(step: number): void {
    const next = new Set(folded)
    if (!next.delete(step)) next.add(step)
    setFolded(next)
  }
  const zoomBy = (factor: number, atMs = (span.fromMs + span.toMs) / 2): void =>
    setZoom(zoomSpan(span, factor, atMs, layout.spanMs))
  useShortcut('fit', () => setZoom(null))
  useShortcut('zoomIn', () => zoomBy(0.6))
  useShortcut('zoomOut', () => zoomBy(1 / 0.6))
  const here = useMemo(() => (chosen ? steps.indexOf(chosen) : -1), [steps, chosen])
  useShortcut('fold', () => here >= 0 && toggle(here))
  const hereRow = useMemo(
    () => (here < 0 ? -1 : rows.findIndex((row) => layout.step[row] === here)),
    [rows, layout, here],
  )
  const move = (by: number): void => {
    const row = rows[Math.max(0, Math.min(rows.length - 1, hereRow + by))]
    const step = row === undefined ? undefined : steps[layout.step[row] as number]
    if (step) choose({ step: stepKey(step), event: undefined })
  }
  useShortcut('down', () => move(1))
  useShortcut('up', () => move(-1))
  const shownStep = useRef<string>(undefined)
  useEffect(() => {
    // Once for each step that is chosen, as soon as it is there: who scrolls on is left alone.
    if (hereRow < 0 || shownStep.current === search.step) return
    shownStep.current = search.step
    const box = scroll.current
    if (!box) return
    const top = hereRow * ROW
    if (top < box.scrollTop) box.scrollTop = top
    else if (top + ROW > box.scrollTop + box.clientHeight) box.scrollTop = top + ROW - box.clientHeight
  })

  // Over the map and the ruler the wheel zooms, over the rows with Ctrl. React listens passively to it, and this must not scroll.
  const whole = useRef<HTMLDivElement>(null)
  const latest = useRef(zoomBy)
  latest.current = zoomBy
  const shown = useRef(span)
  shown.current = span
  useEffect(() => {
    const box = whole.current
    function onWheel(event: WheelEvent): void {
      const isOnHead = event.target instanceof Element && event.target.closest('.timeline-head') !== null
      if (!isOnHead && !event.ctrlKey && !event.metaKey && !event.altKey) return
      const bars = box?.querySelector('.bar-space')?.getBoundingClientRect()
      if (!bars) return
      event.preventDefault()
      const share = Math.max(0, Math.min(1, (event.clientX - bars.left) / bars.width))
      const { fromMs, toMs } = shown.current
      latest.current(event.deltaY > 0 ? 1.15 : 1 / 1.15, fromMs + share * (toMs - fromMs))
    }
    box?.addEventListener('wheel', onWheel, { passive: false })
    return () => box?.removeEventListener('wheel', onWheel)
  }, [isEmpty])

  if (isEmpty)
    return <p className="tab-empty">{view.complete ? 'This run has no steps.' : 'Reading the steps…'}</p>
  return (
    <div className="timeline" ref={whole}>
      <div className="timeline-head">
        <div className="timeline-about quiet">
          <span>
            {plural(steps.length, 'step')} · {formatDuration(layout.spanMs)}
          </span>
          {errors > 0 && <span className="bad">{errors.toLocaleString('en')} failed</span>}
        </div>
        <MiniMap layout={layout} span={span} onSpan={setZoom} />
      </div>
      <div className="timeline-head">
        <div className="timeline-about">
          <button
            type="button"
            className="link"
            onClick={() => setFolded(folded.size > 0 ? new Set() : allParents(layout))}
          >
            {folded.size > 0 ? 'unfold all' : 'fold all'}
          </button>
          {zoom && (
            <button type="button" className="link" onClick={() => setZoom(null)}>
              fit all
            </button>
          )}
        </div>
        <Ruler span={span} />
      </div>
      <div className="scroll" ref={scroll} onDoubleClick={() => setZoom(null)}>
        <div role="tree" aria-label="Steps" style={{ height: rows.length * ROW, position: 'relative' }}>
          {inView.map((row, place) => {
            const index = layout.step[row] as number
            const step = steps[index]
            if (!step) return null
            return (
              <TimelineRow
                key={index}
                step={step}
                top={(first + place) * ROW}
                depth={layout.depth[row] as number}
                startMs={layout.startMs[row] as number}
                endMs={layout.endMs[row] as number}
                span={span}
                inside={(layout.end[row] as number) - row - 1}
                errors={layout.errors[row] as number}
                isFolded={folded.has(index)}
                isChosen={step === chosen}
                isWaiting={view.run?.status === 'paused'}
                isLater={untilSeq !== null && step.startedSeq > untilSeq}
                onChoose={() => choose({ step: stepKey(step), event: undefined })}
                onFold={() => toggle(index)}
              />
            )
          })}
        </div>
      </div>
    </div>
  )
}

function allParents({ count, step, end }: TimelineLayout): Set<number> {
  const parents = new Set<number>()
  for (let row = 0; row < count; row++) if ((end[row] as number) > row + 1) parents.add(step[row] as number)
  return parents
}

function Ruler({ span }: { readonly span: Span }): ReactElement {
  const marks = [0, 0.25, 0.5, 0.75].map((share) => ({
    share,
    ms: span.fromMs + share * (span.toMs - span.fromMs),
  }))
  return (
    <div className="ruler" aria-hidden="true">
      {marks.map(({ share, ms }) => (
        <span key={share} style={{ insetInlineStart: `${share * 100}%` }}>
          {formatDuration(ms)}
        </span>
      ))}
    </div>
  )
}

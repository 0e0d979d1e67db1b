import { formatTook, JsonTree, KindGlyph, LongText } from '@clew/react'
import { stepLabel, type StepSkeleton } from '@clew/ledger'
import { useVirtualizer } from '@tanstack/react-virtual'
import { type ReactElement, useMemo, useRef } from 'react'
import { Missing } from './gaps.tsx'
import type { TabProps } from './run-page.tsx'
import { stepKey } from './step-key.ts'
import { useEvent } from './use-event.ts'

/** A run of a function keeps no state but what its steps gave back: that is what it would go on from. */
export function StepValues({ runId, view, untilSeq, choose }: TabProps): ReactElement {
  const scroll = useRef<HTMLDivElement>(null)
  const done = useMemo(
    () =>
      view.steps.filter(
        ({ endedSeq, status }) =>
          status === 'completed' && endedSeq !== null && (untilSeq === null || endedSeq <= untilSeq),
      ),
    [view.steps, untilSeq],
  )
  const list = useVirtualizer({
    count: done.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => 64,
    overscan: 6,
    getItemKey: (index) => stepKey(done[index] as StepSkeleton),
  })
  return (
    <div className="scroll state" ref={scroll}>
      <p className="state-head quiet">
        This run is a function: its state is the results of its steps{untilSeq === null ? '' : ' by then'}.
      </p>
      <div style={{ height: list.getTotalSize(), position: 'relative' }}>
        {list.getVirtualItems().map((item) => {
          const step = done[item.index]
          if (!step) return null
          return (
            <section
              key={item.key}
              ref={list.measureElement}
              data-index={item.index}
              className="channel story-place"
              style={{ transform: `translateY(${item.start}px)` }}
            >
              <h2>
                <KindGlyph kind={step.kind} />
                <button
                  type="button"
                  className="link clew-mono"
                  onClick={() => choose({ step: stepKey(step), event: undefined })}
                >
                  {stepLabel(step.stepId, step.nodeName)}
                </button>
                <span className="quiet">{formatTook(step.durationMs)}</span>
              </h2>
              <Given runId={runId} seq={step.endedSeq} />
            </section>
          )
        })}
      </div>
    </div>
  )
}

function Given({ runId, seq }: { readonly runId: string; readonly seq: number | null }): ReactElement {
  const { data } = useEvent(runId, seq)
  const value = data?.payload.output
  if (data?.ledger.erased) return <Missing runId={runId} place={data.ledger} />
  if (value === undefined || value === null) return <span className="quiet">{data ? 'nothing' : '…'}</span>
  return typeof value === 'string' ? <LongText text={value} /> : <JsonTree value={value} label="output" />
}

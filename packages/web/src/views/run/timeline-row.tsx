import type { StepSkeleton } from '@clew/ledger'
import { formatTook, KindGlyph, namedKind, plural, stepKindOf } from '@clew/react'
import { ChevronRight } from 'lucide-react'
import type { ReactElement } from 'react'
import type { Span } from './zoom.ts'

interface TimelineRowProps {
  readonly step: StepSkeleton
  readonly top: number
  readonly depth: number
  readonly startMs: number
  readonly endMs: number
  readonly span: Span
  /** Steps that lie in it. */
  readonly inside: number
  readonly errors: number
  readonly isFolded: boolean
  readonly isChosen: boolean
  readonly isLater: boolean
  /** Its run is paused: what has begun and not ended waits. */
  readonly isWaiting: boolean
  readonly onChoose: () => void
  readonly onFold: () => void
}

export function TimelineRow(props: TimelineRowProps): ReactElement {
  const { step, depth, startMs, endMs, span, inside, errors, isFolded, isChosen } = props
  const kind = namedKind(step.kind, step.nodeName)
  const status = props.isWaiting && step.status === 'running' ? 'paused' : step.status
  const length = span.toMs - span.fromMs
  const left = ((startMs - span.fromMs) / length) * 100
  const width = ((endMs - startMs) / length) * 100
  const isSeen = left < 100 && left + width >= 0
  // A label after a bar that ends at the right edge would be outside.
  const isBefore = left + width > 82
  return (
    <div
      className="bar-row"
      role="treeitem"
      aria-level={depth + 1}
      aria-selected={isChosen}
      aria-expanded={inside > 0 ? !isFolded : undefined}
      data-later={props.isLater}
      tabIndex={isChosen ? 0 : -1}
      style={{ transform: `translateY(${props.top}px)` }}
      onClick={props.onChoose}
    >
      <div className="bar-name" style={{ paddingInlineStart: 8 + Math.min(depth, 30) * 14 }}>
        {inside > 0 ? (
          <button
            type="button"
            className="bar-fold"
            tabIndex={-1}
            aria-label={isFolded ? `Unfold ${step.nodeName}` : `Fold ${step.nodeName}`}
            onClick={(event) => {
              event.stopPropagation()
              props.onFold()
            }}
          >
            <ChevronRight size={12} data-open={!isFolded} aria-hidden="true" />
          </button>
        ) : (
          <span className="bar-fold" />
        )}
        <KindGlyph kind={step.status === 'failed' ? 'error' : kind} size={13} />
        <span className="bar-text">{step.nodeName}</span>
        {step.attempt > 1 && <span className="clew-chip">attempt {step.attempt}</span>}
        {isFolded && <span className="quiet">{plural(inside, 'step')}</span>}
        {isFolded && errors > 0 && <span className="bad">{plural(errors, 'error')}</span>}
      </div>
      <div className="bar-space">
        {isSeen && (
          <>
            <span
              className="bar"
              data-hue={step.status === 'failed' ? 'error' : stepKindOf(kind).hue}
              data-status={status}
              style={{
                // The shortest at the very end is seen, too.
                insetInlineStart: `min(${Math.max(-1, left)}%, 100% - 2px)`,
                width: `max(2px, ${Math.min(width, 101 - Math.max(-1, left))}%)`,
              }}
            />
            <span
              className="bar-took"
              style={
                isBefore
                  ? { insetInlineEnd: `${100 - Math.max(0, Math.min(100, left))}%` }
                  : { insetInlineStart: `${left + Math.max(0, width)}%` }
              }
            >
              {status === 'running' || (status === 'paused' && step.durationMs === null)
                ? status
                : tellTime(step, endMs - startMs)}
            </span>
          </>
        )}
      </div>
    </div>
  )
}

/** As long as its bar; of one that waited or was interrupted also how long it was at work. */
function tellTime({ durationMs, status }: StepSkeleton, wholeMs: number): string {
  if (durationMs === null || status !== 'completed' || wholeMs < 2 * durationMs + 20)
    return formatTook(durationMs)
  return `${formatTook(wholeMs)}, ${formatTook(durationMs)} at work`
}

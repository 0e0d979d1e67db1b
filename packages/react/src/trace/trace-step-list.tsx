import type { TraceStep as Step } from '@clew/trace'
import { type ReactElement, useDeferredValue, useEffect, useMemo, useRef, useState } from 'react'
import { useLatest } from '../client/use-latest.ts'
import { plural } from '../theme/format.ts'
import { leavesOf } from './leaves-of.ts'
import { type StepRenderers, TraceStep } from './trace-step.tsx'

export interface TraceStepListProps {
  readonly steps: readonly Step[]
  /** A step id, or the id of a message: the step that wrote it is shown and marked. */
  readonly highlight?: string | null | undefined
  readonly isLive?: boolean | undefined
  readonly renderers?: StepRenderers | undefined
  /** Steps before these that have not been read, and how to read some of them. */
  readonly earlierSteps?: number | undefined
  readonly onEarlier?: (() => void) | undefined
}

const NONE: readonly Step[] = []
/** Number of steps shown at first; older ones on request, and always back to the marked step. */
const MAX_SHOWN_STEPS = 1000
/** Lists longer than this use `content-visibility`, so that the browser skips rows out of view. */
const MAX_PLAIN_STEPS = 100

/** The steps of a session on the thread, in the order in which they began. Steps around others are left to the run's view. */
export function TraceStepList({
  steps,
  highlight = null,
  isLive = false,
  renderers,
  earlierSteps = 0,
  onEarlier,
}: TraceStepListProps): ReactElement {
  const list = useRef<HTMLOListElement>(null)
  // Thousands of steps are put up in pieces, and what streams gives way to what is typed.
  const leaves = useDeferredValue(
    useMemo(() => leavesOf(steps), [steps]),
    NONE,
  )
  const [most, setMost] = useState(MAX_SHOWN_STEPS)
  const markedAt =
    highlight === null
      ? -1
      : leaves.findIndex((step) => step.stepId === highlight || step.messageId === highlight)
  const marked = leaves[markedAt]
  const from = Math.min(Math.max(0, leaves.length - most), markedAt === -1 ? leaves.length : markedAt)
  const place = marked?.stepNumber
  useEffect(() => {
    if (place === undefined) return undefined
    const show = (): void =>
      list.current?.querySelector(`[data-number="${place}"]`)?.scrollIntoView({ block: 'center' })
    show()
    // In a long list steps get their height when they come into view: then once more.
    const frame = requestAnimationFrame(() => requestAnimationFrame(show))
    return () => cancelAnimationFrame(frame)
  }, [place])
  const isSought = highlight !== null && marked === undefined && earlierSteps > 0 && leaves.length > 0
  const seek = useLatest(() => onEarlier?.())
  useEffect(() => {
    // The highlighted step may be far back: read earlier steps until it is there.
    if (isSought) seek()
  }, [isSought, earlierSteps])
  return (
    <>
      {from + earlierSteps > 0 && (
        <button
          type="button"
          className="clew-link"
          onClick={() => {
            setMost(most + MAX_SHOWN_STEPS)
            if (from < MAX_SHOWN_STEPS) onEarlier?.()
          }}
        >
          {plural(from + earlierSteps, 'earlier step')}
        </button>
      )}
      <ol className="clew-steps" ref={list} data-live={isLive} data-long={leaves.length > MAX_PLAIN_STEPS}>
        {leaves.slice(from).map((step) => (
          <TraceStep
            key={`${step.stepId} ${step.attempt}`}
            step={step}
            isHighlighted={step === marked}
            renderers={renderers}
          />
        ))}
      </ol>
    </>
  )
}

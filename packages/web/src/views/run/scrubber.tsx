import type { StepSkeleton } from '@clew/ledger'
import { formatDuration } from '@clew/react'
import { type CSSProperties, type PointerEvent, type ReactElement, useMemo } from 'react'
import type { Supersteps } from './supersteps.ts'

interface ScrubberProps {
  readonly steps: readonly StepSkeleton[]
  readonly rounds: Supersteps
  readonly at: number | undefined
  readonly onAt: (at: number | undefined) => void
}

/** Bars that fit on a screen; longer runs share them. */
const MOST_BARS = 240

interface Bar {
  readonly ms: number
  readonly failed: boolean
  readonly steps: number
}

/** The whole run as a strip of activity; drag on it, and all of the page shows the run as it stood there. */
export function Scrubber({ steps, rounds, at, onAt }: ScrubberProps): ReactElement | null {
  const { all } = rounds
  const bars = useMemo(() => toBars(steps, all), [steps, all])
  if (all.length < 2) return null
  const most = Math.max(...bars.map(({ ms }) => Math.log1p(ms)), 1)
  const place =
    at === undefined
      ? all.length - 1
      : Math.max(
          0,
          all.findLastIndex((each) => each <= at),
        )
  const share = (place + 1) / all.length

  function take(event: PointerEvent<HTMLElement>): void {
    const { left, width } = event.currentTarget.getBoundingClientRect()
    const index = Math.floor(((event.clientX - left) / width) * all.length)
    const next = all[Math.max(0, Math.min(all.length - 1, index))]
    onAt(next === all.at(-1) ? undefined : next)
  }
  return (
    <div className="scrub">
      <div
        className="scrub-track"
        role="slider"
        tabIndex={0}
        aria-label="Superstep"
        aria-valuemin={all[0]}
        aria-valuemax={all.at(-1)}
        aria-valuenow={at ?? all.at(-1)}
        aria-valuetext={`superstep ${at ?? all.at(-1)} of ${all.at(-1)}`}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId)
          take(event)
        }}
        onPointerMove={(event) => event.currentTarget.hasPointerCapture(event.pointerId) && take(event)}
      >
        {bars.map(({ ms, failed, steps: count }, index) => (
          <span
            key={index}
            className="scrub-slot"
            data-failed={failed}
            data-past={(index + 1) / bars.length <= share + 1e-9}
            title={`${count === 1 ? '1 step' : `${count} steps`}, ${formatDuration(ms)}`}
            style={{ '--bar': `${(Math.log1p(ms) / most) * 100}%` } as CSSProperties}
          />
        ))}
        <span
          className="scrub-here"
          data-end={at === undefined}
          style={{ insetInlineStart: `${share * 100}%` }}
        />
      </div>
      {at !== undefined && (
        <button type="button" className="button" onClick={() => onAt(undefined)}>
          To the end
        </button>
      )}
    </div>
  )
}

function toBars(steps: readonly StepSkeleton[], all: readonly number[]): Bar[] {
  const count = Math.min(MOST_BARS, all.length)
  const bars = Array.from({ length: count }, () => ({ ms: 0, failed: false, steps: 0 }))
  const places = new Map(all.map((superstep, index) => [superstep, Math.floor((index / all.length) * count)]))
  for (const { superstep, durationMs, status } of steps) {
    const bar = bars[places.get(superstep) ?? 0]
    if (!bar) continue
    bar.ms += durationMs ?? 0
    bar.failed ||= status === 'failed'
    bar.steps++
  }
  return bars
}

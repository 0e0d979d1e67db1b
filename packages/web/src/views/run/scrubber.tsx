import { formatDuration } from '@clew/react'
import { type CSSProperties, memo, type PointerEvent, type ReactElement } from 'react'
import type { Bar, Supersteps } from './supersteps.ts'

interface ScrubberProps {
  readonly rounds: Supersteps
  readonly at: number | undefined
  readonly onAt: (at: number | undefined) => void
}

/** The whole run as a strip of activity; drag on it, and all of the page shows the run as it stood there. */
export function Scrubber({ rounds, at, onAt }: ScrubberProps): ReactElement | null {
  const { all, bars } = rounds
  if (all.length < 2) return null
  const place = at === undefined ? all.length - 1 : Math.max(0, rounds.placeOf(at))
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
        <Bars bars={bars} past={Math.floor((share + 1e-9) * bars.length)} />
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

interface BarsProps {
  readonly bars: readonly Bar[]
  /** How many of them lie before the place that is shown. */
  readonly past: number
}

const Bars = memo(function Bars({ bars, past }: BarsProps): ReactElement {
  const most = Math.max(...bars.map(({ ms }) => Math.log1p(ms)), 1)
  return (
    <>
      {bars.map(({ ms, failed, steps }, index) => (
        <span
          key={index}
          className="scrub-slot"
          data-failed={failed}
          data-past={index < past}
          title={`${steps === 1 ? '1 step' : `${steps} steps`}, ${formatDuration(ms)}`}
          style={{ '--bar': `${(Math.log1p(ms) / most) * 100}%` } as CSSProperties}
        />
      ))}
    </>
  )
})

import { formatDuration } from '@clew/react'
import { Pause, Play } from 'lucide-react'
import {
  type CSSProperties,
  memo,
  type PointerEvent,
  type ReactElement,
  useEffect,
  useEffectEvent,
  useState,
} from 'react'
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
      <Player rounds={rounds} at={at} onAt={onAt} />
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

const SPEEDS = [1, 5, 10, 50] as const
/** No superstep is passed faster than it can be seen, and no wait is sat out. */
const MIN_STAY_MS = 120
const MAX_STAY_MS = 1500

/** Goes through the run by itself, superstep by superstep; long waits are skipped. */
function Player({ rounds, at, onAt }: ScrubberProps): ReactElement {
  const { all, bars } = rounds
  const [isPlaying, setPlaying] = useState(false)
  const [speed, setSpeed] = useState<number>(1)
  const place = at === undefined ? all.length - 1 : Math.max(0, rounds.placeOf(at))
  const isOver = place >= all.length - 1
  const advance = useEffectEvent(() => {
    const next = all[place + 1]
    onAt(next === all.at(-1) ? undefined : next)
    if (next === undefined || next === all.at(-1)) setPlaying(false)
  })
  const ms = bars[Math.floor((place / all.length) * bars.length)]?.ms ?? 0
  useEffect(() => {
    if (!isPlaying) return undefined
    const stay = Math.min(MAX_STAY_MS, Math.max(MIN_STAY_MS, ms / speed))
    const timer = setTimeout(advance, stay)
    return () => clearTimeout(timer)
  }, [isPlaying, place, speed, ms])
  function onPlay(): void {
    if (!isPlaying && isOver) onAt(all[0])
    setPlaying(!isPlaying)
  }
  return (
    <div className="scrub-player">
      <button
        type="button"
        className="icon-button"
        aria-label={isPlaying ? 'Pause' : 'Play'}
        onClick={onPlay}
      >
        {isPlaying ? <Pause size={14} aria-hidden="true" /> : <Play size={14} aria-hidden="true" />}
      </button>
      <button
        type="button"
        className="link clew-mono"
        aria-label={`Speed: ${speed} times`}
        onClick={() => setSpeed(SPEEDS[(SPEEDS.indexOf(speed as 1) + 1) % SPEEDS.length] ?? 1)}
      >
        {speed}×
      </button>
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

import type { ReactElement } from 'react'
import type { Supersteps } from './supersteps.ts'

interface SinceSuperstepProps {
  readonly rounds: Supersteps
  /** The superstep that is looked at: only those before it can be compared with it. */
  readonly shown: number
  readonly since: number
  readonly onPick: (since: number) => void
}

/** Limit of the menu: with more supersteps, the user types the number. */
const MAX_ROWS = 300

/** Which superstep to compare with; 0 is the input of the run. */
export function SinceSuperstep({ rounds, shown, since, onPick }: SinceSuperstepProps): ReactElement {
  const before = rounds.all.slice(0, rounds.placeOf(shown - 1) + 1)
  const named = {
    className: 'input state-since',
    'aria-label': 'Diff to superstep',
    value: since,
  }
  if (before.length > MAX_ROWS)
    return (
      <input
        {...named}
        type="number"
        min={0}
        max={before.at(-1)}
        onChange={(event) => {
          const wanted = Math.floor(event.target.valueAsNumber)
          if (wanted >= 0) onPick(wanted === 0 ? 0 : (before[rounds.placeOf(wanted)] ?? 0))
        }}
      />
    )
  return (
    <select {...named} onChange={(event) => onPick(Number(event.target.value))}>
      {before.map((each) => (
        <option key={each} value={each}>
          superstep {each}
        </option>
      ))}
      <option value={0}>its input</option>
    </select>
  )
}

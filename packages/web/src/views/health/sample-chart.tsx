import { formatCount } from '@clew/react'
import { type ReactElement, useMemo } from 'react'
import { Chart } from './chart.tsx'
import type { Sample } from './use-samples.ts'

interface SampleChartProps {
  readonly title: string
  readonly unit: string
  readonly samples: readonly Sample[]
  readonly of: Exclude<keyof Sample, 'atMs'>
}

/** One of the measured numbers over the last minutes. */
export function SampleChart({ title, unit, samples, of }: SampleChartProps): ReactElement {
  const points = useMemo(
    () => samples.map((sample) => ({ atMs: sample.atMs, value: sample[of] })),
    [samples, of],
  )
  const last = points.at(-1)?.value
  const shown = last === undefined ? '–' : formatCount(Math.round(last * 10) / 10)
  return <Chart title={title} shown={shown} unit={unit} points={points} />
}

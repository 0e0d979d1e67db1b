import { formatCount } from '@clew/react'
import { type ReactElement, useEffect, useRef } from 'react'
import UPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import type { Sample } from './use-samples.ts'

interface ChartProps {
  readonly title: string
  readonly unit: string
  readonly samples: readonly Sample[]
  readonly of: Exclude<keyof Sample, 'atMs'>
}

const HEIGHT = 96

/** One number over the last minutes; the number itself stands beside its name. */
export function Chart({ title, unit, samples, of }: ChartProps): ReactElement {
  const box = useRef<HTMLDivElement>(null)
  const plot = useRef<UPlot>(undefined)
  useEffect(() => {
    const place = box.current
    if (!place) return undefined
    const style = getComputedStyle(place)
    const drawn = new UPlot(
      {
        width: place.clientWidth,
        height: HEIGHT,
        legend: { show: false },
        cursor: { y: false },
        scales: { y: { range: (_, __, most) => [0, Math.max(1, most * 1.1)] } },
        axes: [
          { show: false },
          {
            size: 36,
            stroke: () => style.color,
            grid: { stroke: () => style.borderTopColor, width: 1 },
            ticks: { show: false },
            splits: (_, __, ___, most) => [0, most / 2, most],
            values: (_, all) =>
              all.map((value) => (value === 0 ? '' : formatCount(Math.round(value * 10) / 10))),
          },
        ],
        series: [{}, { stroke: () => style.outlineColor, width: 1.5, points: { show: false } }],
      },
      [[], []],
      place,
    )
    plot.current = drawn
    const seen = new ResizeObserver(() => drawn.setSize({ width: place.clientWidth, height: HEIGHT }))
    seen.observe(place)
    return () => {
      seen.disconnect()
      drawn.destroy()
    }
  }, [])
  useEffect(() => {
    plot.current?.setData([samples.map(({ atMs }) => atMs / 1000), samples.map((sample) => sample[of])])
  }, [samples, of])
  const last = samples.at(-1)?.[of]
  return (
    <figure className="chart">
      <figcaption>
        {title}{' '}
        <b className="clew-mono">{last === undefined ? '–' : formatCount(Math.round(last * 10) / 10)}</b>{' '}
        <span className="quiet">{unit}</span>
      </figcaption>
      <div ref={box} className="chart-box" aria-hidden="true" />
    </figure>
  )
}

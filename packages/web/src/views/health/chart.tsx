import { formatCount } from '@clew/react'
import { type ReactElement, useEffect, useRef } from 'react'
import UPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'

export interface Point {
  readonly atMs: number
  readonly value: number
}

interface ChartProps {
  readonly title: string
  /** The number that counts, beside its name. */
  readonly shown: string
  readonly unit: string
  readonly points: readonly Point[]
  /** A bar for each, rather than a line through them. */
  readonly isBars?: boolean | undefined
}

const HEIGHT = 96

const rounded = (value: number): number => (value < 10 ? Math.round(value * 10) / 10 : Math.round(value))

/** One number over time; what it is now stands beside its name. */
export function Chart({ title, shown, unit, points, isBars = false }: ChartProps): ReactElement {
  const box = useRef<HTMLDivElement>(null)
  const plot = useRef<UPlot>(undefined)
  useEffect(() => {
    const place = box.current
    if (!place) return undefined
    const style = getComputedStyle(place)
    const bars = UPlot.paths.bars?.({ size: [0.7, 24], align: 1 })
    const drawn = new UPlot(
      {
        width: place.clientWidth,
        height: HEIGHT,
        legend: { show: false },
        cursor: isBars ? { show: false } : { y: false },
        scales: { y: { range: (_, __, most) => [0, Math.max(1, most * 1.1)] } },
        axes: [
          { show: false },
          {
            size: 36,
            stroke: () => style.color,
            grid: { stroke: () => style.borderTopColor, width: 1 },
            ticks: { show: false },
            splits: (_, __, ___, most) => [0, most / 2, most],
            values: (_, all) => all.map((value) => (value === 0 ? '' : formatCount(rounded(value)))),
          },
        ],
        series: [
          {},
          {
            stroke: () => style.outlineColor,
            width: isBars ? 0 : 1.5,
            points: { show: false },
            ...(isBars && bars && { paths: bars, fill: () => style.color }),
          },
        ],
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
  }, [isBars])
  useEffect(() => {
    plot.current?.setData([points.map(({ atMs }) => atMs / 1000), points.map(({ value }) => value)])
  }, [points, isBars])
  return (
    <figure className="chart">
      <figcaption>
        {title} <b className="clew-mono">{shown}</b> <span className="quiet">{unit}</span>
      </figcaption>
      <div ref={box} className="chart-box" aria-hidden="true" />
    </figure>
  )
}

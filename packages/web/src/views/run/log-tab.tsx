import type { StepSkeleton } from '@clew/ledger'
import { formatDuration, KindGlyph } from '@clew/react'
import { type ReactElement, useMemo } from 'react'
import type { TabProps } from './run-page.tsx'
import { stepKey } from './step-key.ts'

interface NodeStats {
  readonly name: string
  readonly kind: string
  readonly first: StepSkeleton
  readonly count: number
  readonly totalMs: number
  readonly p50Ms: number
  readonly p95Ms: number
  readonly errors: number
  readonly cached: number
}

/** R1: what took how long, name by name. */
export function LogTab({ view, choose }: TabProps): ReactElement {
  const stats = useMemo(() => nodeStats(view.steps), [view.steps])
  if (stats.length === 0) return <p className="tab-empty">This run has no steps.</p>
  const most = Math.max(...stats.map(({ totalMs }) => totalMs), 1)
  return (
    <div className="scroll tab-page">
      <table className="table">
        <thead>
          <tr>
            <th>Step</th>
            <th>Count</th>
            <th>Total</th>
            <th>Average</th>
            <th>p50</th>
            <th>p95</th>
            <th>Errors</th>
            <th>Cached</th>
            <th className="table-wide">
              <span className="clew-hidden">Share</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {stats.map(({ name, kind, first, count, totalMs, p50Ms, p95Ms, errors, cached }) => (
            <tr key={name}>
              <th scope="row">
                <KindGlyph kind={kind} />{' '}
                <button
                  type="button"
                  className="link"
                  onClick={() => choose({ step: stepKey(first), event: undefined })}
                >
                  {name}
                </button>
              </th>
              <td>{count.toLocaleString('en')}</td>
              <td>{formatDuration(totalMs)}</td>
              <td>{formatDuration(totalMs / count)}</td>
              <td>{formatDuration(p50Ms)}</td>
              <td>{formatDuration(p95Ms)}</td>
              <td className={errors > 0 ? 'bad' : 'quiet'}>{errors}</td>
              <td className="quiet">{cached}</td>
              <td className="table-wide">
                <span className="share" style={{ width: `${(totalMs / most) * 100}%` }} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function nodeStats(steps: readonly StepSkeleton[]): NodeStats[] {
  const groups = Map.groupBy(steps, ({ nodeName }) => nodeName)
  return [...groups].map(([name, those]) => {
    const times = Float64Array.from(those, ({ durationMs }) => durationMs ?? 0).sort()
    const at = (share: number): number =>
      times[Math.min(times.length - 1, Math.floor(share * times.length))] ?? 0
    const first = those[0] as StepSkeleton
    return {
      name,
      kind: first.kind,
      first,
      count: those.length,
      totalMs: times.reduce((sum, ms) => sum + ms, 0),
      p50Ms: at(0.5),
      p95Ms: at(0.95),
      errors: those.filter(({ status }) => status === 'failed').length,
      cached: those.filter((step) => step.cached).length,
    }
  })
}

import { formatDuration, KindGlyph, namedKind } from '@clew/react'
import { type ReactElement, useMemo } from 'react'
import { NumberTable } from '../../parts/number-table.tsx'
import { nodeStats } from './node-stats.ts'
import type { TabProps } from './run-page.tsx'
import { stepKey } from './step-key.ts'

const COLUMNS = ['Count', 'Total', 'Average', 'p50', 'p95', 'Errors', 'Cached']

/** R1: what took how long, name by name. */
export function LogTab({ view, choose }: TabProps): ReactElement {
  const stats = useMemo(() => nodeStats(view.steps), [view.steps])
  if (stats.length === 0) return <p className="tab-empty">This run has no steps.</p>
  const most = Math.max(...stats.map(({ totalMs }) => totalMs), 1)
  return (
    <div className="scroll tab-page">
      <NumberTable
        label="Time by node"
        first="Step"
        columns={COLUMNS}
        rows={stats.map(({ name, kind, first, count, totalMs, p50Ms, p95Ms, errors, cached }) => ({
          key: name,
          name: (
            <>
              <KindGlyph kind={namedKind(kind, name)} />{' '}
              <button
                type="button"
                className="link"
                onClick={() => choose({ step: stepKey(first), event: undefined })}
              >
                {name}
              </button>
            </>
          ),
          numbers: [
            count.toLocaleString('en'),
            formatDuration(totalMs),
            formatDuration(totalMs / count),
            formatDuration(p50Ms),
            formatDuration(p95Ms),
            <Count key="errors" count={errors} isBad />,
            <Count key="cached" count={cached} />,
          ],
          share: totalMs / most,
        }))}
      />
    </div>
  )
}

/** None of them is the usual case, and no news. */
const Count = ({
  count,
  isBad = false,
}: {
  readonly count: number
  readonly isBad?: boolean
}): ReactElement => (
  <span className={count === 0 ? 'quiet' : isBad ? 'bad' : undefined}>{count.toLocaleString('en')}</span>
)

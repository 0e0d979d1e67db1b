import type { RunSummary } from '@clew/ledger'
import { formatCount, formatMoney, formatTook, plural } from '@clew/react'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useVirtualizer } from '@tanstack/react-virtual'
import { GitCompareArrows } from 'lucide-react'
import { type ReactElement, useEffect, useRef, useState } from 'react'
import { useShortcut } from '../../frame/shortcuts.ts'
import { TopBar } from '../../frame/top-bar.tsx'
import { ErrorNote } from '../../parts/note.tsx'
import { FilterBar } from './filter-bar.tsx'
import { NoRuns } from './no-runs.tsx'
import { sortedBy, sortOf } from './run-query.ts'
import { RunRow } from './run-row.tsx'
import { useRuns } from './use-runs.ts'

const ROW = 36
const ROW_ON_PHONES = 60
const isPhone = (): boolean => matchMedia('(max-width: 640px)').matches

export function RunsPage(): ReactElement {
  const { q } = useSearch({ from: '/runs' })
  const navigate = useNavigate({ from: '/runs' })
  const runs = useRuns(q)
  const { hits } = runs
  const sort = sortOf(q)
  const [at, setAt] = useState(0)
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const scroll = useRef<HTMLDivElement>(null)
  const rows = useVirtualizer({
    count: hits.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => (isPhone() ? ROW_ON_PHONES : ROW),
    overscan: 12,
    getItemKey: (index) => hits[index]?.run.runId ?? index,
  })
  const last = rows.getVirtualItems().at(-1)?.index ?? 0
  useEffect(() => {
    if (last >= hits.length - 20) runs.readMore()
  })

  function toggle(runId: string): void {
    const next = new Set(selected)
    if (!next.delete(runId)) next.add(runId)
    setSelected(next)
  }
  function move(by: number): void {
    const next = Math.max(0, Math.min(hits.length - 1, at + by))
    setAt(next)
    rows.scrollToIndex(next)
  }
  function compare(): void {
    const [a, b] = [...selected].slice(-2)
    if (a !== undefined && b !== undefined) void navigate({ to: '/compare', search: { a, b } })
  }
  const here = hits[at]?.run.runId
  useShortcut('down', () => move(1))
  useShortcut('up', () => move(-1))
  useShortcut('open', () => {
    if (here !== undefined) void navigate({ to: '/runs/$runId', params: { runId: here }, search: {} })
  })
  useShortcut('select', () => here !== undefined && toggle(here))
  useShortcut('compare', compare)

  const agents = [...new Set(hits.map(({ run }) => run.agent).filter((agent) => agent !== null))]
  return (
    <>
      <TopBar title="Runs">
        <h1 className="crumb-here">Runs</h1>
        <FilterBar
          query={q ?? ''}
          agents={agents}
          onChange={(next) => void navigate({ search: next === '' ? {} : { q: next } })}
        />
      </TopBar>
      {runs.error !== null && runs.error !== undefined && <ErrorNote error={runs.error} />}
      {runs.fresh > 0 && (
        <button type="button" className="fresh" onClick={runs.showFresh}>
          {runs.fresh} new
        </button>
      )}
      {runs.lag > 0 && (
        <button type="button" className="fresh" onClick={runs.showFresh}>
          {plural(runs.lag, 'event')} not searched yet: search again
        </button>
      )}
      {selected.size > 0 && (
        <div className="selection" role="status">
          {plural(selected.size, 'run')} selected
          <Totals runs={hits.filter(({ run }) => selected.has(run.runId)).map(({ run }) => run)} />
          <button type="button" className="button" disabled={selected.size < 2} onClick={compare}>
            <GitCompareArrows size={14} aria-hidden="true" /> Compare
          </button>
          <button type="button" className="button" onClick={() => setSelected(new Set())}>
            Let go
          </button>
        </div>
      )}
      {hits.length === 0 && !runs.isLoading && !runs.error ? (
        <NoRuns isFiltered={q !== undefined} />
      ) : (
        <div className="runs" role="table" aria-label="Runs" aria-rowcount={hits.length}>
          <div role="rowgroup">
            <div className="run-row run-head" role="row">
              {['', 'Status', 'Agent', 'Asked', 'Activity', 'Steps', 'Tokens', 'Cost', 'Took', 'Started'].map(
                (name, index) => (
                  <span
                    key={name}
                    role="columnheader"
                    className={HEADS[index]}
                    {...(SORTS[name] !== undefined && { 'aria-sort': directionOf(sort, SORTS[name]) })}
                  >
                    {name === '' ? (
                      <span className="clew-hidden">Selected</span>
                    ) : SORTS[name] === undefined ? (
                      name
                    ) : (
                      <button
                        type="button"
                        className="sort"
                        title={`Sort by ${name.toLowerCase()}`}
                        onClick={() => void navigate({ search: { q: sortedBy(q, SORTS[name] ?? '') } })}
                      >
                        {name}
                        {ARROWS[directionOf(sort, SORTS[name])]}
                      </button>
                    )}
                  </span>
                ),
              )}
            </div>
          </div>
          <div className="runs-scroll" ref={scroll} role="rowgroup">
            <div style={{ height: rows.getTotalSize(), position: 'relative' }} role="presentation">
              {rows.getVirtualItems().map((row) => {
                const hit = hits[row.index]
                if (!hit) return null
                return (
                  <div
                    key={row.key}
                    role="presentation"
                    className="runs-place"
                    style={{ height: row.size, transform: `translateY(${row.start}px)` }}
                  >
                    <RunRow
                      hit={hit}
                      isHere={row.index === at}
                      isSelected={selected.has(hit.run.runId)}
                      onSelect={toggle}
                    />
                  </div>
                )
              })}
            </div>
          </div>
        </div>
      )}
    </>
  )
}

/** Columns by which the server sorts. */
const SORTS: Readonly<Record<string, string>> = {
  Steps: 'steps',
  Tokens: 'tokens',
  Cost: 'cost',
  Took: 'duration',
  Started: 'started',
}
const ARROWS = { ascending: ' ↑', descending: ' ↓', none: '' } as const

const directionOf = (sort: string | undefined, column: string): keyof typeof ARROWS =>
  sort === column ? 'ascending' : sort === `-${column}` ? 'descending' : 'none'

/** Sums over the selected runs; a sum to which an unknown price belongs says so. */
function Totals({ runs }: { readonly runs: readonly RunSummary[] }): ReactElement {
  const sum = (of: (run: RunSummary) => number | null): number =>
    runs.reduce((total, run) => total + (of(run) ?? 0), 0)
  const isPriced = runs.some(({ cost }) => cost !== null)
  const isComplete = runs.every(({ unpricedCalls }) => unpricedCalls === 0)
  return (
    <span className="quiet">
      {plural(
        sum(({ steps }) => steps),
        'step',
      )}
      {' · '}
      {formatCount(sum(({ inputTokens, outputTokens }) => inputTokens + outputTokens))} tok ·{' '}
      {isPriced ? `${formatMoney(sum(({ cost }) => cost))}${isComplete ? '' : '+'}` : '–'} ·{' '}
      {formatTook(sum(({ durationMs }) => durationMs))}
    </span>
  )
}

const HEADS = [
  'run-check',
  'run-status',
  'run-agent',
  'run-words',
  'run-spark',
  'run-number',
  'run-number',
  'run-number',
  'run-number',
  'run-number run-ago',
]

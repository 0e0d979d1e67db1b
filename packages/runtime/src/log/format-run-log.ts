import { formatColumns, type TextColumn } from './format-columns.ts'
import type { NodeRecord } from './node-record.ts'
import type { NodeStats } from './node-stats.ts'
import { cut, formatMs, plural, printable } from './printable-text.ts'
import type { RunLog } from './run-log.ts'

/** Limit of printed lines; `steps` has them all. */
const MAX_LINES = 200
const MAX_ERRORS = 10
const NAME_COLUMNS = 32

const orDash = (ms: number | null): string => (ms === null ? '–' : formatMs(ms))
const marks = ({ status, cached, restored }: NodeRecord): string =>
  cached ? `${status}, cached` : restored === true ? `${status}, restored` : status

const STEP_COLUMNS: readonly TextColumn<NodeRecord>[] = [
  { title: 'superstep', align: 'right', cell: (step) => String(step.superstep) },
  { title: 'node', most: NAME_COLUMNS, cell: (step) => step.nodeName },
  { title: 'status', cell: marks },
  { title: 'duration', align: 'right', cell: (step) => formatMs(step.durationMs) },
  {
    title: 'decision',
    cell: ({ decision }) => (typeof decision === 'string' ? decision : (decision?.join(', ') ?? '')),
  },
]

type NamedStats = readonly [name: string, stats: NodeStats]

const STATS_COLUMNS: readonly TextColumn<NamedStats>[] = [
  { title: 'node', most: NAME_COLUMNS, cell: ([name]) => name },
  { title: 'count', align: 'right', cell: ([, stats]) => String(stats.count) },
  { title: 'total', align: 'right', cell: ([, stats]) => formatMs(stats.totalMs) },
  { title: 'average', align: 'right', cell: ([, stats]) => orDash(stats.averageMs) },
  { title: 'p50', align: 'right', cell: ([, stats]) => orDash(stats.p50Ms) },
  { title: 'p95', align: 'right', cell: ([, stats]) => orDash(stats.p95Ms) },
  { title: 'errors', align: 'right', cell: ([, stats]) => (stats.errors === 0 ? '' : String(stats.errors)) },
  { title: 'cached', align: 'right', cell: ([, stats]) => (stats.cached === 0 ? '' : String(stats.cached)) },
]

export function formatSummary(log: RunLog, stats: ReadonlyMap<string, NodeStats>): string {
  const cached = log.steps.reduce((sum, step) => sum + (step.cached ? 1 : 0), 0)
  const parts = [
    `${plural(log.steps.length, 'step')} of ${plural(stats.size, 'node')} in ${formatMs(log.totalDurationMs)}`,
    ...(log.errors.length > 0 ? [plural(log.errors.length, 'error')] : []),
    ...(log.restored > 0 ? [`${plural(log.restored, 'step')} restored`] : []),
    ...(cached > 0 ? [`${cached.toLocaleString('en-US')} cached`] : []),
  ]
  return `${cut(printable(log.graphName), NAME_COLUMNS)}: ${parts.join(', ')} (run ${cut(printable(log.runId), 64)})`
}

/** Each node once: its steps, in order. Any node again: statistics, the most time first. Errors last. */
export function formatRunLog(log: RunLog, stats: ReadonlyMap<string, NodeStats>): string {
  const lines = [formatSummary(log, stats)]
  if (stats.size === log.steps.length) lines.push(...limited(STEP_COLUMNS, log.steps, 'step'))
  else
    lines.push(
      ...limited(
        STATS_COLUMNS,
        [...stats].sort((a, b) => b[1].totalMs - a[1].totalMs),
        'node',
      ),
    )
  for (const { nodeName, superstep, error } of log.errors.slice(0, MAX_ERRORS)) {
    const what = [error?.name, error?.code, error?.message].filter((part) => typeof part === 'string')
    lines.push(
      `error in ${cut(printable(nodeName), NAME_COLUMNS)}, superstep ${superstep}: ${cut(printable(what.join(' ')), 160)}`,
    )
  }
  if (log.errors.length > MAX_ERRORS)
    lines.push(`… and ${plural(log.errors.length - MAX_ERRORS, 'error')} more`)
  return lines.join('\n')
}

function limited<Row>(columns: readonly TextColumn<Row>[], rows: readonly Row[], noun: string): string[] {
  if (rows.length === 0) return []
  const lines = formatColumns(columns, rows.slice(0, MAX_LINES))
  return rows.length > MAX_LINES ? [...lines, `… and ${plural(rows.length - MAX_LINES, noun)} more`] : lines
}

import type { Pause, RunError, RunStatus } from '@clew/ledger'
import { formatColumns, type TextColumn } from '../log/format-columns.ts'
import { formatMs, plural } from '../log/printable-text.ts'
import type { RunLog, RunLogData } from '../log/run-log.ts'
import { aggregateStatus, type ItemStatus } from './aggregate-status.ts'

/** Result of one item of a map. */
export interface MapItem<Output = unknown> {
  readonly index: number
  readonly status: ItemStatus
  /** Set when the item completed. */
  readonly output: Output | undefined
  readonly error: RunError | null
  readonly pauses: readonly Pause[]
  /** Null for an item that was not started. */
  readonly runId: string | null
  readonly log: RunLog | null
  /** The item had completed with the same input and was not run again. */
  readonly restored: boolean
  /** Placeholders of redacted secrets in its output, or that its code was given (P2). */
  readonly warnings: readonly string[]
}

/** R8: the outcomes of a map, in the order of its items. */
export interface MapResult<Output = unknown> {
  /** The run that holds the runs of the items; null where nothing was recorded. */
  readonly runId: string | null
  readonly status: RunStatus
  readonly items: readonly MapItem<Output>[]
  /** Average over the items that really ran and completed: not restored, not failed, not all cached. Null if none. */
  readonly averageDurationMs: number | null
  /** Output of each item; undefined if it has none. */
  outputs(): (Output | undefined)[]
  /** One field of every output; undefined where it is missing. */
  column<Name extends FieldOf<Output>>(name: Name): (Output[Name & keyof Output] | undefined)[]
  errors(): MapItem<Output>[]
  /** One line. */
  summary(): string
  table(): string
  toString(): string
  toJSON(): MapResultData<Output>
}

type FieldOf<Output> = unknown extends Output ? string : Extract<keyof Output, string>

export interface MapResultData<Output = unknown> {
  readonly runId: string | null
  readonly status: RunStatus
  readonly averageDurationMs: number | null
  readonly items: readonly (Omit<MapItem<Output>, 'log'> & { readonly log: RunLogData | null })[]
}

const MAX_LINES = 50
const INSPECT = Symbol.for('nodejs.util.inspect.custom')

export function createMapResult<Output>(
  items: readonly MapItem<Output>[],
  runId: string | null = null,
): MapResult<Output> {
  const status = aggregateStatus(items.map((item) => item.status))
  const averageDurationMs = averageOf(items)

  function summary(): string {
    const counts = new Map<ItemStatus, number>()
    for (const item of items) counts.set(item.status, (counts.get(item.status) ?? 0) + 1)
    const restored = items.filter((item) => item.restored).length
    const parts = [...counts].map(([name, count]) => `${count.toLocaleString('en-US')} ${name}`)
    if (restored > 0) parts.push(`${restored.toLocaleString('en-US')} restored`)
    if (averageDurationMs !== null) parts.push(`${formatMs(averageDurationMs)} on average`)
    return [`${status}: ${plural(items.length, 'item')}`, ...parts].join(', ')
  }

  const result: MapResult<Output> = {
    runId,
    status,
    items,
    averageDurationMs,
    outputs: () => items.map((item) => item.output),
    column: (name) => items.map(({ output }) => fieldOf(output, name)),
    errors: () => items.filter((item) => item.status === 'failed'),
    summary,
    table: () => formatItems(items, summary()),
    toString: () => formatItems(items, summary()),
    toJSON: () => ({
      runId,
      status,
      averageDurationMs,
      items: items.map((item) => ({ ...item, log: item.log?.toJSON() ?? null })),
    }),
  }
  Object.defineProperty(result, INSPECT, { value: result.table })
  return result
}

function fieldOf<Output, Name extends string>(
  output: Output | undefined,
  name: Name,
): Output[Name & keyof Output] | undefined {
  // Own fields only: a column called `constructor` is missing like any other.
  if (typeof output !== 'object' || output === null || !Object.hasOwn(output, name)) return undefined
  return output[name as Name & keyof Output]
}

function averageOf(items: readonly MapItem[]): number | null {
  let total = 0
  let count = 0
  for (const { status, restored, log } of items) {
    if (!log || restored || status === 'failed' || status === 'unstarted' || isAllCached(log)) continue
    total += log.totalDurationMs
    count++
  }
  return count === 0 ? null : total / count
}

const isAllCached = ({ steps }: RunLog): boolean =>
  steps.length > 0 && steps.every((step) => step.cached || step.restored === true)

const COLUMNS: readonly TextColumn<MapItem>[] = [
  { title: 'item', align: 'right', cell: (item) => String(item.index) },
  { title: 'status', cell: (item) => (item.restored ? `${item.status}, restored` : item.status) },
  {
    title: 'duration',
    align: 'right',
    cell: ({ log, restored }) => (log && !restored ? formatMs(log.totalDurationMs) : ''),
  },
  { title: 'steps', align: 'right', cell: ({ log }) => (log ? String(log.steps.length) : '') },
  { title: 'error', most: 60, cell: ({ error }) => [error?.code, error?.message].filter(Boolean).join(' ') },
]

/** Few items: all of them. Many: those that did not complete, since the others need no reading. */
function formatItems(items: readonly MapItem[], summary: string): string {
  if (items.length === 0) return summary
  const told = items.length <= MAX_LINES ? items : items.filter((item) => item.status !== 'completed')
  const shown = told.slice(0, MAX_LINES)
  const lines = shown.length > 0 ? formatColumns(COLUMNS, shown) : []
  const left = items.length - shown.length
  return [summary, ...lines, ...(left > 0 ? [`… and ${plural(left, 'item')} more`] : [])].join('\n')
}

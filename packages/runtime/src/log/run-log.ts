import { formatRunLog, formatSummary } from './format-run-log.ts'
import type { NodeRecord } from './node-record.ts'
import { computeStats, type NodeStats } from './node-stats.ts'

/** Log of a run's steps, in memory, part of every result, with or without a store (R1). */
export interface RunLog {
  readonly graphName: string
  readonly runId: string
  /** Duration since this start or resume; up to now while the run works. */
  readonly totalDurationMs: number
  readonly steps: readonly NodeRecord[]
  /** Number of restored steps, which are not in `steps`. */
  readonly restored: number
  /** Every try that failed, those that were tried again included. */
  readonly errors: readonly NodeRecord[]
  /** Time spent by node, in milliseconds. */
  readonly timing: Readonly<Record<string, number>>
  readonly nodeStats: Readonly<Record<string, NodeStats>>
  /** One line. */
  summary(): string
  /** A step per line when each node ran once, otherwise statistics by node. */
  table(): string
  toString(): string
  toJSON(): RunLogData
}

export type RunLogData = Pick<
  RunLog,
  'graphName' | 'runId' | 'totalDurationMs' | 'steps' | 'restored' | 'errors' | 'timing' | 'nodeStats'
>

export interface RunLogBuilder {
  readonly log: RunLog
  push(record: NodeRecord): void
  /** Sets the number of restored steps. */
  giveBack(steps: number): void
  /** Fixes the duration: `at` on the clock of `now`. */
  end(at?: number): void
}

export interface RunLogOptions {
  readonly graphName: string
  readonly runId: string
  /** Milliseconds on a clock that never goes back. */
  readonly now: () => number
}

const INSPECT = Symbol.for('nodejs.util.inspect.custom')

/** The log begins to count its time here. A push keeps the record as it is; everything else is made when asked for. */
export function createRunLog({ graphName, runId, now }: RunLogOptions): RunLogBuilder {
  const steps: NodeRecord[] = []
  const startedAt = now()
  let restored = 0
  let endedAt: number | undefined
  let made: { readonly count: number; readonly stats: Map<string, NodeStats> } | undefined

  function stats(): Map<string, NodeStats> {
    if (made?.count !== steps.length) made = { count: steps.length, stats: computeStats(steps) }
    return made.stats
  }

  const log: RunLog = {
    graphName,
    runId,
    get totalDurationMs() {
      return Math.max(0, (endedAt ?? now()) - startedAt)
    },
    steps,
    get restored() {
      return restored
    },
    get errors() {
      return steps.filter((step) => step.status === 'failed')
    },
    get timing() {
      return byName(stats(), ({ totalMs }) => totalMs)
    },
    get nodeStats() {
      return byName(stats(), (each) => each)
    },
    summary: () => formatSummary(log, stats()),
    table: () => formatRunLog(log, stats()),
    toString: () => formatRunLog(log, stats()),
    toJSON() {
      const { totalDurationMs, errors, timing, nodeStats } = log
      return { graphName, runId, totalDurationMs, steps: [...steps], restored, errors, timing, nodeStats }
    },
  }
  // Not enumerable, so that a spread or a comparison of logs sees data only.
  Object.defineProperty(log, INSPECT, { value: log.table })

  return {
    log,
    push(record) {
      steps.push(record)
    },
    giveBack(count) {
      restored = count
    },
    end(at = now()) {
      endedAt = at
    },
  }
}

function byName<T>(stats: ReadonlyMap<string, NodeStats>, pick: (stats: NodeStats) => T): Record<string, T> {
  // `fromEntries` defines its keys, so a node called `__proto__` is a name like any other.
  return Object.fromEntries([...stats].map(([name, each]) => [name, pick(each)]))
}

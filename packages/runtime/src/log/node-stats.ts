import type { NodeRecord } from './node-record.ts'

/** Statistics of one node in a run. Durations leave out cached and restored results. */
export interface NodeStats {
  /** Attempts with any outcome. */
  readonly count: number
  /** Time spent in this run. */
  readonly totalMs: number
  /** Null when every result was cached or restored: then nothing was measured. */
  readonly averageMs: number | null
  readonly p50Ms: number | null
  readonly p95Ms: number | null
  /** Tries that failed, those that were tried again included. */
  readonly errors: number
  readonly cached: number
}

interface Tally {
  count: number
  totalMs: number
  errors: number
  cached: number
  readonly worked: number[]
}

/** Statistics by node, in order of first appearance. */
export function computeStats(steps: readonly NodeRecord[]): Map<string, NodeStats> {
  const tallies = new Map<string, Tally>()
  for (const step of steps) {
    let tally = tallies.get(step.nodeName)
    if (!tally) {
      tally = { count: 0, totalMs: 0, errors: 0, cached: 0, worked: [] }
      tallies.set(step.nodeName, tally)
    }
    tally.count++
    if (step.restored !== true) tally.totalMs += step.durationMs
    if (step.status === 'failed') tally.errors++
    if (step.cached) tally.cached++
    else if (step.restored !== true) tally.worked.push(step.durationMs)
  }
  const stats = new Map<string, NodeStats>()
  for (const [name, tally] of tallies) stats.set(name, toStats(tally))
  return stats
}

function toStats({ count, totalMs, errors, cached, worked }: Tally): NodeStats {
  const sorted = worked.sort((a, b) => a - b)
  const sum = sorted.reduce((total, each) => total + each, 0)
  return {
    count,
    totalMs,
    averageMs: sorted.length === 0 ? null : sum / sorted.length,
    p50Ms: percentile(sorted, 50),
    p95Ms: percentile(sorted, 95),
    errors,
    cached,
  }
}

/** The least of the sorted values that at least so many in a hundred do not exceed. */
function percentile(sorted: readonly number[], percent: number): number | null {
  // In whole numbers: 0.95 × n may come out above the rank it stands for.
  return sorted[Math.ceil((percent * sorted.length) / 100) - 1] ?? null
}

import type { StepSkeleton } from '@clew/ledger'

/** Totals over all steps of one name. */
export interface NodeStats {
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

interface Group {
  readonly first: StepSkeleton
  readonly times: number[]
  totalMs: number
  errors: number
  cached: number
}

/** One walk through the steps and numbers only: of 100,000 steps it is far less than what a page may take at once. */
export function nodeStats(steps: readonly StepSkeleton[]): NodeStats[] {
  const groups = new Map<string, Group>()
  for (const step of steps) {
    let group = groups.get(step.nodeName)
    if (!group) {
      group = { first: step, times: [], totalMs: 0, errors: 0, cached: 0 }
      groups.set(step.nodeName, group)
    }
    const ms = step.durationMs ?? 0
    group.times.push(ms)
    group.totalMs += ms
    if (step.status === 'failed') group.errors++
    if (step.cached) group.cached++
  }
  return [...groups].map(([name, { first, times, totalMs, errors, cached }]) => {
    const sorted = new Float64Array(times).sort()
    const at = (share: number): number => sorted[Math.floor(share * sorted.length)] ?? 0
    return {
      name,
      kind: first.kind,
      first,
      count: times.length,
      totalMs,
      p50Ms: at(0.5),
      p95Ms: at(0.95),
      errors,
      cached,
    }
  })
}

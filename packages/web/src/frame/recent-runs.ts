/** The runs that were looked at last in this browser, newest first: a preference, not a view of the ledger. */

export interface RecentRun {
  readonly runId: string
  readonly agent: string
}

const KEY = 'clew.recent'
const KEPT = 6

export function recentRuns(): readonly RecentRun[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]')
    return Array.isArray(kept) ? kept.filter(isRecentRun) : []
  } catch {
    // Another version wrote the entry, or the browser stores nothing: no recent runs.
    return []
  }
}

export function rememberRun(run: RecentRun): void {
  const others = recentRuns().filter(({ runId }) => runId !== run.runId)
  try {
    localStorage.setItem(KEY, JSON.stringify([run, ...others].slice(0, KEPT)))
  } catch {
    // A browser that keeps nothing shows none.
  }
}

const isRecentRun = (value: unknown): value is RecentRun =>
  typeof value === 'object' &&
  value !== null &&
  typeof Reflect.get(value, 'runId') === 'string' &&
  typeof Reflect.get(value, 'agent') === 'string'

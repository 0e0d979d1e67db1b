const FIRST_MS = 1000
const MAX_MS = 300_000

/** Runs that could not be gone on with here just now, and when they may be tried again. */
export interface Postponed {
  /** Longer each time; gives the time. */
  add(runId: string): number
  forget(runId: string): void
  /** Runs that are still postponed. */
  now(): string[]
  /** Earliest time at which one of them may be tried again. */
  readonly soonest: number | null
}

export function createPostponed(now: () => number = Date.now): Postponed {
  const runs = new Map<string, { readonly untilMs: number; readonly ms: number }>()
  return {
    add(runId) {
      const ms = Math.min(2 * (runs.get(runId)?.ms ?? FIRST_MS / 2), MAX_MS)
      const untilMs = now() + ms
      runs.set(runId, { untilMs, ms })
      return untilMs
    },
    forget: (runId) => void runs.delete(runId),
    now: () => [...runs].flatMap(([runId, { untilMs }]) => (untilMs > now() ? [runId] : [])),
    get soonest() {
      const times = [...runs.values()].map(({ untilMs }) => untilMs).filter((untilMs) => untilMs > now())
      return times.length === 0 ? null : Math.min(...times)
    },
  }
}

/** Longest interval: a worker that finds nothing looks ten times a second while commits come. */
const MAX_LOOK_MS = 100
const FIRST_MS = 5

/**
 * How soon a worker looks again. Every commit in the store notifies it, and few of them are a run for it: at once after a
 * quiet time or a look that found something, and later each time after one that found nothing.
 */
export interface LookInterval {
  found(): void
  foundNothing(): void
  /** What is left to wait when a notification, or the time for it, came so long after the last look. */
  restMs(waitedMs: number): number
}

export function createLookInterval(): LookInterval {
  let ms = 0
  return {
    found() {
      ms = 0
    },
    foundNothing() {
      ms = Math.min(Math.max(2 * ms, FIRST_MS), MAX_LOOK_MS)
    },
    restMs(waitedMs) {
      const restMs = Math.max(0, ms - waitedMs)
      if (waitedMs >= MAX_LOOK_MS) ms = 0
      return restMs
    },
  }
}

import type { Ledger } from '@clew/ledger'
import { sleepUntil } from '../run/sleep.ts'

/** However much is written to the store, one waiting run is looked at no more often than this. */
const LOOK_MS = 50

/** Commits of the store, for one who waits for a run to change. */
export interface Changes {
  /** Resolves after the next commit, at a time, or when the signal aborts. */
  wait(untilMs: number, signal: AbortSignal | undefined): Promise<void>
  close(): void
}

export function createChanges(ledger: Pick<Ledger, 'watch'>): Changes {
  let isChanged = false
  let lookedAt = 0
  let changed = (): void => {}
  const unwatch = ledger.watch(() => {
    isChanged = true
    changed()
  })
  return {
    async wait(untilMs, signal) {
      const woken = new AbortController()
      changed = () => woken.abort()
      if (isChanged) woken.abort()
      await sleepUntil(untilMs, signal ? AbortSignal.any([signal, woken.signal]) : woken.signal)
      await sleepUntil(Math.min(untilMs, lookedAt + LOOK_MS), signal)
      isChanged = false
      lookedAt = Date.now()
    },
    close: unwatch,
  }
}

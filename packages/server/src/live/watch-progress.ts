import { setTimeout as sleep } from 'node:timers/promises'
import { ClewError, type Ledger, type ProgressNote } from '@clew/ledger'
import type { Logger } from 'pino'

/** Commits within this interval are sent as one batch: sending costs far more than the wait. */
const GATHER_MS = { least: 10, most: 250 }
const AGAIN_MS = 1000
const PAGE = 500

/**
 * Sends the newest note of each step that has changed, from any process. A note that is replaced before it was read is never
 * sent, which limits how often a step is sent however fast its tokens come. Returns a function that stops it.
 */
export function watchProgress(
  ledger: Pick<Ledger, 'progress'>,
  tell: (notes: readonly ProgressNote[]) => Promise<void>,
  log: Logger,
): () => void {
  const stop = new AbortController()
  const { signal } = stop
  let cursor: string | undefined
  let isNotified = true
  let wake = (): void => {}

  const notify = (): void => {
    isNotified = true
    wake()
  }
  const notified = (): Promise<void> =>
    isNotified ? Promise.resolve() : new Promise<void>((resolve) => (wake = resolve))
  const pause = (ms: number): Promise<unknown> => sleep(ms, undefined, { signal, ref: false }).catch(() => {})

  async function readOn(): Promise<void> {
    for (let isMore = true; isMore && !signal.aborted; ) {
      const page = await ledger.progress.read({ after: cursor, limit: PAGE })
      cursor = page.cursor
      isMore = page.notes.length === PAGE
      await tell(page.notes)
    }
  }

  async function watch(): Promise<void> {
    // At most half of the time: stored events have to be sent, too, and progress can wait.
    for (let gatherMs = GATHER_MS.least; ; ) {
      await notified()
      await pause(gatherMs)
      if (signal.aborted) return
      isNotified = false
      const beganMs = performance.now()
      try {
        await readOn()
        gatherMs = Math.min(Math.max(GATHER_MS.least, performance.now() - beganMs), GATHER_MS.most)
      } catch (error) {
        if (error instanceof ClewError && error.code === 'closed') return
        // Progress that is late does no harm.
        log.warn({ err: error }, 'progress cannot be told; it is tried again')
        isNotified = true
        await pause(AGAIN_MS)
      }
    }
  }

  const unwatch = ledger.progress.watch(notify)
  void watch()
  return () => {
    unwatch()
    stop.abort()
    notify()
  }
}

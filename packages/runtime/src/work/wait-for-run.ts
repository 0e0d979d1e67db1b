import { isTerminal, type Ledger, type RunSummary } from '@clew/ledger'
import { createNotifier } from '../worker/notifier.ts'

/** Longest time between two looks at a run, should a notification be lost. */
const LOOK_MS = 1000

/** Nothing happens to it until somebody outside does something, or it has ended. */
const isAtRest = ({ status }: RunSummary): boolean =>
  isTerminal(status) || status === 'paused' || status === 'blocked'

export interface WaitOptions {
  /** Longest wait; then the run as it is. Default: no limit. */
  readonly waitMs?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/** Waits until a run has ended, asks something or is blocked; null if there is none. Every commit wakes the waiter. */
export async function waitForRun(
  ledger: Ledger,
  runId: string,
  { waitMs = Number.POSITIVE_INFINITY, signal }: WaitOptions = {},
): Promise<RunSummary | null> {
  const endsAt = performance.now() + waitMs
  const notifier = createNotifier()
  const unwatch = ledger.watch(notifier.notify)
  signal?.addEventListener('abort', notifier.notify)
  try {
    for (;;) {
      notifier.clear()
      const run = await ledger.getRun(runId)
      const leftMs = endsAt - performance.now()
      if (!run || isAtRest(run) || leftMs <= 0) return run
      signal?.throwIfAborted()
      await notifier.wait(Math.min(LOOK_MS, leftMs))
    }
  } finally {
    unwatch()
    signal?.removeEventListener('abort', notifier.notify)
  }
}

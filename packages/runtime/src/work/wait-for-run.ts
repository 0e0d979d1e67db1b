import { ClewError, isTerminal, type Ledger, type RunSummary } from '@clew/ledger'
import { createNotifier } from '../worker/notifier.ts'
import { failOverdue, isOverdue } from './deadline.ts'

/** Longest time between two looks at a run, should a notification be lost. */
const LOOK_MS = 1000
const LEAST_LOOK_MS = 20

/** Nothing happens to it until somebody outside does something, or it has ended. */
const isAtRest = ({ status }: RunSummary): boolean =>
  isTerminal(status) || status === 'paused' || status === 'blocked'

/** A reader leaves it to others. */
function unlessReadOnly(error: unknown): false {
  if (error instanceof ClewError && error.code === 'store_readonly') return false
  throw error
}

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
  if (!(waitMs >= 0))
    throw new ClewError(
      'bad_option',
      `waitMs of the wait for run ${runId} is ${String(waitMs)}, which is no time`,
      'Give milliseconds from 0, or leave it out to wait until the run has ended.',
      { option: 'waitMs' },
    )
  const endsAt = performance.now() + waitMs
  const notifier = createNotifier()
  const unwatch = ledger.watch(notifier.notify)
  signal?.addEventListener('abort', notifier.notify)
  try {
    for (;;) {
      notifier.clear()
      const run = await ledger.getRun(runId)
      const leftMs = endsAt - performance.now()
      if (!run || isTerminal(run.status)) return run
      // Nobody else may be there to end it.
      if (isOverdue(run) && ledger.mode.write && (await failOverdue(ledger, run).catch(unlessReadOnly)))
        continue
      if (isAtRest(run) || leftMs <= 0) return run
      signal?.throwIfAborted()
      const deadlineMs = run.deadlineAt === undefined ? LOOK_MS : Date.parse(run.deadlineAt) - Date.now()
      await notifier.wait(Math.min(LOOK_MS, leftMs, Math.max(LEAST_LOOK_MS, deadlineMs)))
    }
  } finally {
    unwatch()
    signal?.removeEventListener('abort', notifier.notify)
  }
}

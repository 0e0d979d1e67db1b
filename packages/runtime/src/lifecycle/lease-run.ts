import { ClewError, type Lease, type Ledger, lostLease, stopAsked, type StopRequest } from '@clew/ledger'
import { sweepThread } from './sweep.ts'
import { type HeldRun, type HeartbeatTimings, PACE, tickerOf } from './ticker.ts'
import { enqueueWaiter, wakeNext } from './lease-queue.ts'

export interface RunLeaseOptions {
  readonly runId: string
  /** No other run of this thread can be held meanwhile. */
  readonly threadId: string | null
  /** Lease that was acquired by a claim. */
  readonly claimed?: Lease | undefined
  /** Behaviour while another owner holds the run or its thread. Default `reject`. */
  readonly onBusy?: 'reject' | 'wait' | undefined
  /** Ends the waiting. */
  readonly signal?: AbortSignal | undefined
  /** The longest wait; then `busy`. Default: no limit. */
  readonly waitMs?: number | undefined
  /** For tests. */
  readonly pace?: Partial<HeartbeatTimings> | undefined
}

/** A run that belongs to this process until it is released or lost (R9). */
export interface RunLease {
  readonly runId: string
  /** Epoch under which the run's execution events are appended. */
  readonly epoch: number
  /**
   * Aborts when there is nothing more to work on here. Its reason is a ClewError: `stopped`, with `reason` and `by` in its
   * fields, when somebody asked for it (the run is still held, to write its end); `stale_epoch` when the lease is lost.
   */
  readonly signal: AbortSignal
  readonly stopRequested: StopRequest | null
  /** Error with which the lease was lost; also called if a stop had aborted the signal before. */
  readonly lost: ClewError | null
  /** An append was refused with `stale_epoch`: another process has taken over the run. */
  lose(error: unknown): void
  /** Aborts when an operator asked for a pause; its reason is theirs. */
  readonly paused: AbortSignal
  /** From now on told when a signal comes for the run. */
  onSignal(listener: () => void): void
  /** Frees the run and its thread. Never mind how often, or whether it was lost. */
  release(): Promise<void>
}

const FIRST_PAUSE_MS = 20
const MAX_PAUSE_MS = 1000

export async function leaseRun(ledger: Ledger, options: RunLeaseOptions): Promise<RunLease> {
  const { claimed, onBusy = 'reject', signal, pace } = options
  if (claimed) return createHold(ledger, claimed, { ...PACE, ...pace })
  signal?.throwIfAborted()
  const lease = onBusy === 'wait' ? await acquireInLine(ledger, options) : await acquire(ledger, options)
  if (!signal?.aborted) return createHold(ledger, lease, { ...PACE, ...pace })
  await createHold(ledger, lease, PACE).release()
  throw signal.reason
}

async function acquire(ledger: Ledger, { runId, threadId }: RunLeaseOptions): Promise<Lease> {
  if (threadId !== null) await sweepThread(ledger, threadId, runId)
  return ledger.leases.acquire({ workspace: ledger.workspace, runId }, threadId)
}

async function acquireInLine(ledger: Ledger, options: RunLeaseOptions): Promise<Lease> {
  const { signal, waitMs = Number.POSITIVE_INFINITY } = options
  const deadline = performance.now() + waitMs
  const place = enqueueWaiter(ledger, options)
  let pauseMs = FIRST_PAUSE_MS
  try {
    for (;;) {
      const leftMs = Math.max(0, deadline - performance.now())
      if (place.isFirst() || leftMs === 0)
        try {
          return await acquire(ledger, options)
        } catch (error) {
          if (!(error instanceof ClewError) || error.code !== 'busy' || leftMs === 0) throw error
        }
      await place.wait(Math.min(pauseMs, leftMs), signal)
      signal?.throwIfAborted()
      pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)
    }
  } finally {
    place.leave()
  }
}

function createHold(ledger: Ledger, lease: Lease, pace: HeartbeatTimings): RunLease {
  const { runId, epoch } = lease
  const abort = new AbortController()
  const pausing = new AbortController()
  const ticker = tickerOf(ledger, pace)
  let stopRequested: StopRequest | null = null
  let lost: ClewError | null = null
  let released: Promise<void> | undefined
  let signalled = (): void => {}

  function lose(error: unknown): void {
    if (lost || released) return
    lost = error instanceof ClewError && error.code === 'stale_epoch' ? error : lostLease(lease)
    ticker.remove(held)
    abort.abort(lost)
  }

  async function free(): Promise<void> {
    ticker.remove(held)
    if (lost) return
    try {
      await ledger.leases.release(lease)
    } catch (error) {
      // Taken over, or given up with the ledger itself: it is free of us either way.
      if (!(error instanceof ClewError) || (error.code !== 'stale_epoch' && error.code !== 'closed'))
        throw error
    }
    wakeNext(ledger, lease)
  }

  const held: HeldRun = {
    lease,
    renewedAt: performance.now(),
    get stopRequested() {
      return stopRequested
    },
    lose,
    signalled: () => signalled(),
    pause: (reason) => pausing.abort(reason ?? 'paused by hand'),
    stop(request) {
      stopRequested = { reason: request.reason, by: request.by }
      abort.abort(stopAsked(runId, stopRequested))
    },
  }
  ticker.add(held)

  return {
    runId,
    epoch,
    signal: abort.signal,
    paused: pausing.signal,
    get stopRequested() {
      return stopRequested
    },
    get lost() {
      return lost
    },
    lose,
    onSignal: (listener) => void (signalled = listener),
    release: () => (released ??= free()),
  }
}

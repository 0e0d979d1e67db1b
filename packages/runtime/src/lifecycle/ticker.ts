import {
  ClewError,
  findStopRequest,
  LEASE_STALE_MS,
  type Lease,
  type Ledger,
  lostLease,
  type StopRequest,
} from '@clew/ledger'

/** Heartbeat intervals of a leased run; only tests change them. */
export interface HeartbeatTimings {
  /** Between two heartbeats. */
  readonly beatMs: number
  /** Between two polls for requests and signals. */
  readonly pollMs: number
  /** Silence after which others may take the lease. */
  readonly staleMs: number
}

export const PACE: HeartbeatTimings = { beatMs: 15_000, pollMs: 200, staleMs: LEASE_STALE_MS }

/** A look at one run takes 10 to 50 µs; at this distance they take less than a hundredth of the time. */
const POLL_MS_PER_RUN = 5

export interface HeldRun {
  readonly lease: Lease
  /** When the lease was last known to be ours, on the process's own clock. */
  renewedAt: number
  readonly stopRequested: StopRequest | null
  /** An operator asked for a pause: the owner lets go of it. */
  pause(reason: string | null): void
  /** A signal came for it. */
  signalled(): void
  lose(error: unknown): void
  stop(request: StopRequest): void
}

export interface Ticker {
  add(run: HeldRun): void
  remove(run: HeldRun): void
  /** Looks for requests and signals now: one was made in this process. */
  look(): void
}

const tickers = new WeakMap<Ledger, Ticker>()

/** One for all runs that are held through this ledger; it has timers only while there are some. */
export function tickerOf(ledger: Ledger, pace: HeartbeatTimings = PACE): Ticker {
  const ticker = tickers.get(ledger) ?? createTicker(ledger, pace, () => tickers.delete(ledger))
  tickers.set(ledger, ticker)
  return ticker
}

/** Leases that this process looks after, through whatever ledger. */
const heldHere = new Set<string>()
const keyOf = ({ owner, workspace, runId, epoch }: Lease): string =>
  `${owner}\n${workspace}\n${runId}\n${epoch}`

export const isHeldHere = (lease: Lease): boolean => heldHere.has(keyOf(lease))
export const lookNow = (ledger: Ledger): void => tickers.get(ledger)?.look()

function createTicker(
  ledger: Ledger,
  { beatMs, pollMs, staleMs }: HeartbeatTimings,
  onIdle: () => void,
): Ticker {
  const runs = new Set<HeldRun>()
  /** Newest signal of each run that was told. */
  const signals = new WeakMap<HeldRun, number>()
  let timer: NodeJS.Timeout | undefined
  let beatAt = performance.now() + beatMs
  let beatingSince: number | undefined
  let pollAt = 0
  let polling = false
  let lastPosition = -1

  function tick(): void {
    const now = performance.now()
    // A heartbeat that hangs is as good as none. One that was not tried, since the process slept, is tried first.
    if (beatingSince !== undefined && now - beatingSince >= beatMs)
      for (const run of runs) if (now - run.renewedAt >= staleMs) run.lose(silentLease(run.lease))
    if (now >= beatAt && beatingSince === undefined) void beat(now)
    if (now >= pollAt && !polling) void poll()
  }

  async function beat(now: number): Promise<void> {
    beatingSince = now
    const kept = await Promise.all([...runs].map((run) => renew(run, now)))
    beatingSince = undefined
    beatAt = now + (kept.every(Boolean) ? beatMs : Math.min(beatMs, 5 * pollMs))
  }

  async function renew(run: HeldRun, now: number): Promise<boolean> {
    try {
      await ledger.leases.renew(run.lease)
      run.renewedAt = now
      return true
    } catch (error) {
      if (!runs.has(run)) return true
      const code = error instanceof ClewError ? error.code : null
      if (code === 'stale_epoch') run.lose(error)
      // A store that is busy may answer the next time; a ledger that was closed gives its leases up.
      else if (code === 'closed' || performance.now() - run.renewedAt >= staleMs)
        run.lose(silentLease(run.lease, error))
      return false
    }
  }

  async function poll(): Promise<void> {
    polling = true
    try {
      const [position, newest] = await Promise.all([ledger.lastPosition(), ledger.newestPosition()])
      // While transactions are under way, which of them end does not show in either.
      const isNew = position !== lastPosition || position !== newest
      lastPosition = position
      for (const run of isNew ? [...runs] : []) await lookAt(run)
    } catch {
      // An unreachable store is reported by the heartbeat.
      lastPosition = -1
    }
    polling = false
    pollAt = performance.now() + Math.max(pollMs, runs.size * POLL_MS_PER_RUN) - pollMs / 2
  }

  async function lookAt(run: HeldRun): Promise<void> {
    if (run.stopRequested || !runs.has(run)) return
    const summary = await ledger.getRun(run.lease.runId)
    // The run that supersedes this one has its lease, too.
    if (summary?.status === 'superseded') return run.lose(lostLease(run.lease))
    const newest = summary?.signals?.lastSeq ?? 0
    if (newest !== (signals.get(run) ?? 0)) {
      signals.set(run, newest)
      run.signalled()
    }
    if (summary?.held) run.pause(summary.held.reason)
    const request = summary && (await findStopRequest(ledger, summary))
    if (request && runs.has(run)) run.stop(request)
  }

  return {
    add(run) {
      if (runs.size === 0) beatAt = performance.now() + beatMs
      runs.add(run)
      heldHere.add(keyOf(run.lease))
      lastPosition = -1
      timer ??= setInterval(tick, Math.min(pollMs, beatMs)).unref()
    },
    remove(run) {
      heldHere.delete(keyOf(run.lease))
      if (!runs.delete(run) || runs.size > 0) return
      clearInterval(timer)
      timer = undefined
      onIdle()
    },
    look() {
      pollAt = 0
      lastPosition = -1
      if (!polling) void poll()
    },
  }
}

const silentLease = ({ runId, epoch }: Lease, cause?: unknown): ClewError =>
  new ClewError(
    'stale_epoch',
    `The lease of run ${runId} at epoch ${epoch} could not be renewed`,
    'Stop working on this run here: another process may have it by now; resume it when the store answers again.',
    { runId, epoch },
    cause,
  )

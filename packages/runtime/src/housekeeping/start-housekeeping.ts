import { ClewError, type Ledger } from '@clew/ledger'
import { checkCounts } from '../options/check-options.ts'
import { assertMode } from '../run/mode.ts'
import { type HousekeepingRound, housekeepingRound } from './housekeeping-round.ts'

export interface HousekeepingOptions {
  /** Time between two rounds, whichever processes do them. Default 3,600,000. */
  readonly everyMs?: number | undefined
  /** Interval at which this process checks whether a round is due. Default 60,000. */
  readonly pollMs?: number | undefined
  /** Called with each round that this process did. */
  readonly onRound?: ((round: HousekeepingRound) => void) | undefined
  /** Called when a check or a round failed as a whole; the next one is tried. Without it, `stop()` rejects with the last. */
  readonly onError?: ((error: unknown) => void) | undefined
  /** For tests. */
  readonly now?: (() => number) | undefined
}

export interface Housekeeping {
  /** Waits for the round under way. */
  stop(): Promise<void>
}

/**
 * W8: marks runs without a living owner, deletes by the retention policy in force and catches the search index up, at
 * once if it is due and then again and again, one process of all that share the workspace at a time. Keeps no process alive.
 */
export function startHousekeeping(
  ledger: Ledger,
  { everyMs = 3_600_000, pollMs = 60_000, onRound, onError, now = Date.now }: HousekeepingOptions = {},
): Housekeeping {
  checkCounts('housekeeping', { everyMs, pollMs }, 1)
  assertMode(ledger, 'write')
  let failed: { readonly error: unknown } | undefined
  let isStopped = false
  let timer: NodeJS.Timeout | undefined
  let checking = check()

  async function check(): Promise<void> {
    try {
      const round = await housekeepingRound(ledger, everyMs, now)
      if (round) onRound?.(round)
    } catch (error) {
      if (error instanceof ClewError && error.code === 'closed') return
      if (onError) onError(error)
      else failed = { error }
    }
    if (isStopped) return
    timer = setTimeout(() => {
      checking = check()
    }, pollMs).unref()
  }

  return {
    async stop() {
      isStopped = true
      clearTimeout(timer)
      await checking
      const last = failed
      failed = undefined
      if (last) throw last.error
    },
  }
}

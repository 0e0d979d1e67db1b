import { ClewError, type Ledger } from '@clew/ledger'
import { sweep } from './sweep.ts'

export interface SweeperOptions {
  /** Default 15,000. */
  readonly everyMs?: number | undefined
  /** Called with the runs that were marked interrupted. */
  readonly onSwept?: ((runIds: readonly string[]) => void) | undefined
  /** Called with each error; sweeping continues. Without it, `stop()` rejects with the last error. */
  readonly onError?: ((error: unknown) => void) | undefined
}

export interface Sweeper {
  /** Waits for the sweep under way. */
  stop(): Promise<void>
}

/** Sweeps at once and then again and again, until it is stopped or the ledger is closed. Keeps no process alive. */
export function startSweeper(
  ledger: Ledger,
  { everyMs = 15_000, onSwept, onError }: SweeperOptions = {},
): Sweeper {
  let kept: { readonly error: unknown } | undefined
  let isStopped = false
  let timer: NodeJS.Timeout | undefined
  let round = once()

  async function once(): Promise<void> {
    try {
      const runIds = await sweep(ledger)
      if (runIds.length > 0) onSwept?.(runIds)
    } catch (error) {
      if (error instanceof ClewError && error.code === 'closed') return
      if (onError) onError(error)
      else kept = { error }
    }
    if (isStopped) return
    timer = setTimeout(() => {
      round = once()
    }, everyMs).unref()
  }

  return {
    async stop() {
      isStopped = true
      clearTimeout(timer)
      await round
      const told = kept
      kept = undefined
      if (told) throw told.error
    },
  }
}

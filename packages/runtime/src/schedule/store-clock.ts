import { ClewError, type Ledger, systemRunId } from '@clew/ledger'

const SYNC_MS = 60_000

/**
 * The clock of the store, which all schedulers share: read once a minute, by way of a lease that is released at once, and
 * carried on by the monotonic clock of the process, so that a change of the machine's clock alone is not seen.
 */
export function createStoreClock(ledger: Ledger): () => Promise<number> {
  let known: { readonly storeMs: number; readonly atMs: number } | undefined

  async function sync(): Promise<void> {
    const key = { workspace: ledger.workspace, runId: systemRunId('scheduler') }
    try {
      const lease = await ledger.leases.acquire(key)
      known = { storeMs: Date.parse(lease.heartbeatAt), atMs: performance.now() }
      await ledger.leases.release(lease)
    } catch (error) {
      // Another scheduler is reading it: ours is good enough until the next time.
      if (!(error instanceof ClewError) || (error.code !== 'busy' && error.code !== 'stale_epoch'))
        throw error
      known ??= { storeMs: Date.now(), atMs: performance.now() - SYNC_MS }
    }
  }

  return async () => {
    if (known === undefined || performance.now() - known.atMs >= SYNC_MS) await sync()
    return known === undefined ? Date.now() : known.storeMs + performance.now() - known.atMs
  }
}

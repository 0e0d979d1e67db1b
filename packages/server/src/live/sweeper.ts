import { sweepOrphans } from '@clew/ledger'
import type { ServerParts } from '../server-parts.ts'

const SWEEP_MS = 15_000
/** So late, this process was kept from all its timers, heartbeats among them: they come first. */
const LATE_MS = 5000

/**
 * T7: sessions and runs whose owner is dead or silent end as interrupted, with all that pages wait for, whichever process
 * they belonged to. At once and then every 15 s; gives back how to stop.
 */
export function startSweeper(parts: Pick<ServerParts, 'ledgerOf' | 'workspace' | 'log'>): () => void {
  let isSweeping = false
  if (!parts.ledgerOf(parts.workspace).mode.write) return () => {}

  async function sweep(): Promise<void> {
    const leases = (await parts.ledgerOf(parts.workspace).leases.list()).filter(
      ({ state }) => state !== 'alive',
    )
    for (const workspace of new Set(leases.map((lease) => lease.workspace)))
      try {
        const swept = await sweepOrphans(parts.ledgerOf(workspace), { leases })
        if (swept.length > 0) parts.log.info({ runs: swept.length }, 'runs without an owner were interrupted')
      } catch (error) {
        // Those of other workspaces have not to wait for it.
        parts.log.warn({ err: error }, 'orphans could not be swept; it is tried again')
      }
  }

  function begin(): void {
    if (isSweeping) return
    isSweeping = true
    sweep()
      .catch((error: unknown) => parts.log.warn({ err: error }, 'orphans could not be looked for'))
      .finally(() => (isSweeping = false))
  }

  begin()
  let dueMs = performance.now() + SWEEP_MS
  const timer = setInterval(() => {
    const isLate = performance.now() - dueMs > LATE_MS
    dueMs = performance.now() + SWEEP_MS
    if (!isLate) begin()
  }, SWEEP_MS)
  timer.unref()
  return () => clearInterval(timer)
}

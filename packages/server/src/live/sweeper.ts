import { sweepOrphans } from '@clew/ledger'
import { interruptQuietTraces } from '../ingest/quiet-traces.ts'
import type { ServerParts } from '../server-parts.ts'

const SWEEP_MS = 15_000
/** Traces are looked at with every so many sweeps. */
const TRACES_EVERY = 4
/** A timer this late means that the process was blocked, heartbeats included; they must run first. */
const LATE_MS = 5000

type SweeperParts = Pick<ServerParts, 'ledgerOf' | 'workspace' | 'traced' | 'limits' | 'log'>

/**
 * T7: sessions and runs whose owner is dead or silent end as interrupted, with all that pages wait for, whichever process
 * they belonged to; and so do traces of others that have no owner. At once and then every 15 s; gives back how to stop.
 */
export function startSweeper(parts: SweeperParts): () => void {
  let isSweeping = false
  let sweeps = 0
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

  async function sweepTraces(): Promise<void> {
    for (const workspace of parts.traced)
      try {
        const marked = await interruptQuietTraces(parts.ledgerOf(workspace), parts.limits.traceQuietMs)
        if (marked.length > 0)
          parts.log.info({ runs: marked.length }, 'traces without an end were interrupted')
      } catch (error) {
        parts.log.warn({ err: error }, 'traces without an end could not be interrupted; it is tried again')
      }
  }

  async function sweepAll(): Promise<void> {
    await sweep()
    // They are silent for minutes before it matters.
    if (sweeps++ % TRACES_EVERY === 0) await sweepTraces()
  }

  function begin(): void {
    if (isSweeping) return
    isSweeping = true
    sweepAll()
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

import { ClewError, type Ledger, type Lease, type OwnerState } from '@clew/ledger'
import { isHeldHere } from './ticker.ts'
import { ringLine } from './waiting-line.ts'

type ListedLease = Lease & { readonly state: OwnerState }

const REASONS: Readonly<Record<Exclude<OwnerState, 'alive'>, string>> = {
  dead: 'its owner is dead',
  stale: 'its owner has been silent for 60 s',
}

/**
 * Finds runs whose owner is dead or silent and marks them interrupted, so that they can be resumed and nobody waits
 * for them in vain (R9). Gives the ids of the runs it marked; what another sweeper did meanwhile is not among them.
 */
export async function sweep(ledger: Ledger): Promise<string[]> {
  return sweepLeases(ledger, await ledger.leases.list())
}

/** The same for those who stand in the way of a thread: taking its lease would free theirs without a word. */
export async function sweepThread(ledger: Ledger, threadId: string, exceptRunId: string): Promise<void> {
  const { runs } = await ledger.listRuns({ threadId, limit: 4 })
  if (!runs.some(({ runId, status }) => status === 'running' && runId !== exceptRunId)) return
  const leases = await ledger.leases.list()
  await sweepLeases(
    ledger,
    leases.filter((lease) => lease.threadId === threadId && lease.runId !== exceptRunId),
  )
}

async function sweepLeases(ledger: Ledger, leases: readonly ListedLease[]): Promise<string[]> {
  const swept: string[] = []
  const errors: unknown[] = []
  for (const lease of leases) {
    if (lease.state === 'alive' || lease.workspace !== ledger.workspace) continue
    // Ours, and only late: this process was kept from its heartbeat and will make up for it.
    if (isHeldHere(lease)) continue
    try {
      if (await sweepLease(ledger, lease, lease.state)) swept.push(lease.runId)
    } catch (error) {
      // One run that cannot be swept must not keep the others waiting.
      errors.push(error)
    }
  }
  if (errors.length > 0) throw errors[0]
  return swept
}

async function sweepLease(ledger: Ledger, orphan: Lease, state: 'dead' | 'stale'): Promise<boolean> {
  const { workspace, runId } = orphan
  try {
    // Without its thread, which may belong to another run by now.
    const taken = await ledger.leases.acquire({ workspace, runId }, null)
    let isOrphan = false
    try {
      // Read under the lease: somebody else may have swept, resumed or ended it since it was listed.
      isOrphan = (await ledger.getRun(runId))?.status === 'running'
      if (isOrphan) await ledger.append([interrupted(orphan, REASONS[state])], { epoch: taken.epoch })
    } finally {
      await ledger.leases.release(taken)
    }
    ringLine(ledger, orphan)
    return isOrphan
  } catch (error) {
    if (error instanceof ClewError && (error.code === 'busy' || error.code === 'stale_epoch')) return false
    throw error
  }
}

const interrupted = ({ runId }: Lease, reason: string) => ({
  eventType: 'system.workflow_interrupted',
  correlationId: runId,
  causationId: null,
  source: { origin: 'system', runtime: 'clew' } as const,
  payload: { reason },
})

import { closeOpenSteps, endingEvent } from './close-open.ts'
import { ClewError } from '../errors.ts'
import type { Ledger } from '../ledger.ts'
import type { Lease, OwnerState } from '../store/leases.ts'

export type ListedLease = Lease & { readonly state: OwnerState }

export interface SweepOptions {
  /** Which leases are looked at; default all that are held. */
  readonly leases?: readonly ListedLease[] | undefined
  /** Ours, and only late: this process was kept from its heartbeat and will make up for it. */
  readonly isHeldHere?: ((lease: Lease) => boolean) | undefined
  /** Called for each lease that was freed. */
  readonly onFreed?: ((lease: Lease) => void) | undefined
}

const REASONS: Readonly<Record<Exclude<OwnerState, 'alive'>, string>> = {
  dead: 'its owner is dead',
  stale: 'its owner has been silent for 60 s',
}

/**
 * Finds runs whose owner is dead or silent and marks them as interrupted, so that they can be resumed, no caller
 * waits for them in vain and no page shows them as running for ever (R9, T7). Returns the ids of the runs it marked,
 * without those that another sweeper marked in the meantime.
 */
export async function sweepOrphans(ledger: Ledger, options: SweepOptions = {}): Promise<string[]> {
  const { leases = await ledger.leases.list(), isHeldHere, onFreed } = options
  const swept: string[] = []
  const errors: unknown[] = []
  for (const lease of leases) {
    if (lease.state === 'alive' || lease.workspace !== ledger.workspace || isHeldHere?.(lease)) continue
    try {
      const isOrphan = await sweepLease(ledger, lease, REASONS[lease.state])
      if (isOrphan) swept.push(lease.runId)
      if (isOrphan !== null) onFreed?.(lease)
    } catch (error) {
      // One run that cannot be swept must not keep the others waiting.
      errors.push(error)
    }
  }
  if (errors.length > 0) throw errors[0]
  return swept
}

/** The same for those who stand in the way of a thread: taking its lease would free theirs without a word. */
export async function sweepThread(
  ledger: Ledger,
  threadId: string,
  exceptRunId: string,
  options: Omit<SweepOptions, 'leases'> = {},
): Promise<void> {
  const idOf = (name: string): string => ledger.identity(name).names.at(-1) as string
  const { runs } = await ledger.listRuns({ threadId, limit: 4 })
  if (!runs.some(({ runId, status }) => status === 'running' && runId !== exceptRunId)) return
  const leases = (await ledger.leases.list()).filter(
    (lease) =>
      lease.threadId !== null && idOf(lease.threadId) === idOf(threadId) && lease.runId !== exceptRunId,
  )
  await sweepOrphans(ledger, { ...options, leases })
}

/** Whether the run was an orphan; null if another process has its lease. */
async function sweepLease(
  ledger: Ledger,
  { workspace, runId }: Lease,
  reason: string,
): Promise<boolean | null> {
  try {
    // Without its thread, which may belong to another run by now.
    const taken = await ledger.leases.acquire({ workspace, runId }, null)
    try {
      // Read under the lease: another process may have swept, resumed or ended the run since it was listed.
      if ((await ledger.getRun(runId))?.status !== 'running') return false
      const steps = await closeOpenSteps(ledger, runId, reason)
      const interrupted = endingEvent('system.workflow_interrupted', runId, { reason })
      await ledger.append([...steps, interrupted], { epoch: taken.epoch, keepStepIds: true })
      return true
    } finally {
      await ledger.leases.release(taken)
    }
  } catch (error) {
    if (error instanceof ClewError && (error.code === 'busy' || error.code === 'stale_epoch')) return null
    throw error
  }
}

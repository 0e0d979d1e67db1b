import { ClewError } from '../errors.ts'
import type { QueueCount, QueueLimits } from './queue-slots.ts'
import type { RunKey } from './store.ts'

export interface Lease extends RunKey {
  readonly owner: string
  readonly epoch: number
  readonly threadId: string | null
  readonly heartbeatAt: string
}

/** State of a lease's owner: alive, silent for too long, or certainly dead. */
export type OwnerState = 'alive' | 'stale' | 'dead'

/** Which runs a worker that has their agents can resume. */
export interface ClaimOptions {
  readonly workspace: string
  /** Names of the worker's agents. */
  readonly agents: readonly string[]
  /** Only runs that are due by then. */
  readonly nowMs: number
  readonly limit: number
  /** Ids of runs that are not claimed. */
  readonly except?: readonly string[] | undefined
  /** Limits of queues; without one a queue is not limited. */
  readonly limits?: readonly QueueLimits[] | undefined
  /** Includes runs with the status running whose lease is free. Reads all running runs, so not for every poll. */
  readonly orphans?: boolean | undefined
}

export interface Claimed {
  readonly leases: readonly Lease[]
  /** When to claim again: the next of these runs is due, or a queue that is full may have room. Null if none waits for that. */
  readonly nextDueMs: number | null
}

export interface AcquireOptions {
  /**
   * An owner outside this process that writes through it. The life of this process proves nothing about such an
   * owner, so only its silence counts.
   */
  readonly owner?: string | undefined
  /** Other names under which runs of the same thread may be leased. */
  readonly alsoThreads?: readonly string[] | undefined
}

/**
 * Coordination next to the ledger (R9). Acquiring a lease raises the run's epoch; from then on the run's execution
 * events need that epoch, checked inside the transaction that writes them.
 */
export interface Leases {
  /** Acquires a free lease, or one whose owner is dead or stale; else `busy`. One per thread. */
  acquire(key: RunKey, threadId?: string | null, options?: AcquireOptions): Promise<Lease>
  /**
   * Acquires leases of runs that are due (`dueMsOf`), longest waiting first, and then of submitted runs: by priority, and
   * within it keys take turns (W4). Only runs that were submitted or leased here, and neither the run nor its thread is
   * leased now. A submitted run is not claimed before the earlier ones of its thread have ended. Concurrent claims get
   * different runs, and wait for each other only for the sake of a limited queue.
   */
  claim(options: ClaimOptions): Promise<Claimed>
  /** Submitted runs that wait, and those that are leased, by queue and agent. */
  queues(workspace: string): Promise<readonly QueueCount[]>
  /** Reports that the owner is alive; `stale_epoch` if the lease was taken over. */
  renew(lease: Lease): Promise<void>
  release(lease: Lease): Promise<void>
  /** Leases that are held: of runs, or those by which workers say which agents they have. */
  list(of?: 'runs' | 'workers'): Promise<readonly (Lease & { readonly state: OwnerState })[]>
}

/** Ends the workspace of leases by which workers say which agents they have. */
export const WORKERS = ' workers'

/** A lease whose owner has been silent this long may be taken over (R9). */
export const LEASE_STALE_MS = 60_000

export const busyLease = (runId: string, holder: string): ClewError =>
  new ClewError(
    'busy',
    `Run ${runId} cannot be leased: ${holder}`,
    'Wait until it ends, or stop it; a lease of a dead process is free at once, a silent one after 60 s.',
    { runId },
  )

export const lostLease = (lease: Lease): ClewError =>
  new ClewError(
    'stale_epoch',
    `The lease of run ${lease.runId} at epoch ${lease.epoch} is no longer yours`,
    'Stop working on this run here; another process has it.',
    { runId: lease.runId, epoch: lease.epoch },
  )

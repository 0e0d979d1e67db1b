import { LEASE_STALE_MS } from '@clew/ledger'
import type { TestDatabase } from '../database.ts'

export interface HeldLease {
  readonly runId: string
  readonly epoch: number
  /** That its owner's backend is gone can be seen: it has registered since the server was started. */
  readonly isProvable: boolean
}

export interface Takeover extends HeldLease {
  /** From the death of the holder; undefined while nobody has it. */
  ms?: number
}

/** Under load a process gets its turn late; silence is counted by the database. */
const SLACK_MS = 20_000
export const longest = (isProvable: boolean, sweepMs: number): number =>
  (isProvable ? LEASE_STALE_MS / 2 : LEASE_STALE_MS) + sweepMs + SLACK_MS

type Query = TestDatabase['query']

/** Leases of runs that the process with this pid works on; owners are named by it. */
export async function leasesOf(query: Query, pid: number): Promise<HeldLease[]> {
  const rows = await query(
    `SELECT l.run_id, l.epoch, o.pid IS NOT NULL AND o.server_start = pg_postmaster_start_time() AS is_provable
     FROM clew.leases l JOIN clew.runs r ON r.workspace = l.workspace AND r.run_id = l.run_id
     JOIN clew.owners o ON o.owner = l.owner
     WHERE l.held AND l.owner LIKE $1 AND r.status = 'running'`,
    [`${pid}-%`],
  )
  return rows.map((row) => ({
    runId: row['run_id'] as string,
    epoch: row['epoch'] as number,
    isProvable: row['is_provable'] as boolean,
  }))
}

/** Makes leases as old as if their owner had been silent until they expired. */
export async function setHeartbeatsBack(query: Query, held: readonly HeldLease[]): Promise<void> {
  for (const { runId, epoch } of held)
    await query(
      `UPDATE clew.leases SET beat_at = beat_at - make_interval(secs => $3) WHERE run_id = $1 AND epoch = $2 AND held`,
      [runId, epoch, LEASE_STALE_MS / 1000],
    )
}

/** Looks until each of them is somebody else's, or has been. */
export async function watchTakeovers(
  query: Query,
  held: readonly HeldLease[],
  sweepMs: number,
): Promise<Takeover[]> {
  const began = performance.now()
  const takeovers: Takeover[] = held.map((lease) => ({ ...lease }))
  for (;;) {
    const waited = performance.now() - began
    const waiting = takeovers.filter(
      (each) => each.ms === undefined && waited < longest(each.isProvable, sweepMs),
    )
    if (waiting.length === 0) return takeovers
    try {
      const rows = await query('SELECT run_id, epoch FROM clew.leases WHERE run_id = ANY ($1)', [
        waiting.map((each) => each.runId),
      ])
      const epochs = new Map(rows.map((row) => [row['run_id'], row['epoch'] as number]))
      for (const each of waiting)
        if ((epochs.get(each.runId) ?? 0) > each.epoch) each.ms = performance.now() - began
    } catch {
      // The server is away at the moment, for this is a fault run.
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

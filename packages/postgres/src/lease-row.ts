import { LEASE_STALE_MS, type Lease } from '@clew/ledger'
import type { Row } from './sql.ts'

/** The time of the database; `$2` is what tests turn it by. */
export const TIME = 'clock_timestamp() + make_interval(secs => $2::float8 / 1000)'

/**
 * State of a lease's owner `l` with its row `o`: alive, stale or dead; `$1` is this owner. Without pg_read_all_stats
 * the start time of another user's backend is hidden and only the pid is compared; a reused pid then looks alive
 * until its heartbeat is stale.
 */
export const STATE = `CASE
  WHEN l.owner <> $1 AND o.pid IS NOT NULL AND o.server_start = pg_postmaster_start_time()
    AND NOT EXISTS (SELECT FROM pg_stat_activity a
      WHERE a.pid = o.pid AND (a.backend_start = o.backend_start OR a.backend_start IS NULL)) THEN 'dead'
  WHEN ${TIME} - l.beat_at >= interval '${LEASE_STALE_MS} ms' THEN 'stale'
  ELSE 'alive' END`

export const isoOf = (time: unknown): string => (time as Date).toISOString()

export const toLease = (row: Row): Lease => ({
  workspace: row['workspace'] as string,
  runId: row['run_id'] as string,
  owner: row['owner'] as string,
  epoch: row['epoch'] as number,
  threadId: row['thread_id'] as string | null,
  heartbeatAt: isoOf(row['beat_at']),
})

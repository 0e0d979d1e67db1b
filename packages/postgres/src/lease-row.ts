import { LEASE_STALE_MS, type Lease } from '@clew/ledger'
import type { Row } from './sql.ts'

/** The time of the database; `$2` is what tests turn it by. */
export const TIME = 'clock_timestamp() + make_interval(secs => $2::float8 / 1000)'

/**
 * What the owner of a lease `l` is worth, with its row `o`; `$1` is this owner. A backend of another user shows no
 * start time to those without pg_read_all_stats: then its pid has to do, and silence proves the rest.
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

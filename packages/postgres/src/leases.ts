import {
  busyLease,
  type Lease,
  type Leases,
  lostLease,
  type OwnerState,
  type QueueCount,
  type RunKey,
} from '@clew/ledger'
import { claimRuns } from './claim-runs.ts'
import { refusedBy } from './errors.ts'
import { indexText, indexTextOrNull } from './index-text.ts'
import { isoOf, STATE, TIME, toLease } from './lease-row.ts'
import type { OwnerLock } from './owner-lock.ts'
import type { Database, Row } from './sql.ts'
import { QUEUE_COUNTS } from './waiting-runs.ts'

interface LeaseParts {
  readonly sql: Database
  readonly owner: string
  readonly lock: OwnerLock
  /** This process changed a lease: what is remembered of it is no longer so. */
  readonly forget: (key: RunKey) => void
  /** Added to the database's time, for tests that turn the clock. */
  readonly aheadMs?: (() => number) | undefined
}

/**
 * Checks and acquires in one statement, so that nothing changes in between: a lease is taken only in the state that
 * was checked, and a thread that the unique index refuses was taken by another process.
 */
const ACQUIRE = `WITH holders AS MATERIALIZED (
    SELECT l.run_id, l.epoch, l.beat_at, ${STATE} AS state
    FROM leases l LEFT JOIN owners o ON o.owner = l.owner
    WHERE l.workspace = $3 AND l.held AND (l.run_id = $4 OR l.thread_id = $5 OR l.thread_id = ANY ($6::text[]))
  ), freed AS (
    UPDATE leases l SET held = false FROM holders h
    WHERE l.workspace = $3 AND l.run_id = h.run_id AND l.run_id <> $4 AND l.held
      AND l.epoch = h.epoch AND l.beat_at = h.beat_at AND NOT EXISTS (SELECT FROM holders WHERE state = 'alive')
    RETURNING 1
  ), taken AS (
    INSERT INTO leases AS l (workspace, run_id, owner, epoch, thread_id, held, beat_at)
    SELECT $3, $4, $1, 1, $5, true, ${TIME}
    WHERE (SELECT count(*) FROM freed) >= 0 AND NOT EXISTS (SELECT FROM holders WHERE state = 'alive')
    ON CONFLICT (workspace, run_id) DO UPDATE SET owner = excluded.owner, epoch = l.epoch + 1,
      thread_id = excluded.thread_id, held = true, beat_at = excluded.beat_at
    WHERE NOT l.held
      OR EXISTS (SELECT FROM holders h WHERE h.run_id = l.run_id AND h.epoch = l.epoch AND h.beat_at = l.beat_at)
    RETURNING epoch, beat_at
  )
  SELECT t.epoch, t.beat_at,
    (SELECT run_id FROM holders WHERE state = 'alive' ORDER BY run_id <> $4 LIMIT 1) AS holder
  FROM (SELECT 1) one LEFT JOIN taken t ON true`

const MINE = 'owner = $1 AND workspace = $3 AND run_id = $4 AND epoch = $5 AND held'
const RENEW = `UPDATE leases SET beat_at = ${TIME} WHERE ${MINE}`
const RELEASE = `UPDATE leases SET held = false WHERE $2::float8 IS NOT NULL AND ${MINE}`
const LIST = `SELECT l.*, ${STATE} AS state FROM leases l LEFT JOIN owners o ON o.owner = l.owner
  WHERE l.held ORDER BY l.beat_at`

/** R9 on PostgreSQL: the database is the only coordinator, and its clock the only one that counts. */
export function createLeases({ sql, owner, lock, forget, aheadMs = () => 0 }: LeaseParts): Leases {
  async function change(name: string, text: string, lease: Lease): Promise<void> {
    const { workspace, runId, epoch } = lease
    const values = [lease.owner, aheadMs(), workspace, runId, epoch]
    const { rowCount } = await sql.query({ name, text, values })
    forget(lease)
    if (rowCount === 0) throw lostLease(lease)
  }

  async function take(
    key: RunKey,
    threadId: string | null,
    alsoThreads: readonly string[],
    by: string,
  ): Promise<Row> {
    const values = [
      by,
      aheadMs(),
      key.workspace,
      key.runId,
      indexTextOrNull(threadId),
      alsoThreads.map(indexText),
    ]
    try {
      const { rows } = await sql.query({ name: 'lease acquire', text: ACQUIRE, values })
      return rows[0] as Row
    } catch (error) {
      if (refusedBy(error) !== 'leases_one_per_thread') throw error
      throw busyLease(key.runId, `another run is working on thread ${threadId}`)
    }
  }

  return {
    async acquire({ workspace, runId }, threadId = null, options = {}) {
      await lock.hold()
      const by = options.owner ?? owner
      const {
        epoch,
        beat_at: beatAt,
        holder,
      } = await take({ workspace, runId }, threadId, options.alsoThreads ?? [], by)
      forget({ workspace, runId })
      if (epoch === null)
        throw busyLease(
          runId,
          holder === null || holder === runId
            ? 'another owner is working on it'
            : `run ${holder as string} is working on thread ${threadId}`,
        )
      return { workspace, runId, owner: by, epoch: epoch as number, threadId, heartbeatAt: isoOf(beatAt) }
    },
    async claim(options) {
      await lock.hold()
      const claimed = await claimRuns({ sql, owner, aheadMs }, options)
      for (const lease of claimed.leases) forget(lease)
      return claimed
    },
    async queues(workspace) {
      const { rows } = await sql.query({ name: 'queue counts', text: QUEUE_COUNTS, values: [workspace] })
      return rows as unknown as QueueCount[]
    },
    renew: (lease) => change('lease renew', RENEW, lease),
    release: (lease) => change('lease release', RELEASE, lease),
    async list() {
      const { rows } = await sql.query({ name: 'lease list', text: LIST, values: [owner, aheadMs()] })
      return rows.map((row) => ({ ...toLease(row), state: row['state'] as OwnerState }))
    },
  }
}

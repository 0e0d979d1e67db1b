import type { Claimed, ClaimOptions, RunSummary } from '@clew/ledger'
import { refusedBy } from './errors.ts'
import { indexText } from './index-text.ts'
import { isoOf, TIME } from './lease-row.ts'
import type { Sql } from './sql.ts'

interface ClaimParts {
  readonly sql: Sql
  readonly owner: string
  readonly aheadMs: () => number
}

/** More are looked at than are taken, for others who claim now may have locked the first ones. */
const SPARE = 64
const TRIES = 5

/** Only what was leased before: an imported run, or one that others recorded, is not run from here. */
const left = (run: string): string => `${run}.workspace = $3 AND ${run}.run_id <> ALL ($7::text[])
  AND EXISTS (SELECT FROM leases l WHERE l.workspace = ${run}.workspace AND l.run_id = ${run}.run_id AND NOT l.held)`
const isDue = (run: string): string => `${run}.due_ms <= $5::bigint`
const isOrphan = (run: string): string =>
  `$8::boolean AND ${run}.status = 'running' AND ${run}.parent_run_id IS NULL`

/** Per thread, only the oldest waiting run can be claimed, and none while another run of the thread is leased. */
const isClaimable = `${left('r')} AND (r.thread_id IS NULL OR NOT EXISTS (
    SELECT FROM leases l WHERE l.workspace = r.workspace AND l.thread_id = r.thread_id AND l.held
  ) AND NOT EXISTS (
    SELECT FROM runs e WHERE e.workspace = r.workspace AND e.thread_id = r.thread_id AND e.id < r.id
      AND e.agent = ANY ($4::text[]) AND (${isDue('e')} OR ${isOrphan('e')}) AND ${left('e')}
  ))`

/** One agent at a time, so that the index gives the order and no more is read than is taken. */
const CLAIM = `WITH waiting AS MATERIALIZED (
    SELECT w.* FROM unnest($4::text[]) a (agent) CROSS JOIN LATERAL (
      SELECT r.run_id, r.thread_id, r.summary, r.due_ms FROM runs r
      WHERE r.agent = a.agent AND ${isDue('r')} AND ${isClaimable} ORDER BY r.due_ms LIMIT $6::integer + ${SPARE}
    ) w UNION ALL
    SELECT w.* FROM unnest($4::text[]) a (agent) CROSS JOIN LATERAL (
      SELECT r.run_id, r.thread_id, r.summary, r.started_ms FROM runs r
      WHERE r.agent = a.agent AND ${isOrphan('r')} AND ${isClaimable} ORDER BY r.id LIMIT $6::integer + ${SPARE}
    ) w
  ), chosen AS MATERIALIZED (
    SELECT l.run_id, w.thread_id, w.summary, w.due_ms FROM waiting w JOIN leases l ON l.workspace = $3 AND l.run_id = w.run_id
    WHERE NOT l.held ORDER BY w.due_ms LIMIT $6::integer FOR UPDATE OF l SKIP LOCKED
  ), taken AS (
    UPDATE leases l SET owner = $1, epoch = l.epoch + 1, thread_id = c.thread_id, held = true, beat_at = ${TIME}
    FROM chosen c WHERE l.workspace = $3 AND l.run_id = c.run_id
    RETURNING l.run_id, l.epoch, l.beat_at, c.summary, c.due_ms
  ), next AS (
    SELECT min(n.due_ms) AS next_ms FROM unnest($4::text[]) a (agent) CROSS JOIN LATERAL (
      SELECT min(r.due_ms) AS due_ms FROM runs r WHERE r.workspace = $3 AND r.agent = a.agent AND r.due_ms > $5
    ) n
  )
  SELECT t.*, next.next_ms FROM next LEFT JOIN taken t ON true ORDER BY t.due_ms`

/** R9: each run goes to one of the workers that claim concurrently, and none of them waits for another. */
export async function claimRuns(parts: ClaimParts, options: ClaimOptions): Promise<Claimed> {
  for (let tries = 1; ; tries++)
    try {
      return await claimOnce(parts, options)
    } catch (error) {
      // Another run of a thread was taken just now; then this one may not be.
      if (refusedBy(error) !== 'leases_one_per_thread' || tries === TRIES) throw error
    }
}

async function claimOnce({ sql, owner, aheadMs }: ClaimParts, options: ClaimOptions): Promise<Claimed> {
  const { workspace, agents, nowMs, limit, except = [], orphans = false } = options
  const values = [
    owner,
    aheadMs(),
    workspace,
    [...new Set(agents)].map(indexText),
    nowMs,
    limit,
    [...except],
    orphans,
  ]
  const { rows } = await sql.query({ name: 'lease claim', text: CLAIM, values })
  const next = rows[0]?.['next_ms'] ?? null
  const leases = rows
    .filter((row) => row['run_id'] !== null)
    .map((row) => ({
      workspace,
      runId: row['run_id'] as string,
      owner,
      epoch: row['epoch'] as number,
      threadId: (JSON.parse(row['summary'] as string) as RunSummary).threadId,
      heartbeatAt: isoOf(row['beat_at']),
    }))
  return { leases, nextDueMs: next === null ? null : Number(next) }
}

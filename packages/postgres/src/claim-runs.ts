import { CLAIM_RETRY_MS, type Claimed, type ClaimOptions, type Lease, type RunSummary } from '@clew/ledger'
import { refusedBy } from './errors.ts'
import { indexText } from './index-text.ts'
import { isoOf, TIME } from './lease-row.ts'
import type { Database, Row } from './sql.ts'
import { BLOCKED, claimInQueues, promoteDelayed, QUEUES, SPARE, WAITS } from './waiting-runs.ts'

interface ClaimParts {
  readonly sql: Database
  readonly owner: string
  readonly aheadMs: () => number
}

const TRIES = 5

/**
 * Only what was submitted or leased before: an imported run, or one that others recorded, is not run from here. Runs of
 * limited queues are claimed in their transaction, but at its deadline a waiting run needs no slot to fail.
 */
const left = (run: string): string => `${run}.workspace = $3 AND ${run}.run_id <> ALL ($7::text[])
  AND EXISTS (SELECT FROM leases l WHERE l.workspace = ${run}.workspace AND l.run_id = ${run}.run_id AND NOT l.held
    AND (l.queue IS NULL OR l.turn IS NOT NULL OR l.not_before IS NOT NULL OR l.queue <> ALL ($9::text[])))`
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
      SELECT r.run_id, r.thread_id, r.summary, 0 AS class, 0 AS priority, r.due_ms AS place FROM runs r
      WHERE r.agent = a.agent AND ${isDue('r')} AND ${isClaimable} ORDER BY r.due_ms LIMIT $6::integer + ${SPARE}
    ) w UNION ALL
    SELECT w.* FROM unnest($4::text[]) a (agent) CROSS JOIN LATERAL (
      SELECT r.run_id, r.thread_id, r.summary, 0, 0, r.started_ms FROM runs r
      WHERE r.agent = a.agent AND ${isOrphan('r')} AND ${isClaimable} ORDER BY r.id LIMIT $6::integer + ${SPARE}
    ) w
  ), pages AS MATERIALIZED (
    SELECT w.* FROM unnest($4::text[]) a (agent) CROSS JOIN LATERAL (${QUEUES}) q CROSS JOIN LATERAL (
      SELECT q.queue, l.run_id, r.thread_id, r.summary, l.priority, l.turn, ${BLOCKED} AS is_blocked
      FROM leases l JOIN runs r ON r.workspace = l.workspace AND r.run_id = l.run_id
      WHERE q.queue <> ALL ($9::text[]) AND l.workspace = $3 AND l.agent = a.agent AND l.queue = q.queue AND ${WAITS}
        AND l.run_id <> ALL ($7::text[]) ORDER BY l.priority DESC, l.turn LIMIT $6::integer + ${SPARE}
    ) w
  ), candidates AS (
    SELECT * FROM (
      SELECT * FROM waiting
      UNION ALL SELECT run_id, thread_id, summary, 1, priority, turn FROM pages WHERE NOT is_blocked
    ) c ORDER BY class, priority DESC, place LIMIT $6::integer + ${SPARE}
  ), chosen AS MATERIALIZED (
    SELECT l.run_id, w.thread_id, w.summary, w.class, w.priority, w.place
    FROM candidates w JOIN leases l ON l.workspace = $3 AND l.run_id = w.run_id
    WHERE NOT l.held AND (w.class = 0 OR l.turn IS NOT NULL)
    ORDER BY w.class, w.priority DESC, w.place LIMIT $6::integer FOR UPDATE OF l SKIP LOCKED
  ), taken AS (
    UPDATE leases l SET owner = $1, epoch = l.epoch + 1, thread_id = c.thread_id, held = true, beat_at = ${TIME}
    FROM chosen c WHERE l.workspace = $3 AND l.run_id = c.run_id
    RETURNING l.run_id, l.epoch, l.beat_at, c.summary, c.class, c.priority, c.place
  ), next AS (
    SELECT min(n.due_ms) AS next_ms, min(n.delayed_ms) AS delayed_ms,
      (SELECT bool_or(p.is_blocked) FROM pages p) AS is_blocked,
      (SELECT array_agg(c.queue) FROM (SELECT p.queue FROM pages p GROUP BY p.queue
        HAVING count(*) >= $6::integer + ${SPARE} AND bool_or(p.is_blocked)) c) AS crowded
    FROM unnest($4::text[]) a (agent) CROSS JOIN LATERAL (
      SELECT min(r.due_ms) AS due_ms, (SELECT min(l.not_before) FROM leases l
        WHERE l.workspace = $3 AND l.agent = a.agent AND l.not_before IS NOT NULL AND NOT l.held) AS delayed_ms
      FROM runs r WHERE r.workspace = $3 AND r.agent = a.agent AND r.due_ms > $5
    ) n
  )
  SELECT t.*, next.* FROM next LEFT JOIN taken t ON true ORDER BY t.class, t.priority DESC, t.place`

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

async function claimOnce(parts: ClaimParts, options: ClaimOptions): Promise<Claimed> {
  const { workspace, limit, limits = [], nowMs } = options
  const { sql, owner } = parts
  const aheadMs = parts.aheadMs()
  let claimed = await claimUnlimited(parts, options)
  if (claimed.delayedMs !== null && claimed.delayedMs <= nowMs) {
    await promoteDelayed(sql, options)
    const further = await claimUnlimited(parts, { ...options, limit: limit - claimed.leases.length })
    claimed = { ...further, leases: [...claimed.leases, ...further.leases] }
  }
  const times = [claimed.nextMs, claimed.delayedMs, claimed.retryMs]
  const leases = [...claimed.leases]
  // Of limited queues under their locks; of others, where the first rows are all of busy threads, what is behind them.
  for (const queues of [limits.map(({ queue }) => queue), claimed.crowded]) {
    const wanted = limit - leases.length
    if (wanted <= 0 || queues.length === 0) continue
    const { taken, nextDueMs } = await sql.transact((transaction) =>
      claimInQueues(transaction, { owner, aheadMs }, { ...options, limit: wanted }, queues),
    )
    leases.push(...taken.map(({ row, summary }) => toClaimed(row, summary, workspace, owner)))
    times.push(nextDueMs)
  }
  const known = times.filter((ms) => ms !== null)
  return { leases, nextDueMs: known.length === 0 ? null : Math.min(...known) }
}

interface UnlimitedClaim {
  readonly leases: readonly Lease[]
  readonly nextMs: number | null
  /** When the next delayed run can be claimed. */
  readonly delayedMs: number | null
  /** Where threads were busy. */
  readonly retryMs: number | null
  /** Queues in which busy threads were in the way. */
  readonly crowded: readonly string[]
}

async function claimUnlimited(
  { sql, owner, aheadMs }: ClaimParts,
  options: ClaimOptions,
): Promise<UnlimitedClaim> {
  const { workspace, agents, nowMs, limit, limits = [], except = [], orphans = false } = options
  const values = [
    owner,
    aheadMs(),
    workspace,
    [...new Set(agents)].map(indexText),
    nowMs,
    limit,
    [...except],
    orphans,
    limits.map(({ queue }) => indexText(queue)),
  ]
  const { rows } = await sql.query({ name: 'lease claim', text: CLAIM, values })
  const first = rows[0]
  return {
    leases: rows
      .filter((row) => row['run_id'] !== null)
      .map((row) => toClaimed(row, row['summary'] as string, workspace, owner)),
    nextMs: msOf(first?.['next_ms']),
    delayedMs: msOf(first?.['delayed_ms']),
    retryMs: first?.['is_blocked'] === true ? nowMs + CLAIM_RETRY_MS : null,
    crowded: (first?.['crowded'] as string[] | null | undefined) ?? [],
  }
}

const msOf = (value: unknown): number | null => (value == null ? null : Number(value))

const toClaimed = (row: Row, summary: string, workspace: string, owner: string): Lease => ({
  workspace,
  runId: row['run_id'] as string,
  owner,
  epoch: row['epoch'] as number,
  threadId: (JSON.parse(summary) as RunSummary).threadId,
  heartbeatAt: isoOf(row['beat_at']),
})

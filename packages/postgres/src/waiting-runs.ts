import {
  type Claimed,
  type ClaimOptions,
  createQueueSlots,
  pickWaiting,
  type QueueUse,
  type WaitingRun,
} from '@clew/ledger'
import { indexText } from './index-text.ts'
import type { Row, Sql } from './sql.ts'

/** Waiting rows that are read beyond those that can be taken. */
export const SPARE = 64
/** Keys, and runs of each, that are read where the first rows of a queue are all held back. */
const MAX_KEYS = 1000
const MAX_PER_KEY = 8
/** Delayed runs that get their turn at a time. */
const MAX_PROMOTED = 500

/**
 * Both say the same, but only the index by turn fits the first, and one by key the second. Without statistics the planner
 * takes these indexes for equal, and reading one key by the other index means reading the whole queue.
 */
export const WAITS = 'l.turn >= 0 AND NOT l.held'
const WAITS_BY_KEY = 'l.turn IS NOT NULL AND NOT l.held'

/** Of a row `t`: behind those of its key, also in the same statement, and not before those who wait now. */
const LANE =
  'l.workspace = t.workspace AND l.agent = t.agent AND l.queue = t.queue AND l.priority = t.priority'
export const NEXT_TURN = `greatest(
    (SELECT min(l.turn) FROM leases l WHERE ${LANE} AND ${WAITS}),
    (SELECT max(l.turn) + 1 FROM leases l WHERE ${LANE} AND l.key = t.key AND ${WAITS_BY_KEY}), 0
  ) + row_number() OVER (PARTITION BY t.workspace, t.agent, t.queue, t.priority, t.key ORDER BY t.place) - 1`

const ENDED = `('completed', 'failed', 'stopped', 'partial', 'superseded', 'deleted')`
/** A run of the thread is leased, or an earlier one has not ended. One that is delayed does not count before its time. */
export const BLOCKED = `(r.thread_id IS NOT NULL AND (EXISTS (
    SELECT FROM leases h WHERE h.workspace = l.workspace AND h.thread_id = r.thread_id AND h.held
  ) OR EXISTS (
    SELECT FROM runs e JOIN leases o ON o.workspace = e.workspace AND o.run_id = e.run_id
    WHERE e.workspace = l.workspace AND e.thread_id = r.thread_id AND e.id < r.id
      AND e.status NOT IN ${ENDED} AND o.not_before IS NULL)))`
/** Queues of agent `a` in which runs wait, found by one look at the index for each. */
export const QUEUES = `WITH RECURSIVE q (queue) AS (
    (SELECT min(l.queue) FROM leases l WHERE l.workspace = $3 AND l.agent = a.agent AND ${WAITS})
    UNION ALL SELECT (SELECT min(l.queue) FROM leases l
      WHERE l.workspace = $3 AND l.agent = a.agent AND l.queue > q.queue AND ${WAITS}) FROM q WHERE q.queue IS NOT NULL
  ) SELECT queue FROM q WHERE queue IS NOT NULL`

const PROMOTE = `UPDATE leases l SET not_before = NULL, turn = t.next FROM (
    SELECT t.*, ${NEXT_TURN} AS next FROM (
      SELECT d.workspace, d.run_id, d.agent, d.queue, d.key, d.priority, d.not_before AS place FROM leases d
      WHERE d.workspace = $1 AND d.agent = ANY ($2::text[]) AND d.not_before <= $3::bigint AND NOT d.held
      ORDER BY d.not_before LIMIT ${MAX_PROMOTED} FOR UPDATE SKIP LOCKED
    ) t
  ) t WHERE l.workspace = t.workspace AND l.run_id = t.run_id`

/** Delayed runs whose time has come get their turn. */
export async function promoteDelayed(sql: Sql, { workspace, agents, nowMs }: ClaimOptions): Promise<void> {
  const values = [workspace, agents.map(indexText), nowMs]
  await sql.query({ name: 'queue promote', text: PROMOTE, values })
}

export const QUEUE_COUNTS = `SELECT queue, agent, (count(*) FILTER (WHERE NOT held AND turn IS NOT NULL))::int AS waiting,
    (count(*) FILTER (WHERE NOT held AND not_before IS NOT NULL))::int AS delayed, (count(*) FILTER (WHERE held))::int AS running
  FROM leases WHERE workspace = $1 AND queue IS NOT NULL AND (held OR turn IS NOT NULL OR not_before IS NOT NULL)
  GROUP BY queue, agent`

const ROW = 'l.run_id, r.summary, l.queue, l.key, l.priority, l.turn'
const RUN = 'JOIN runs r ON r.workspace = l.workspace AND r.run_id = l.run_id'
const OPEN = 'l.workspace = $1 AND l.agent = a.agent AND l.queue = q.queue AND l.run_id <> ALL ($4::text[])'
const FROM = 'FROM unnest($2::text[]) a (agent) CROSS JOIN unnest($3::text[]) q (queue)'
const PAGE = `SELECT w.* ${FROM} CROSS JOIN LATERAL (
    SELECT ${ROW}, ${BLOCKED} AS is_blocked FROM leases l ${RUN} WHERE ${OPEN} AND ${WAITS}
    ORDER BY l.priority DESC, l.turn LIMIT $5::integer
  ) w`
/** First rows of each key, found by one look at the index for each key. */
const BY_KEY = `SELECT w.* ${FROM} CROSS JOIN LATERAL (
    WITH RECURSIVE k (priority, key) AS (
      (SELECT l.priority, l.key FROM leases l WHERE ${OPEN} AND ${WAITS_BY_KEY} ORDER BY l.priority, l.key LIMIT 1)
      UNION ALL SELECT n.* FROM k CROSS JOIN LATERAL (
        SELECT l.priority, l.key FROM leases l WHERE ${OPEN} AND ${WAITS_BY_KEY} AND (l.priority, l.key) > (k.priority, k.key)
        ORDER BY l.priority, l.key LIMIT 1
      ) n
    ) SELECT * FROM k LIMIT $5::integer
  ) k CROSS JOIN LATERAL (
    SELECT ${ROW}, ${BLOCKED} AS is_blocked FROM leases l ${RUN}
    WHERE ${OPEN} AND ${WAITS_BY_KEY} AND l.priority = k.priority AND l.key = k.key ORDER BY l.turn LIMIT ${MAX_PER_KEY}
  ) w`
/** Runs that go on again, and need a slot of their queue. */
const DUE = `SELECT ${ROW} FROM runs r JOIN leases l ON l.workspace = r.workspace AND l.run_id = r.run_id
  WHERE r.workspace = $1 AND r.agent = ANY ($2::text[]) AND r.due_ms <= $6::bigint AND l.queue = ANY ($3::text[])
    AND l.turn IS NULL AND l.not_before IS NULL AND NOT l.held AND l.run_id <> ALL ($4::text[])
    AND (r.thread_id IS NULL OR NOT EXISTS (
      SELECT FROM leases h WHERE h.workspace = r.workspace AND h.thread_id = r.thread_id AND h.held))
  ORDER BY r.due_ms LIMIT $5::integer`

const LOCK = `SELECT pg_advisory_xact_lock(hashtextextended($1 || E'\\n' || q.queue, 13))
  FROM (SELECT unnest($2::text[]) AS queue ORDER BY 1) q`
const HELD = `SELECT queue, key, count(*)::int AS n FROM leases
  WHERE workspace = $1 AND queue = ANY ($2::text[]) AND held GROUP BY queue, key`
const CLAIMS =
  'SELECT queue, at_ms FROM queue_claims WHERE workspace = $1 AND queue = ANY ($2::text[]) ORDER BY at_ms'
const TAKE = `UPDATE leases l SET owner = $1, epoch = l.epoch + 1, thread_id = t.thread_id, held = true,
    beat_at = clock_timestamp() + make_interval(secs => $2::float8 / 1000)
  FROM (SELECT l.run_id, r.thread_id FROM unnest($4::text[]) p (run_id) JOIN leases l ON l.workspace = $3 AND l.run_id = p.run_id
      ${RUN} WHERE NOT l.held FOR UPDATE OF l SKIP LOCKED) t
  WHERE l.workspace = $3 AND l.run_id = t.run_id RETURNING l.run_id, l.epoch, l.beat_at`
const DROP_CLAIMS = 'DELETE FROM queue_claims WHERE workspace = $1 AND queue = $2 AND at_ms <= $3::bigint'
const ADD_CLAIMS =
  'INSERT INTO queue_claims (workspace, queue, at_ms) SELECT $1, unnest($2::text[]), $3::bigint'

export interface TakenRow {
  readonly row: Row
  readonly summary: string
}

interface QueueClaim extends Pick<Claimed, 'nextDueMs'> {
  readonly taken: readonly TakenRow[]
}

interface Owner {
  readonly owner: string
  readonly aheadMs: number
}

/**
 * Claims runs of some queues (W4), in the transaction of `sql`: what is counted stays so until its end, since every claim of
 * a limited queue takes the queue's lock first.
 */
export async function claimInQueues(
  sql: Sql,
  { owner, aheadMs }: Owner,
  options: ClaimOptions,
  queues: readonly string[],
): Promise<QueueClaim> {
  const { workspace, agents, nowMs, limit, limits = [], except = [] } = options
  const query = async (name: string, text: string, values: unknown[]): Promise<Row[]> =>
    (await sql.query({ name: `queue ${name}`, text, values })).rows
  const place = [workspace, [...new Set(agents)].map(indexText), queues.map(indexText), [...except]]
  const limited = limits.filter(({ queue }) => queues.includes(queue))
  const names = limited.map(({ queue }) => indexText(queue))
  if (names.length > 0) await query('lock', LOCK, [workspace, names])
  const [held, claims] =
    names.length === 0
      ? [[], []]
      : await Promise.all([
          query('held', HELD, [workspace, names]),
          query('claims', CLAIMS, [workspace, names]),
        ])
  const uses = limited.map(({ queue, rate }): QueueUse => {
    const isOwn = (row: Row): boolean => row['queue'] === indexText(queue)
    return {
      queue: indexText(queue),
      held: new Map(held.filter(isOwn).map((row) => [row['key'] as string, row['n'] as number])),
      claimedMs: claims.flatMap((row) =>
        isOwn(row) && Number(row['at_ms']) > nowMs - (rate?.perMs ?? 0) ? [Number(row['at_ms'])] : [],
      ),
    }
  })
  const slots = createQueueSlots(
    limited.map((each) => ({ ...each, queue: indexText(each.queue) })),
    uses,
    nowMs,
  )
  const due = names.length === 0 ? [] : await query('due', DUE, [...place, limit + SPARE, nowMs])
  const chosen = due.filter((row) => slots.take(toWaiting(row), false)).slice(0, limit)
  place[2] = (place[2] as string[]).filter(slots.hasRoom)
  const rows = await query('page', PAGE, [...place, limit + SPARE])
  const picked = [...pickWaiting(rows.map(toWaiting), slots, limit - chosen.length)]
  if (chosen.length + picked.length < limit && rows.length > picked.length) {
    const known = new Set(rows.map((row) => row['run_id']))
    const others = (await query('keys', BY_KEY, [...place, MAX_KEYS])).filter(
      (row) => !known.has(row['run_id']),
    )
    rows.push(...others)
    picked.push(...pickWaiting(others.map(toWaiting), slots, limit - chosen.length - picked.length))
  }
  const runIds = [...chosen.map((row) => row['run_id'] as string), ...picked.map(({ runId }) => runId)]
  if (runIds.length === 0) return { taken: [], nextDueMs: slots.retryMs }
  const taken = await query('take', TAKE, [owner, aheadMs, workspace, runIds])
  await recordClaims(sql, options, picked, new Set(taken.map((row) => row['run_id'] as string)))
  const summaries = new Map([...due, ...rows].map((row) => [row['run_id'], row['summary'] as string]))
  return {
    taken: taken
      .toSorted((a, b) => runIds.indexOf(a['run_id'] as string) - runIds.indexOf(b['run_id'] as string))
      .map((row) => ({ row, summary: summaries.get(row['run_id']) as string })),
    nextDueMs: slots.retryMs,
  }
}

async function recordClaims(
  sql: Sql,
  { workspace, nowMs, limits = [] }: ClaimOptions,
  picked: readonly WaitingRun[],
  taken: ReadonlySet<string>,
): Promise<void> {
  for (const { queue, rate } of limits) {
    const name = indexText(queue)
    const own = picked.filter((run) => run.queue === name && taken.has(run.runId)).map(() => name)
    if (!rate || own.length === 0) continue
    await sql.query({ text: DROP_CLAIMS, values: [workspace, name, nowMs - rate.perMs] })
    await sql.query({ text: ADD_CLAIMS, values: [workspace, own, nowMs] })
  }
}

const toWaiting = (row: Row): WaitingRun => ({
  runId: row['run_id'] as string,
  queue: row['queue'] as string,
  key: row['key'] as string,
  priority: row['priority'] as number,
  turn: Number(row['turn']),
  isBlocked: row['is_blocked'] === true,
})

import type {
  ReadAllOptions,
  ReadRunOptions,
  RunKey,
  SkeletonRange,
  StepSkeleton,
  StoredEvent,
  StoredNode,
  StoreStats,
} from '@clew/ledger'
import { EVENT_COLUMNS, hexOf, toStoredEvent } from './event-row.ts'
import { indexText } from './index-text.ts'
import type { Row, Sql } from './sql.ts'
import { STEP_COLUMNS, toStep } from './step-row.ts'

/**
 * Below the oldest transaction that still runs nothing can appear any more (L3). What lies above it is committed but
 * not told yet: one that stands before it may still come.
 */
const HORIZON = `(SELECT base + pg_snapshot_xmin(pg_current_snapshot())::text::bigint * 1024 FROM meta)`

const RUN = `SELECT ${EVENT_COLUMNS} WHERE e.run = (SELECT id FROM runs WHERE workspace = $1 AND run_id = $2)
  AND e.seq > $3 AND e.seq <= $4`
const ALL = `SELECT ${EVENT_COLUMNS} WHERE e.position > $1`
const HELD_BACK = `SELECT EXISTS (SELECT FROM events WHERE position > $1 AND position >= ${HORIZON}) AS held_back`
const BY_ID = `SELECT ${EVENT_COLUMNS} WHERE e.event_id = $1 AND r.workspace = $2 ORDER BY e.position`
const CAUSED = `SELECT ${EVENT_COLUMNS} WHERE r.workspace = $2 AND e.position IN (
    SELECT position FROM events WHERE causation_id = ANY ($1::text[]) AND NOT follows
    UNION ALL
    SELECT n.position FROM events c JOIN events n ON n.run = c.run AND n.seq = c.seq + 1
    WHERE c.event_id = ANY ($1::text[]) AND n.causation_id = c.event_id AND n.follows
  ) ORDER BY e.position`
const NODES = 'SELECT id, hash, body FROM nodes WHERE id = ANY ($1::bigint[])'
const SKELETON = `SELECT ${STEP_COLUMNS} FROM steps s
  WHERE s.run = (SELECT id FROM runs WHERE workspace = $1 AND run_id = $2) AND s.started_seq > $3 AND s.started_seq < $4`
const NEWEST = 'SELECT coalesce(max(position), 0) AS last FROM events'
const LAST = `${NEWEST} WHERE position < ${HORIZON}`
// Exact while it is few; else by the part of all positions that lies behind, of the number that the server last counted.
const COUNTED = 10_000
const COUNT = `SELECT CASE WHEN c.n < ${COUNTED} THEN c.n ELSE greatest(c.n,
    (t.reltuples * (e.last - $1) / greatest(e.last - e.first, 1))::bigint) END AS count
  FROM (SELECT count(*) AS n FROM (SELECT FROM events WHERE position > $1::bigint LIMIT ${COUNTED}) l) c,
    (SELECT min(position) AS first, max(position) AS last FROM events) e,
    (SELECT reltuples FROM pg_class WHERE oid = 'events'::regclass) t`
// From one name to the next, for there are few of them among many runs.
const WORKSPACES = `WITH RECURSIVE names (name) AS (
    SELECT min(workspace) FROM runs
    UNION ALL
    SELECT (SELECT min(workspace) FROM runs WHERE workspace > name) FROM names WHERE name IS NOT NULL
  ) SELECT name FROM names WHERE name IS NOT NULL`
const STATS = `SELECT (SELECT count(*) FROM events) AS events, (SELECT count(*) FROM runs) AS runs,
  (SELECT count(*) FROM nodes) AS values,
  (SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c
   WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r') AS bytes`

/** The three reads: events of a run, events of the ledger, the skeleton of a run's steps; and look-ups by id. */
export interface Reader {
  run(key: RunKey, options: ReadRunOptions): Promise<StoredEvent[]>
  all(options: ReadAllOptions): Promise<StoredEvent[]>
  byId(workspace: string, eventId: string): Promise<StoredEvent[]>
  caused(workspace: string, eventIds: readonly string[]): Promise<StoredEvent[]>
  nodes(ids: readonly number[]): Promise<Map<number, StoredNode>>
  skeleton(key: RunKey, range?: SkeletonRange): Promise<StepSkeleton[]>
  workspaces(): Promise<string[]>
  stats(): Promise<StoreStats>
  lastPosition(): Promise<number>
  newestPosition(): Promise<number>
  countAfter(position: number): Promise<number>
}

interface ReaderParts {
  readonly sql: Sql
  /** Committed events wait behind a transaction that still runs, and nobody will ring when it ends. */
  readonly heldBack: () => void
}

export function createReader({ sql, heldBack }: ReaderParts): Reader {
  async function read(name: string, text: string, values: unknown[]): Promise<Row[]> {
    return (await sql.query({ name, text, values })).rows
  }
  const events = async (name: string, text: string, values: unknown[]): Promise<StoredEvent[]> =>
    (await read(name, text, values)).map(toStoredEvent)

  return {
    run({ workspace, runId }, { afterSeq, upToSeq = Number.MAX_SAFE_INTEGER, limit, types }) {
      const values = [workspace, runId, afterSeq, upToSeq, safe(limit)]
      if (!types) return events('read run', `${RUN} ORDER BY e.seq LIMIT $5`, values)
      const ofTypes = `${RUN} AND e.event_type = ANY ($6::text[]) ORDER BY e.seq LIMIT $5`
      return events('read run types', ofTypes, [...values, types])
    },
    async all({ workspace, afterPosition, upToPosition, limit, types }) {
      const values: unknown[] = [afterPosition, safe(limit)]
      const isTold = upToPosition === undefined
      let text = `${ALL} AND e.position ${isTold ? `< ${HORIZON}` : `<= $${values.push(upToPosition)}`}`
      let name = isTold ? 'read all' : 'read committed'
      if (workspace !== undefined) {
        text += ` AND r.workspace = $${values.push(workspace)}`
        name += ' workspace'
      }
      if (types) {
        text += ` AND e.event_type = ANY ($${values.push(types)}::text[])`
        name += ' types'
      }
      const page = await events(name, `${text} ORDER BY e.position LIMIT $2`, values)
      if (page.length === 0 && isTold) {
        const [row] = await read('read held back', HELD_BACK, [afterPosition])
        if (row?.['held_back'] === true) heldBack()
      }
      return page
    },
    byId: (workspace, eventId) => events('read id', BY_ID, [eventId, workspace]),
    caused: (workspace, eventIds) => events('read caused', CAUSED, [eventIds, workspace]),
    async nodes(ids) {
      const rows = await read('read nodes', NODES, [ids])
      return new Map(
        rows.map((row) => [row['id'] as number, { hash: hexOf(row['hash']), body: row['body'] as string }]),
      )
    },
    async skeleton({ workspace, runId }, range = {}) {
      const { afterSeq = 0, beforeSeq = Number.MAX_SAFE_INTEGER, limit, last = false, stepId } = range
      const values: unknown[] = [workspace, runId, safe(afterSeq), safe(beforeSeq)]
      let text = SKELETON
      let name = 'read skeleton'
      if (stepId !== undefined) {
        text += ` AND s.step_id = $${values.push(indexText(stepId))}`
        name += ' of step'
      }
      text += ` ORDER BY s.started_seq ${last ? 'DESC' : 'ASC'}`
      // A plan for all of them must not be one for a few.
      if (limit !== undefined) text += ` LIMIT $${values.push(safe(limit))}`
      const rows = await read(
        `${name}${last ? ' last' : ''}${limit === undefined ? '' : ' limit'}`,
        text,
        values,
      )
      const steps = rows.map((row) => toStep(runId, row))
      if (last) steps.reverse()
      return steps
    },
    workspaces: async () =>
      (await read('read workspaces', WORKSPACES, [])).map((row) => row['name'] as string),
    lastPosition: async () => (await read('read last', LAST, []))[0]?.['last'] as number,
    newestPosition: async () => (await read('read newest', NEWEST, []))[0]?.['last'] as number,
    countAfter: async (position) => (await read('read count', COUNT, [position]))[0]?.['count'] as number,
    async stats() {
      const [row] = await read('read stats', STATS, [])
      return row as unknown as StoreStats
    },
  }
}

/** An endless limit is none. */
const safe = (limit: number): number => Math.min(limit, Number.MAX_SAFE_INTEGER)

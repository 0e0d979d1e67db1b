import type {
  EventQuery,
  ReadAllOptions,
  ReadRunOptions,
  RunKey,
  SkeletonRange,
  StepSkeleton,
  StoredEvent,
} from '@clew/ledger'
import { EVENT_COLUMNS, HORIZON, toStoredEvent } from './event-row.ts'
import { indexText } from './index-text.ts'
import type { Row, Sql } from './sql.ts'
import { STEP_COLUMNS, toStep } from './step-row.ts'

const RUN = `SELECT ${EVENT_COLUMNS} WHERE e.run = (SELECT id FROM runs WHERE workspace = $1 AND run_id = $2)
  AND e.seq > $3 AND e.seq <= $4`
const ALL = `SELECT ${EVENT_COLUMNS} WHERE e.position > $1`
const HELD_BACK = `SELECT EXISTS (SELECT FROM events WHERE position > $1 AND position >= ${HORIZON}) AS held_back`
const BY_ID = `SELECT ${EVENT_COLUMNS} WHERE e.event_id = ANY ($1::text[]) AND r.workspace = $2 ORDER BY e.position`
const BY_POSITION = `SELECT ${EVENT_COLUMNS} WHERE e.position = ANY ($1::bigint[]) AND r.workspace = $2 ORDER BY e.position`
const BY_CAUSE = `SELECT ${EVENT_COLUMNS} WHERE r.workspace = $2 AND e.position IN (
    SELECT position FROM events WHERE causation_id = ANY ($1::text[]) AND NOT follows
    UNION ALL
    SELECT n.position FROM events c JOIN events n ON n.run = c.run AND n.seq = c.seq + 1
    WHERE c.event_id = ANY ($1::text[]) AND n.causation_id = c.event_id AND n.follows
  ) ORDER BY e.position`
const STEPS = `SELECT ${STEP_COLUMNS} FROM steps s
  WHERE s.run = (SELECT id FROM runs WHERE workspace = $1 AND run_id = $2) AND s.started_seq > $3 AND s.started_seq < $4`
/** Limit up to which `countAfter` counts exactly; beyond, it estimates by the server's statistics. */
const MAX_COUNTED = 10_000
const COUNT = `SELECT CASE WHEN c.n < ${MAX_COUNTED} THEN c.n ELSE greatest(c.n,
    (t.reltuples * (e.last - $1) / greatest(e.last - e.first, 1))::bigint) END AS count
  FROM (SELECT count(*) AS n FROM (SELECT FROM events WHERE position > $1::bigint LIMIT ${MAX_COUNTED}) l) c,
    (SELECT min(position) AS first, max(position) AS last FROM events) e,
    (SELECT reltuples FROM pg_class WHERE oid = 'events'::regclass) t`

/** Reads of events and steps. */
export interface Reader {
  run(key: RunKey, options: ReadRunOptions): Promise<StoredEvent[]>
  all(options: ReadAllOptions): Promise<StoredEvent[]>
  find(query: EventQuery): Promise<StoredEvent[]>
  steps(key: RunKey, range?: SkeletonRange): Promise<StepSkeleton[]>
  countAfter(position: number): Promise<number>
}

interface ReaderParts {
  readonly sql: Sql
  /** Committed events wait behind a transaction that still runs, and no notification comes when it ends. */
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
    async all({ workspace, afterPosition, upToPosition, limit, types, containing }) {
      const values: unknown[] = [afterPosition, safe(limit)]
      const isBounded = upToPosition !== undefined
      let text = `${ALL} AND e.position ${isBounded ? `<= $${values.push(upToPosition)}` : `< ${HORIZON}`}`
      let name = isBounded ? 'read bounded' : 'read all'
      if (workspace !== undefined) {
        text += ` AND r.workspace = $${values.push(workspace)}`
        name += ' workspace'
      }
      if (types) {
        text += ` AND e.event_type = ANY ($${values.push(types)}::text[])`
        name += ' types'
      }
      if (containing) {
        // Every payload is compared with the texts, which are few: each has a parameter of its own.
        const texts = containing.map((each) => ` OR strpos(p.body, $${values.push(each)}) > 0`)
        text += ` AND p.body IS NOT NULL AND (left(p.body, 1) <> '{'${texts.join('')})`
        name += ` containing ${texts.length}`
      }
      const page = await events(name, `${text} ORDER BY e.position LIMIT $2`, values)
      if (page.length === 0 && !isBounded) {
        const [row] = await read('read held back', HELD_BACK, [afterPosition])
        if (row?.['held_back'] === true) heldBack()
      }
      return page
    },
    find(query) {
      const { workspace } = query
      if ('ids' in query) return events('find ids', BY_ID, [query.ids, workspace])
      if ('causes' in query) return events('find causes', BY_CAUSE, [query.causes, workspace])
      return events('find positions', BY_POSITION, [query.positions, workspace])
    },
    async steps({ workspace, runId }, range = {}) {
      const { afterSeq = 0, beforeSeq = Number.MAX_SAFE_INTEGER, limit, last = false, stepId } = range
      const values: unknown[] = [workspace, runId, safe(afterSeq), safe(beforeSeq)]
      let text = STEPS
      let name = 'read steps'
      if (stepId !== undefined) {
        text += ` AND s.step_id = $${values.push(indexText(stepId))}`
        name += ' of id'
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
    countAfter: async (position) => (await read('read count', COUNT, [position]))[0]?.['count'] as number,
  }
}

/** An endless limit is none. */
const safe = (limit: number): number => Math.min(limit, Number.MAX_SAFE_INTEGER)

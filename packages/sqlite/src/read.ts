import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import type {
  ReadAllOptions,
  ReadRunOptions,
  RunKey,
  SkeletonRange,
  EventQuery,
  StepSkeleton,
  StoredEvent,
} from '@clew/ledger'
import { EVENT_COLUMNS, LAST_POSITION, toStoredEvent } from './event-row.ts'
import { STEP_COLUMNS, toStep } from './step-row.ts'

/** Limit up to which `countAfter` counts exactly. */
const MAX_COUNTED = 10_000
const NO_LIMIT = Number.MAX_SAFE_INTEGER

/** Reads of events and steps. */
export interface Reader {
  run(key: RunKey, options: ReadRunOptions): StoredEvent[]
  all(options: ReadAllOptions): StoredEvent[]
  find(query: EventQuery): StoredEvent[]
  steps(key: RunKey, range?: SkeletonRange): StepSkeleton[]
  countAfter(position: number): number
}

export function createReader(db: DatabaseSync): Reader {
  /** Reads events by a condition and an order, with and without a list of types as last value before the limit. */
  function eventsBy(where: string, order: string) {
    const every = db.prepare(`SELECT ${EVENT_COLUMNS} WHERE ${where} ORDER BY ${order} LIMIT ?`)
    const ofTypes = db.prepare(
      `SELECT ${EVENT_COLUMNS} WHERE ${where} AND e.event_type IN (SELECT value FROM json_each(?)) ORDER BY ${order} LIMIT ?`,
    )
    return (values: readonly SQLInputValue[], types: readonly string[] | undefined, limit: number) =>
      (types ? ofTypes.all(...values, JSON.stringify(types), limit) : every.all(...values, limit)).map(
        toStoredEvent,
      )
  }
  /** Reads the first or the last steps by a condition. */
  function stepsBy(where: string) {
    const inOrder = (order: string): StatementSync =>
      db.prepare(
        `SELECT ${STEP_COLUMNS} FROM steps ${where} run = ? AND started_seq > ? AND started_seq < ? ORDER BY started_seq ${order} LIMIT ?`,
      )
    return { first: inOrder('ASC'), last: inOrder('DESC') }
  }
  const sql = {
    runId: db.prepare('SELECT id FROM runs WHERE workspace = ? AND run_id = ?'),
    run: eventsBy('e.run = ? AND e.seq > ? AND e.seq <= ?', 'e.seq'),
    all: eventsBy('e.position > ? AND e.position <= ?', 'e.position'),
    inWorkspace: eventsBy('e.position > ? AND e.position <= ? AND r.workspace = ?', 'e.position'),
    // Every payload of the window is read, so each text has a parameter of its own.
    containing: (texts: readonly string[]) =>
      db.prepare(
        `SELECT ${EVENT_COLUMNS} WHERE r.workspace = coalesce(?3, r.workspace)
           AND (?4 IS NULL OR e.event_type IN (SELECT value FROM json_each(?4))) AND e.position IN (
           SELECT x.position FROM payloads x WHERE x.position > ?1 AND x.position <= ?2
             AND (substr(x.body, 1, 1) <> '{'${texts.map((_, at) => ` OR instr(x.body, ?${at + 6}) > 0`).join('')}))
         ORDER BY e.position LIMIT ?5`,
      ),
    byPosition: db.prepare(
      `SELECT ${EVENT_COLUMNS} WHERE r.workspace = ? AND e.position IN (SELECT value FROM json_each(?)) ORDER BY e.position`,
    ),
    byId: db.prepare(
      `SELECT ${EVENT_COLUMNS} WHERE r.workspace = ? AND e.event_id IN (SELECT value FROM json_each(?)) ORDER BY e.position`,
    ),
    byCause: db.prepare(
      `SELECT ${EVENT_COLUMNS} WHERE r.workspace = ?1 AND e.position IN (
         SELECT position FROM events WHERE causation_id IN (SELECT value FROM json_each(?2)) AND follows = 0
         UNION ALL SELECT n.position FROM json_each(?2) j CROSS JOIN events c ON c.event_id = j.value
           CROSS JOIN events n ON n.run = c.run AND n.seq = c.seq + 1 AND n.follows = 1) ORDER BY e.position`,
    ),
    steps: stepsBy('WHERE'),
    // Without the hint, SQLite takes the index that gives the order and reads the whole run.
    attempts: stepsBy('INDEXED BY steps_by_key WHERE step_id = ? AND'),
    lastPosition: db.prepare(LAST_POSITION),
    after: db.prepare(
      `SELECT count(*) AS n FROM (SELECT 1 FROM events WHERE position > ? LIMIT ${MAX_COUNTED})`,
    ),
  }
  const idOf = ({ workspace, runId }: RunKey): number | undefined =>
    sql.runId.get(workspace, runId)?.['id'] as number | undefined

  return {
    run(key, { afterSeq, upToSeq = NO_LIMIT, limit, types }) {
      const id = idOf(key)
      return id === undefined ? [] : sql.run([id, afterSeq, upToSeq], types, limit)
    },
    all({ workspace, afterPosition, upToPosition = NO_LIMIT, limit, types, containing }) {
      if (containing)
        return sql
          .containing(containing)
          .all(
            afterPosition,
            upToPosition,
            workspace ?? null,
            types ? JSON.stringify(types) : null,
            limit,
            ...containing,
          )
          .map(toStoredEvent)
      if (workspace === undefined) return sql.all([afterPosition, upToPosition], types, limit)
      return sql.inWorkspace([afterPosition, upToPosition, workspace], types, limit)
    },
    find(query) {
      const [statement, keys] =
        'ids' in query
          ? ([sql.byId, query.ids] as const)
          : 'causes' in query
            ? ([sql.byCause, query.causes] as const)
            : ([sql.byPosition, query.positions] as const)
      return statement.all(query.workspace, JSON.stringify(keys)).map(toStoredEvent)
    },
    steps(key, { afterSeq = 0, beforeSeq = NO_LIMIT, last = false, stepId, limit = NO_LIMIT } = {}) {
      const id = idOf(key)
      if (id === undefined) return []
      const bounds = [id, afterSeq, Math.min(beforeSeq, NO_LIMIT), Math.min(limit, NO_LIMIT)] as const
      const order = last ? 'last' : 'first'
      const rows =
        stepId === undefined ? sql.steps[order].all(...bounds) : sql.attempts[order].all(stepId, ...bounds)
      const steps = rows.map((row) => toStep(key.runId, row))
      return last ? steps.toReversed() : steps
    },
    // Beyond the limit, events that were pruned in between are counted too.
    countAfter(position) {
      const counted = Number(sql.after.get(position)?.['n'])
      return counted < MAX_COUNTED ? counted : Number(sql.lastPosition.get()?.['position']) - position
    },
  }
}

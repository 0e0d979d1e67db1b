import type { Batch, ChangedStep, DroppedStep, NewNode, NewScope, QueuedRun } from './batch.ts'
import {
  NEW_ERASURE,
  NEW_EVENT,
  NEW_PAYLOAD,
  NEW_PRUNED_STATE,
  NEW_VAULT_ROW,
  type NewEvent,
} from './event-row.ts'
import { indexText } from './index-text.ts'
import { BLOCK } from './loaded.ts'
import {
  CHANGED_RUN,
  isIndexChanged,
  NEW_RUN,
  RUN_INDEXES,
  type RunIndex,
  type RunRow,
  updateRuns,
} from './run-row.ts'
import type { Statement } from './sql.ts'
import { STEP, stepChanges } from './step-row.ts'
import { NEXT_TURN } from './waiting-runs.ts'
import { arraysOf, bytesOf, type Column, columnNames, unnest } from './unnest.ts'

const NEW_SCOPE: readonly Column<NewScope>[] = [
  ['id', 'bigint', ({ id }) => id],
  ['workspace', 'text', ({ workspace }) => workspace],
  ['name', 'text', ({ name }) => indexText(name)],
]
const NEW_NODE: readonly Column<NewNode>[] = [
  ['id', 'bigint', ({ id }) => id],
  ['scope', 'bigint', ({ scope }) => scope],
  ['hash', 'bytea', ({ hash }) => bytesOf(hash)],
  ['body', 'text', ({ body }) => body],
]
const DROPPED_STEP: readonly Column<DroppedStep>[] = [
  ['run', 'bigint', ({ run }) => run],
  ['step_id', 'text', ({ stepId }) => indexText(stepId)],
  ['attempt', 'bigint', ({ attempt }) => attempt],
]

const QUEUED: readonly Column<QueuedRun>[] = [
  ['workspace', 'text', ({ run }) => run.workspace],
  ['run_id', 'text', ({ run }) => run.runId],
  ['agent', 'text', ({ agent }) => indexText(agent)],
  ['queue', 'text', ({ queue }) => indexText(queue)],
  ['key', 'text', ({ key }) => indexText(key)],
  ['priority', 'int', ({ priority }) => priority],
  ['not_before', 'bigint', ({ notBeforeMs }) => notBeforeMs],
  ['place', 'bigint', ({ run }) => run.id],
]
const DEQUEUED: readonly Column<RunRow>[] = [
  ['workspace', 'text', ({ workspace }) => workspace],
  ['run_id', 'text', ({ runId }) => runId],
]

/** Rows for one table. */
interface Part {
  readonly name: string
  readonly sql: (first: number) => string
  readonly values: unknown[][]
}

function insert<Row>(
  table: string,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  conflict = '',
): Part[] {
  if (rows.length === 0) return []
  const selected = columns.map(([name]) =>
    name === 'position' ? 'start.position + t.position' : `t.${name}`,
  )
  const sql = (first: number): string => `INSERT INTO ${table} (${columnNames(columns)})
    SELECT ${selected.join(', ')} FROM start, ${unnest(columns, 't', first)} ${conflict}`
  return [{ name: table, sql, values: arraysOf(columns, rows) }]
}

/** Runs that are submitted get a free lease and their turn. */
const enqueue = (rows: readonly QueuedRun[]): Part[] =>
  rows.length === 0
    ? []
    : [
        {
          name: 'queued',
          sql: (first) => `INSERT INTO leases
              (workspace, run_id, owner, epoch, held, beat_at, agent, queue, key, priority, not_before, turn)
            SELECT t.workspace, t.run_id, '', 0, false, 'epoch', t.agent, t.queue, t.key, t.priority, t.not_before,
              CASE WHEN t.not_before IS NULL THEN ${NEXT_TURN} END
            FROM start, ${unnest(QUEUED, 't', first)}
            ON CONFLICT (workspace, run_id) DO UPDATE SET agent = excluded.agent, queue = excluded.queue,
              key = excluded.key, priority = excluded.priority, not_before = excluded.not_before, turn = excluded.turn`,
          values: arraysOf(QUEUED, rows),
        },
      ]

const dequeue = (rows: readonly RunRow[]): Part[] =>
  rows.length === 0
    ? []
    : [
        {
          name: 'dequeued',
          sql: (first) => `UPDATE leases l SET turn = NULL, not_before = NULL
            FROM start, ${unnest(DEQUEUED, 't', first)} WHERE l.workspace = t.workspace AND l.run_id = t.run_id`,
          values: arraysOf(DEQUEUED, rows),
        },
      ]

const updateSteps = (rows: readonly ChangedStep[]): Part[] =>
  rows.length === 0
    ? []
    : [
        {
          name: 'changed steps',
          sql: (first) => `UPDATE steps s SET ${stepChanges('t')} FROM start, ${unnest(STEP, 't', first)}
            WHERE s.run = t.run AND s.step_id = t.step_id AND s.attempt = t.attempt`,
          values: arraysOf(STEP, rows),
        },
      ]

const dropSteps = (rows: readonly DroppedStep[]): Part[] =>
  rows.length === 0
    ? []
    : [
        {
          name: 'dropped steps',
          sql: (first) => `DELETE FROM steps s USING start, ${unnest(DROPPED_STEP, 't', first)}
            WHERE s.run = t.run AND s.step_id = t.step_id AND s.attempt = t.attempt`,
          values: arraysOf(DROPPED_STEP, rows),
        },
      ]

/** Puts the rows of an index for runs of which its list has changed, and deletes the other rows of these runs. */
function putIndex(index: RunIndex, runs: readonly RunRow[]): Part[] {
  const changed = runs.filter((run) => isIndexChanged(index, run))
  const old = changed.filter(({ stored }) => stored !== null)
  const { table, columns } = index
  const [run, key, ...others] = columns
  const rows = changed.flatMap(({ id, summary }) => index.rowsOf(summary, id))
  const conflict = others.map(([name]) => `${name} = excluded.${name}`).join(', ')
  const put = insert(
    table,
    columns,
    rows,
    `ON CONFLICT (run, ${key[0]}) DO ${conflict === '' ? 'NOTHING' : `UPDATE SET ${conflict}`}`,
  )
  if (old.length === 0) return put
  const drop: Part = {
    name: `old ${table}`,
    sql: (first) => `DELETE FROM ${table} o USING start, unnest($${first}::bigint[]) c (run)
      WHERE o.run = c.run AND NOT EXISTS (SELECT FROM ${unnest([run, key], 't', first + 1)}
        WHERE t.run = o.run AND t.${key[0]} = o.${key[0]})`,
    values: [old.map(({ id }) => id), ...arraysOf([run, key], rows)],
  }
  return [...put, drop]
}

/**
 * All rows of a batch in one statement. It begins with the rows of runs that exist: each must still have the head, lease
 * and revision that the batch builds on, or nothing is written (`assert_unchanged`). Tables without rows are left out; the
 * statement is named after the others.
 *
 * With `isPlaced` positions are final. Otherwise they count from 0 and are moved into the block of the statement's own
 * transaction, whose beginning is returned.
 */
export function writeStatement(batch: Batch, isPlaced: boolean): Statement {
  const runs = [...batch.runs].toSorted((a, b) => a.id - b.id)
  const changed = runs.filter(({ stored }) => stored !== null)
  const steps = [...batch.steps.values()]
  const kept = batch.events.filter(({ body }) => body !== null)
  const isPruned = ({ event }: NewEvent): boolean => event.sealed?.pruned === true
  const parts = [
    ...insert('scopes', NEW_SCOPE, batch.scopes),
    ...insert(
      'runs',
      NEW_RUN,
      runs.filter(({ stored }) => stored === null),
    ),
    ...RUN_INDEXES.flatMap((index) => putIndex(index, runs)),
    ...insert('nodes', NEW_NODE, batch.nodes),
    ...insert('events', NEW_EVENT, batch.events),
    ...insert('payloads', NEW_PAYLOAD, kept),
    ...insert(
      'vault',
      NEW_VAULT_ROW,
      kept.filter(({ event }) => event.vault !== null),
    ),
    ...insert(
      'erasures',
      NEW_ERASURE,
      batch.events.filter((each) => each.body === null && !isPruned(each)),
    ),
    ...insert('pruned_states', NEW_PRUNED_STATE, batch.events.filter(isPruned)),
    ...insert(
      'steps',
      STEP,
      steps.filter(({ isNew }) => isNew),
    ),
    ...updateSteps(steps.filter(({ isNew }) => !isNew)),
    ...dropSteps([...batch.droppedSteps.values()]),
    ...enqueue(batch.queued),
    ...dequeue(batch.dequeued),
  ]
  const heads = arraysOf(CHANGED_RUN, changed)
  return {
    ...textOf(parts, heads.length),
    values: [isPlaced, changed.length, ...heads, ...parts.flatMap(({ values }) => values)],
  }
}

/** Texts by the tables they write: most appends write the same few. Names of statements must be short. */
const texts = new Map<string, { readonly name: string; readonly text: string }>()

function textOf(parts: readonly Part[], heads: number): { name: string; text: string } {
  const tables = parts.map((part) => part.name).join(', ')
  let found = texts.get(tables)
  if (!found) {
    let next = 3 + heads
    const clauses = parts.map((part) => {
      const clause = `"to ${part.name}" AS (${part.sql(next)})`
      next += part.values.length
      return `, ${clause}`
    })
    const text = `WITH heads AS (${updateRuns(unnest(CHANGED_RUN, 'c', 3))}),
      start AS MATERIALIZED (
        SELECT CASE WHEN $1::boolean THEN 0 ELSE base + pg_current_xact_id()::text::bigint * ${BLOCK} END AS position
        FROM meta WHERE assert_unchanged((SELECT count(*) FROM heads), $2::bigint)
      )${clauses.join('')}
      SELECT position FROM start`
    found = { name: `write ${texts.size}`, text }
    texts.set(tables, found)
  }
  return found
}

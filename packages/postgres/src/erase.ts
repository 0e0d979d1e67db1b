import {
  type ClewEvent,
  dueMsOf,
  type ErasedRun,
  type EraseWork,
  type Erasing,
  parseMemoryBook,
  type Ports,
  type RunKey,
} from '@clew/ledger'
import type { Appender } from './append.ts'
import { int8s, texts } from './binary-array.ts'
import { EVENT_COLUMNS, toStoredEvent } from './event-row.ts'
import { indexText, indexTextOrNull } from './index-text.ts'
import { RUN_COLUMNS, toStoredRun } from './list-runs.ts'
import { countAnew, rewriteTables } from './rewrite-tables.ts'
import type { Database, Row, Sql } from './sql.ts'
import { stepRows, stepValues } from './step-row.ts'

interface EraseParts {
  readonly db: Database
  readonly reading: Sql
  readonly appender: Pick<Appender, 'together' | 'forget'>
  readonly ports: Pick<Ports, 'sleep'>
  readonly waitMs: number
  readonly ring: () => void
}

const RUNS = `SELECT ${RUN_COLUMNS} WHERE r.workspace = $1 AND r.id IN (SELECT run FROM subjects WHERE subject = ANY ($2::text[]))
  ORDER BY r.id`
/** Texts are few, and every payload is looked at: each has a place of its own in the statement. */
const payloadsWith = (wanted: readonly string[]): string => `SELECT ${EVENT_COLUMNS}
  WHERE e.position > $1 AND r.workspace = $2 AND p.body IS NOT NULL
    AND (left(p.body, 1) <> '{'${wanted.map((_, at) => ` OR strpos(p.body, $${at + 4}) > 0`).join('')})
  ORDER BY e.position LIMIT $3`
/** By id, as everybody locks several runs. */
const LOCK = `SELECT r.id, r.run_id, r.seq, r.scope, r.recorded_at FROM runs r
  WHERE r.workspace = $1 AND r.run_id = ANY ($2::text[]) ORDER BY r.id FOR UPDATE`
const ADD_ERASURES = `INSERT INTO erasures (position, erased_at) SELECT p, $2 FROM unnest($1::bigint[]) p`
const DROP_PAYLOADS = 'DELETE FROM payloads WHERE position = ANY ($1::bigint[])'
/** Whoever folds these books ends first, or sees what is erased. */
const ADD_BOOKS = `INSERT INTO memory_scopes (workspace, book, seq, version) SELECT $1, b, 0, 0 FROM unnest($2::text[]) b
  ON CONFLICT DO NOTHING`
const LOCK_BOOKS =
  'SELECT FROM memory_scopes WHERE workspace = $1 AND book = ANY ($2::text[]) ORDER BY id FOR UPDATE'
const DROP_MEMORY = 'DELETE FROM memory_items WHERE position = ANY ($1::bigint[])'
const ADD_SWEEPS = `INSERT INTO sweeps (scope, mark) SELECT DISTINCT s, 1 FROM unnest($1::bigint[]) s
  ON CONFLICT (scope) DO UPDATE SET mark = sweeps.mark + 1`
const DROP_STEPS = 'DELETE FROM steps WHERE run = ANY ($1::bigint[])'
const PUT_STEPS = `INSERT INTO steps (run, step_id, step_text, attempt, started_seq, record, span, digest)
  SELECT * FROM ${stepRows(1)}`
/** `revision` tells whoever remembers the run that it is another. */
const UPDATE_RUN = `UPDATE runs SET status = $2, due_ms = $3, thread_id = $4, agent = $5, agent_version = $6,
  started_ms = $7, parent_run_id = $8, summary = $9, revision = revision + 1 WHERE id = $1`
const DROP_SUBJECTS = 'DELETE FROM subjects WHERE run = ANY ($1::bigint[])'
const PUT_SUBJECTS =
  'INSERT INTO subjects (run, subject) SELECT $1, s FROM unnest($2::text[]) s ON CONFLICT DO NOTHING'
// The name of a thread may be that of a person.
const FORGET_THREADS = `UPDATE leases SET thread_id = NULL WHERE workspace = $1 AND run_id = ANY ($2::text[]) AND NOT held`
const FORGET_SCOPES = `UPDATE scopes s SET name = 'erased ' || id WHERE id = ANY ($1::bigint[]) AND name LIKE 'thread %'
  AND NOT EXISTS (SELECT FROM runs WHERE scope = s.id AND thread_id IS NOT NULL)`

const MARKS = `SELECT m.position, bool_or(m.erased) AS erased, bool_or(NOT m.erased) AS pruned, r.workspace, r.run_id, e.seq
  FROM (SELECT position, true AS erased FROM erasures WHERE position > $1
        UNION ALL SELECT position, false FROM pruned_states WHERE position > $1) m
  LEFT JOIN events e ON e.position = m.position LEFT JOIN runs r ON r.id = e.run
  GROUP BY m.position, r.workspace, r.run_id, e.seq ORDER BY m.position LIMIT $2`

/** Tables in which something of an erased event may lie. */
const TABLES = [
  'payloads',
  'vault',
  'nodes',
  'runs',
  'steps',
  'subjects',
  'scopes',
  'leases',
  'search_words',
  'memory_items',
  'progress',
]

export function createErasing({ db, reading, appender, ports, waitMs, ring }: EraseParts): Erasing {
  async function apply(sql: Sql, work: EraseWork): Promise<boolean> {
    const { workspace, positions, runs, erasedAt } = work
    const { rows } = await sql.query({ text: LOCK, values: [workspace, runs.map(({ runId }) => runId)] })
    const found = new Map(rows.map((row) => [row['run_id'] as string, row]))
    if (runs.some(({ runId, seq }) => Number(found.get(runId)?.['seq']) !== seq)) return false
    const places = int8s([...positions])
    await sql.query({ text: ADD_ERASURES, values: [places, erasedAt] })
    await sql.query({ text: DROP_PAYLOADS, values: [places] })
    const books = [workspace, texts(runs.map(({ runId }) => runId).filter((runId) => parseMemoryBook(runId)))]
    await sql.query({ text: ADD_BOOKS, values: books })
    await sql.query({ text: LOCK_BOOKS, values: books })
    await sql.query({ text: DROP_MEMORY, values: [places] })
    const ids = int8s(rows.map((row) => Number(row['id'])))
    await sql.query({ text: DROP_STEPS, values: [ids] })
    await sql.query({ text: DROP_SUBJECTS, values: [ids] })
    for (const run of runs) await replace(sql, run, found.get(run.runId) as Row)
    const scopes = int8s(rows.map((row) => Number(row['scope'])))
    await sql.query({ text: ADD_SWEEPS, values: [scopes] })
    const whole = runs.filter(({ isWhole }) => isWhole).map(({ runId }) => runId)
    await sql.query({ text: FORGET_THREADS, values: [workspace, texts(whole)] })
    await sql.query({ text: FORGET_SCOPES, values: [scopes] })
    return true
  }

  async function replace(sql: Sql, { summary, steps }: ErasedRun, row: Row): Promise<void> {
    const id = Number(row['id'])
    if (steps.length > 0)
      await sql.query({ text: PUT_STEPS, values: stepValues(steps.map((step) => ({ run: id, step }))) })
    const { status, threadId, agent, agentVersion, startedAt, parentRunId, subjects } = summary
    const dueMs = dueMsOf(summary, row['recorded_at'] as string)
    const names = [threadId, agent, agentVersion].map(indexTextOrNull)
    const values = [id, status, dueMs, ...names, Date.parse(startedAt), indexTextOrNull(parentRunId)]
    await sql.query({ text: UPDATE_RUN, values: [...values, JSON.stringify(summary)] })
    if (subjects.length > 0) await sql.query({ text: PUT_SUBJECTS, values: [id, subjects.map(indexText)] })
  }

  return {
    async findRuns(workspace, subjects) {
      const { rows } = await reading.query({ text: RUNS, values: [workspace, subjects.map(indexText)] })
      return rows.map(toStoredRun)
    },
    async findPayloads({ workspace, texts: wanted, afterPosition, limit }) {
      const values = [afterPosition, workspace, limit, ...wanted]
      const { rows } = await reading.query({ text: payloadsWith(wanted), values })
      const events = rows.map(toStoredEvent)
      return { events, next: events.length === limit ? (events.at(-1)?.position ?? null) : null }
    },
    async erase(work) {
      const outcome = await appender.together(work.call, (sql) => apply(sql, work))
      if (!outcome) return null
      if ('error' in outcome) {
        if (outcome.error.code === 'wrong_seq') return null
        throw outcome.error
      }
      const keys = work.runs.map(({ runId }): RunKey => ({ workspace: work.workspace, runId }))
      for (const key of keys) appender.forget(key)
      ring()
      return outcome.events[0] as ClewEvent
    },
    async marks({ afterPosition, limit }) {
      const { rows } = await reading.query({ text: MARKS, values: [afterPosition, limit] })
      return rows.map((row) => ({
        position: Number(row['position']),
        isErased: row['erased'] === true,
        isPruned: row['pruned'] === true,
        event:
          row['run_id'] === null
            ? null
            : {
                workspace: row['workspace'] as string,
                runId: row['run_id'] as string,
                seq: Number(row['seq']),
              },
      }))
    },
    /** Where rows lay, VACUUM leaves their bytes until the page is used again. */
    async scrub({ rewrite }) {
      if (rewrite)
        return { unfinished: await rewriteTables({ db, reading, ports, waitMs }, TABLES) }
      await countAnew(db, TABLES)
      for (const table of TABLES) await db.query({ text: `VACUUM ${table}` })
      return { unfinished: null }
    },
  }
}

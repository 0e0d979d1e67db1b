import {
  type ClewEvent,
  type EraseWork,
  type Erasing,
  parseMemoryBook,
  type Ports,
  type RunKey,
} from '@clew/ledger'
import type { Appender } from './append.ts'
import { EVENT_COLUMNS, toStoredEvent } from './event-row.ts'
import { findBySubject } from './find-runs.ts'
import { ADD_SWEEPS } from './prune-states.ts'
import { countAnew, rewriteTables } from './rewrite-tables.ts'
import { replaceSummary } from './run-row.ts'
import type { Database, Row, Sql } from './sql.ts'
import { PUT_STEPS, STEP } from './step-row.ts'
import { arraysOf } from './unnest.ts'

interface EraseParts {
  readonly db: Database
  readonly reading: Sql
  readonly appender: Pick<Appender, 'together' | 'forget'>
  readonly ports: Pick<Ports, 'sleep'>
  readonly waitMs: number
  readonly ring: () => void
}

/** The texts are few and every payload is compared with them: each text is a parameter of its own. */
const payloadsWith = (wanted: readonly string[]): string => `SELECT ${EVENT_COLUMNS}
  WHERE e.position > $1 AND r.workspace = $2 AND p.body IS NOT NULL
    AND (left(p.body, 1) <> '{'${wanted.map((_, at) => ` OR strpos(p.body, $${at + 4}) > 0`).join('')})
  ORDER BY e.position LIMIT $3`
/** In the order of ids, in which all transactions lock several runs. */
const LOCK = `SELECT r.id, r.run_id, r.seq, r.scope, r.recorded_at FROM runs r
  WHERE r.workspace = $1 AND r.run_id = ANY ($2::text[]) ORDER BY r.id FOR UPDATE`
const ADD_ERASURES = `INSERT INTO erasures (position, erased_at) SELECT p, $2 FROM unnest($1::bigint[]) p`
const DROP_PAYLOADS = 'DELETE FROM payloads WHERE position = ANY ($1::bigint[])'
/** A fold of these memory scopes ends first, or sees what is erased. */
const ADD_BOOKS = `INSERT INTO memory_scopes (workspace, book, seq, version) SELECT $1, b, 0, 0 FROM unnest($2::text[]) b
  ON CONFLICT DO NOTHING`
const LOCK_BOOKS =
  'SELECT FROM memory_scopes WHERE workspace = $1 AND book = ANY ($2::text[]) ORDER BY id FOR UPDATE'
const DROP_MEMORY = 'DELETE FROM memory_items WHERE position = ANY ($1::bigint[])'
const DROP_STEPS = 'DELETE FROM steps WHERE run = ANY ($1::bigint[])'
// The name of a thread may be that of a person.
const FORGET_THREADS = `UPDATE leases SET thread_id = NULL WHERE workspace = $1 AND run_id = ANY ($2::text[]) AND NOT held`
const FORGET_SCOPES = `UPDATE scopes s SET name = 'erased ' || id WHERE id = ANY ($1::bigint[]) AND name LIKE 'thread %'
  AND NOT EXISTS (SELECT FROM runs WHERE scope = s.id AND thread_id IS NOT NULL)`

/** Tables in which something of an erased event may lie. */
const TABLES = [
  'payloads',
  'vault',
  'nodes',
  'runs',
  'steps',
  'subjects',
  'tags',
  'scores',
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
    await sql.query({ text: ADD_ERASURES, values: [positions, erasedAt] })
    await sql.query({ text: DROP_PAYLOADS, values: [positions] })
    const books = [workspace, runs.map(({ runId }) => runId).filter((runId) => parseMemoryBook(runId))]
    await sql.query({ text: ADD_BOOKS, values: books })
    await sql.query({ text: LOCK_BOOKS, values: books })
    await sql.query({ text: DROP_MEMORY, values: [positions] })
    await sql.query({ text: DROP_STEPS, values: [rows.map((row) => row['id'])] })
    const idOf = (runId: string): number => found.get(runId)?.['id'] as number
    const steps = runs.flatMap((run) => run.steps.map((step) => ({ run: idOf(run.runId), step })))
    await sql.query({ text: PUT_STEPS, values: arraysOf(STEP, steps) })
    for (const { runId, summary } of runs) {
      const { recorded_at: recordedAt } = found.get(runId) as Row
      await replaceSummary(sql, { id: idOf(runId), summary }, recordedAt as string)
    }
    const scopes = rows.map((row) => row['scope'])
    await sql.query({ text: ADD_SWEEPS, values: [scopes] })
    const whole = runs.filter(({ isWhole }) => isWhole).map(({ runId }) => runId)
    await sql.query({ text: FORGET_THREADS, values: [workspace, whole] })
    await sql.query({ text: FORGET_SCOPES, values: [scopes] })
    return true
  }

  return {
    findRuns: (workspace, subjects) => findBySubject(reading, workspace, subjects),
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
    /** Where rows lay, VACUUM leaves their bytes until the page is used again. */
    async scrub({ rewrite }) {
      if (rewrite) return { unfinished: await rewriteTables({ db, reading, ports, waitMs }, TABLES) }
      await countAnew(db, TABLES)
      for (const table of TABLES) await db.query({ text: `VACUUM ${table}` })
      return { unfinished: null }
    },
  }
}

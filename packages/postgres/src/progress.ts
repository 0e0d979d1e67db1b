import { MAX_NOTES, NOTE_TTL_MS, type ProgressStore, type StoredNote } from '@clew/ledger'
import { indexText } from './index-text.ts'
import type { Row, Sql } from './sql.ts'
import type { Watch } from './watch.ts'

/**
 * Changes are counted behind a lock that lasts to the commit, so that they can be seen in the order of their numbers:
 * a reader who has seen one has seen all before it.
 */
const PUT = `WITH turn AS MATERIALIZED (SELECT pg_advisory_xact_lock(hashtextextended($1, 0)))
  INSERT INTO progress AS p (change, written_ms, workspace, run_id, step_id, attempt, version, body)
  SELECT nextval('progress_changes'), $2, n.* FROM turn,
    unnest($3::text[], $4::text[], $5::text[], $6::integer[], $7::bigint[], $8::text[]) n
  ON CONFLICT (workspace, run_id, step_id, attempt) DO UPDATE SET change = excluded.change,
    written_ms = excluded.written_ms, version = excluded.version, body = excluded.body
  WHERE p.version < excluded.version`
const SWEEP = `DELETE FROM progress WHERE written_ms <= $1
  OR change <= (SELECT change FROM progress ORDER BY change DESC LIMIT 1 OFFSET ${MAX_NOTES})`
const READ = `SELECT change, body FROM progress WHERE change > $1 AND ($2::text IS NULL OR workspace = $2)
  AND ($3::text IS NULL OR run_id = $3) ORDER BY change LIMIT $4`
const CLEAR = `DELETE FROM progress WHERE workspace = $1 AND run_id = $2 AND ($3::text IS NULL OR step_id = $3)`

/** Sweeps once in this many puts; until then a few surplus notes do no harm. */
const SWEEP_EVERY = 64

interface ProgressParts {
  readonly sql: Sql
  readonly reading: Sql
  /** Rings the doorbell of notes, not that of events. */
  readonly watch: Watch
  readonly schema: string
  readonly assertOpen: () => void
}

/** T4 on PostgreSQL: an UNLOGGED table, and LISTEN as a doorbell. */
export function createProgress({ sql, reading, watch, schema, assertOpen }: ProgressParts): ProgressStore {
  let puts = 0
  const orNull = (text: string | undefined): string | null => (text === undefined ? null : indexText(text))

  return {
    async put(notes, nowMs) {
      assertOpen()
      const newest = [...byAttempt(notes).values()]
      const column = <T>(take: (note: StoredNote) => T): T[] => newest.map(take)
      const values = [
        `clew progress ${schema}`,
        nowMs,
        column((note) => indexText(note.workspace)),
        column((note) => indexText(note.runId)),
        column((note) => indexText(note.stepId)),
        column((note) => note.attempt),
        column((note) => note.version),
        column((note) => JSON.stringify(note)),
      ]
      await sql.query({ name: 'progress put', text: PUT, values })
      watch.notify()
      if (puts++ % SWEEP_EVERY === 0)
        await sql.query({ name: 'progress sweep', text: SWEEP, values: [nowMs - NOTE_TTL_MS] })
    },
    async read({ workspace, runId, after = '0', limit }) {
      assertOpen()
      const values = [Number(after), orNull(workspace), orNull(runId), limit]
      const { rows } = await reading.query({ name: 'progress read', text: READ, values })
      return {
        notes: rows.map(toNote),
        cursor: `${(rows.at(-1)?.['change'] as number | undefined) ?? after}`,
      }
    },
    async clear({ workspace, runId }, stepId) {
      assertOpen()
      const values = [indexText(workspace), indexText(runId), orNull(stepId)]
      await sql.query({ name: 'progress clear', text: CLEAR, values })
    },
    watch: watch.add,
  }
}

/** A statement may touch a row once. */
function byAttempt(notes: readonly StoredNote[]): Map<string, StoredNote> {
  const newest = new Map<string, StoredNote>()
  for (const note of notes) {
    const key = JSON.stringify([note.workspace, note.runId, note.stepId, note.attempt])
    if ((newest.get(key)?.version ?? -1) < note.version) newest.set(key, note)
  }
  return newest
}

const toNote = (row: Row): StoredNote => JSON.parse(row['body'] as string) as StoredNote

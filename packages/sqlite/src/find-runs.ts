import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import { BOOKS, booksOf, type ListRunsOptions, parseCursor, type RunKey, type StoredRun } from '@clew/ledger'
import { RUN_COLUMNS, toStoredRun } from './run-row.ts'

/**
 * `fork_of` is the run that owns the event before the first one of the fork: the run that was forked, or one that this
 * run shares its beginning with. Therefore forks are looked for below all owners, and then compared by their summary.
 */
const FORKS = `WITH RECURSIVE owners (id) AS (
    SELECT id FROM runs WHERE workspace = ?1 AND run_id IN (SELECT value FROM json_each(?2))
    UNION SELECT r.fork_of FROM runs r JOIN owners o ON r.id = o.id WHERE r.fork_of IS NOT NULL
  )
  SELECT ${RUN_COLUMNS} WHERE r.fork_of IN (SELECT id FROM owners)
    AND json_extract(r.summary, '$.forkedFrom.runId') IN (SELECT value FROM json_each(?2))`

export interface RunFinder {
  find(key: RunKey): StoredRun | null
  /** Newest first, by the order in which runs began here; the cursor is the key of the last row. */
  list(options: ListRunsOptions): { runs: StoredRun[]; nextCursor: string | null }
  /** Children and forks of these runs, oldest first. */
  below(workspace: string, runIds: readonly string[]): StoredRun[]
  /** Runs with any of these subjects, oldest first. */
  bySubject(workspace: string, subjects: readonly string[]): StoredRun[]
}

export function createRunFinder(db: DatabaseSync): RunFinder {
  const sql = {
    find: db.prepare(`SELECT ${RUN_COLUMNS} WHERE r.workspace = ? AND r.run_id = ?`),
    children: db.prepare(
      `SELECT ${RUN_COLUMNS} WHERE r.workspace = ? AND r.parent_run_id IN (SELECT value FROM json_each(?))`,
    ),
    forks: db.prepare(FORKS),
    bySubject: db.prepare(
      `SELECT ${RUN_COLUMNS} WHERE r.workspace = ?1 AND r.id IN (SELECT run FROM subjects
         WHERE subject IN (SELECT value FROM json_each(?2))) ORDER BY r.id`,
    ),
  }
  return {
    find({ workspace, runId }) {
      const row = sql.find.get(workspace, runId)
      return row ? toStoredRun(row) : null
    },
    list(options) {
      const { threadId, limit } = options
      const threads = Array.isArray(threadId)
        ? (threadId as readonly string[])
        : [threadId as string | undefined]
      // One thread at a time: with several in one condition, SQLite would sort all rows of each thread for each page.
      const rows = threads
        .flatMap((thread) => listRows(db, options, thread))
        .sort((a, b) => (b['id'] as number) - (a['id'] as number))
      const page = rows.slice(0, limit)
      const last = page.at(-1)
      const nextCursor = last && rows.length > page.length ? String(last['id']) : null
      return { runs: page.map(toStoredRun), nextCursor }
    },
    below(workspace, runIds) {
      const given = JSON.stringify(runIds)
      const rows = [...sql.children.all(workspace, given), ...sql.forks.all(workspace, given)]
      const byId = new Map(rows.map((row) => [row['id'] as number, row]))
      return [...byId].sort(([a], [b]) => a - b).map(([, row]) => toStoredRun(row))
    },
    bySubject: (workspace, subjects) =>
      sql.bySubject.all(workspace, JSON.stringify(subjects)).map(toStoredRun),
  }
}

function listRows(
  db: DatabaseSync,
  options: ListRunsOptions,
  threadId: string | undefined,
): Record<string, unknown>[] {
  const where = ['r.workspace = ?']
  const values: SQLInputValue[] = [options.workspace]
  const add = (condition: string, value: SQLInputValue | undefined): void => {
    if (value === undefined) return
    where.push(condition)
    values.push(value)
  }
  const { book } = options
  if (book !== undefined) {
    const { from, to } = book === null ? BOOKS : booksOf(book)
    where.push(book === null ? '(r.run_id < ? OR r.run_id >= ?)' : 'r.run_id >= ? AND r.run_id < ?')
    values.push(from, to)
  }
  if (options.status === undefined && options.deleted !== true) where.push("r.status <> 'deleted'")
  add('r.status = ?', options.status)
  add('r.agent = ?', options.agent)
  add('r.thread_id = ?', threadId)
  add('r.started_ms >= ?', options.since === undefined ? undefined : Date.parse(options.since))
  add('r.id < ?', options.cursor === undefined ? undefined : parseCursor(options.cursor))
  for (const [name, value] of Object.entries(options.tags ?? {})) {
    where.push('EXISTS (SELECT 1 FROM tags t WHERE t.run = r.id AND t.name = ? AND t.value = ?)')
    values.push(name, value)
  }
  for (const { name, op, value } of options.scores ?? []) {
    const isOrder = op !== '=' && op !== '!='
    where.push(
      `EXISTS (SELECT 1 FROM scores s WHERE s.run = r.id AND s.name = ? AND s.${isOrder ? 'number' : 'value'} ${op} ?)`,
    )
    // Only numbers have an order: NULL fits nothing.
    values.push(name, isOrder ? (typeof value === 'number' ? value : null) : JSON.stringify(value))
  }
  return db
    .prepare(`SELECT ${RUN_COLUMNS} WHERE ${where.join(' AND ')} ORDER BY r.id DESC LIMIT ?`)
    .all(...values, options.limit + 1)
}

import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import {
  BOOKS,
  booksOf,
  type ListRunsOptions,
  matchesScoresAndTags,
  parseCursor,
  type RunKey,
  type StoredRun,
} from '@clew/ledger'
import type { Folded } from './fold-tail.ts'

export const RUN_COLUMNS = `r.id, r.workspace, r.run_id, r.seq, r.folded_seq, r.hash, r.recorded_at, r.summary, r.fork_seq, f.run_id AS fork_run
  FROM runs r LEFT JOIN runs f ON f.id = r.fork_of`

export type FoldTail = (row: Record<string, unknown>) => Folded

export function toStoredRun(row: Record<string, unknown>, foldTail: FoldTail): StoredRun {
  return {
    summary: foldTail(row).summary,
    workspace: row['workspace'] as string,
    seq: row['seq'] as number,
    hash: Buffer.from(row['hash'] as Uint8Array).toString('hex'),
    forkOf:
      row['fork_run'] === null ? null : { runId: row['fork_run'] as string, seq: row['fork_seq'] as number },
    recordedAt: row['recorded_at'] as string,
  }
}

export function findRun(db: DatabaseSync, foldTail: FoldTail): (key: RunKey) => StoredRun | null {
  const statement = db.prepare(`SELECT ${RUN_COLUMNS} WHERE r.workspace = ? AND r.run_id = ?`)
  return ({ workspace, runId }) => {
    const row = statement.get(workspace, runId)
    return row ? toStoredRun(row, foldTail) : null
  }
}

/** Newest first, by the order in which runs began here; the cursor is the last row's own key. */
export function listRuns(
  db: DatabaseSync,
  foldTail: FoldTail,
  options: ListRunsOptions,
): { runs: StoredRun[]; nextCursor: string | null } {
  const threads = Array.isArray(options.threadId)
    ? (options.threadId as readonly string[])
    : [options.threadId]
  // One thread at a time: with several in one condition, all rows of a thread would be sorted for each page.
  const rows = threads
    .flatMap((threadId) => findRows(db, foldTail, options, threadId as string | undefined))
    .sort((a, b) => (b['id'] as number) - (a['id'] as number))
  const page = rows.slice(0, options.limit)
  const last = page.at(-1)
  return {
    runs: page.map((row) => toStoredRun(row, foldTail)),
    nextCursor: last && rows.length > page.length ? String(last['id']) : null,
  }
}

function findRows(
  db: DatabaseSync,
  foldTail: FoldTail,
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
  const select = `SELECT ${RUN_COLUMNS} WHERE ${where.join(' AND ')} ORDER BY r.id DESC`
  if (!options.tags && !options.scores)
    return db.prepare(`${select} LIMIT ?`).all(...values, options.limit + 1)
  const found: Record<string, unknown>[] = []
  for (const row of db.prepare(select).iterate(...values)) {
    if (matchesScoresAndTags(foldTail(row).summary, options)) found.push(row)
    if (found.length > options.limit) break
  }
  return found
}

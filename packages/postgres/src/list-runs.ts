import {
  BOOKS,
  booksOf,
  type ListRunsOptions,
  matchesScoresAndTags,
  parseCursor,
  type RunKey,
  type RunSummary,
  type StoredRun,
} from '@clew/ledger'
import { indexText } from './index-text.ts'
import type { Row, Sql } from './sql.ts'

export const RUN_COLUMNS = `r.id, r.workspace, r.seq, r.hash, r.recorded_at, r.summary, r.fork_seq, f.run_id AS fork_run
  FROM runs r LEFT JOIN runs f ON f.id = r.fork_of`

export function toStoredRun(row: Row): StoredRun {
  return {
    summary: JSON.parse(row['summary'] as string) as RunSummary,
    workspace: row['workspace'] as string,
    seq: Number(row['seq']),
    hash: (row['hash'] as Buffer).toString('hex'),
    forkOf:
      row['fork_run'] === null ? null : { runId: row['fork_run'] as string, seq: Number(row['fork_seq']) },
    recordedAt: row['recorded_at'] as string,
  }
}

const FIND = `SELECT ${RUN_COLUMNS} WHERE r.workspace = $1 AND r.run_id = $2`

export async function findRun(sql: Sql, { workspace, runId }: RunKey): Promise<StoredRun | null> {
  const { rows } = await sql.query({ name: 'run find', text: FIND, values: [workspace, runId] })
  return rows[0] ? toStoredRun(rows[0]) : null
}

/**
 * Newest first, by the order in which runs began here; the cursor is the last row's own key. Each filter has an
 * index that ends with that key, so a page costs the same at its end as at its beginning.
 */
export async function listRuns(
  sql: Sql,
  options: ListRunsOptions,
): Promise<{ runs: StoredRun[]; nextCursor: string | null }> {
  if (options.tags || options.scores) return listFiltered(sql, options)
  const values: unknown[] = []
  const limit = `LIMIT $${values.push(options.limit + 1)}`
  // One thread at a time: with several in one condition, all rows of a thread would be sorted for each page.
  const threads = [options.threadId ?? [undefined]].flat()
  if (threads.length === 0) return { runs: [], nextCursor: null }
  const selects = threads.map((threadId) => selectRuns(options, threadId, values, limit))
  const text =
    selects.length === 1
      ? (selects[0] as string)
      : `SELECT * FROM (${selects.map((select) => `(${select})`).join(' UNION ALL ')}) all_runs ORDER BY id DESC ${limit}`
  const { rows } = await sql.query({ text, values })
  const page = rows.slice(0, options.limit)
  const last = page.at(-1)
  return {
    runs: page.map(toStoredRun),
    nextCursor: last && rows.length > page.length ? String(last['id']) : null,
  }
}

const FILTERED_PAGE = 500

/** Runs with the given tags and scores: found by reading the runs that fit the rest of the filter, newest first. */
async function listFiltered(
  sql: Sql,
  options: ListRunsOptions,
): Promise<{ runs: StoredRun[]; nextCursor: string | null }> {
  const found: { readonly id: string; readonly run: StoredRun }[] = []
  for (let cursor = options.cursor; ; ) {
    const values: unknown[] = []
    const limit = `LIMIT $${values.push(FILTERED_PAGE)}`
    const threads = [options.threadId ?? [undefined]].flat()
    const selects = threads.map((threadId) => selectRuns({ ...options, cursor }, threadId, values, limit))
    const text = `SELECT * FROM (${selects.map((select) => `(${select})`).join(' UNION ALL ')}) all_runs ORDER BY id DESC ${limit}`
    const { rows } = await sql.query({ text, values })
    for (const row of rows) {
      const run = toStoredRun(row)
      if (!matchesScoresAndTags(run.summary, options)) continue
      if (found.length === options.limit)
        return { runs: found.map((each) => each.run), nextCursor: found.at(-1)?.id ?? null }
      found.push({ id: String(row['id']), run })
    }
    if (rows.length < FILTERED_PAGE) return { runs: found.map((each) => each.run), nextCursor: null }
    cursor = String(rows.at(-1)?.['id'])
  }
}

function selectRuns(
  options: ListRunsOptions,
  threadId: string | undefined,
  values: unknown[],
  limit: string,
): string {
  const where: string[] = []
  const add = (condition: string, value: string | number | undefined): void => {
    if (value !== undefined) where.push(`${condition} $${values.push(value)}`)
  }
  add('r.workspace =', options.workspace)
  const { book } = options
  if (book !== undefined) {
    const ids = book === null ? BOOKS : booksOf(book)
    const [from, to] = [`$${values.push(ids.from)}`, `$${values.push(ids.to)}`]
    where.push(
      book === null
        ? `(r.run_id < ${from} OR r.run_id >= ${to})`
        : `r.run_id >= ${from} AND r.run_id < ${to}`,
    )
  }
  if (options.status === undefined && options.deleted !== true) where.push("r.status <> 'deleted'")
  add('r.status =', options.status)
  add('r.agent =', options.agent === undefined ? undefined : indexText(options.agent))
  add('r.thread_id =', threadId === undefined ? undefined : indexText(threadId))
  add('r.started_ms >=', options.since === undefined ? undefined : Date.parse(options.since))
  add('r.id <', options.cursor === undefined ? undefined : parseCursor(options.cursor))
  return `SELECT ${RUN_COLUMNS} WHERE ${where.join(' AND ')} ORDER BY r.id DESC ${limit}`
}

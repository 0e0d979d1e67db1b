import { BOOKS, booksOf, type ListRunsOptions, parseCursor, type RunKey, type StoredRun } from '@clew/ledger'
import { indexText } from './index-text.ts'
import { RUN_COLUMNS, toStoredRun } from './run-row.ts'
import type { Sql } from './sql.ts'

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
  for (const [name, value] of Object.entries(options.tags ?? {}))
    where.push(`EXISTS (SELECT FROM tags t WHERE t.run = r.id AND t.name = $${values.push(indexText(name))}
      AND t.value = $${values.push(indexText(value))})`)
  for (const { name, op, value } of options.scores ?? []) {
    // Only numbers have an order: null fits nothing.
    const isOrder = op !== '=' && op !== '!='
    const compared = isOrder
      ? `s.number ${op} $${values.push(typeof value === 'number' ? value : null)}::float8`
      : `s.value ${op} $${values.push(indexText(JSON.stringify(value)))}`
    where.push(
      `EXISTS (SELECT FROM scores s WHERE s.run = r.id AND s.name = $${values.push(indexText(name))} AND ${compared})`,
    )
  }
  return `SELECT ${RUN_COLUMNS} WHERE ${where.join(' AND ')} ORDER BY r.id DESC ${limit}`
}

/**
 * The row of a fork names the run that owns the event before its first one: the run it was forked from, or one of that
 * run's own sources. Long ids are shortened in the index, so the summaries are compared once more.
 */
const BELOW = `WITH RECURSIVE owners (id) AS (
    SELECT id FROM runs WHERE workspace = $1 AND run_id = ANY ($2::text[])
    UNION SELECT r.fork_of FROM runs r JOIN owners o ON r.id = o.id WHERE r.fork_of IS NOT NULL
  )
  SELECT ${RUN_COLUMNS} WHERE r.id IN (
    SELECT c.id FROM runs c WHERE c.workspace = $1 AND c.parent_run_id = ANY ($3::text[])
    UNION SELECT k.id FROM runs k WHERE k.fork_of IN (SELECT id FROM owners)
  ) ORDER BY r.id`

export async function findBelow(
  sql: Sql,
  workspace: string,
  runIds: readonly string[],
): Promise<StoredRun[]> {
  const values = [workspace, [...runIds], runIds.map(indexText)]
  const { rows } = await sql.query({ name: 'runs below', text: BELOW, values })
  const wanted = new Set(runIds)
  return rows
    .map(toStoredRun)
    .filter(
      ({ summary: { parentRunId, forkedFrom } }) =>
        wanted.has(parentRunId ?? '') || wanted.has(forkedFrom?.runId ?? ''),
    )
}

const BY_SUBJECT = `SELECT ${RUN_COLUMNS} WHERE r.workspace = $1
  AND r.id IN (SELECT run FROM subjects WHERE subject = ANY ($2::text[])) ORDER BY r.id`

/** Runs that are about any of these subjects; oldest first. */
export async function findBySubject(
  sql: Sql,
  workspace: string,
  subjects: readonly string[],
): Promise<StoredRun[]> {
  const { rows } = await sql.query({ text: BY_SUBJECT, values: [workspace, subjects.map(indexText)] })
  return rows.map(toStoredRun)
}

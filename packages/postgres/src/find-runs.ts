import {
  SYSTEM_RUNS,
  systemRunRange,
  parseCursor,
  type RunPage,
  type RunQuery,
  type PruneMarker,
  type StoredRun,
} from '@clew/ledger'
import { hexOf } from './event-row.ts'
import { indexText } from './index-text.ts'
import { RUN_COLUMNS, RUN_TABLES, toStoredRun } from './run-row.ts'
import type { Row, Sql } from './sql.ts'

/** Values count for each run of their scope in equal parts. */
const BYTES = `((SELECT coalesce(sum(octet_length(p.body)), 0) FROM events e JOIN payloads p ON p.position = e.position WHERE e.run = r.id)
  + (SELECT coalesce(sum(octet_length(n.body)), 0) FROM nodes n WHERE n.scope = r.scope)
    / greatest(1, (SELECT count(*) FROM runs o WHERE o.scope = r.scope AND o.status <> 'deleted')))::bigint AS bytes`
const SEALS = `SELECT run, from_seq, to_seq, head_hash FROM seals WHERE run = ANY ($1::bigint[]) ORDER BY run, from_seq`

/** Adds a parameter and returns its name. */
type Put = (value: unknown) => string

/**
 * Finds rows of runs. The cursor is the id of the last row. Each filter has an index that ends with the id, so a page costs
 * the same at the end of a list as at its beginning.
 */
export function createRunFinder(sql: Sql): (query: RunQuery) => Promise<RunPage> {
  async function readSeals(rows: readonly Row[]): Promise<ReadonlyMap<unknown, readonly PruneMarker[]>> {
    const found = new Map<unknown, PruneMarker[]>(rows.map((row) => [row['id'], []]))
    for (const row of (await sql.query({ text: SEALS, values: [[...found.keys()]] })).rows)
      found.get(row['run'])?.push({
        fromSeq: row['from_seq'] as number,
        toSeq: row['to_seq'] as number,
        headHash: hexOf(row['head_hash']),
      })
    return found
  }

  return async (query) => {
    const { below, limit, threadIds = [undefined], with: parts = [] } = query
    if (threadIds.length === 0) return { runs: [], next: null }
    const rows = (await sql.query(compile(query, threadIds))).rows
      .map((row) => ({ row, run: toStoredRun(row) }))
      .filter(({ run }) => !below || isBelow(below, run))
    const page = rows.slice(0, limit)
    const pruned = parts.includes('pruned') ? await readSeals(page.map(({ row }) => row)) : undefined
    return {
      runs: page.map(({ row, run }) => ({
        ...run,
        ...(parts.includes('bytes') && { bytes: row['bytes'] as number }),
        ...(pruned && { pruned: pruned.get(row['id']) ?? [] }),
      })),
      next: rows.length > page.length ? String(page.at(-1)?.row['id']) : null,
    }
  }
}

function compile(
  query: RunQuery,
  threadIds: readonly (string | undefined)[],
): { readonly text: string; readonly values: unknown[] } {
  const { order = 'newest', limit, with: parts = [] } = query
  const values: unknown[] = []
  const put: Put = (value) => `$${values.push(value)}`
  const columns = parts.includes('bytes') ? `${RUN_COLUMNS}, ${BYTES}` : RUN_COLUMNS
  const isLimited = limit !== undefined && !query.below
  const ordered = `ORDER BY id ${order === 'newest' ? 'DESC' : 'ASC'}${isLimited ? ` LIMIT ${put(limit + 1)}` : ''}`
  // One thread at a time: with several in one condition, all rows of a thread would be sorted for each page.
  const selects = threadIds.map(
    (threadId) =>
      `(SELECT ${columns} FROM ${RUN_TABLES} WHERE ${conditionsOf(query, threadId, put).join(' AND ')} ${ordered})`,
  )
  const text = selects.length === 1 ? selects.join('') : `${selects.join(' UNION ALL ')} ${ordered}`
  return { text, values }
}

function conditionsOf(query: RunQuery, threadId: string | undefined, put: Put): string[] {
  const { workspace, ids, subjects, systemRun, status, agent, since, order = 'newest', cursor } = query
  const where: string[] = ['true']
  if (workspace !== undefined) where.push(`r.workspace = ${put(workspace)}`)
  if (ids) where.push(`r.run_id = ANY (${put(ids)}::text[])`)
  if (query.below) where.push(below(query.below, workspace, put))
  if (subjects)
    where.push(
      `r.id IN (SELECT run FROM subjects WHERE subject = ANY (${put(subjects.map(indexText))}::text[]))`,
    )
  if (systemRun !== undefined) {
    const { from, to } = systemRun === null ? SYSTEM_RUNS : systemRunRange(systemRun)
    const [first, end] = [put(from), put(to)]
    where.push(
      systemRun === null
        ? `(r.run_id < ${first} OR r.run_id >= ${end})`
        : `r.run_id >= ${first} AND r.run_id < ${end}`,
    )
  }
  if (status === undefined && query.deleted !== true) where.push("r.status <> 'deleted'")
  if (status !== undefined) where.push(`r.status = ${put(status)}`)
  if (query.hasEvents) where.push('EXISTS (SELECT FROM events e WHERE e.run = r.id)')
  if (agent !== undefined) where.push(`r.agent = ${put(indexText(agent))}`)
  if (threadId !== undefined) where.push(`r.thread_id = ${put(indexText(threadId))}`)
  if (since !== undefined) where.push(`r.started_ms >= ${put(Date.parse(since))}`)
  if (cursor !== undefined) where.push(`r.id ${order === 'newest' ? '<' : '>'} ${put(parseCursor(cursor))}`)
  return [...where, ...tagsAndScores(query, put)]
}

function tagsAndScores({ tags = {}, hasTags = [], scores = [] }: RunQuery, put: Put): string[] {
  const tagged = Object.entries(tags).map(
    ([name, value]) =>
      `EXISTS (SELECT FROM tags t WHERE t.run = r.id AND t.name = ${put(indexText(name))} AND t.value = ${put(indexText(value))})`,
  )
  const scored = scores.map(({ name, op, value }) => {
    const isOrder = op !== '=' && op !== '!='
    // Only numbers have an order: NULL fits nothing.
    const given = isOrder
      ? `s.number ${op} ${put(typeof value === 'number' ? value : null)}::double precision`
      : `s.value ${op} ${put(indexText(JSON.stringify(value)))}`
    return `EXISTS (SELECT FROM scores s WHERE s.run = r.id AND s.name = ${put(indexText(name))} AND ${given})`
  })
  const named = hasTags.map(
    (name) => `EXISTS (SELECT FROM tags t WHERE t.run = r.id AND t.name = ${put(indexText(name))})`,
  )
  return [...tagged, ...named, ...scored]
}

/**
 * `fork_of` is the run that owns the event before the first one of the fork: the run that was forked, or one that this run
 * shares its beginning with. Therefore forks are looked for below all owners, and `isBelow` decides. It decides about
 * children too, for long ids of parents are shortened in their column.
 */
function below(runIds: readonly string[], workspace: string | undefined, put: Put): string {
  const inWorkspace = workspace === undefined ? '' : `AND k.workspace = ${put(workspace)}`
  return `r.id IN (WITH RECURSIVE owners (id) AS (
      SELECT k.id FROM runs k WHERE k.run_id = ANY (${put(runIds)}::text[]) ${inWorkspace}
      UNION SELECT o.fork_of FROM owners JOIN runs o ON o.id = owners.id WHERE o.fork_of IS NOT NULL)
    SELECT f.id FROM runs f WHERE f.fork_of IN (SELECT id FROM owners)
    UNION SELECT k.id FROM runs k WHERE k.parent_run_id = ANY (${put(runIds.map(indexText))}::text[]) ${inWorkspace})`
}

/** Decided here: PostgreSQL does not read JSON with some characters that names may have. */
const isBelow = (runIds: readonly string[], { summary: { parentRunId, forkedFrom } }: StoredRun): boolean =>
  runIds.includes(parentRunId ?? '') || runIds.includes(forkedFrom?.runId ?? '')

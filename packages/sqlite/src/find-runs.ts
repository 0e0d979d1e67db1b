import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import {
  SYSTEM_RUNS,
  systemRunRange,
  parseCursor,
  type RunPage,
  type RunQuery,
  type PruneMarker,
} from '@clew/ledger'
import { toHex } from './hex.ts'
import { createPrepared } from './prepared.ts'
import { RUN_COLUMNS, RUN_TABLES, toStoredRun } from './run-row.ts'

/** Rows of runs are named by their own keys, so that SQLite does not read a whole workspace in the order of the result. */
const withIds = (inWorkspace: string): string =>
  `r.id IN (SELECT k.id FROM json_each(?) j CROSS JOIN runs k ON k.run_id = j.value ${inWorkspace})`
const WITH_SUBJECTS = 'r.id IN (SELECT run FROM subjects WHERE subject IN (SELECT value FROM json_each(?)))'
/**
 * `fork_of` is the run that owns the event before the first one of the fork: the run that was forked, or one that this
 * run shares its beginning with. Therefore forks are looked for below all owners, and then compared by their summary.
 */
const below = (inWorkspace: string): string => `r.id IN (
  WITH RECURSIVE above (name) AS (SELECT value FROM json_each(?)), owners (id) AS (
    SELECT k.id FROM above CROSS JOIN runs k ON k.run_id = name ${inWorkspace}
    UNION SELECT o.fork_of FROM owners JOIN runs o ON o.id = owners.id WHERE o.fork_of IS NOT NULL)
  SELECT f.id FROM owners CROSS JOIN runs f ON f.fork_of = owners.id
    WHERE json_extract(f.summary, '$.forkedFrom.runId') IN (SELECT name FROM above)
  UNION SELECT k.id FROM above CROSS JOIN runs k ON k.parent_run_id = name ${inWorkspace})`
/** Values count for each run of their scope in equal parts. */
const BYTES = `(SELECT coalesce(sum(length(CAST(p.body AS BLOB))), 0) FROM events e CROSS JOIN payloads p ON p.position = e.position
    WHERE e.run = r.id)
  + (SELECT coalesce(sum(length(CAST(n.body AS BLOB))), 0) FROM nodes n WHERE n.scope = r.scope)
    / max(1, (SELECT count(*) FROM runs o WHERE o.scope = r.scope AND o.status <> 'deleted')) AS bytes`

type Row = Record<string, unknown>

/** Finds rows of runs; all statements of one query must see the same snapshot. */
export function createRunFinder(db: DatabaseSync): (query: RunQuery) => RunPage {
  const prepared = createPrepared(db)
  const seals = db.prepare(
    `SELECT run, from_seq, to_seq, head_hash FROM seals WHERE run IN (SELECT value FROM json_each(?))
     ORDER BY run, from_seq`,
  )

  function readRows(query: RunQuery, threadId: string | undefined): Row[] {
    const { order = 'newest', limit = Number.MAX_SAFE_INTEGER, with: parts = [] } = query
    const id = idColumn(query)
    const { where, values } = conditionsOf(query, threadId, id)
    const columns = parts.includes('bytes') ? `${RUN_COLUMNS}, ${BYTES}` : RUN_COLUMNS
    const tables = id === 'r.id' ? RUN_TABLES : `tags t0 CROSS JOIN ${RUN_TABLES}`
    const sql = `SELECT ${columns} FROM ${tables} WHERE ${where.join(' AND ')}
      ORDER BY ${id} ${order === 'newest' ? 'DESC' : 'ASC'}`
    return prepared(`${sql} LIMIT ?`).all(...values, limit + 1)
  }

  function readSeals(rows: readonly Row[]): ReadonlyMap<unknown, readonly PruneMarker[]> {
    const found = new Map<unknown, PruneMarker[]>(rows.map((row) => [row['id'], []]))
    for (const row of seals.all(JSON.stringify([...found.keys()])))
      found.get(row['run'])?.push({
        fromSeq: row['from_seq'] as number,
        toSeq: row['to_seq'] as number,
        headHash: toHex(row['head_hash']),
      })
    return found
  }

  return (query) => {
    const {
      order = 'newest',
      limit = Number.MAX_SAFE_INTEGER,
      threadIds = [undefined],
      with: parts = [],
    } = query
    const sign = order === 'newest' ? -1 : 1
    // One thread at a time: with several in one condition, SQLite would sort all rows of each thread for each page.
    const rows = threadIds
      .flatMap((threadId) => readRows(query, threadId))
      .sort((a, b) => sign * ((a['id'] as number) - (b['id'] as number)))
    const page = rows.slice(0, limit)
    const pruned = parts.includes('pruned') ? readSeals(page) : undefined
    return {
      runs: page.map((row) => ({
        ...toStoredRun(row),
        ...(parts.includes('bytes') && { bytes: row['bytes'] as number }),
        ...(pruned && { pruned: pruned.get(row['id']) ?? [] }),
      })),
      next: rows.length > page.length ? String(page.at(-1)?.['id']) : null,
    }
  }
}

/** By a tag, runs are read in the order of its index, so that a page costs the same for rare and for common tags. */
const idColumn = ({ tags = {}, ids }: RunQuery): 'r.id' | 't0.run' =>
  Object.keys(tags).length > 0 && ids === undefined ? 't0.run' : 'r.id'

function conditionsOf(
  query: RunQuery,
  threadId: string | undefined,
  id: ReturnType<typeof idColumn>,
): { readonly where: readonly string[]; readonly values: readonly SQLInputValue[] } {
  const where: string[] = ['1']
  const values: SQLInputValue[] = []
  const add = (condition: string, ...given: readonly (SQLInputValue | undefined)[]): void => {
    if (given.includes(undefined)) return
    where.push(condition)
    values.push(...(given as SQLInputValue[]))
  }
  const listOf = (texts: readonly string[] | undefined): string | undefined => texts && JSON.stringify(texts)
  const { workspace, systemRun, status, order = 'newest', since, cursor } = query
  const inWorkspace = workspace === undefined ? '' : 'AND k.workspace = ?'
  const own = workspace === undefined ? [] : [workspace]
  add('r.workspace = ?', workspace)
  add(withIds(inWorkspace), listOf(query.ids), ...own)
  add(below(inWorkspace), listOf(query.below), ...own, ...own)
  add(WITH_SUBJECTS, listOf(query.subjects))
  if (systemRun !== undefined) {
    const { from, to } = systemRun === null ? SYSTEM_RUNS : systemRunRange(systemRun)
    add(systemRun === null ? '(r.run_id < ? OR r.run_id >= ?)' : 'r.run_id >= ? AND r.run_id < ?', from, to)
  }
  if (status === undefined && query.deleted !== true) add("r.status <> 'deleted'")
  add('r.status = ?', status)
  if (query.hasEvents) add('EXISTS (SELECT 1 FROM events e WHERE e.run = r.id)')
  add('r.agent = ?', query.agent)
  add('r.thread_id = ?', threadId)
  add('r.started_ms >= ?', since === undefined ? undefined : Date.parse(since))
  add(`${id} ${order === 'newest' ? '<' : '>'} ?`, cursor === undefined ? undefined : parseCursor(cursor))
  for (const [at, [name, value]] of Object.entries(query.tags ?? {}).entries())
    if (at === 0 && id === 't0.run') add('t0.name = ? AND t0.value = ? AND r.id = t0.run', name, value)
    else add('EXISTS (SELECT 1 FROM tags t WHERE t.run = r.id AND t.name = ? AND t.value = ?)', name, value)
  for (const name of query.hasTags ?? [])
    add('EXISTS (SELECT 1 FROM tags t WHERE t.run = r.id AND t.name = ?)', name)
  for (const { name, op, value } of query.scores ?? []) {
    const isOrder = op !== '=' && op !== '!='
    // Only numbers have an order: NULL fits nothing.
    const given = isOrder ? (typeof value === 'number' ? value : null) : JSON.stringify(value)
    const column = isOrder ? 'number' : 'value'
    add(
      `EXISTS (SELECT 1 FROM scores s WHERE s.run = r.id AND s.name = ? AND s.${column} ${op} ?)`,
      name,
      given,
    )
  }
  return { where, values }
}

import {
  type AdoptedRun,
  deletedSummary,
  isBook,
  mayGo,
  parseMemoryBook,
  type PruneBatch,
  type PruneItem,
  type PruneOutcome,
  type RunKey,
  type RunSummary,
  type Seal,
  type StoreRetention,
} from '@clew/ledger'
import type { Appender } from './append.ts'
import { hexOf } from './event-row.ts'
import { indexText } from './index-text.ts'
import { BLOCK, scopeName } from './load.ts'
import { ADD_SWEEPS, pruneStates } from './prune-states.ts'
import { NEW_RUN, replaceIndexes, RUN_COLUMNS, type RunRow, toStoredRun } from './run-row.ts'
import type { Database, Row, Sql } from './sql.ts'
import { readStorage } from './storage.ts'
import { arraysOf, bytesOf, columnNames, unnest } from './unnest.ts'
import { createValues } from './values.ts'

interface PruneParts {
  readonly db: Database
  readonly reading: Sql
  readonly appender: Pick<Appender, 'together' | 'forget'>
  readonly ring: () => void
}

/** Before the rows of runs: acquiring a lease locks its own row first and then that of the run. */
const LOCK_LEASES = 'LOCK TABLE leases IN SHARE MODE'
const LOCK = `SELECT r.id, r.run_id, r.seq, r.scope, r.summary FROM runs r
  WHERE r.workspace = $1 AND r.run_id = ANY ($2::text[]) ORDER BY r.id FOR UPDATE`
const HELD = `SELECT run_id, thread_id FROM leases WHERE workspace = $1 AND held AND (run_id = ANY ($2::text[]) OR thread_id = ANY ($3::text[]))`
const ITEMS = 'unnest($1::bigint[], $2::bigint[], $3::bigint[]) i (run, first, last)'
const CHECK = `SELECT i.run, i.first, (SELECT count(*) FROM events e WHERE e.run = i.run AND e.seq BETWEEN i.first AND i.last) AS count,
    (SELECT hash FROM events e WHERE e.run = i.run AND e.seq = i.last) AS hash,
    EXISTS (SELECT FROM runs f WHERE f.fork_of = i.run AND f.fork_seq >= i.first
      AND (f.status <> 'deleted' OR EXISTS (SELECT FROM events e WHERE e.run = f.id))) AS is_forked
  FROM ${ITEMS}`
const SEAL = `INSERT INTO seals (run, from_seq, to_seq, head_hash)
  SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bytea[])`
const POSITIONS = `SELECT e.position FROM ${ITEMS} JOIN events e ON e.run = i.run AND e.seq BETWEEN i.first AND i.last`
const DROP_PAYLOADS = `DELETE FROM payloads WHERE position IN (${POSITIONS})`
const DROP_MEMORY = `DELETE FROM memory_items WHERE position IN (${POSITIONS})`
const DROP_EVENTS = `DELETE FROM events WHERE position IN (${POSITIONS})`
const DROP_STEPS = `DELETE FROM steps s USING ${ITEMS} WHERE s.run = i.run AND s.started_seq BETWEEN i.first AND i.last`
const LOCK_BOOKS =
  'SELECT FROM memory_scopes WHERE workspace = $1 AND book = ANY ($2::text[]) ORDER BY id FOR UPDATE'
const STILL_THERE = 'SELECT r FROM unnest($1::bigint[]) r WHERE EXISTS (SELECT FROM events WHERE run = r)'
const UPDATE_RUNS = `UPDATE runs r SET status = 'deleted', due_ms = NULL, summary = d.summary, revision = r.revision + 1
  FROM unnest($1::bigint[], $2::text[]) d (id, summary) WHERE r.id = d.id`
/** Steps and events of the run are not what a writer has cached. */
const TOUCH_RUNS = 'UPDATE runs SET revision = revision + 1 WHERE id = ANY ($1::bigint[])'
const SEALS = `SELECT r.run_id, s.from_seq, s.to_seq, s.head_hash FROM runs r JOIN seals s ON s.run = r.id
  WHERE r.workspace = $1 AND r.run_id = ANY ($2::text[]) ORDER BY r.id, s.from_seq`
const SEALED = `SELECT coalesce(sum(s.to_seq - s.from_seq + 1), 0)::bigint AS n
  FROM seals s JOIN runs r ON r.id = s.run`
const LEFTOVERS = `SELECT ${RUN_COLUMNS} WHERE r.workspace = $1 AND r.status = 'deleted' AND r.id > $2
  AND EXISTS (SELECT FROM events e WHERE e.run = r.id) ORDER BY r.id LIMIT $3`
const SIZES = `SELECT r.run_id,
    (SELECT coalesce(sum(octet_length(p.body)), 0) FROM events e JOIN payloads p ON p.position = e.position WHERE e.run = r.id)
    + (SELECT coalesce(sum(octet_length(n.body)), 0) FROM nodes n WHERE n.scope = r.scope)
      / greatest(1, (SELECT count(*) FROM runs o WHERE o.scope = r.scope AND o.status <> 'deleted')) AS bytes
  FROM runs r WHERE r.workspace = $1 AND r.run_id = ANY ($2::text[])`

const FIND = 'SELECT id, seq FROM runs WHERE workspace = $1 AND run_id = $2 FOR UPDATE'
const ADD_SCOPE = `INSERT INTO scopes (id, workspace, name) VALUES (nextval('ids'), $1, $2)
  ON CONFLICT (workspace, name) DO UPDATE SET name = excluded.name RETURNING id`
/** The id of a run is a position that no event gets: the last one of this transaction's block. */
const NEW_ID = `SELECT base + pg_current_xact_id()::text::bigint * ${BLOCK} + ${BLOCK - 1} AS id FROM meta`
const ADD_RUN = `INSERT INTO runs (${columnNames(NEW_RUN)}) SELECT * FROM ${unnest(NEW_RUN, 'n')}`
const MOVE_HEAD =
  'UPDATE runs SET seq = $2, hash = $3, recorded_at = $4, revision = revision + 1 WHERE id = $1'

/** Tables that pruning deletes from: VACUUM frees the space for new rows and returns empty pages at the end of a file. */
const TABLES = [
  'events',
  'payloads',
  'nodes',
  'steps',
  'search_words',
  'memory_items',
  'subjects',
  'tags',
  'scores',
]

interface Found {
  readonly item: PruneItem
  readonly id: number
  readonly scope: number
  readonly summary: RunSummary
}

export function createRetention({ db, reading, appender, ring }: PruneParts): StoreRetention {
  const read = async (text: string, values: unknown[] = []): Promise<Row[]> =>
    (await reading.query({ text, values })).rows

  /** Prunes, unless some of the runs have changed or are in use: then it returns these, and nothing is changed. */
  async function apply(sql: Sql, { workspace, items }: PruneBatch): Promise<readonly string[]> {
    await sql.query({ text: LOCK_LEASES })
    const runIds = [...new Set(items.map(({ runId }) => runId))]
    const { rows } = await sql.query({ text: LOCK, values: [workspace, runIds] })
    const runs = new Map(rows.map((row) => [row['run_id'] as string, row]))
    const found = items.flatMap((item): Found[] => {
      const row = runs.get(item.runId)
      if (!row || Number(row['seq']) !== item.seq) return []
      const summary = JSON.parse(row['summary'] as string) as RunSummary
      if (!mayGo(summary) && !isBook(item.runId)) return []
      return [{ item, id: Number(row['id']), scope: Number(row['scope']), summary }]
    })
    const free = await freeOf(sql, workspace, found)
    const moved = items.filter((item) => !free.has(item)).map(({ runId }) => runId)
    if (moved.length === 0) await take(sql, workspace, found)
    return moved
  }

  async function freeOf(sql: Sql, workspace: string, found: readonly Found[]): Promise<Set<PruneItem>> {
    const threads = found.flatMap(({ summary }) =>
      summary.threadId === null ? [] : [indexText(summary.threadId)],
    )
    const held = await sql.query({
      text: HELD,
      values: [workspace, found.map(({ item }) => item.runId), threads],
    })
    const busy = new Set(
      held.rows.flatMap((row) => [`run ${String(row['run_id'])}`, `thread ${String(row['thread_id'])}`]),
    )
    const { rows } = await sql.query({ text: CHECK, values: rangesOf(found) })
    const checks = new Map(rows.map((row) => [`${Number(row['run'])} ${Number(row['first'])}`, row]))
    return new Set(
      found.flatMap(({ item, id, summary: { threadId } }) => {
        const check = checks.get(`${id} ${item.fromSeq}`)
        if (busy.has(`run ${item.runId}`)) return []
        if (threadId !== null && busy.has(`thread ${indexText(threadId)}`)) return []
        if (Number(check?.['count']) !== item.toSeq - item.fromSeq + 1 || check?.['is_forked'] === true)
          return []
        return hexOf(check?.['hash']) === item.headHash ? [item] : []
      }),
    )
  }

  async function take(sql: Sql, workspace: string, found: readonly Found[]): Promise<void> {
    const ranges = rangesOf(found)
    await sql.query({ text: SEAL, values: [...ranges, found.map(({ item }) => bytesOf(item.headHash))] })
    await sql.query({ text: DROP_PAYLOADS, values: ranges })
    const books = found.map(({ item }) => item.runId).filter((runId) => parseMemoryBook(runId))
    if (books.length > 0) {
      await sql.query({ text: LOCK_BOOKS, values: [workspace, books] })
      await sql.query({ text: DROP_MEMORY, values: ranges })
    }
    await sql.query({ text: DROP_STEPS, values: ranges })
    await sql.query({ text: DROP_EVENTS, values: ranges })
    await sql.query({ text: TOUCH_RUNS, values: [found.map(({ id }) => id)] })
    const deleted = new Map(
      found
        .filter(({ item, summary }) => item.deletes || summary.status === 'deleted')
        .map(({ id, summary }) => [id, summary]),
    )
    await markDeleted(sql, deleted)
    await sql.query({ text: ADD_SWEEPS, values: [found.map(({ scope }) => scope)] })
  }

  async function markDeleted(sql: Sql, deleted: ReadonlyMap<number, RunSummary>): Promise<void> {
    const ids = [...deleted.keys()]
    const { rows } = await sql.query({ text: STILL_THERE, values: [ids] })
    const left = new Set(rows.map((row) => Number(row['r'])))
    const runs = [...deleted].map(([id, summary]) => ({ id, summary: deletedSummary(summary, left.has(id)) }))
    const summaries = runs.map(({ summary }) => JSON.stringify(summary))
    await sql.query({ text: UPDATE_RUNS, values: [ids, summaries] })
    await sql.query(replaceIndexes(runs))
  }

  async function adopt(
    sql: Sql,
    { workspace, runId }: RunKey,
    { fromSeq, toSeq, headHash }: Seal,
    { summary, forkOf, recordedAt }: AdoptedRun,
  ): Promise<boolean> {
    const find = async (of: string): Promise<Row | undefined> =>
      (await sql.query({ text: FIND, values: [workspace, of] })).rows[0]
    const known = await find(runId)
    const before = known ? Number(known['seq']) : (forkOf?.seq ?? 0)
    if (before !== fromSeq - 1) return false
    let id = known?.['id'] as number | undefined
    if (id === undefined) {
      id = (await sql.query({ text: NEW_ID })).rows[0]?.['id'] as number
      const name = indexText(scopeName(runId, summary.threadId))
      const [scope] = (await sql.query({ text: ADD_SCOPE, values: [workspace, name] })).rows
      const owner = forkOf && (await find(forkOf.runId))
      const run: RunRow = {
        id,
        workspace,
        runId,
        scope: scope?.['id'] as number,
        forkOf: forkOf && owner ? { id: owner['id'] as number, seq: forkOf.seq } : null,
        seq: toSeq,
        hash: headHash,
        recordedAt,
        summary,
        epoch: 0,
        held: false,
        revision: 0,
        lastEventId: null,
        stored: null,
      }
      await sql.query({ text: ADD_RUN, values: arraysOf(NEW_RUN, [run]) })
      await sql.query(replaceIndexes([run]))
    } else {
      const head = [id, toSeq, Buffer.from(headHash, 'hex'), recordedAt]
      await sql.query({ text: MOVE_HEAD, values: head })
    }
    await sql.query({ text: SEAL, values: [[id], [fromSeq], [toSeq], [bytesOf(headHash)]] })
    if (summary.status === 'deleted') await markDeleted(sql, new Map([[id, summary]]))
    return true
  }

  return {
    // Writers continue meanwhile; only acquiring a lease waits.
    pace: { batchMs: 20, rest: 1 },
    async seals(workspace, runIds) {
      return (await read(SEALS, [workspace, runIds])).map((row) => ({
        runId: row['run_id'] as string,
        fromSeq: Number(row['from_seq']),
        toSeq: Number(row['to_seq']),
        headHash: hexOf(row['head_hash']),
      }))
    },
    sealedEvents: async () => Number((await read(SEALED))[0]?.['n']),
    async prune(batch) {
      const startedMs = performance.now()
      let moved: readonly string[] = []
      const outcome = await appender.together(batch.call, async (sql) => {
        moved = await apply(sql, batch)
        return moved.length === 0
      })
      if (!outcome) return { moved } satisfies PruneOutcome
      if ('error' in outcome) return outcome
      for (const { runId } of batch.items) appender.forget({ workspace: batch.workspace, runId })
      ring()
      const events = batch.items.reduce((sum, { fromSeq, toSeq }) => sum + toSeq - fromSeq + 1, 0)
      return { events, tookMs: performance.now() - startedMs }
    },
    async pruneStates({ workspace, items, call }) {
      const startedMs = performance.now()
      let moved: readonly string[] = []
      let events = 0
      const outcome = await appender.together(call, async (sql) => {
        const done = await pruneStates(sql, workspace, items)
        moved = done.moved
        events = done.events
        return moved.length === 0
      })
      if (!outcome) return { moved } satisfies PruneOutcome
      if ('error' in outcome) return outcome
      ring()
      return { events, tookMs: performance.now() - startedMs }
    },
    async leftovers(workspace, after, limit) {
      const rows = await read(LEFTOVERS, [workspace, after, limit])
      return rows.map((row) => ({ key: Number(row['id']), run: toStoredRun(row) }))
    },
    storage: () => readStorage(reading),
    async sizes(workspace, runIds) {
      const rows = await read(SIZES, [workspace, [...runIds]])
      return new Map(rows.map((row) => [row['run_id'] as string, Number(row['bytes'])]))
    },
    async adopt(key, seal, run) {
      const isDone = await db.transact((sql) => adopt(sql, key, seal, run))
      appender.forget(key)
      return isDone
    },
    values: createValues(db, reading),
    writeBack: () => {},
    async reclaim() {
      for (const table of TABLES) await db.query({ text: `VACUUM (SKIP_LOCKED) ${table}` })
      return false
    },
  }
}

const rangesOf = (found: readonly Found[]): unknown[] => [
  found.map(({ id }) => id),
  found.map(({ item }) => item.fromSeq),
  found.map(({ item }) => item.toSeq),
]

import { dueMsOf, type RunDraft, type RunSummary, type StoredRun } from '@clew/ledger'
import { hexOf } from './event-row.ts'
import { indexText, indexTextOrNull } from './index-text.ts'
import type { Row, Sql, Statement } from './sql.ts'
import { arraysOf, bytesOf, type Column, columnNames, unnest } from './unnest.ts'

/** What readers need of a run's row. */
export const RUN_COLUMNS = `r.id, r.workspace, r.seq, r.hash, r.recorded_at, r.summary, r.fork_seq, f.run_id AS fork_run
  FROM runs r LEFT JOIN runs f ON f.id = r.fork_of`

export function toStoredRun(row: Row): StoredRun {
  return {
    summary: JSON.parse(row['summary'] as string) as RunSummary,
    workspace: row['workspace'] as string,
    seq: Number(row['seq']),
    hash: hexOf(row['hash']),
    forkOf:
      row['fork_run'] === null ? null : { runId: row['fork_run'] as string, seq: Number(row['fork_seq']) },
    recordedAt: row['recorded_at'] as string,
  }
}

/** Head and summary as they are stored. */
export interface StoredHead {
  readonly seq: number
  readonly hash: string
  readonly summary: RunSummary
  readonly dueMs: number | null
}

/** A run's row while events are appended to it; written back once, at the end. */
export interface RunRow extends RunDraft {
  readonly epoch: number
  readonly held: boolean
  readonly revision: number
  /** Id of its last event; null where it is not known. */
  lastEventId: string | null
  /** Null for a run that is new. */
  readonly stored: StoredHead | null
}

/** What an append reads of a run's row; named one by one, so that a later version may add columns. */
export const LOCKED_RUN_COLUMNS = `r.id, r.workspace, r.run_id, r.scope, r.fork_of, r.fork_seq, r.seq, r.hash, r.recorded_at,
  r.due_ms, r.summary, r.epoch, r.held, r.revision`

/** From a row with `LOCKED_RUN_COLUMNS`. */
export function toRunRow(row: Row): RunRow {
  const summary = JSON.parse(row['summary'] as string) as RunSummary
  const head = { seq: row['seq'] as number, hash: hexOf(row['hash']), summary }
  return {
    ...head,
    id: row['id'] as number,
    workspace: row['workspace'] as string,
    runId: row['run_id'] as string,
    scope: row['scope'] as number,
    forkOf: row['fork_of'] === null ? null : { id: row['fork_of'] as number, seq: row['fork_seq'] as number },
    recordedAt: row['recorded_at'] as string,
    epoch: row['epoch'] as number,
    held: row['held'] as boolean,
    revision: row['revision'] as number,
    lastEventId: (row['last_event_id'] as string | null | undefined) ?? null,
    stored: { ...head, dueMs: row['due_ms'] as number | null },
  }
}

/** The stored value while status and dueAt are unchanged, so that a run keeps the time since when it has been due. */
export function dueMsOfRow({ summary, recordedAt, stored }: RunRow): number | null {
  return stored?.summary.status === summary.status && stored.summary.dueAt === summary.dueAt
    ? stored.dueMs
    : dueMsOf(summary, recordedAt)
}

/** Columns that are folded from the events. */
const FOLDED: readonly Column<RunRow>[] = [
  ['seq', 'bigint', (run) => run.seq],
  ['hash', 'bytea', (run) => bytesOf(run.hash)],
  ['recorded_at', 'text', (run) => run.recordedAt],
  ['status', 'text', ({ summary }) => summary.status],
  ['due_ms', 'bigint', dueMsOfRow],
  ['thread_id', 'text', ({ summary }) => indexTextOrNull(summary.threadId)],
  ['agent', 'text', ({ summary }) => indexTextOrNull(summary.agent)],
  ['agent_version', 'text', ({ summary }) => indexTextOrNull(summary.agentVersion)],
  ['started_ms', 'bigint', ({ summary }) => Date.parse(summary.startedAt)],
  ['parent_run_id', 'text', ({ summary }) => indexTextOrNull(summary.parentRunId)],
  ['summary', 'text', ({ summary }) => JSON.stringify(summary)],
]

export const NEW_RUN: readonly Column<RunRow>[] = [
  ['id', 'bigint', (run) => run.id],
  ['workspace', 'text', (run) => run.workspace],
  ['run_id', 'text', (run) => run.runId],
  ['scope', 'bigint', (run) => run.scope],
  ['fork_of', 'bigint', (run) => run.forkOf?.id],
  ['fork_seq', 'bigint', (run) => run.forkOf?.seq],
  ['epoch', 'int', (run) => run.epoch],
  ['held', 'boolean', (run) => run.held],
  ...FOLDED,
]

/** A row that is changed, with what it must still be before. */
export const CHANGED_RUN: readonly Column<RunRow>[] = [
  ['id', 'bigint', (run) => run.id],
  ['old_seq', 'bigint', (run) => run.stored?.seq],
  ['old_hash', 'bytea', (run) => bytesOf(run.stored?.hash ?? null)],
  ['epoch', 'int', (run) => run.epoch],
  ['held', 'boolean', (run) => run.held],
  ['revision', 'int', (run) => run.revision],
  ...FOLDED,
]

/** Writes changed rows `c`, those that are still what they were; returns one row for each. */
export const updateRuns = (from: string): string =>
  `UPDATE runs r SET ${FOLDED.map(([name]) => `${name} = c.${name}`).join(', ')} FROM ${from}
    WHERE r.id = c.id AND r.seq = c.old_seq AND r.hash = c.old_hash AND r.epoch = c.epoch AND r.held = c.held
      AND r.revision = c.revision RETURNING 1`

/** Rows of the indexes of summaries. */
interface Subject {
  readonly run: number
  readonly subject: string
}
interface NamedValue {
  readonly run: number
  readonly name: string
  readonly value: string | number | boolean
}
const SUBJECT: readonly Column<Subject>[] = [
  ['run', 'bigint', ({ run }) => run],
  ['subject', 'text', ({ subject }) => indexText(subject)],
]
const NAME: readonly Column<NamedValue>[] = [
  ['run', 'bigint', ({ run }) => run],
  ['name', 'text', ({ name }) => indexText(name)],
]
const TAG: readonly Column<NamedValue>[] = [
  ...NAME,
  ['value', 'text', ({ value }) => indexText(String(value))],
]
const SCORE: readonly Column<NamedValue>[] = [
  ...NAME,
  ['value', 'text', ({ value }) => indexText(JSON.stringify(value))],
  ['number', 'float8', ({ value }) => (typeof value === 'number' ? value : null)],
]
const REPLACE_INDEXES = `WITH
  old_subjects AS (DELETE FROM subjects WHERE run = ANY ($1::bigint[])),
  old_tags AS (DELETE FROM tags WHERE run = ANY ($1::bigint[])),
  old_scores AS (DELETE FROM scores WHERE run = ANY ($1::bigint[])),
  new_subjects AS (INSERT INTO subjects (${columnNames(SUBJECT)}) SELECT * FROM ${unnest(SUBJECT, 's', 2)}),
  new_tags AS (INSERT INTO tags (${columnNames(TAG)}) SELECT * FROM ${unnest(TAG, 't', 2 + SUBJECT.length)})
  INSERT INTO scores (${columnNames(SCORE)}) SELECT * FROM ${unnest(SCORE, 's', 2 + SUBJECT.length + TAG.length)}`

type SummaryRow = Pick<RunRow, 'id' | 'summary'>

/** Whether subjects, tags or scores of a run are not what its indexes have. */
export function hasOtherIndexes({ summary: { subjects, tags, scores }, stored }: RunRow): boolean {
  if (!stored) return subjects.length > 0 || scores.length > 0 || Object.keys(tags).length > 0
  const { summary } = stored
  return subjects !== summary.subjects || tags !== summary.tags || scores !== summary.scores
}

/** Writes the indexes of summaries again. */
export function replaceIndexes(runs: readonly SummaryRow[]): Statement {
  const subjects = runs.flatMap(({ id, summary }) =>
    [...new Set(summary.subjects)].map((subject) => ({ run: id, subject })),
  )
  const tags = runs.flatMap(({ id, summary }) =>
    Object.entries(summary.tags).map(([name, value]) => ({ run: id, name, value })),
  )
  const scores = runs.flatMap(({ id, summary }) =>
    summary.scores.map(({ name, value }) => ({ run: id, name, value })),
  )
  return {
    name: 'replace indexes',
    text: REPLACE_INDEXES,
    values: [
      runs.map(({ id }) => id),
      ...arraysOf(SUBJECT, subjects),
      ...arraysOf(TAG, tags),
      ...arraysOf(SCORE, scores),
    ],
  }
}

const REPLACE_SUMMARY = `UPDATE runs SET status = $2, due_ms = $3, thread_id = $4, agent = $5, agent_version = $6,
  started_ms = $7, parent_run_id = $8, summary = $9, revision = revision + 1 WHERE id = $1`

/** Replaces the summary of a run without an event, with all that is stored of it in columns and indexes. */
export async function replaceSummary(
  sql: Sql,
  { id, summary }: SummaryRow,
  recordedAt: string,
): Promise<void> {
  const values = [
    id,
    summary.status,
    dueMsOf(summary, recordedAt),
    indexTextOrNull(summary.threadId),
    indexTextOrNull(summary.agent),
    indexTextOrNull(summary.agentVersion),
    Date.parse(summary.startedAt),
    indexTextOrNull(summary.parentRunId),
    JSON.stringify(summary),
  ]
  await sql.query({ text: REPLACE_SUMMARY, values })
  await sql.query(replaceIndexes([{ id, summary }]))
}

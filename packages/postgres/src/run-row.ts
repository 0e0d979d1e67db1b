import { dueMsOf, type MutableRun, type RunSummary, type StoredRun } from '@clew/ledger'
import { hexOf } from './event-row.ts'
import { indexText, indexTextOrNull } from './index-text.ts'
import type { Row } from './sql.ts'
import { bytesOf, type Column } from './unnest.ts'

/** Columns of a run's row that readers need. */
export const RUN_COLUMNS =
  'r.id, r.workspace, r.seq, r.hash, r.recorded_at, r.summary, r.fork_seq, f.run_id AS fork_run'
export const RUN_TABLES = 'runs r LEFT JOIN runs f ON f.id = r.fork_of'

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

/** A run's row inside a write transaction; written back once, at the end. */
export interface RunRow extends MutableRun {
  readonly epoch: number
  readonly held: boolean
  readonly revision: number
  /** Id of its last event; null where it is not known. */
  lastEventId: string | null
  /** Null for a run that is new. */
  readonly stored: StoredHead | null
  /** Everything that repeats the summary is written, whether it has changed or not. */
  isRewritten: boolean
}

/** Columns of a run's row that an append reads. Listed by name, so that a later version may add columns. */
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
    isRewritten: false,
  }
}

/** The stored value while status and dueAt are unchanged, so that a run keeps the time since when it has been due. */
export function dueMsOfRow({ summary, recordedAt, stored, isRewritten }: RunRow): number | null {
  return stored?.summary.status === summary.status && stored.summary.dueAt === summary.dueAt && !isRewritten
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

/**
 * Writes changed rows `c`, those that are still what they were; returns one row for each. The revision is raised where the
 * seq stays, so that a writer with a cached row notices the change.
 */
export const updateRuns = (from: string): string =>
  `UPDATE runs r SET ${FOLDED.map(([name]) => `${name} = c.${name}`).join(', ')},
      revision = r.revision + (c.seq = c.old_seq)::int
    FROM ${from} WHERE r.id = c.id AND r.seq = c.old_seq AND r.hash = c.old_hash AND r.epoch = c.epoch AND r.held = c.held
      AND r.revision = c.revision RETURNING 1`

/** Rows that repeat a list of the summary, to find runs by it. */
interface IndexRow {
  readonly run: number
  readonly name: string
  readonly seq?: number
  readonly value?: string
  readonly number?: number | null
}

/** A table of such rows: the first two columns are its key. */
export interface RunIndex {
  readonly table: string
  readonly columns: readonly [Column<IndexRow>, Column<IndexRow>, ...Column<IndexRow>[]]
  readonly listOf: (summary: RunSummary) => unknown
  readonly rowsOf: (summary: RunSummary, run: number) => IndexRow[]
}

const RUN: Column<IndexRow> = ['run', 'bigint', ({ run }) => run]

export const RUN_INDEXES: readonly RunIndex[] = [
  {
    table: 'subjects',
    columns: [RUN, ['subject', 'text', ({ name }) => indexText(name)]],
    listOf: ({ subjects }) => subjects,
    rowsOf: ({ subjects }, run) => [...new Set(subjects)].map((name) => ({ run, name })),
  },
  {
    table: 'tags',
    columns: [
      RUN,
      ['name', 'text', ({ name }) => indexText(name)],
      ['value', 'text', ({ value = '' }) => indexText(value)],
    ],
    listOf: ({ tags }) => tags,
    rowsOf: ({ tags }, run) => Object.entries(tags).map(([name, value]) => ({ run, name, value })),
  },
  {
    table: 'scores',
    columns: [
      RUN,
      ['seq', 'bigint', ({ seq }) => seq],
      ['name', 'text', ({ name }) => indexText(name)],
      ['value', 'text', ({ value = '' }) => indexText(value)],
      ['number', 'double precision', ({ number }) => number],
    ],
    listOf: ({ scores }) => scores,
    rowsOf: ({ scores }, run) =>
      scores.map(({ seq, name, value }) => ({
        run,
        seq,
        name,
        value: JSON.stringify(value),
        number: typeof value === 'number' ? value : null,
      })),
  },
]

/** Whether the rows of an index must be written for this run. */
export const isIndexChanged = ({ listOf }: RunIndex, { summary, stored, isRewritten }: RunRow): boolean =>
  isRewritten || !stored || listOf(summary) !== listOf(stored.summary)

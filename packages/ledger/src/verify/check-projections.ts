import { dueMsOf } from '../store/due.ts'
import type { ClewEvent } from '../event/envelope.ts'
import { beginRun, isTerminal, type RunSummary } from '../fold/run-summary.ts'
import type { ScoreValue } from '../fold/scores-and-tags.ts'
import type { StepSkeleton } from '../fold/steps.ts'
import { type FoldedRun, foldStoredRun, stepRowKey } from '../projections/fold-stored-run.ts'
import { checkMemoryRows } from '../memory/check-rows.ts'
import type { PayloadReader } from '../read/payload-reader.ts'
import { createSeqSet, type RemovedRange, type SeqSet } from '../removal/removed-range.ts'
import type { RunReader } from '../read/run-reader.ts'
import { findRun } from '../store/find-runs.ts'
import type { RunColumns, StoredRows } from '../store/raw-rows.ts'
import type { Store, StoredRun } from '../store/store.ts'
import { checkSearchIndex } from './check-search-index.ts'
import type { Problem } from './verify.ts'

interface CheckParts {
  readonly store: Store
  readonly reader: PayloadReader
  readonly runs: RunReader
}

/** Limit of reads for a run that others write to; a busier one is compared by the next `verify`. */
const ATTEMPTS = 10
const MAX_NAMED_STEPS = 3

export interface ProjectionVerdict {
  readonly problems: readonly Problem[]
  /** Scope of the values of the run. */
  readonly scope: number | undefined
}

/** Compares every stored row and column of a run with what its events fold to (L1). */
export async function checkProjections(
  parts: CheckParts,
  given: StoredRun,
  removed: readonly RemovedRange[],
): Promise<ProjectionVerdict> {
  const { store } = parts
  const key = { workspace: given.workspace, runId: given.summary.runId }
  let rows: StoredRows | null = null
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const run = await findRun(store, key)
    rows = await store.rows.ofRun(key)
    if (!run) break
    if (!rows) return { problems: [problemOf(run, null, 'its row of runs cannot be read')], scope: undefined }
    const facts = await readFacts(parts, run)
    const skeleton = await store.readSteps(key)
    if ((await findRun(store, key))?.seq !== run.seq) continue
    const problems = [
      ...compareRun(run, rows, facts, removed),
      ...compareSteps(run, skeleton, facts, isExact(facts, removed)),
      ...facts.hiddenEffects.map((seq) => problemOf(run, seq, 'its column follows hides it from its cause')),
      ...rows.copies.map((column) => problemOf(run, null, `the column ${column} is not what it repeats`)),
      ...(await checkMemoryRows(store, parts.reader, run, rows.memorySeq)),
      ...(await checkSearchIndex(parts, run)),
    ]
    return { problems, scope: rows.scope.id }
  }
  return { problems: [], scope: rows?.scope.id }
}

/** Rows folded from the events of a run that are still stored. */
interface Facts {
  readonly folded: FoldedRun
  /** The first own event, if it is there. */
  readonly first: ClewEvent | undefined
  /** Whether the first own event has its payload, or lost it by an erasure, which the rows follow. */
  readonly begin: RunSummary | undefined
  /** `recorded_at` of the last own event, if that is there. */
  readonly lastRecordedAt: string | undefined
  /** Times at which the run may have become due: from the last change of its status on. */
  readonly dueMs: ReadonlySet<number>
  /** Events with a payload. */
  readonly whole: SeqSet
  /** Events that are not found from their cause. */
  readonly hiddenEffects: readonly number[]
}

async function readFacts(parts: CheckParts, run: StoredRun): Promise<Facts> {
  const { store } = parts
  const { workspace, summary, seq, forkOf } = run
  const source = summary.forkedFrom
    ? ((await findRun(store, { workspace, runId: summary.forkedFrom.runId }))?.summary ?? undefined)
    : undefined
  const dueMs = new Set<number>()
  const whole = createSeqSet()
  const caused: { readonly eventId: string; readonly seq: number; readonly cause: string }[] = []
  let first: ClewEvent | undefined
  let last: ClewEvent | undefined
  let state = ''
  const folded = await foldStoredRun(parts, run, {
    source,
    upToSeq: seq,
    onEvent(event, { status, dueAt }, { body }) {
      const { eventId, causationId, ledger } = event
      first ??= event
      last = event
      if (body !== null) whole.add(ledger.seq, ledger.seq)
      if (causationId !== null) caused.push({ eventId, seq: ledger.seq, cause: causationId })
      if (state !== `${status} ${dueAt}`) dueMs.clear()
      state = `${status} ${dueAt}`
      dueMs.add(Date.parse(ledger.recordedAt))
    },
  })
  const isFirst = first?.ledger.seq === (forkOf?.seq ?? 0) + 1
  return {
    folded,
    first: isFirst ? first : undefined,
    begin: isFirst && first ? beginRun(first, source) : undefined,
    lastRecordedAt: last?.ledger.seq === seq ? last.ledger.recordedAt : undefined,
    dueMs,
    whole,
    hiddenEffects: await findHidden(store, workspace, caused),
  }
}

const CAUSES = 200

/** Effects that a look-up by their cause does not give. */
async function findHidden(
  store: Store,
  workspace: string,
  caused: readonly { readonly eventId: string; readonly seq: number; readonly cause: string }[],
): Promise<number[]> {
  const causes = [...new Set(caused.map(({ cause }) => cause))]
  const found = new Set<string>()
  for (let at = 0; at < causes.length; at += CAUSES)
    for (const { eventId } of await store.findEvents({ workspace, causes: causes.slice(at, at + CAUSES) }))
      found.add(eventId)
  return caused.filter(({ eventId }) => !found.has(eventId)).map(({ seq }) => seq)
}

/** Whether what is left of the events folds to all of the rows. Erasures rewrite the rows, retention leaves them. */
const isExact = ({ folded }: Facts, removed: readonly RemovedRange[]): boolean =>
  folded.summary !== undefined &&
  folded.isComplete &&
  !removed.some(({ kind, blank }) => kind === 'events' || blank.length > 0)

const IDENTITY = ['agent', 'agentVersion', 'threadId', 'parentRunId', 'subjects', 'startedAt'] as const

function compareRun(
  run: StoredRun,
  rows: StoredRows,
  facts: Facts,
  removed: readonly RemovedRange[],
): Problem[] {
  const { summary } = run
  const { lastRecordedAt } = facts
  const problems: Problem[] = []
  const differs = (what: string): void =>
    void problems.push(problemOf(run, null, `${what} is not what its events fold to`))

  const isDeleted = removed.some(({ deletes }) => deletes)
  const expected = expectedFields(run, facts, isExact(facts, removed), isDeleted)
  for (const [field, value] of Object.entries(expected))
    if (JSON.stringify(summary[field as keyof RunSummary]) !== JSON.stringify(value))
      differs(`${field} of the stored summary`)
  if (lastRecordedAt !== undefined && run.recordedAt !== lastRecordedAt)
    differs('the column recorded_at of runs')

  // The columns repeat the summary, which was compared above.
  for (const name of differingColumns(summary, rows)) differs(name)
  if (!isDue(run, rows.columns.dueMs, facts)) differs('the column due_ms of runs')
  if (!isScope(run, rows.scope.name, facts)) differs('the name of its scope')
  return problems
}

/** Columns and index rows of a run that do not repeat its summary, but for `due_ms`. */
export function differingColumns(summary: RunSummary, rows: StoredRows): string[] {
  const { columns } = rows
  const names = COLUMNS.filter(([column]) => columns[column] !== summary[column]).map(([, name]) => name)
  if (columns.startedMs !== Date.parse(summary.startedAt)) names.push('started_ms')
  const scores = summary.scores.map(({ seq, name, value }) => [
    seq,
    name,
    JSON.stringify(value),
    numberOf(value),
  ])
  const tables = [
    [
      'subjects',
      rows.subjects.map((subject) => [subject]),
      [...new Set(summary.subjects)].map((subject) => [subject]),
    ],
    ['tags', rows.tags, Object.entries(summary.tags)],
    ['scores', rows.scores.map(({ seq, name, value, number }) => [seq, name, value, number]), scores],
  ] as const
  return [
    ...names.map((name) => `the column ${name} of runs`),
    ...tables
      .filter(([, stored, folded]) => textOf(stored) !== textOf(folded))
      .map(([table]) => `what the table ${table} has of it`),
  ]
}

const numberOf = (value: ScoreValue): number | null => (typeof value === 'number' ? value : null)

/** Rows in one order, whatever a store gives them in. */
const textOf = (rows: readonly (readonly unknown[])[]): string =>
  rows
    .map((row) => JSON.stringify(row))
    .sort()
    .join('\n')

/** Workers find runs by agent and `due_ms`: without an agent the column is not read. */
function isDue({ summary, recordedAt }: StoredRun, dueMs: number | null, facts: Facts): boolean {
  const due = dueMsOf(summary, recordedAt)
  if (summary.agent === null || due === dueMs) return true
  if (due === null || dueMs === null) return false
  return summary.dueAt === null && (facts.dueMs.has(dueMs) || !facts.folded.isComplete)
}

const COLUMNS: readonly (readonly [Exclude<keyof RunColumns, 'startedMs' | 'dueMs'>, string])[] = [
  ['status', 'status'],
  ['threadId', 'thread_id'],
  ['agent', 'agent'],
  ['agentVersion', 'agent_version'],
  ['parentRunId', 'parent_run_id'],
]

/** The fields of the summary that the events still prove. */
function expectedFields(
  { summary }: StoredRun,
  { folded: { summary: folded }, first, lastRecordedAt }: Facts,
  isWhole: boolean,
  isDeleted: boolean,
): Partial<Record<keyof RunSummary, unknown>> {
  if (isWhole && folded) return folded
  const fields: Partial<Record<keyof RunSummary, unknown>> = {}
  if (folded && first && !first.ledger.pruned) for (const field of IDENTITY) fields[field] = folded[field]
  if (folded && lastRecordedAt !== undefined) fields.updatedAt = folded.updatedAt
  if (isDeleted) return { ...fields, status: 'deleted' }
  // Retention never prunes only the end of a run.
  if (folded && isTerminal(folded.status)) fields.status = folded.status
  else if (isTerminal(summary.status)) fields.status = folded?.status ?? 'deleted'
  return fields
}

/** Values are shared within the thread that the first event names, or within the run (L8). */
function isScope({ summary }: StoredRun, name: string | null, { begin, first }: Facts): boolean {
  const { runId, threadId, forkedFrom } = summary
  if (name === null) return false
  if (/^erased \d+$/.test(name)) return threadId === null
  if (!begin || !first || first.ledger.erased) return name === `run ${runId}` || name.startsWith('thread ')
  // The source of a fork may have got its thread later.
  if (name === `run ${runId}`) return begin.threadId === null || forkedFrom !== null
  return name === `thread ${begin.threadId}`
}

function compareSteps(
  run: StoredRun,
  stored: readonly StepSkeleton[],
  { folded, whole }: Facts,
  isWhole: boolean,
): Problem[] {
  const differing = new Set<string>()
  const textOf = isWhole ? (step: StepSkeleton) => JSON.stringify(step) : keptText
  const rows = new Map(stored.map((step) => [stepRowKey(step), step]))
  for (const [key, step] of folded.steps) {
    const row = rows.get(key)
    // The end of a step may have been deleted with its payload.
    if (!isWhole && step.endedSeq === null && row) continue
    if (!row || textOf(row) !== textOf(step)) differing.add(step.stepId)
  }
  for (const [key, step] of rows)
    if (!folded.steps.has(key) && (isWhole || whole.has(step.startedSeq))) differing.add(step.stepId)
  const isOrdered = stored.every(({ startedSeq }, at) => startedSeq >= (stored[at - 1]?.startedSeq ?? 0))
  if (!isOrdered) for (const { stepId } of stored) differing.add(stepId)
  if (differing.size === 0) return []
  const named = [...differing].slice(0, MAX_NAMED_STEPS).join(', ')
  const more = differing.size > MAX_NAMED_STEPS ? ` and ${differing.size - MAX_NAMED_STEPS} more` : ''
  return [problemOf(run, null, `the rows of steps are not what its events fold to: ${named}${more}`)]
}

/** Fields of a step that the remaining events prove if others of the run were deleted: neither its index nor its content. */
const keptText = ({ stepId, attempt, nodeName, status, startedSeq, endedSeq }: StepSkeleton): string =>
  JSON.stringify([stepId, attempt, nodeName, status, startedSeq, endedSeq])

const problemOf = ({ summary: { runId } }: StoredRun, seq: number | null, detail: string): Problem => ({
  runId,
  seq,
  problem: 'projection_differs',
  detail,
})

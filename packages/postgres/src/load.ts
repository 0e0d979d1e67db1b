import { type AppendCall, parseStepId, type RunKey, type StoreChange } from '@clew/ledger'
import { EVENT_COLUMNS, hexOf, toStoredEvent } from './event-row.ts'
import { indexText } from './index-text.ts'
import { loadValues } from './load-values.ts'
import {
  BLOCK,
  eventKey,
  type EventOfRun,
  type ForkSource,
  forkSourceOf,
  type Loaded,
  nothingLoaded,
  rangeKey,
  runKey,
  seqKey,
  stepKey,
  textIn,
} from './loaded.ts'
import { LOCKED_RUN_COLUMNS, toRunRow } from './run-row.ts'
import { readRows, type Row, type Sql } from './sql.ts'
import { STEP_COLUMNS, toStep } from './step-row.ts'
import { arraysOf, type Column, unnest } from './unnest.ts'

const KEY: readonly Column<RunKey>[] = [
  ['workspace', 'text', (key) => key.workspace],
  ['run_id', 'text', (key) => key.runId],
]
const AT: readonly Column<ForkSource>[] = [...KEY, ['seq', 'bigint', (at: ForkSource) => at.seq]]
const EVENT: readonly Column<EventOfRun>[] = [...KEY, ['event_id', 'text', ({ event }) => event.eventId]]
type StepOfRun = RunKey & { readonly stepId: string; readonly attempt: number }
const STEP: readonly Column<StepOfRun>[] = [
  ...KEY,
  ['step_id', 'text', ({ stepId }) => indexText(stepId)],
  ['attempt', 'bigint', ({ attempt }) => attempt],
]
type Range = RunKey & { readonly fromSeq: number; readonly toSeq: number }
const RANGE: readonly Column<Range>[] = [
  ...KEY,
  ['from_seq', 'bigint', ({ fromSeq }) => fromSeq],
  ['to_seq', 'bigint', ({ toSeq }) => toSeq],
]
type PrunedRun = RunKey & { readonly events: number }
const PRUNED_RUN: readonly Column<PrunedRun>[] = [...KEY, ['pruned', 'bigint', ({ events }) => events]]

const OF_RUN = 'r.workspace = k.workspace AND r.run_id = k.run_id'
const IS_NEW = `NOT EXISTS (SELECT FROM runs r WHERE ${OF_RUN})`

/** Before the rows of runs: acquiring a lease locks its own row first and then that of the run. */
const LOCK_LEASES = 'LOCK TABLE leases IN SHARE MODE'
const LOCK_NEW_RUNS = `SELECT pg_advisory_xact_lock(n.key) FROM (
    SELECT DISTINCT run_lock(k.workspace, k.run_id) AS key FROM ${unnest(KEY, 'k')} WHERE ${IS_NEW} ORDER BY 1
  ) n`
const RUN_COLUMNS = `${LOCKED_RUN_COLUMNS}, (SELECT e.event_id FROM events e WHERE e.run = r.id AND e.seq = r.seq) AS last_event_id`
const RUNS = `SELECT ${RUN_COLUMNS} FROM ${unnest(KEY, 'k')} JOIN runs r ON ${OF_RUN} ORDER BY r.id FOR NO KEY UPDATE OF r`
/** The named runs and those with events at the positions. This lock also keeps new forks and folds of memory out. */
const CHANGED_RUNS = `SELECT ${RUN_COLUMNS} FROM runs r WHERE r.id IN (
    SELECT r.id FROM ${unnest(KEY, 'k')} JOIN runs r ON ${OF_RUN}
    UNION SELECT e.run FROM events e WHERE e.position = ANY ($3::bigint[])
  ) ORDER BY r.id FOR UPDATE OF r`
const LEASES = `SELECT l.workspace, l.run_id, l.epoch, l.held FROM ${unnest(KEY, 'k')}
  JOIN leases l ON l.workspace = k.workspace AND l.run_id = k.run_id WHERE ${IS_NEW} FOR SHARE OF l`
/** The runs that are forked from, and those they are forked from themselves. */
const LINES = `WITH RECURSIVE line (id, fork_of, seq) AS (
    SELECT r.id, r.fork_of, k.seq FROM ${unnest(AT, 'k')} JOIN runs r ON ${OF_RUN}
    UNION SELECT r.id, r.fork_of, line.seq FROM line JOIN runs r ON r.id = line.fork_of
  )`
/** The lock keeps the event to fork from, which pruning would delete. */
const SOURCES = `${LINES} SELECT ${LOCKED_RUN_COLUMNS} FROM runs r WHERE r.id IN (SELECT id FROM line) ORDER BY r.id FOR KEY SHARE OF r`
const EVENTS_AT = `${LINES} SELECT e.run, ${EVENT_COLUMNS} JOIN line ON e.run = line.id AND e.seq = line.seq`
const EVENTS = `SELECT p.mac, ${EVENT_COLUMNS} JOIN ${unnest(EVENT, 'k')} ON ${OF_RUN} AND e.event_id = k.event_id`
/** With the first attempts of all steps around them, on which usage is counted (V7). */
const STEPS = `WITH RECURSIVE found AS (
    SELECT r.run_id, s.* FROM ${unnest(STEP, 'k')} JOIN runs r ON ${OF_RUN}
      JOIN steps s ON s.run = r.id AND s.step_id = k.step_id AND s.attempt = k.attempt
    UNION SELECT f.run_id, s.* FROM found f JOIN steps s ON s.run = f.run AND s.step_id = f.parent AND s.attempt = 1
  ) SELECT s.run_id, s.run, ${STEP_COLUMNS} FROM found s`
const BLOCKS = 'SELECT take_blocks($1) AS first'

const FORKS = `SELECT r.id, f.fork_seq, f.status <> 'deleted' OR EXISTS (SELECT FROM events e WHERE e.run = f.id) AS is_needy
  FROM ${unnest(KEY, 'k')} JOIN runs r ON ${OF_RUN} JOIN runs f ON f.fork_of = r.id`
const RANGES = `SELECT r.id, k.from_seq, k.to_seq,
    (SELECT count(*) FROM events e WHERE e.run = r.id AND e.seq BETWEEN k.from_seq AND k.to_seq) AS count,
    EXISTS (SELECT FROM leases l WHERE l.workspace = r.workspace AND l.run_id = r.run_id AND l.held)
      OR EXISTS (SELECT FROM leases l WHERE l.workspace = r.workspace AND l.thread_id = r.thread_id AND l.held) AS is_leased
  FROM ${unnest(RANGE, 'k')} JOIN runs r ON ${OF_RUN}`
const LAST_EVENTS = `SELECT e.run, ${EVENT_COLUMNS} JOIN ${unnest(AT, 'k')} ON ${OF_RUN} AND e.seq = k.seq`
/** Runs with more events than are pruned. */
const WITH_EVENTS = `SELECT r.id FROM ${unnest(PRUNED_RUN, 'k')} JOIN runs r ON ${OF_RUN}
  WHERE EXISTS (SELECT FROM events e WHERE e.run = r.id OFFSET k.pruned)`

/** Whether a change only appends: then its calls are independent of each other. */
export const isAppend = ({ calls: _, ...others }: StoreChange): boolean =>
  Object.values(others).every((part) => part === undefined || part.length === 0)

/**
 * Locks and reads, within an open transaction, all that a change needs. The statements of a stage are sent together, in
 * one round trip; each sees what is committed when the locks of those before it were granted.
 */
export async function load(sql: Sql, change: StoreChange): Promise<Loaded> {
  const loaded = nothingLoaded()
  const events = change.calls.flatMap(eventsOf)
  // In this order: ranges are read behind the locks.
  await Promise.all([loadRuns(sql, change, events, loaded), loadRanges(sql, change, loaded)])
  await loadValues(sql, events, change.adopt ?? [], loaded)
  return loaded
}

async function loadRuns(
  sql: Sql,
  change: StoreChange,
  events: readonly EventOfRun[],
  loaded: Loaded,
): Promise<void> {
  const { expect = [], prune = [], replace = [], adopt = [], blank = [] } = change
  const adoptedFrom = adopt.flatMap(({ workspace, run: { forkOf } }) =>
    forkOf ? [{ workspace, runId: forkOf.runId }] : [],
  )
  const keys = arraysOf(KEY, distinct([...events, ...expect, ...prune, ...replace, ...adopt, ...adoptedFrom]))
  const points = arraysOf(AT, events.flatMap(forkSourceOf))
  const repeated = events.filter(({ event }) => !event.fresh)
  const replaced = replace.flatMap(({ workspace, runId, steps }) =>
    steps.map(({ stepId, attempt }) => ({ workspace, runId, stepId, attempt })),
  )
  const places = events.length + adopt.length
  // The blocks come last, behind all locks.
  const [, , runs, leases, sources, eventsAt, found, steps, blocks] = await Promise.all([
    prune.length > 0 && sql.query({ text: LOCK_LEASES }),
    readRows(sql, 'load lock', LOCK_NEW_RUNS, keys),
    isAppend(change)
      ? readRows(sql, 'load runs', RUNS, keys)
      : readRows(sql, 'load changed runs', CHANGED_RUNS, [
          ...keys,
          blank.flatMap(({ positions }) => positions),
        ]),
    readRows(sql, 'load leases', LEASES, keys),
    readRows(sql, 'load sources', SOURCES, points),
    readRows(sql, 'load events at', EVENTS_AT, points),
    readRows(sql, 'load events', EVENTS, arraysOf(EVENT, repeated)),
    readRows(sql, 'load steps', STEPS, arraysOf(STEP, [...events.flatMap(stepsOf), ...replaced])),
    places === 0 ? [] : readRows(sql, 'load blocks', BLOCKS, [Math.ceil(places / BLOCK)]),
  ])
  for (const row of [...sources, ...runs]) {
    const run = toRunRow(row)
    loaded.runs.set(runKey(run), run)
    loaded.runsById.set(run.id, run)
  }
  for (const row of leases)
    loaded.leases.set(runKey(keyOf(row)), { epoch: row['epoch'] as number, held: row['held'] as boolean })
  addEventsAt(eventsAt, loaded)
  for (const row of found) {
    const event = toStoredEvent(row)
    loaded.events.set(eventKey(keyOf(row), event.eventId), event)
    loaded.macs.set(event.position, row['mac'] === null ? null : hexOf(row['mac']))
  }
  for (const row of steps) {
    const step = toStep(row['run_id'] as string, row)
    loaded.steps.set(stepKey(row['run'] as number, step.stepId, step.attempt), step)
  }
  loaded.blocks.push(...blocks.map((row) => row['first'] as number))
}

/** Loads leases, forks and event counts that decide whether ranges can be pruned. */
async function loadRanges(
  sql: Sql,
  { expect = [], prune = [], adopt = [] }: StoreChange,
  loaded: Loaded,
): Promise<void> {
  const withForks = distinct([...expect.filter((each) => each.forks !== undefined), ...prune])
  const pruned = new Map<string, PrunedRun>()
  const ranges = [...prune, ...adopt.map((each) => ({ ...each, fromSeq: 1, toSeq: 0 }))]
  for (const { workspace, runId, fromSeq, toSeq } of ranges) {
    const key = runKey({ workspace, runId })
    const events = (pruned.get(key)?.events ?? 0) + toSeq - fromSeq + 1
    pruned.set(key, { workspace, runId, events })
  }
  const lastEvents = prune.map(({ workspace, runId, toSeq }) => ({ workspace, runId, seq: toSeq }))
  const [forks, counted, eventsAt, withEvents] = await Promise.all([
    readRows(sql, 'load forks', FORKS, arraysOf(KEY, withForks)),
    readRows(sql, 'load ranges', RANGES, arraysOf(RANGE, prune)),
    readRows(sql, 'load last events', LAST_EVENTS, arraysOf(AT, lastEvents)),
    readRows(sql, 'load with events', WITH_EVENTS, arraysOf(PRUNED_RUN, [...pruned.values()])),
  ])
  for (const row of forks) {
    const id = row['id'] as number
    const fork = { seq: row['fork_seq'] as number, isNeedy: row['is_needy'] as boolean }
    loaded.forks.set(id, [...(loaded.forks.get(id) ?? []), fork])
  }
  for (const row of counted) {
    const [id, fromSeq, toSeq] = [row['id'], row['from_seq'], row['to_seq']] as number[]
    loaded.counts.set(rangeKey(id as number, fromSeq as number, toSeq as number), row['count'] as number)
    if (row['is_leased'] === true) loaded.leased.add(id as number)
  }
  addEventsAt(eventsAt, loaded)
  for (const row of withEvents) loaded.withEvents.add(row['id'] as number)
}

function addEventsAt(rows: readonly Row[], loaded: Loaded): void {
  for (const row of rows)
    loaded.eventsAt.set(seqKey(row['run'] as number, row['seq'] as number), toStoredEvent(row))
}

const distinct = (keys: readonly RunKey[]): RunKey[] => [
  ...new Map(keys.map((key) => [runKey(key), key])).values(),
]

const eventsOf = ({ workspace, events }: AppendCall): EventOfRun[] =>
  events.map((event) => ({ workspace, runId: event.correlationId, event }))

const keyOf = (row: Row): RunKey => ({
  workspace: row['workspace'] as string,
  runId: row['run_id'] as string,
})

/** The step that an event is about, its first attempt, and the step around it. */
function stepsOf({ workspace, runId, event }: EventOfRun): StepOfRun[] {
  const stepId = textIn(event, 'stepId')
  if (stepId === undefined) return []
  const attempt = Number(event.payload?.['attempt'] ?? 1)
  const parent = textIn(event, 'parentStepId') ?? parseStepId(stepId)?.parentStepId ?? null
  const firsts = parent === null ? [stepId] : [stepId, parent]
  const steps = firsts.map((each) => ({ workspace, runId, stepId: each, attempt: 1 }))
  return attempt === 1 || !Number.isSafeInteger(attempt)
    ? steps
    : [{ workspace, runId, stepId, attempt }, ...steps]
}

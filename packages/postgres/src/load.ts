import {
  type AppendCall,
  childIds,
  parseStepId,
  type PreparedEvent,
  type RunKey,
  type StepSkeleton,
  type StoredEvent,
} from '@clew/ledger'
import { EVENT_COLUMNS, hexOf, toStoredEvent } from './event-row.ts'
import { indexText } from './index-text.ts'
import { LOCKED_RUN_COLUMNS, type RunRow, toRunRow } from './run-row.ts'
import type { Row, Sql } from './sql.ts'
import { STEP_COLUMNS, toStep } from './step-row.ts'
import { arraysOf, bytesOf, type Column, unnest } from './unnest.ts'

/** Positions that one transaction id stands for (see "Position" in docs/decisions). */
export const BLOCK = 1024

/** All that `commitCalls` may ask for; what is not here does not exist. */
export interface Loaded {
  readonly runs: Map<string, RunRow>
  readonly runsById: Map<number, RunRow>
  /** Leases of runs that do not exist yet. */
  readonly leases: Map<string, { readonly epoch: number; readonly held: boolean }>
  readonly events: Map<string, StoredEvent>
  readonly macs: Map<number, string | null>
  readonly eventsAt: Map<string, StoredEvent>
  readonly steps: Map<string, StepSkeleton>
  readonly scopes: Map<string, number>
  readonly nodes: Map<string, number>
  readonly nodeHashes: Map<number, string>
  /** First positions of the blocks for the new events. */
  readonly blocks: number[]
  /** Unused ids for scopes and nodes. */
  readonly ids: number[]
}

export const nothingLoaded = (): Loaded => ({
  runs: new Map(),
  runsById: new Map(),
  leases: new Map(),
  events: new Map(),
  macs: new Map(),
  eventsAt: new Map(),
  steps: new Map(),
  scopes: new Map(),
  nodes: new Map(),
  nodeHashes: new Map(),
  blocks: [],
  ids: [],
})

export const runKey = ({ workspace, runId }: RunKey): string => `${workspace}\n${runId}`
export const eventKey = (key: RunKey, eventId: string): string => `${runKey(key)}\n${eventId}`
export const stepKey = (run: number, stepId: string, attempt: number): string => `${run} ${attempt} ${stepId}`
export const seqKey = (run: number, seq: number): string => `${run} ${seq}`
export const nodeKey = (scope: number, hash: string): string => `${scope} ${hash}`
export const scopeKey = (workspace: string, name: string): string => `${workspace}\n${indexText(name)}`

/** Values are shared within a thread, or within a run that has none (L8). */
export const scopeName = (runId: string, threadId: string | null): string =>
  threadId === null ? `run ${runId}` : `thread ${threadId}`

interface EventOfRun extends RunKey {
  readonly event: PreparedEvent
}
interface Fork extends RunKey {
  readonly seq: number
}

const KEY: readonly Column<RunKey>[] = [
  ['workspace', 'text', (key) => key.workspace],
  ['run_id', 'text', (key) => key.runId],
]
const FORK: readonly Column<Fork>[] = [...KEY, ['seq', 'bigint', (fork: Fork) => fork.seq]]
const EVENT: readonly Column<EventOfRun>[] = [...KEY, ['event_id', 'text', ({ event }) => event.eventId]]
type StepOfRun = RunKey & { readonly stepId: string; readonly attempt: number }
const STEP: readonly Column<StepOfRun>[] = [
  ...KEY,
  ['step_id', 'text', ({ stepId }) => indexText(stepId)],
  ['attempt', 'bigint', ({ attempt }) => attempt],
]
type ScopeName = { readonly workspace: string; readonly name: string }
const SCOPE: readonly Column<ScopeName>[] = [
  ['workspace', 'text', ({ workspace }) => workspace],
  ['name', 'text', ({ name }) => indexText(name)],
]
/** A value by its scope, or by the name of the scope. */
type NodeOfScope = ScopeName & { readonly scope: number | null; readonly hash: string }
const NODE: readonly Column<NodeOfScope>[] = [
  ...SCOPE,
  ['scope', 'bigint', ({ scope }) => scope],
  ['hash', 'bytea', ({ hash }) => bytesOf(hash)],
]

const OF_RUN = 'r.workspace = k.workspace AND r.run_id = k.run_id'
const IS_NEW = `NOT EXISTS (SELECT FROM runs r WHERE ${OF_RUN})`

const LOCK_NEW_RUNS = `SELECT pg_advisory_xact_lock(n.key) FROM (
    SELECT DISTINCT run_lock(k.workspace, k.run_id) AS key FROM ${unnest(KEY, 'k')} WHERE ${IS_NEW} ORDER BY 1
  ) n`
const RUNS = `SELECT ${LOCKED_RUN_COLUMNS}, (SELECT e.event_id FROM events e WHERE e.run = r.id AND e.seq = r.seq) AS last_event_id
  FROM ${unnest(KEY, 'k')} JOIN runs r ON ${OF_RUN} ORDER BY r.id FOR NO KEY UPDATE OF r`
const LEASES = `SELECT l.workspace, l.run_id, l.epoch, l.held FROM ${unnest(KEY, 'k')}
  JOIN leases l ON l.workspace = k.workspace AND l.run_id = k.run_id WHERE ${IS_NEW} FOR SHARE OF l`
/** The runs that are forked from, and those they are forked from themselves. */
const LINES = `WITH RECURSIVE line (id, fork_of, seq) AS (
    SELECT r.id, r.fork_of, k.seq FROM ${unnest(FORK, 'k')} JOIN runs r ON ${OF_RUN}
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
const SCOPES = `SELECT s.id, s.workspace, s.name FROM ${unnest(SCOPE, 'k')}
  JOIN scopes s ON s.workspace = k.workspace AND s.name = k.name`
const SCOPE_OF_NODE = `coalesce(k.scope, (SELECT s.id FROM scopes s WHERE s.workspace = k.workspace AND s.name = k.name))`
const LOCK_SCOPES = `SELECT pg_advisory_xact_lock_shared(scope_lock(l.scope)) FROM (
    SELECT DISTINCT ${SCOPE_OF_NODE} AS scope FROM ${unnest(NODE, 'k')} ORDER BY 1
  ) l WHERE l.scope IS NOT NULL`
const NODES = `SELECT n.id, n.scope, n.hash FROM ${unnest(NODE, 'k')}
  JOIN nodes n ON n.scope = ${SCOPE_OF_NODE} AND n.hash = k.hash`
const NODE_HASHES = 'SELECT id, hash FROM nodes WHERE id = ANY ($1::bigint[])'
const IDS = `SELECT nextval('ids') AS id FROM generate_series(1, $1::int)`

/**
 * Locks and reads, within an open transaction, all that calls need. The statements of a stage are sent together, in one
 * round trip; each sees what is committed when the locks of those before it were granted.
 */
export async function load(sql: Sql, calls: readonly AppendCall[]): Promise<Loaded> {
  const loaded = nothingLoaded()
  const events = calls.flatMap(({ workspace, events }) =>
    events.map((event): EventOfRun => ({ workspace, runId: event.correlationId, event })),
  )
  await loadRuns(sql, events, loaded)
  await loadValues(sql, events, loaded)
  return loaded
}

async function loadRuns(sql: Sql, events: readonly EventOfRun[], loaded: Loaded): Promise<void> {
  const keys = arraysOf(KEY, [...new Map(events.map((each) => [runKey(each), each])).values()])
  const forks = arraysOf(FORK, events.flatMap(forkOf))
  const repeated = events.filter(({ event }) => !event.fresh)
  // The blocks come last, behind all locks.
  const [, runs, leases, sources, eventsAt, found, steps, blocks] = await Promise.all([
    read(sql, 'lock', LOCK_NEW_RUNS, keys),
    read(sql, 'runs', RUNS, keys),
    read(sql, 'leases', LEASES, keys),
    read(sql, 'sources', SOURCES, forks),
    read(sql, 'events at', EVENTS_AT, forks),
    read(sql, 'events', EVENTS, arraysOf(EVENT, repeated)),
    read(sql, 'steps', STEPS, arraysOf(STEP, events.flatMap(stepsOf))),
    read(sql, 'blocks', BLOCKS, [Math.ceil(events.length / BLOCK)]),
  ])
  for (const row of [...sources, ...runs]) {
    const run = toRunRow(row)
    loaded.runs.set(runKey(run), run)
    loaded.runsById.set(run.id, run)
  }
  for (const row of leases)
    loaded.leases.set(runKey(keyOf(row)), { epoch: row['epoch'] as number, held: row['held'] as boolean })
  for (const row of eventsAt)
    loaded.eventsAt.set(seqKey(row['run'] as number, row['seq'] as number), toStoredEvent(row))
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

/** Scopes and values (L8), for new runs and for payloads that are stored as trees. */
async function loadValues(sql: Sql, events: readonly EventOfRun[], loaded: Loaded): Promise<void> {
  const names = threadScopes(events, loaded)
  const scopes = [
    ...new Map(
      [...names.values()].flat().map((each) => [scopeKey(each.workspace, each.name), each]),
    ).values(),
  ]
  const nodes = events.flatMap((each): NodeOfScope[] => {
    const scope = loaded.runs.get(runKey(each))?.scope
    const of = scope === undefined ? (names.get(runKey(each)) ?? []) : [{ workspace: '', name: '', scope }]
    return hashesOf(each.event).flatMap((hash) => of.map((one) => ({ scope: null, ...one, hash })))
  })
  const newRuns = new Set(events.map(runKey).filter((key) => !loaded.runs.has(key))).size
  const ids = newRuns + events.reduce((count, { event }) => count + hashesOf(event).length, 0)
  const children = [...loaded.events.values()].flatMap(({ body }) => (body === null ? [] : childIds(body)))
  const wanted = arraysOf(NODE, nodes)
  const [foundScopes, , foundNodes, hashes, foundIds] = await Promise.all([
    read(sql, 'scopes', SCOPES, arraysOf(SCOPE, scopes)),
    read(sql, 'lock scopes', LOCK_SCOPES, wanted),
    read(sql, 'nodes', NODES, wanted),
    read(sql, 'node hashes', NODE_HASHES, [children]),
    ids === 0 ? [] : read(sql, 'ids', IDS, [ids]),
  ])
  for (const row of foundScopes)
    loaded.scopes.set(scopeKey(row['workspace'] as string, row['name'] as string), row['id'] as number)
  for (const row of foundNodes)
    loaded.nodes.set(nodeKey(row['scope'] as number, hexOf(row['hash'])), row['id'] as number)
  for (const row of [...foundNodes, ...hashes]) loaded.nodeHashes.set(row['id'] as number, hexOf(row['hash']))
  loaded.ids.push(...foundIds.map((row) => row['id'] as number))
}

/** Runs a statement unless there is nothing to ask for. */
async function read(sql: Sql, name: string, text: string, values: unknown[]): Promise<Row[]> {
  if (Array.isArray(values[0]) && values[0].length === 0) return []
  return (await sql.query({ name: `load ${name}`, text, values })).rows
}

const keyOf = (row: Row): RunKey => ({
  workspace: row['workspace'] as string,
  runId: row['run_id'] as string,
})

const textIn = ({ payload }: PreparedEvent, field: string): string | undefined => {
  const value = payload?.[field]
  return typeof value === 'string' ? value : undefined
}

/** Run and seq that an event forks from. */
function forkOf({ workspace, event }: EventOfRun): Fork[] {
  if (event.eventType !== 'system.workflow_forked') return []
  const runId = event.sealed?.forkedFrom?.runId ?? textIn(event, 'sourceRunId')
  const seq = event.sealed?.forkedFrom?.seq ?? event.payload?.['sourceSeq']
  return runId !== undefined && Number.isSafeInteger(seq) ? [{ workspace, runId, seq: seq as number }] : []
}

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

/** For each new run the scopes of the threads it may be given: by its own events, or by the run it is forked from. */
function threadScopes(events: readonly EventOfRun[], loaded: Loaded): Map<string, ScopeName[]> {
  const names = new Map<string, ScopeName[]>()
  for (const each of events) {
    if (loaded.runs.has(runKey(each))) continue
    const own = names.get(runKey(each)) ?? []
    names.set(runKey(each), own)
    const { workspace, runId } = each
    const add = (threadId: string | null | undefined): void => {
      if (typeof threadId === 'string') own.push({ workspace, name: scopeName(runId, threadId) })
    }
    add(textIn(each.event, 'threadId'))
    for (const source of forkOf(each)) {
      add(loaded.runs.get(runKey(source))?.summary.threadId)
      own.push(...(names.get(runKey(source)) ?? []))
    }
  }
  return names
}

/** Hashes of all values below a payload that is stored as a tree. */
function hashesOf({ tree }: PreparedEvent): string[] {
  const found: string[] = []
  const open = tree ? [tree] : []
  for (let node = open.pop(); node; node = open.pop())
    for (const { item } of node.entries)
      if (typeof item !== 'string') {
        found.push(item.hash)
        open.push(item)
      }
  return found
}

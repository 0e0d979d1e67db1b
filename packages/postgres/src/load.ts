import type { RunKey, StepSkeleton, StoredEvent } from '@clew/ledger'
import { hexes, int8s, texts } from './binary-array.ts'
import { EVENT_COLUMNS, hexOf, toStoredEvent } from './event-row.ts'
import { indexText } from './index-text.ts'
import { keyOf, nodeKeyOf, type Remembered, stepKeyOf, type StoredHead, toHead } from './remembered.ts'
import type { Row, Sql } from './sql.ts'
import { STEP_COLUMNS, toStep } from './step-row.ts'

/** What a decision lacks, gathered so that one round trip brings all of it. */
export interface Needs {
  readonly runs: RunKey[]
  readonly runIds: number[]
  readonly events: (RunKey & { readonly eventId: string })[]
  readonly places: { readonly run: number; readonly seq: number }[]
  readonly steps: (RunKey & { readonly stepId: string; readonly attempt: number })[]
  readonly scopes: { readonly workspace: string; readonly name: string }[]
  /** Within a scope, or within that of a run. */
  readonly nodes: (RunKey & { readonly scope: number | null; readonly hash: string })[]
  readonly nodeIds: number[]
  /** Scopes whose revision is not known. */
  readonly revisions: number[]
  ids: number
}

export interface KnownEvent {
  readonly event: StoredEvent
  readonly mac: string | null
}

/** What was read for this decision; null stands for what is not there. */
export interface Known {
  readonly runs: Map<string, StoredHead | null>
  readonly runIds: Map<number, StoredHead>
  /** Of runs that are not there. */
  readonly leases: Map<string, { readonly epoch: number; readonly held: boolean }>
  readonly events: Map<string, KnownEvent | null>
  readonly macs: Map<number, string | null>
  readonly places: Map<string, StoredEvent | null>
  readonly steps: Map<string, StepSkeleton | null>
  readonly scopes: Map<string, number | null>
  readonly nodes: Map<string, number | null>
  readonly nodeHashes: Map<number, string>
}

export const noNeeds = (): Needs => ({
  runs: [],
  runIds: [],
  events: [],
  places: [],
  steps: [],
  scopes: [],
  nodes: [],
  nodeIds: [],
  revisions: [],
  ids: 0,
})

export const nothingKnown = (): Known => ({
  runs: new Map(),
  runIds: new Map(),
  leases: new Map(),
  events: new Map(),
  macs: new Map(),
  places: new Map(),
  steps: new Map(),
  scopes: new Map(),
  nodes: new Map(),
  nodeHashes: new Map(),
})

export const eventKeyOf = (key: RunKey, eventId: string): string => `${keyOf(key)}\n${eventId}`
export const placeKeyOf = (run: number, seq: number): string => `${run} ${seq}`
export const knownStepKeyOf = (key: RunKey, stepId: string, attempt: number): string =>
  `${keyOf(key)}\n${stepKeyOf(stepId, attempt)}`
export const scopeKeyOf = (workspace: string, name: string): string => `${workspace}\n${name}`

/** How far apart the values of the sequence of ids are. */
const BLOCK = 1024

const list = (from: string): string => `(SELECT coalesce(json_agg(q), '[]') FROM (${from}) q)`

const LOAD = `WITH RECURSIVE line AS (
    SELECT r.* FROM runs r WHERE r.id = ANY ($3::bigint[])
    UNION SELECT r.* FROM line l JOIN runs r ON r.id = l.fork_of
  )
  SELECT
  ${list('SELECT r.* FROM unnest($1::text[], $2::text[]) k (w, r) JOIN runs r ON r.workspace = k.w AND r.run_id = k.r')} AS runs,
  ${list('SELECT l.workspace, l.run_id, l.epoch, l.held FROM unnest($1::text[], $2::text[]) k (w, r) JOIN leases l ON l.workspace = k.w AND l.run_id = k.r')} AS leases,
  ${list('SELECT * FROM line')} AS lines,
  ${list(`SELECT p.mac, ${EVENT_COLUMNS} JOIN unnest($4::text[], $5::text[], $6::text[]) k (w, r, id)
    ON r.workspace = k.w AND r.run_id = k.r AND e.event_id = k.id`)} AS events,
  ${list(`SELECT e.run, ${EVENT_COLUMNS} JOIN unnest($7::bigint[], $8::bigint[]) k (run, seq)
    ON e.run = k.run AND e.seq = k.seq`)} AS places,
  ${list(`SELECT r.workspace, r.run_id, ${STEP_COLUMNS} FROM unnest($9::text[], $10::text[], $11::text[], $12::bigint[]) k (w, r, s, a)
    JOIN runs r ON r.workspace = k.w AND r.run_id = k.r
    JOIN steps s ON s.run = r.id AND s.step_id = k.s AND s.attempt = k.a`)} AS steps,
  ${list('SELECT s.workspace, s.name, s.id FROM unnest($13::text[], $14::text[]) k (w, n) JOIN scopes s ON s.workspace = k.w AND s.name = k.n')} AS scopes,
  ${list(`SELECT n.scope, n.hash, n.id FROM unnest($15::text[], $16::text[], $17::bigint[], $18::bytea[]) k (w, r, scope, hash)
    JOIN nodes n ON n.hash = k.hash
      AND n.scope = coalesce(k.scope, (SELECT r.scope FROM runs r WHERE r.workspace = k.w AND r.run_id = k.r))`)} AS nodes,
  ${list('SELECT id, hash FROM nodes WHERE id = ANY ($19::bigint[])')} AS hashes,
  ${list('SELECT id, revision FROM scopes WHERE id = ANY ($21::bigint[])')} AS revisions,
  ${list("SELECT nextval('ids') AS id FROM generate_series(1, $20::int)")} AS ids`

const LOCK = `SELECT FROM runs r JOIN unnest($1::text[], $2::text[]) k (w, r) ON r.workspace = k.w AND r.run_id = k.r
  ORDER BY r.id FOR NO KEY UPDATE OF r`

/** Nobody else appends to these runs until the transaction ends. */
export async function lockRuns(sql: Sql, runs: readonly RunKey[]): Promise<void> {
  const values = [texts(runs.map((key) => key.workspace)), texts(runs.map((key) => key.runId))]
  await sql.query({ name: 'append lock', text: LOCK, values })
}

/** Reads what is needed and adds it to what is known. */
export async function load(sql: Sql, needs: Needs, known: Known, remembered: Remembered): Promise<void> {
  const { runs, runIds, events, places, steps, scopes, nodes, nodeIds, revisions, ids } = needs
  const values = [
    texts(runs.map((key) => key.workspace)),
    texts(runs.map((key) => key.runId)),
    int8s(runIds),
    texts(events.map((key) => key.workspace)),
    texts(events.map((key) => key.runId)),
    texts(events.map((key) => key.eventId)),
    int8s(places.map((key) => key.run)),
    int8s(places.map((key) => key.seq)),
    texts(steps.map((key) => key.workspace)),
    texts(steps.map((key) => key.runId)),
    texts(steps.map((key) => indexText(key.stepId))),
    int8s(steps.map((key) => key.attempt)),
    texts(scopes.map((key) => key.workspace)),
    texts(scopes.map((key) => indexText(key.name))),
    texts(nodes.map((key) => key.workspace)),
    texts(nodes.map((key) => key.runId)),
    int8s(nodes.map((key) => key.scope)),
    hexes(nodes.map((key) => key.hash)),
    int8s(nodeIds),
    Math.ceil(ids / BLOCK),
    int8s(revisions),
  ]
  const result = await sql.query({ name: 'append load', text: LOAD, values })
  const found = result.rows[0] as Record<string, Row[]>
  const rowsOf = (name: string): Row[] => found[name] as Row[]

  for (const key of runs) known.runs.set(keyOf(key), null)
  for (const row of rowsOf('runs')) {
    const head = toHead(row)
    known.runs.set(keyOf(head), head)
    known.runIds.set(head.id, head)
  }
  for (const row of rowsOf('leases'))
    known.leases.set(keyOf(keyIn(row)), { epoch: row['epoch'] as number, held: row['held'] as boolean })
  for (const row of rowsOf('lines')) {
    const head = toHead(row)
    if (!known.runIds.has(head.id)) known.runIds.set(head.id, head)
  }
  for (const key of events) known.events.set(eventKeyOf(key, key.eventId), null)
  for (const row of rowsOf('events')) {
    const event = toStoredEvent(row)
    const mac = row['mac'] === null ? null : hexOf(row['mac'])
    known.events.set(eventKeyOf(keyIn(row), event.eventId), { event, mac })
    known.macs.set(event.position, mac)
  }
  for (const key of places) known.places.set(placeKeyOf(key.run, key.seq), null)
  for (const row of rowsOf('places'))
    known.places.set(placeKeyOf(row['run'] as number, row['seq'] as number), toStoredEvent(row))
  for (const key of steps) known.steps.set(knownStepKeyOf(key, key.stepId, key.attempt), null)
  for (const row of rowsOf('steps')) {
    const step = toStep(row['run_id'] as string, row)
    known.steps.set(knownStepKeyOf(keyIn(row), step.stepId, step.attempt), step)
  }
  const names = new Map(scopes.map((key) => [scopeKeyOf(key.workspace, indexText(key.name)), key]))
  for (const key of scopes) known.scopes.set(scopeKeyOf(key.workspace, key.name), null)
  for (const row of rowsOf('scopes')) {
    const key = names.get(scopeKeyOf(row['workspace'] as string, row['name'] as string))
    if (key) known.scopes.set(scopeKeyOf(key.workspace, key.name), row['id'] as number)
  }
  for (const key of nodes) {
    const scope = key.scope ?? known.runs.get(keyOf(key))?.scope
    if (scope !== undefined) known.nodes.set(nodeKeyOf(scope, key.hash), null)
  }
  for (const row of rowsOf('nodes')) {
    const hash = hexOf(row['hash'])
    known.nodes.set(nodeKeyOf(row['scope'] as number, hash), row['id'] as number)
    known.nodeHashes.set(row['id'] as number, hash)
  }
  for (const row of rowsOf('hashes')) known.nodeHashes.set(row['id'] as number, hexOf(row['hash']))
  for (const row of rowsOf('revisions'))
    remembered.keepRevision(row['id'] as number, row['revision'] as number)
  for (const row of rowsOf('ids')) remembered.addIds(row['id'] as number, BLOCK)
}

const keyIn = (row: Row): RunKey => ({
  workspace: row['workspace'] as string,
  runId: row['run_id'] as string,
})

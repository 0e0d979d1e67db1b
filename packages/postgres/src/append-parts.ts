import { type Column, namesOf } from './columns.ts'
import { type Draft, type DraftEvent, type DraftRun, dueOf } from './draft.ts'
import { indexText, indexTextOrNull } from './index-text.ts'
import { STEP, type StepRow } from './step-row.ts'

/** Positions of one transaction (see "Position" in docs/decisions). */
export const ROOM = 1024

/** A place within the statement as what it becomes; ids below zero stand for places: -1 for the first. */
export type Places = (n: string) => string
export const inOneRoom: Places = (n) => `p.first + (${n})`
export const inMany: Places = (n) => `p.more[(${n}) / ${ROOM} + 1] + (${n}) % ${ROOM}`
const idOf = (at: Places, id: string): string => `CASE WHEN ${id} < 0 THEN ${at(`-${id} - 1`)} ELSE ${id} END`

/** One part of the statement: what it does with its rows, which it has as an item of FROM. */
export interface Part<Row> {
  readonly letter: string
  readonly alias: string
  readonly columns: readonly Column<Row>[]
  /** So many rows or fewer are sent as single values, and have a statement of their own. */
  readonly few: number
  /** A condition for all the rest, in place of a clause. */
  readonly isGuard: boolean
  readonly sql: (from: string, at: Places) => string
}

function part<Row>(
  [letter, alias, few = 1]: readonly [letter: string, alias: string, few?: number],
  columns: readonly Column<Row>[],
  sql: Part<Row>['sql'],
  isGuard = false,
): Part<Row> {
  return { letter, alias, columns, few, isGuard, sql }
}

const FACTS: readonly Column<DraftRun>[] = [
  ['seq', 'bigint', (run) => run.seq],
  ['hash', 'bytea', (run) => run.hash],
  ['recorded_at', 'text', (run) => run.recordedAt],
  ['status', 'text', (run) => run.summary.status],
  ['due_ms', 'bigint', dueOf],
  ['summary', 'text', (run) => JSON.stringify(run.summary)],
  ['epoch', 'int', (run) => run.epoch],
  ['held', 'boolean', (run) => run.held],
]
/** What is known from a run's first event on, unless its start comes later. */
const IDENTITY: readonly Column<DraftRun>[] = [
  ['thread_id', 'text', (run) => indexTextOrNull(run.summary.threadId)],
  ['agent', 'text', (run) => indexTextOrNull(run.summary.agent)],
  ['agent_version', 'text', (run) => indexTextOrNull(run.summary.agentVersion)],
  ['started_ms', 'bigint', (run) => Date.parse(run.summary.startedAt)],
  ['parent_run_id', 'text', (run) => indexTextOrNull(run.summary.parentRunId)],
]
const HEAD: readonly Column<DraftRun>[] = [
  ['id', 'bigint', (run) => run.id],
  ['was', 'bigint', (run) => (run.stored as DraftRun).seq],
  ['revision', 'int', (run) => run.revision],
  ...FACTS,
]
const LEASE: readonly Column<DraftRun>[] = [
  ['w', 'text', (run) => run.workspace],
  ['r', 'text', (run) => run.runId],
  ['e', 'int', (run) => run.epoch],
  ['h', 'boolean', (run) => run.held],
  // What it is forked from, unless that is written by the same statement.
  ['f', 'bigint', (run) => (run.forkOf && run.forkOf.id >= 0 ? run.forkOf.id : null)],
  ['s', 'bigint', (run) => run.forkOf?.seq ?? null],
]
const LEANED_ON: readonly Column<readonly [number, number]>[] = [
  ['id', 'bigint', ([scope]) => scope],
  ['revision', 'int', ([, revision]) => revision],
]
const KEYS_OF_RUN: readonly Column<DraftRun>[] = [
  ['id', 'bigint', (run) => run.id],
  ['fork_of', 'bigint', (run) => run.forkOf?.id ?? null],
]
const RUN: readonly Column<DraftRun>[] = [
  ['workspace', 'text', (run) => run.workspace],
  ['run_id', 'text', (run) => run.runId],
  ['scope', 'bigint', (run) => run.scope],
  ['fork_seq', 'bigint', (run) => run.forkOf?.seq ?? null],
  ...IDENTITY,
  ...FACTS,
]
const SUBJECT: readonly Column<{ run: DraftRun; subject: string }>[] = [
  ['run', 'bigint', (row) => row.run.id],
  ['subject', 'text', (row) => row.subject],
]
const SCOPE: readonly Column<Draft['scopes'][number]>[] = [
  ['id', 'bigint', (scope) => scope.id],
  ['workspace', 'text', (scope) => scope.workspace],
  ['name', 'text', (scope) => indexText(scope.name)],
]
const KEYS_OF_EVENT: readonly Column<DraftEvent>[] = [
  ['place', 'int', (own) => -own.place.position - 1, 'plain'],
  ['run', 'bigint', (own) => own.run.id, 'plain'],
]
const EVENT: readonly Column<DraftEvent>[] = [
  ['seq', 'bigint', (own) => own.place.seq, 'plain'],
  ['schema_version', 'int', (own) => own.place.schemaVersion, 'plain'],
  ['follows', 'boolean', (own) => own.follows, 'plain'],
  ['event_id', 'text', (own) => own.event.eventId],
  ['event_type', 'text', (own) => own.event.eventType, 'plain'],
  ['timestamp', 'text', (own) => own.event.timestamp, 'plain'],
  ['origin', 'text', (own) => own.event.origin, 'plain'],
  ['runtime', 'text', (own) => own.event.runtime, 'plain'],
  ['causation_id', 'text', (own) => own.event.causationId, 'plain'],
  ['recorded_at', 'text', (own) => own.place.recordedAt, 'plain'],
  ['payload_hash', 'bytea', (own) => own.event.payloadHash],
  ['hash', 'bytea', (own) => own.place.hash],
]
const PAYLOAD: readonly Column<DraftEvent>[] = [
  ['place', 'int', (own) => -own.place.position - 1, 'plain'],
  ['salt', 'bytea', (own) => own.event.salt],
  ['mac', 'bytea', (own) => own.event.mac, 'plain'],
  ['body', 'text', (own) => own.body],
]
const VAULT_ROW: readonly Column<DraftEvent>[] = [
  ['place', 'int', (own) => -own.place.position - 1],
  ['key_id', 'text', (own) => own.event.vault?.keyId ?? null],
  ['data', 'bytea', (own) => own.event.vault?.data ?? null],
]
const ERASURE: readonly Column<DraftEvent>[] = [
  ['place', 'int', (own) => -own.place.position - 1],
  ['erased_at', 'text', (own) => own.place.recordedAt],
]
type DraftNode = Draft['nodes'] extends Map<string, infer Node> ? Node : never
const NODE: readonly Column<DraftNode>[] = [
  ['id', 'bigint', (node) => node.id],
  ['scope', 'bigint', (node) => node.scope],
  ['hash', 'bytea', (node) => node.hash],
  ['body', 'text', (node) => node.body],
]

const settingOf = <Row>(columns: readonly Column<Row>[], alias: string): string =>
  columns.map(([name]) => `${name} = ${alias}.${name}`).join(', ')

const headsWith = (letter: string, identity: readonly Column<DraftRun>[]): Part<DraftRun> =>
  part(
    [letter, 'h'],
    [...HEAD, ...identity],
    (from) => `UPDATE runs r SET ${settingOf([...FACTS.slice(0, 6), ...identity], 'h')} FROM ${from}
      WHERE r.id = h.id AND r.seq = h.was AND r.revision = h.revision AND r.epoch = h.epoch AND r.held = h.held
      RETURNING 1`,
  )
export const HEADS = headsWith('H', [])
/** The same with what a run is searched for by, where that has changed. */
export const RENAMED_HEADS = headsWith('I', IDENTITY)

export const LEASES = part(
  ['L', 'l'],
  LEASE,
  (from) => `(SELECT bool_and(assert_lease(w, r, e, h) AND (f IS NULL OR assert_source(f, s))) FROM ${from})`,
  true,
)
export const LEANED = part(
  ['M', 'g'],
  LEANED_ON,
  (from) => `(SELECT bool_and(assert_scope(g.id, g.revision)) FROM ${from})`,
  true,
)
export const SCOPES = part(
  ['C', 'c'],
  SCOPE,
  (from) => `INSERT INTO scopes (${namesOf(SCOPE)}) SELECT c.* FROM p, ${from}`,
)
export const RUNS = part(
  ['R', 'n'],
  [...KEYS_OF_RUN, ...RUN],
  (from, at) => `INSERT INTO runs (id, fork_of, ${namesOf(RUN)})
    SELECT ${idOf(at, 'n.id')}, ${idOf(at, 'n.fork_of')}, ${namesOf(RUN)} FROM p, ${from}`,
)
export const SUBJECTS = part(
  ['U', 'u'],
  SUBJECT,
  (from, at) => `INSERT INTO subjects (run, subject)
    SELECT ${idOf(at, 'u.run')}, u.subject FROM p, ${from} ON CONFLICT DO NOTHING`,
)
/** A step is two events. */
export const EVENTS = part(
  ['E', 'e', 2],
  [...KEYS_OF_EVENT, ...EVENT],
  (from, at) => `INSERT INTO events (position, run, ${namesOf(EVENT)})
    SELECT ${at('e.place')}, ${idOf(at, 'e.run')}, ${namesOf(EVENT)} FROM p, ${from}`,
)
export const PAYLOADS = part(
  ['P', 'b', 2],
  PAYLOAD,
  (from, at) => `INSERT INTO payloads (position, salt, mac, body)
    SELECT ${at('b.place')}, b.salt, b.mac, b.body FROM p, ${from}`,
)
export const VAULT = part(
  ['V', 'v'],
  VAULT_ROW,
  (from, at) => `INSERT INTO vault (position, key_id, data)
    SELECT ${at('v.place')}, v.key_id, v.data FROM p, ${from}`,
)
export const ERASURES = part(
  ['X', 'x'],
  ERASURE,
  (from, at) => `INSERT INTO erasures (position, erased_at)
    SELECT ${at('x.place')}, x.erased_at FROM p, ${from}`,
)
export const PRUNED_STATES = part(
  ['Q', 'x'],
  ERASURE,
  (from, at) => `INSERT INTO pruned_states (position, pruned_at)
    SELECT ${at('x.place')}, x.erased_at FROM p, ${from}`,
)
export const NODES = part(
  ['N', 'n'],
  NODE,
  (from) => `INSERT INTO nodes (${namesOf(NODE)}) SELECT n.* FROM p, ${from}`,
)
export const NEW_STEPS: Part<StepRow> = part(
  ['S', 's'],
  STEP,
  (from, at) => `INSERT INTO steps (${namesOf(STEP)})
    SELECT ${idOf(at, 's.run')}, ${namesOf(STEP.slice(1))} FROM p, ${from}`,
)
export const KNOWN_STEPS: Part<StepRow> = part(
  ['T', 's'],
  STEP,
  (from) => `UPDATE steps t SET ${settingOf(STEP.slice(4), 's')} FROM p, ${from}
    WHERE t.run = s.run AND t.step_id = s.step_id AND t.attempt = s.attempt`,
)

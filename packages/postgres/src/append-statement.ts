import { hasSameIdentity, type RunSummary } from '@clew/ledger'
import { type Column, namesOf, rowsFrom, valuesOf } from './columns.ts'
import { type Draft, type DraftEvent, type DraftRun, dueOf } from './draft.ts'
import { indexText, indexTextOrNull } from './index-text.ts'
import type { Statement } from './sql.ts'
import { STEP, toStepRow } from './step-row.ts'

/** Positions of one transaction (see "Position" in docs/decisions). */
export const ROOM = 1024

/** A place within the statement as what it becomes; ids below zero stand for places: -1 for the first. */
type Places = (n: string) => string
const inOneRoom: Places = (n) => `p.first + (${n})`
const inMany: Places = (n) => `p.more[(${n}) / ${ROOM} + 1] + (${n}) % ${ROOM}`
const idOf = (at: Places, id: string): string => `CASE WHEN ${id} < 0 THEN ${at(`-${id} - 1`)} ELSE ${id} END`

/** One part of the statement, left out when it has no rows. */
interface Part {
  readonly letter: string
  readonly count: number
  readonly parameters: number
  readonly sql: (first: number, at: Places) => string
  readonly values: () => unknown[]
}

/** A step is two events; each number of rows up to these has a statement of its own. */
const FEW: Readonly<Record<string, number>> = { E: 2, P: 2 }

function part<Row>(
  letter: string,
  alias: string,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  sql: (from: string, at: Places) => string,
): Part {
  const { length: count } = rows
  const few = count <= (FEW[letter] ?? 1) ? count : undefined
  return {
    letter: count === 1 ? letter.toLowerCase() : `${letter}${few ?? ''}`,
    count,
    parameters: columns.length * (few ?? 1),
    sql: (first, at) => sql(rowsFrom(columns, alias, first, few), at),
    values: () => valuesOf(columns, rows, few !== undefined),
  }
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
  ['place', 'int', (own) => -own.place.position - 1],
  ['run', 'bigint', (own) => own.run.id],
]
const EVENT: readonly Column<DraftEvent>[] = [
  ['seq', 'bigint', (own) => own.place.seq],
  ['schema_version', 'int', (own) => own.place.schemaVersion],
  ['follows', 'boolean', (own) => own.follows],
  ['event_id', 'text', (own) => own.event.eventId],
  ['event_type', 'text', (own) => own.event.eventType],
  ['timestamp', 'text', (own) => own.event.timestamp],
  ['origin', 'text', (own) => own.event.origin],
  ['runtime', 'text', (own) => own.event.runtime],
  ['causation_id', 'text', (own) => own.event.causationId],
  ['recorded_at', 'text', (own) => own.place.recordedAt],
  ['payload_hash', 'bytea', (own) => own.event.payloadHash],
  ['hash', 'bytea', (own) => own.place.hash],
]
const PAYLOAD: readonly Column<DraftEvent>[] = [
  ['place', 'int', (own) => -own.place.position - 1],
  ['salt', 'bytea', (own) => own.event.salt],
  ['mac', 'bytea', (own) => own.event.mac],
  ['body', 'text', (own) => own.body],
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

/** A run whose row says otherwise whose it is. */
const isRenamed = ({ stored, summary }: DraftRun): boolean =>
  stored !== null && !hasSameIdentity(stored.summary, summary)

function newSubjects(run: DraftRun): { run: DraftRun; subject: string }[] {
  const before: RunSummary['subjects'] = run.stored?.summary.subjects ?? []
  const added = run.summary.subjects.slice(before.length).map(indexText)
  return [...new Set(added)].map((subject) => ({ run, subject }))
}

function partsOf(draft: Draft): Part[] {
  const touched = [...draft.touched].sort((a, b) => a.id - b.id)
  const heads = touched.filter((run) => run.stored !== null)
  const begun = touched.filter((run) => run.stored === null)
  const identity = heads.some(isRenamed) ? IDENTITY : []
  const subjects = touched.flatMap(newSubjects)
  const kept = draft.events.filter((own) => own.body !== null)
  const erased = draft.events.filter((own) => own.body === null)
  const steps = [...draft.steps.values()]
  const stepsThat = (isStored: boolean) =>
    steps.filter((each) => each.isStored === isStored).map(({ run, step }) => toStepRow(run.id, step))

  const all = [
    part(
      'H',
      'h',
      [...HEAD, ...identity],
      heads,
      (from) => `UPDATE runs r SET ${settingOf([...FACTS.slice(0, 6), ...identity], 'h')} FROM ${from}
      WHERE r.id = h.id AND r.seq = h.was AND r.revision = h.revision AND r.epoch = h.epoch AND r.held = h.held
      RETURNING 1`,
    ),
    part(
      'L',
      'l',
      LEASE,
      begun,
      (from) =>
        `(SELECT bool_and(assert_lease(w, r, e, h) AND (f IS NULL OR assert_source(f, s))) FROM ${from})`,
    ),
    part(
      'M',
      'g',
      LEANED_ON,
      [...draft.leanedOn],
      (from) => `(SELECT bool_and(assert_scope(g.id, g.revision)) FROM ${from})`,
    ),
    part(
      'C',
      'c',
      SCOPE,
      draft.scopes,
      (from) => `INSERT INTO scopes (${namesOf(SCOPE)}) SELECT c.* FROM p, ${from}`,
    ),
    part(
      'R',
      'n',
      [...KEYS_OF_RUN, ...RUN],
      begun,
      (from, at) => `INSERT INTO runs (id, fork_of, ${namesOf(RUN)})
      SELECT ${idOf(at, 'n.id')}, ${idOf(at, 'n.fork_of')}, ${namesOf(RUN)} FROM p, ${from}`,
    ),
    part(
      'U',
      'u',
      SUBJECT,
      subjects,
      (from, at) => `INSERT INTO subjects (run, subject)
      SELECT ${idOf(at, 'u.run')}, u.subject FROM p, ${from} ON CONFLICT DO NOTHING`,
    ),
    part(
      'E',
      'e',
      [...KEYS_OF_EVENT, ...EVENT],
      draft.events,
      (from, at) => `INSERT INTO events
      (position, run, ${namesOf(EVENT)}) SELECT ${at('e.place')}, ${idOf(at, 'e.run')}, ${namesOf(EVENT)} FROM p, ${from}`,
    ),
    part(
      'P',
      'b',
      PAYLOAD,
      kept,
      (from, at) => `INSERT INTO payloads (position, salt, mac, body)
      SELECT ${at('b.place')}, b.salt, b.mac, b.body FROM p, ${from}`,
    ),
    part(
      'X',
      'x',
      ERASURE,
      erased,
      (from, at) => `INSERT INTO erasures (position, erased_at)
      SELECT ${at('x.place')}, x.erased_at FROM p, ${from}`,
    ),
    part(
      'N',
      'n',
      NODE,
      [...draft.nodes.values()],
      (from) => `INSERT INTO nodes (${namesOf(NODE)})
      SELECT n.* FROM p, ${from}`,
    ),
    part(
      'S',
      's',
      STEP,
      stepsThat(false),
      (from, at) => `INSERT INTO steps (${namesOf(STEP)})
      SELECT ${idOf(at, 's.run')}, ${namesOf(STEP.slice(1))} FROM p, ${from}`,
    ),
    part(
      'T',
      's',
      STEP,
      stepsThat(true),
      (from) => `UPDATE steps t SET ${settingOf(STEP.slice(4), 's')} FROM p, ${from}
      WHERE t.run = s.run AND t.step_id = s.step_id AND t.attempt = s.attempt`,
    ),
  ]
  return all.filter((each) => each.count > 0)
}

const settingOf = <Row>(columns: readonly Column<Row>[], alias: string): string =>
  columns.map(([name]) => `${name} = ${alias}.${name}`).join(', ')

/** Made once per combination of parts; most appends have the same few. */
const made = new Map<string, string>()

/**
 * All that a decision writes, in one statement. Heads come first: each run's row must stand where the decision found
 * it, with the lease it found, or nothing of this is written. Answers with what positions count from; with no row when
 * the only head was not there.
 */
export function appendStatement(draft: Draft, isLocked: boolean): Statement {
  const parts = partsOf(draft)
  const count = Math.ceil(draft.events.length / ROOM)
  const rooms = isLocked ? 'further' : count > 1 ? 'many' : 'one'
  const heads = parts.find(({ letter }) => letter === 'H')?.count
  const renamed = [...draft.touched].some(isRenamed) ? ' renamed' : ''
  const name = `append ${parts.map(({ letter }) => letter).join('')} ${rooms}${renamed}`
  let text = made.get(name)
  if (text === undefined) {
    text = textOf(parts, rooms)
    made.set(name, text)
  }
  const counts = [...(heads === undefined ? [] : [heads]), ...(rooms === 'one' ? [] : [count])]
  return { name, text, values: [...parts.flatMap((each) => each.values()), ...counts] }
}

/**
 * Where positions are: in the room of the transaction, in its room and those of empty ones, or only in the latter. A
 * transaction that waited for a lock was given its id before it waited, so its own room may lie before what was
 * appended in the meantime.
 */
type Rooms = 'one' | 'many' | 'further'

function textOf(parts: readonly Part[], rooms: Rooms): string {
  const at = rooms === 'one' ? inOneRoom : inMany
  const clauses: string[] = []
  const guards: string[] = []
  let next = 1
  for (const each of parts) {
    const sql = each.sql(next, at)
    next += each.parameters
    if (/[lm]/i.test(each.letter)) guards.push(sql)
    else clauses.push(`"part ${each.letter}" AS (${sql})`)
    if (each.letter === 'h') guards.push('EXISTS (SELECT FROM "part h")')
  }
  if (parts.some(({ letter }) => letter === 'H'))
    guards.push(`assert_heads((SELECT count(*) FROM "part H"), $${next++}::bigint)`)
  const first = {
    one: `m.base + pg_current_xact_id()::text::bigint * ${ROOM} AS first, NULL::bigint[] AS more`,
    many: `0 AS first, take_rooms($${next}::int) AS more`,
    further: `0 AS first, (take_rooms($${next}::int + 1))[2:] AS more`,
  }
  const place = `p AS MATERIALIZED (SELECT ${first[rooms]} FROM meta m WHERE ${guards.join(' AND ')})`
  const isHead = (clause: string): boolean => /^"part h"/i.test(clause)
  return `WITH ${[...clauses.filter(isHead), place, ...clauses.filter((clause) => !isHead(clause))].join(', ')}
    SELECT first, more FROM p`
}

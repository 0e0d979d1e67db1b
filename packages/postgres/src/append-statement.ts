import { hasSameIdentity, type RunSummary } from '@clew/ledger'
import {
  ERASURES,
  EVENTS,
  HEADS,
  inMany,
  inOneRoom,
  KNOWN_STEPS,
  LEANED,
  LEASES,
  NEW_STEPS,
  NODES,
  type Part,
  PAYLOADS,
  PRUNED_STATES,
  RENAMED_HEADS,
  ROOM,
  RUNS,
  SCOPES,
  SUBJECTS,
  VAULT,
} from './append-parts.ts'
import { type Layout, layoutOf, parametersOf, putRows, rowsFrom } from './columns.ts'
import type { Draft, DraftRun } from './draft.ts'
import { indexText } from './index-text.ts'
import { putValue } from './message-bytes.ts'
import { bindMessage, type Prepared, type Shape, shapeOf } from './prepared.ts'
import { type StepRow, toStepRow } from './step-row.ts'

/** A part with the rows that this statement has for it. */
interface Filled {
  readonly part: Part<unknown>
  readonly rows: readonly unknown[]
  /** Their number, if they are few. */
  readonly few: number | undefined
  readonly layout: Layout
}

/** A run whose row says otherwise whose it is. */
const isRenamed = ({ stored, summary }: DraftRun): boolean =>
  stored !== null && !hasSameIdentity(stored.summary, summary)

function newSubjects(run: DraftRun): { run: DraftRun; subject: string }[] {
  const before: RunSummary['subjects'] = run.stored?.summary.subjects ?? []
  if (run.summary.subjects.length === before.length) return []
  const added = run.summary.subjects.slice(before.length).map(indexText)
  return [...new Set(added)].map((subject) => ({ run, subject }))
}

/** What a decision writes, heads first; `isFull` sends each column by itself, also where one value would do. */
function fill(draft: Draft, isFull: boolean): Filled[] {
  const touched = [...draft.touched].sort((a, b) => a.id - b.id)
  const heads = touched.filter((run) => run.stored !== null)
  const begun = heads.length === touched.length ? [] : touched.filter((run) => run.stored === null)
  const erased = draft.events.filter((own) => own.body === null)
  const kept = erased.length === 0 ? draft.events : draft.events.filter((own) => own.body !== null)
  const pruned = draft.events.filter((own) => own.event.sealed?.pruned === true)
  const newSteps: StepRow[] = []
  const knownSteps: StepRow[] = []
  for (const { run, step, isStored } of draft.steps.values())
    (isStored ? knownSteps : newSteps).push(toStepRow(run.id, step))

  const filled: Filled[] = []
  function add<Row>(part: Part<Row>, rows: readonly Row[]): void {
    if (rows.length === 0) return
    const few = rows.length <= part.few ? rows.length : undefined
    const layout = layoutOf(part.columns, isFull ? [] : rows)
    filled.push({ part: part as Part<unknown>, rows, few, layout })
  }
  add(heads.some(isRenamed) ? RENAMED_HEADS : HEADS, heads)
  add(LEASES, begun)
  add(LEANED, [...draft.leanedOn])
  add(SCOPES, draft.scopes)
  add(RUNS, begun)
  add(SUBJECTS, touched.flatMap(newSubjects))
  add(EVENTS, draft.events)
  add(PAYLOADS, kept)
  add(
    VAULT,
    kept.filter((own) => own.event.vault !== null),
  )
  add(ERASURES, pruned.length === 0 ? erased : erased.filter((own) => !pruned.includes(own)))
  add(PRUNED_STATES, pruned)
  add(NODES, [...draft.nodes.values()])
  add(NEW_STEPS, newSteps)
  add(KNOWN_STEPS, knownSteps)
  return filled
}

/** Made once per combination of parts; most appends have the same few. */
const made = new Map<string, Shape>()
/** Each is prepared by the server, too: when there are so many, further ones send all their columns in full. */
const SHAPES = 64

/**
 * Where positions are: in the room of the transaction, in its room and those of empty ones, or only in the latter. A
 * transaction that waited for a lock was given its id before it waited, so its own room may lie before what was
 * appended in the meantime.
 */
type Rooms = 'one' | 'many' | 'further'

function nameOf(filled: readonly Filled[], rooms: Rooms): string {
  let name = 'append '
  for (const { part, few, layout } of filled) name += `${part.letter}${few ?? ''}${layout.code}`
  return `${name} ${rooms}`
}

/**
 * All that a decision writes, in one statement. Heads come first: each run's row must stand where the decision found
 * it, with the lease it found, or nothing of this is written. Answers with what positions count from; with no row when
 * the only head was not there.
 */
export function appendStatement(draft: Draft, isLocked: boolean): Prepared {
  const count = Math.ceil(draft.events.length / ROOM)
  const rooms = isLocked ? 'further' : count > 1 ? 'many' : 'one'
  let filled = fill(draft, false)
  let name = nameOf(filled, rooms)
  let shape = made.get(name)
  if (shape === undefined) {
    if (made.size >= SHAPES) {
      filled = fill(draft, true)
      name = nameOf(filled, rooms)
    }
    shape = made.get(name) ?? shapeOf(name, textOf(filled, rooms), countOf(filled, rooms))
    made.set(name, shape)
  }
  const heads = headsOf(filled)
  const message = bindMessage(shape, () => {
    for (const { part, rows, few, layout } of filled) putRows(part.columns, rows, few !== undefined, layout)
    if (heads !== undefined) putValue('bigint', heads)
    if (rooms !== 'one') putValue('int', count)
  })
  return { shape, message }
}

/** How many parameters it has. */
function countOf(filled: readonly Filled[], rooms: Rooms): number {
  let count = (headsOf(filled) === undefined ? 0 : 1) + (rooms === 'one' ? 0 : 1)
  for (const { part, few, layout } of filled) count += parametersOf(part.columns, few, layout)
  return count
}

const isHeads = ({ letter }: Part<unknown>): boolean =>
  letter === HEADS.letter || letter === RENAMED_HEADS.letter

/** How many heads have to be right, if they are many; of one it is seen by itself. */
function headsOf([first]: readonly Filled[]): number | undefined {
  return first && isHeads(first.part) && first.few === undefined ? first.rows.length : undefined
}

function textOf(filled: readonly Filled[], rooms: Rooms): string {
  const at = rooms === 'one' ? inOneRoom : inMany
  const clauses: { sql: string; isFirst: boolean }[] = []
  const guards: string[] = []
  let next = 1
  for (const { part, few, layout } of filled) {
    const sql = part.sql(rowsFrom(part.columns, part.alias, next, few, layout), at)
    next += parametersOf(part.columns, few, layout)
    if (part.isGuard) guards.push(sql)
    else clauses.push({ sql: `"part ${part.letter}" AS (${sql})`, isFirst: isHeads(part) })
    if (isHeads(part) && few !== undefined) guards.push(`EXISTS (SELECT FROM "part ${part.letter}")`)
  }
  if (headsOf(filled) !== undefined)
    guards.push(`assert_heads((SELECT count(*) FROM "part ${filled[0]?.part.letter}"), $${next++}::bigint)`)
  const first = {
    one: `m.base + pg_current_xact_id()::text::bigint * ${ROOM} AS first, NULL::bigint[] AS more`,
    many: `0 AS first, take_rooms($${next}::int) AS more`,
    further: `0 AS first, (take_rooms($${next}::int + 1))[2:] AS more`,
  }
  const place = `p AS MATERIALIZED (SELECT ${first[rooms]} FROM meta m WHERE ${guards.join(' AND ')})`
  const sqlOf = (isFirst: boolean): string[] =>
    clauses.filter((clause) => clause.isFirst === isFirst).map(({ sql }) => sql)
  return `WITH ${[...sqlOf(true), place, ...sqlOf(false)].join(', ')} SELECT first, more FROM p`
}

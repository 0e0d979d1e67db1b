import type { DatabaseSync, StatementSync } from 'node:sqlite'
import {
  type ReadAllOptions,
  type ReadRunOptions,
  type RunKey,
  type SkeletonRange,
  type StepSkeleton,
  type StoredEvent,
  type StoredNode,
  type StoreStats,
} from '@clew/ledger'
import { EVENT_COLUMNS, LAST_POSITION, SETTLED_COLUMNS, toStoredEvent } from './event-row.ts'
import { stepKeyOf } from './fold-tail.ts'
import type { FoldTail } from './list-runs.ts'
import { STEP_COLUMNS, toStep } from './step-row.ts'

const COUNTED = 10_000

/** The three reads: events of a run, events of the ledger, the skeleton of a run's steps; and look-ups by id. */
export interface Reader {
  run(key: RunKey, options: ReadRunOptions): StoredEvent[]
  all(options: ReadAllOptions): StoredEvent[]
  byId(workspace: string, eventId: string): StoredEvent[]
  caused(workspace: string, eventIds: readonly string[]): StoredEvent[]
  nodes(ids: readonly number[]): Map<number, StoredNode>
  skeleton(key: RunKey, range?: SkeletonRange): StepSkeleton[]
  workspaces(): string[]
  stats(): StoreStats
  lastPosition(): number
  countAfter(position: number): number
}

export function createReader(db: DatabaseSync, foldTail: FoldTail): Reader {
  const runId = db.prepare('SELECT id FROM runs WHERE workspace = ? AND run_id = ?')
  const lying = db.prepare('SELECT 1 FROM inbox LIMIT 1')
  const reading = (rest: string): (() => StatementSync) => {
    const settled = db.prepare(`SELECT ${SETTLED_COLUMNS} ${rest}`)
    const whole = db.prepare(`SELECT ${EVENT_COLUMNS} ${rest}`)
    // What comes to lie there after the look was not acknowledged when the read began.
    return () => (lying.get() ? whole : settled)
  }
  const run = reading('WHERE e.run = ? AND e.seq > ? AND e.seq <= ? ORDER BY e.seq LIMIT ?')
  const all = reading('WHERE e.position > ? AND e.position <= ? ORDER BY e.position LIMIT ?')
  const inWorkspace = reading(
    'WHERE e.position > ? AND e.position <= ? AND r.workspace = ? ORDER BY e.position LIMIT ?',
  )
  const byId = db.prepare(
    `SELECT ${EVENT_COLUMNS} WHERE e.event_id = ? AND r.workspace = ? ORDER BY e.position`,
  )
  const caused = db.prepare(
    `SELECT ${EVENT_COLUMNS} WHERE e.causation_id IN (SELECT value FROM json_each(?)) AND e.follows = 0 AND r.workspace = ?`,
  )
  const following = db.prepare(
    `SELECT ${EVENT_COLUMNS} WHERE e.position IN (SELECT n.position FROM json_each(?) j
       CROSS JOIN entries c ON c.event_id = j.value CROSS JOIN entries n ON n.run = c.run AND n.seq = c.seq + 1
       WHERE n.follows = 1) AND r.workspace = ?`,
  )
  const nodes = db.prepare('SELECT id, hash, body FROM nodes WHERE id IN (SELECT value FROM json_each(?))')
  const stepsOf = (from: string, where: string, order: 'ASC' | 'DESC'): StatementSync =>
    db.prepare(
      `SELECT ${STEP_COLUMNS} FROM steps ${from} WHERE run = ? AND started_seq > ? AND started_seq < ?${where} ORDER BY started_seq ${order} LIMIT ?`,
    )
  const firstSteps = stepsOf('', '', 'ASC')
  const lastSteps = stepsOf('', '', 'DESC')
  // Left to itself, SQLite takes the index that gives the order, and goes through the whole run.
  const attempts = stepsOf('INDEXED BY steps_by_key', ' AND step_id = ?', 'ASC')
  const behind = db.prepare(
    'SELECT id, workspace, run_id, seq, folded_seq, summary FROM runs WHERE workspace = ? AND run_id = ? AND seq > folded_seq',
  )
  const lastPosition = db.prepare(LAST_POSITION)
  const after = db.prepare(
    `SELECT count(*) AS n FROM (SELECT 1 FROM entries WHERE position > ? LIMIT ${COUNTED})`,
  )
  const workspaces = db.prepare('SELECT DISTINCT workspace FROM runs ORDER BY workspace')

  /** Prepared once: preparing costs more than the read of a few events. */
  const ofTypes = (where: string, order: string): StatementSync =>
    db.prepare(
      `SELECT ${EVENT_COLUMNS} WHERE ${where} AND e.event_type IN (SELECT value FROM json_each(?)) ORDER BY ${order} LIMIT ?`,
    )
  const runOfTypes = ofTypes('e.run = ? AND e.seq > ? AND e.seq <= ?', 'e.seq')
  const allOfTypes = ofTypes('e.position > ? AND e.position <= ?', 'e.position')
  const inWorkspaceOfTypes = ofTypes('e.position > ? AND e.position <= ? AND r.workspace = ?', 'e.position')

  const count = (table: string): number =>
    Number(db.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.['n'])

  return {
    run({ workspace, runId: name }, { afterSeq, upToSeq = Number.MAX_SAFE_INTEGER, limit, types }) {
      const id = runId.get(workspace, name)?.['id'] as number | undefined
      if (id === undefined) return []
      if (types) return runOfTypes.all(id, afterSeq, upToSeq, JSON.stringify(types), limit).map(toStoredEvent)
      return run().all(id, afterSeq, upToSeq, limit).map(toStoredEvent)
    },
    all({ workspace, afterPosition, upToPosition = Number.MAX_SAFE_INTEGER, limit, types }) {
      const names = types && JSON.stringify(types)
      if (workspace === undefined)
        return (
          names === undefined
            ? all().all(afterPosition, upToPosition, limit)
            : allOfTypes.all(afterPosition, upToPosition, names, limit)
        ).map(toStoredEvent)
      return (
        names === undefined
          ? inWorkspace().all(afterPosition, upToPosition, workspace, limit)
          : inWorkspaceOfTypes.all(afterPosition, upToPosition, workspace, names, limit)
      ).map(toStoredEvent)
    },
    byId: (workspace, eventId) => byId.all(eventId, workspace).map(toStoredEvent),
    caused(workspace, eventIds) {
      const ids = JSON.stringify(eventIds)
      return [...caused.all(ids, workspace), ...following.all(ids, workspace)]
        .map(toStoredEvent)
        .sort((a, b) => a.position - b.position)
    },
    nodes(ids) {
      const found = new Map<number, StoredNode>()
      for (const row of nodes.all(JSON.stringify(ids)))
        found.set(row['id'] as number, {
          hash: Buffer.from(row['hash'] as Uint8Array).toString('hex'),
          body: row['body'] as string,
        })
      return found
    },
    skeleton({ workspace, runId: name }, range = {}) {
      const id = runId.get(workspace, name)?.['id'] as number | undefined
      if (id === undefined) return []
      const { afterSeq = 0, beforeSeq = Number.MAX_SAFE_INTEGER, last = false, stepId } = range
      const limit = Math.min(range.limit ?? Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)
      const bounds = [id, afterSeq, Math.min(beforeSeq, Number.MAX_SAFE_INTEGER)] as const
      const rows =
        stepId === undefined
          ? (last ? lastSteps : firstSteps).all(...bounds, limit)
          : attempts.all(...bounds, stepId, Number.MAX_SAFE_INTEGER)
      const stored = rows.map((row) => toStep(name, row))
      if (last && stepId === undefined) stored.reverse()
      const row = behind.get(workspace, name)
      const found = row ? withTail(stored, foldTail(row).steps, row['folded_seq'] as number, range) : stored
      return last ? found.slice(Math.max(0, found.length - limit)) : found.slice(0, limit)
    },
    workspaces: () => workspaces.all().map((row) => row['workspace'] as string),
    lastPosition: () => Number(lastPosition.get()?.['position'] ?? 0),
    // Exact while it is few: beyond that, what was pruned in between is counted too.
    countAfter(position) {
      const near = Number(after.get(position)?.['n'])
      return near < COUNTED ? near : Number(lastPosition.get()?.['position'] ?? 0) - position
    },
    stats() {
      const page = db
        .prepare('SELECT page_count * page_size AS bytes FROM pragma_page_count(), pragma_page_size()')
        .get()
      return {
        events: count('events') + count('inbox'),
        runs: count('runs'),
        // Without those that only keep an id taken.
        values: count('nodes') - count('nodes WHERE scope = 0'),
        bytes: Number(page?.['bytes']),
      }
    },
  }
}

/** Rows as the events after them left them. What is new began after all that is stored, so it stands behind it. */
function withTail(
  stored: readonly StepSkeleton[],
  changed: ReadonlyMap<string, StepSkeleton>,
  foldedSeq: number,
  { afterSeq = 0, beforeSeq = Number.POSITIVE_INFINITY, stepId }: SkeletonRange,
): StepSkeleton[] {
  const steps = stored.map((step) => changed.get(stepKeyOf(step.stepId, step.attempt)) ?? step)
  for (const step of changed.values()) {
    const { startedSeq } = step
    if (startedSeq <= Math.max(foldedSeq, afterSeq) || startedSeq >= beforeSeq) continue
    if (stepId === undefined || step.stepId === stepId) steps.push(step)
  }
  return steps
}

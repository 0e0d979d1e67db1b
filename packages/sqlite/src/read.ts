import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import type {
  ReadAllOptions,
  ReadRunOptions,
  RunKey,
  StepSkeleton,
  StoredEvent,
  StoredNode,
  StoreStats,
} from '@clew/ledger'
import { EVENT_COLUMNS, toStoredEvent } from './event-row.ts'

/** The three reads: events of a run, events of the ledger, the skeleton of a run's steps; and look-ups by id. */
export interface Reader {
  run(key: RunKey, options: ReadRunOptions): StoredEvent[]
  all(options: ReadAllOptions): StoredEvent[]
  byId(workspace: string, eventId: string): StoredEvent[]
  caused(workspace: string, eventIds: readonly string[]): StoredEvent[]
  nodes(ids: readonly number[]): Map<number, StoredNode>
  skeleton(key: RunKey): StepSkeleton[]
  workspaces(): string[]
  stats(): StoreStats
  lastPosition(): number
}

export function createReader(db: DatabaseSync): Reader {
  const runId = db.prepare('SELECT id FROM runs WHERE workspace = ? AND run_id = ?')
  const run = db.prepare(
    `SELECT ${EVENT_COLUMNS} WHERE e.run = ? AND e.seq > ? AND e.seq <= ? ORDER BY e.seq LIMIT ?`,
  )
  const all = db.prepare(`SELECT ${EVENT_COLUMNS} WHERE e.position > ? ORDER BY e.position LIMIT ?`)
  const inWorkspace = db.prepare(
    `SELECT ${EVENT_COLUMNS} WHERE e.position > ? AND r.workspace = ? ORDER BY e.position LIMIT ?`,
  )
  const byId = db.prepare(
    `SELECT ${EVENT_COLUMNS} WHERE e.event_id = ? AND r.workspace = ? ORDER BY e.position`,
  )
  const caused = db.prepare(
    `SELECT ${EVENT_COLUMNS} WHERE e.causation_id IN (SELECT value FROM json_each(?)) AND r.workspace = ? ORDER BY e.position`,
  )
  const nodes = db.prepare('SELECT id, hash, body FROM nodes WHERE id IN (SELECT value FROM json_each(?))')
  const skeleton = db.prepare(
    'SELECT record FROM steps JOIN runs r ON r.id = run WHERE r.workspace = ? AND r.run_id = ? ORDER BY started_seq',
  )
  const lastPosition = db.prepare('SELECT max(position) AS last FROM events')
  const workspaces = db.prepare('SELECT DISTINCT workspace FROM runs ORDER BY workspace')

  const filtered = (
    where: string,
    types: readonly string[],
    order: string,
    values: SQLInputValue[],
    limit: number,
  ): StoredEvent[] =>
    db
      .prepare(
        `SELECT ${EVENT_COLUMNS} WHERE ${where} AND e.event_type IN (SELECT value FROM json_each(?)) ORDER BY ${order} LIMIT ?`,
      )
      .all(...values, JSON.stringify(types), limit)
      .map(toStoredEvent)

  const count = (table: string): number =>
    Number(db.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.['n'])

  return {
    run({ workspace, runId: name }, { afterSeq, upToSeq = Number.MAX_SAFE_INTEGER, limit, types }) {
      const id = runId.get(workspace, name)?.['id'] as number | undefined
      if (id === undefined) return []
      if (types)
        return filtered(
          'e.run = ? AND e.seq > ? AND e.seq <= ?',
          types,
          'e.seq',
          [id, afterSeq, upToSeq],
          limit,
        )
      return run.all(id, afterSeq, upToSeq, limit).map(toStoredEvent)
    },
    all({ workspace, afterPosition, limit, types }) {
      if (workspace === undefined && !types) return all.all(afterPosition, limit).map(toStoredEvent)
      const where = workspace === undefined ? 'e.position > ?' : 'e.position > ? AND r.workspace = ?'
      const values = workspace === undefined ? [afterPosition] : [afterPosition, workspace]
      if (types) return filtered(where, types, 'e.position', values, limit)
      return inWorkspace.all(...values, limit).map(toStoredEvent)
    },
    byId: (workspace, eventId) => byId.all(eventId, workspace).map(toStoredEvent),
    caused: (workspace, eventIds) => caused.all(JSON.stringify(eventIds), workspace).map(toStoredEvent),
    nodes(ids) {
      const found = new Map<number, StoredNode>()
      for (const row of nodes.all(JSON.stringify(ids)))
        found.set(row['id'] as number, {
          hash: Buffer.from(row['hash'] as Uint8Array).toString('hex'),
          body: row['body'] as string,
        })
      return found
    },
    skeleton: ({ workspace, runId: name }) =>
      skeleton.all(workspace, name).map((row) => JSON.parse(row['record'] as string) as StepSkeleton),
    workspaces: () => workspaces.all().map((row) => row['workspace'] as string),
    lastPosition: () => Number(lastPosition.get()?.['last'] ?? 0),
    stats() {
      const page = db
        .prepare('SELECT page_count * page_size AS bytes FROM pragma_page_count(), pragma_page_size()')
        .get()
      return {
        events: count('events'),
        runs: count('runs'),
        values: count('nodes'),
        bytes: Number(page?.['bytes']),
      }
    },
  }
}

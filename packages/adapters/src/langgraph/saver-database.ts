import { ClewError } from '@clew/ledger'
import { type Checkpoint, type CheckpointMetadata, MemorySaver } from '@langchain/langgraph-checkpoint'
import { isObject } from './rich-values.ts'

/** Runs a query against the database of another saver; parameters stand in it as `$1`, `$2`. */
export type SaverQuery = (
  sql: string,
  values: readonly string[],
) => Promise<readonly Readonly<Record<string, unknown>>[]>

export interface SavedThread {
  readonly thread: string
  readonly checkpoints: number
}

/** One checkpoint of another saver, with what its tasks wrote. */
export interface SavedRow {
  readonly ns: string
  readonly id: string
  readonly parentId: string | undefined
  readonly checkpoint: Checkpoint
  readonly metadata: CheckpointMetadata
  readonly writes: readonly SavedWrite[]
}

export interface SavedWrite {
  readonly taskId: string
  readonly index: number
  readonly channel: string
  readonly value: unknown
}

/** The database of one of the framework's own savers. */
export interface SaverDatabase {
  threads(): Promise<readonly SavedThread[]>
  /** Checkpoints of a thread in all its namespaces, oldest first. */
  checkpoints(thread: string): AsyncIterable<SavedRow>
}

export type SaverFormat = 'langgraph-sqlite' | 'langgraph-postgres'

type Row = Readonly<Record<string, unknown>>

const TABLES = {
  'langgraph-sqlite': { writes: 'writes', value: 'value' },
  'langgraph-postgres': { writes: 'checkpoint_writes', value: 'blob' },
} as const

/** Values are read as the framework's own savers read them. */
export function readSaverDatabase(format: SaverFormat, query: SaverQuery): SaverDatabase {
  const { serde } = new MemorySaver()
  const { writes, value } = TABLES[format]
  const isSqlite = format === 'langgraph-sqlite'
  // Other collations pass over the dashes of an id.
  const byBytes = isSqlite ? '' : ' COLLATE "C"'

  async function load(type: unknown, stored: unknown): Promise<unknown> {
    if (typeof type !== 'string') throw unreadable('without a type')
    if (type !== 'json' && type !== 'bytes') throw unreadable(`of type ${type}`)
    if (typeof stored !== 'string' && !(stored instanceof Uint8Array)) throw unreadable('that is no bytes')
    return serde.loadsTyped(type, stored)
  }

  /** PostgreSQL keeps each version of a channel once for all checkpoints that have it. */
  async function readBlobs(thread: string): Promise<ReadonlyMap<string, Row>> {
    if (isSqlite) return new Map()
    const rows = await query(
      'SELECT checkpoint_ns, channel, version, type, blob FROM checkpoint_blobs WHERE thread_id = $1',
      [thread],
    )
    return new Map(rows.map((row) => [blobKey(row['checkpoint_ns'], row['channel'], row['version']), row]))
  }

  async function readWrites(thread: string): Promise<ReadonlyMap<string, readonly Row[]>> {
    const rows = await query(
      `SELECT checkpoint_ns, checkpoint_id, task_id, idx, channel, type, ${value} AS value
         FROM ${writes} WHERE thread_id = $1 ORDER BY task_id, idx`,
      [thread],
    )
    return Map.groupBy(rows, ({ checkpoint_ns, checkpoint_id }) => rowKey(checkpoint_ns, checkpoint_id))
  }

  async function readChannels(
    { channel_versions: versions }: Checkpoint,
    ns: unknown,
    blobs: ReadonlyMap<string, Row>,
  ): Promise<Record<string, unknown>> {
    const values: Record<string, unknown> = {}
    for (const [channel, version] of Object.entries(versions)) {
      const row = blobs.get(blobKey(ns, channel, version))
      if (row && row['type'] !== 'empty') values[channel] = await load(row['type'], row['blob'])
    }
    return values
  }

  async function toSaved(
    row: Row,
    blobs: ReadonlyMap<string, Row>,
    written: readonly Row[],
  ): Promise<SavedRow> {
    const { checkpoint_ns: ns, checkpoint_id: id, parent_checkpoint_id: parentId, type } = row
    const given = isSqlite ? await load(type, row['checkpoint']) : row['checkpoint']
    const metadata = isSqlite ? await load(type, row['metadata']) : row['metadata']
    if (!isObject(given) || !isObject(metadata)) throw unreadable('that is no object')
    const checkpoint = {
      ...given,
      channel_versions: given['channel_versions'] ?? {},
      versions_seen: given['versions_seen'] ?? {},
    } as unknown as Checkpoint
    if (!isSqlite) checkpoint.channel_values = await readChannels(checkpoint, ns, blobs)
    return {
      ns: String(ns ?? ''),
      id: String(id),
      parentId: typeof parentId === 'string' && parentId !== '' ? parentId : undefined,
      checkpoint,
      metadata: metadata as unknown as CheckpointMetadata,
      writes: await Promise.all(
        written.map(async (write) => ({
          taskId: String(write['task_id']),
          index: Number(write['idx']),
          channel: String(write['channel']),
          value: await load(write['type'] ?? 'json', write['value']),
        })),
      ),
    }
  }

  return {
    async threads() {
      const rows = await query(
        `SELECT thread_id, count(*) AS checkpoints FROM checkpoints
           GROUP BY thread_id ORDER BY min(checkpoint_id${byBytes})`,
        [],
      )
      return rows.map((row) => ({
        thread: String(row['thread_id']),
        checkpoints: Number(row['checkpoints']),
      }))
    },
    async *checkpoints(thread) {
      const [blobs, written] = await Promise.all([readBlobs(thread), readWrites(thread)])
      const rows = await query(
        `SELECT checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata
           FROM checkpoints WHERE thread_id = $1 ORDER BY checkpoint_id${byBytes}, checkpoint_ns`,
        [thread],
      )
      for (const row of rows)
        yield await toSaved(row, blobs, written.get(rowKey(row['checkpoint_ns'], row['checkpoint_id'])) ?? [])
    },
  }
}

const rowKey = (ns: unknown, id: unknown): string => JSON.stringify([ns, id])
const blobKey = (ns: unknown, channel: unknown, version: unknown): string =>
  JSON.stringify([ns, channel, String(version)])

const unreadable = (what: string): ClewError =>
  new ClewError(
    'broken_import',
    `The database has a value ${what}`,
    'Only values that LangGraph.js wrote can be read: those of Python are of another type.',
  )

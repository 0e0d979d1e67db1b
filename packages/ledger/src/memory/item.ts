import { systemRunId } from '../event/system-run.ts'

/** M1: what belongs to a run, to a thread, and to a workspace, an agent or a user. From below to above. */
export const MEMORY_LAYERS = ['short', 'session', 'long'] as const
export type MemoryLayer = (typeof MEMORY_LAYERS)[number]

/** The kind of the memory runs in which memory is written. */
export const MEMORY_RUN_KIND = 'memory'

/** Layer and scope of memory: `scope` is a run id, a thread id, or `workspace`, `agent:NAME`, `user:ID`. */
export interface MemoryScope {
  readonly layer: MemoryLayer
  readonly scope: string
}

export interface MemoryItem<Value = unknown> extends MemoryScope {
  readonly namespace: string
  readonly key: string
  readonly value: Value
  readonly tags: readonly string[]
  /** Seq of the event that wrote it in the memory run of its scope: for `ifVersion`. */
  readonly version: number
  /** The event that wrote it, and the run in which that was done; null when it was written from outside. */
  readonly provenance: { readonly eventId: string; readonly runId: string | null }
  readonly createdAt: string
  readonly updatedAt: string
  readonly expiresAt: string | null
  /** Ids of the people it is about (P5). */
  readonly subjects: readonly string[]
}

/** A stored row: all of an item but its value, which stands in the event at `position`. */
export interface MemoryRow {
  /** Place of the event that wrote it in the whole ledger: newer is higher, and no two items have the same. */
  readonly position: number
  readonly memoryRun: string
  readonly seq: number
  /** Seq and time of the first of the writes that this one goes on with. */
  readonly bornSeq: number
  readonly createdAt: string
  readonly updatedAt: string
  readonly namespace: string
  readonly key: string
  readonly tags: readonly string[]
  readonly expiresAt: string | null
  readonly subjects: readonly string[]
  readonly eventId: string
  readonly runId: string | null
  /** Length of the value as JSON, and about how many tokens a model would count for it. */
  readonly bytes: number
  readonly tokens: number
}

/** Searchable words of an item, normalized by `indexText`: namespace, key and tags; texts of the value. */
export interface MemoryWords {
  readonly name: string
  readonly text: string
}

/** The memory run of a scope: writing, promoting, expiring and forgetting are events in it. */
export const memoryRunId = ({ layer, scope }: MemoryScope): string =>
  systemRunId(MEMORY_RUN_KIND, `${layer}/${scope}`)

const LAYERED = new RegExp(`^${systemRunId(MEMORY_RUN_KIND, '')}(${MEMORY_LAYERS.join('|')})/`)

/** The scope of a memory run; undefined for runs and other memory runs. */
export function parseMemoryRunId(runId: string): MemoryScope | undefined {
  const found = LAYERED.exec(runId)
  return found ? { layer: found[1] as MemoryLayer, scope: runId.slice(found[0].length) } : undefined
}

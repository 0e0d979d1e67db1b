import type { JsonObject } from '@clew/ledger'

/** State of a thread at a superstep, from which a run can go on. */
export interface Checkpoint<State = Readonly<Record<string, unknown>>> {
  readonly id: string
  /** The checkpoint before it, in the same run or in the one it continues or was forked from. */
  readonly parentId: string | null
  readonly threadId: string
  readonly runId: string
  readonly superstep: number
  readonly state: State
  /** The nodes that run next. */
  readonly next: readonly string[]
  readonly createdAt: string
  /** Data for resuming in another process: plain JSON, to be stored unchanged. */
  readonly metadata: JsonObject
}

export interface CheckpointQuery {
  readonly threadId: string
  /** Without it, the newest checkpoint of the thread. */
  readonly checkpointId?: string | undefined
}

/** Keeps the checkpoints of graphs: anything with these methods can be handed to `compile`. */
export interface Checkpointer {
  /**
   * Resolves when it is kept. The same id comes again with more in its metadata while a superstep is under way and when
   * a run ends: it replaces the one before and keeps its place in the list. Everything in it is JSON, and redacted.
   */
  put(checkpoint: Checkpoint): Promise<void>
  get(place: CheckpointQuery): Promise<Checkpoint | null>
  /** Oldest first. */
  list(place: { readonly threadId: string }): Promise<readonly Checkpoint[]> | AsyncIterable<Checkpoint>
  /** Only needed where checkpoints are not kept for ever. */
  delete?(checkpointId: string): Promise<void>
}

/** Checkpoints to keep: all (default), the newest of each thread, or the last `window` of each thread (R10). */
export interface Retention {
  readonly keep?: 'full' | 'latest' | 'windowed' | undefined
  readonly window?: number | undefined
  /** Older checkpoints are deleted as well, except the newest one of a run that has not ended. */
  readonly ttlMs?: number | undefined
}

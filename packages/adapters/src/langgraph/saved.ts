import type { CheckpointMetadata } from '@langchain/langgraph-checkpoint'
import { isOpaque } from './rich-values.ts'
import { type Cell, cellValue } from './cells.ts'
import type { ReadyTask, Seen, Versions } from './next-nodes.ts'

export interface SavedCheckpoint {
  readonly runId: string
  readonly seq: number
}

/** One write of a task: its index distinguishes it from the task's other writes; negative ones are replaced, others stay. */
export interface Write {
  readonly index: number
  readonly channel: string
  readonly value: unknown
}

/** One call of `putWrites`, as it stands in the record. */
export interface TaskWrites extends SavedCheckpoint {
  readonly taskId: string
  readonly writes: readonly Write[]
  /** The step that it ends, where a checkpoint may point to what it wrote. */
  readonly stepId?: string | undefined
}

/** One checkpoint with all that is needed to hand it out or to go on from it. Never changed but for `writes`. */
export interface Saved extends SavedCheckpoint {
  readonly id: string
  readonly eventId: string
  readonly parent: { readonly id: string; readonly place: SavedCheckpoint | undefined } | undefined
  readonly v: number
  readonly ts: string
  readonly metadata: CheckpointMetadata
  readonly superstep: number
  readonly values: ReadonlyMap<string, Cell>
  readonly versions: Versions
  readonly seen: Seen
  readonly ready: readonly ReadyTask[]
  /** Writes put for the checkpoint so far, in the order of the record. */
  readonly writes: readonly TaskWrites[]
  /** Which of the parent's writes made it; undefined: all that the record has between the two. */
  readonly applied?: readonly number[] | undefined
  /** How often each channel was changed, as the ledger counts it. */
  readonly counts: Readonly<Record<string, number>>
  readonly createdAt: string
  /** Seq of the event from which it is folded, and of the one before that within the run. */
  readonly baseSeq: number
  readonly previousBase: number | undefined
  readonly depth: number
  readonly size: number
  readonly since: { readonly supersteps: number; readonly size: number }
}

export const withWrites = (saved: Saved, more: TaskWrites): Saved => ({
  ...saved,
  writes: [...saved.writes, more],
})

/** Writes of several calls for one task as the framework sees them: the first of an index wins, negative ones are replaced. */
export function settleWrites(calls: readonly TaskWrites[]): { taskId: string; write: Write }[] {
  const settled = new Map<string, { taskId: string; write: Write }>()
  for (const { taskId, writes } of calls)
    for (const write of writes) {
      const key = `${write.index} ${taskId}`
      if (write.index < 0 || !settled.has(key)) settled.set(key, { taskId, write })
    }
  return [...settled.values()]
}

export const holdsOpaque = (saved: Saved): boolean => {
  for (const cell of saved.values.values()) if (isOpaque(cellValue(cell))) return true
  return saved.writes.some(({ writes }) => writes.some(({ value }) => isOpaque(value)))
}

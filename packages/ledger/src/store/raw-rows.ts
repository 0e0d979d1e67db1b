import type { RunKey } from './store.ts'

/** A row that covers a missing payload, or hides the state at an event (R10). */
export interface RemovalMark {
  readonly position: number
  /** Why the payload is missing: an erasure, a pruned state, or both. */
  readonly isErased: boolean
  readonly isPruned: boolean
  /** Null if there is no event at the position. */
  readonly event: { readonly workspace: string; readonly runId: string; readonly seq: number } | null
}

/** Columns of a run's row by which runs are found. */
export interface RunColumns {
  readonly status: string
  readonly threadId: string | null
  readonly agent: string | null
  readonly agentVersion: string | null
  readonly parentRunId: string | null
  readonly startedMs: number
  readonly dueMs: number | null
}

/** Stored columns and index rows of one run beside its summary and steps. */
export interface StoredRows {
  readonly columns: RunColumns
  readonly subjects: readonly string[]
  /** Index rows of its tags and scores, in any order. */
  readonly tags: readonly (readonly [name: string, value: string])[]
  readonly scores: readonly StoredScore[]
  /** The scope of its values (L8); no name if there is no row of it. */
  readonly scope: { readonly id: number; readonly name: string | null }
  /** Columns that only this store has and that do not repeat what they are copied from, as `table.column`. */
  readonly copies: readonly string[]
  /** Seq up to which its rows of memory are folded; null if it has none. */
  readonly memorySeq: number | null
}

export interface StoredScore {
  readonly seq: number
  readonly name: string
  /** The value as JSON. */
  readonly value: string
  /** The value again if it is a number, by which scores are ordered. */
  readonly number: number | null
}

/** Rows that belong to no event, run or scope. */
export interface StrayRows {
  readonly table: string
  readonly rows: number
}

/** Rows as they are stored, which `verify` compares with the events. */
export interface RawRows {
  /** All workspaces, in order of position. */
  marks(options: { readonly afterPosition: number; readonly limit: number }): Promise<RemovalMark[]>
  /** Null for a run that is not there. */
  ofRun(key: RunKey): Promise<StoredRows | null>
  /** Rows of all workspaces that belong to no run or event. */
  strays(): Promise<StrayRows[]>
}

import type { ClewEvent } from '../envelope.ts'
import type { RunSummary } from '../fold/run-summary.ts'
import type { StepSkeleton } from '../fold/steps.ts'
import type { AppendCall, StoredEvent, StoredRun } from '../store.ts'
import type { EraseReport } from './erase-types.ts'

/** A run's rows as its events fold without what goes. */
export interface ErasedRun {
  readonly runId: string
  /** Where the run must still stand. */
  readonly seq: number
  readonly summary: RunSummary
  readonly steps: readonly StepSkeleton[]
  /** Nothing of what it recorded is left: the name of its thread goes as well. */
  readonly isWhole: boolean
}

export interface EraseWork {
  readonly workspace: string
  /** Places of the events whose payloads go. */
  readonly positions: readonly number[]
  readonly runs: readonly ErasedRun[]
  readonly erasedAt: string
  /** The event that says so, written in the same transaction. */
  readonly call: AppendCall
}

export interface FindPayloadsOptions {
  readonly workspace: string
  /** Any of these. */
  readonly texts: readonly string[]
  readonly afterPosition: number
  readonly limit: number
}

/** P5: what a store does to make payloads go. */
export interface Erasing {
  /** The runs that are about any of these subjects, by what they said when they began; oldest first. */
  findRuns(workspace: string, subjects: readonly string[]): Promise<StoredRun[]>
  /**
   * Events with a payload in whose text one of these stands, and all whose payload is a tree; by position. `next` is where
   * to go on from, null at the end; a page may be empty before it.
   */
  findPayloads(
    options: FindPayloadsOptions,
  ): Promise<{ readonly events: StoredEvent[]; readonly next: number | null }>
  /**
   * One transaction: nobody sees half of it. The event that says so; null, and nothing is changed, when a run or the book
   * has moved on. Salts and digests of the payloads go with them; values that only they need are left to the sweep.
   */
  erase(work: EraseWork): Promise<ClewEvent | null>
  /**
   * Makes physical what `erase` did, now or before a kill: WAL and free pages. Can be done again.
   * `rewrite` writes tables anew where a database otherwise leaves bytes in pages that are in use.
   */
  scrub(options: { readonly rewrite: boolean }): Promise<Pick<EraseReport, 'unfinished'>>
}

import type { RunSummary } from '../fold/run-summary.ts'
import type { StepSkeleton } from '../fold/steps.ts'
import type { RunKey, StoredEvent } from './store.ts'
import type { Blank, PreparedEvent, PruneMarker } from './change.ts'
import type { QueueEntry } from './queue-slots.ts'
import type { VaultChange } from '../vault/vault-rows.ts'

/** A run inside a write transaction. `id` is the store's own key; a touched draft is written back once, at the end. */
export interface MutableRun extends RunKey {
  readonly id: number
  /** Values are shared within it: the thread, or the run if it has none (L8). */
  readonly scope: number
  readonly forkOf: { readonly id: number; readonly seq: number } | null
  seq: number
  hash: string
  recordedAt: string
  summary: RunSummary
}

export interface NewRun extends RunKey {
  readonly summary: RunSummary
  readonly forkOf: { readonly id: number; readonly seq: number } | null
}

/**
 * Rows of a store inside its write transaction: all decisions above it are made once, in `judge`, `commit` and
 * `apply-change`. A store that cannot read synchronously loads first what a `StoreChange` names (runs with their leases,
 * forks and ranges), and collects what is written.
 */
export interface Transaction {
  findRun(key: RunKey): MutableRun | undefined
  insertRun(run: NewRun): MutableRun
  findEvent(run: MutableRun, eventId: string): StoredEvent | undefined
  /** Own events of the run only. */
  eventAt(run: MutableRun, seq: number): StoredEvent | undefined
  runById(id: number): MutableRun
  macOf(position: number): string | null
  nodeHash(id: number): string
  nextPosition(): number
  insertEvent(run: MutableRun, event: PreparedEvent, place: EventPlace, body: string | null): void
  findNode(scope: number, hash: string): number | undefined
  insertNode(scope: number, hash: string, body: string): number
  findStep(run: MutableRun, stepId: string, attempt: number): StepSkeleton | undefined
  putStep(run: MutableRun, step: StepSkeleton): void
  /** Epoch and whether it is held; undefined if the run was never leased. */
  lease(key: RunKey): { readonly epoch: number; readonly held: boolean } | undefined
  /** Makes a submitted run claimable, with a turn behind those of its key (W4). Its lease is free. */
  enqueue(run: MutableRun, entry: QueueEntry): void
  /** The run has started or ended: it waits in no queue. Its lease keeps queue and key. */
  dequeue(run: MutableRun): void
  /**
   * The draft is written back: head, summary and all that rows repeat of it. If the summary has lost its thread, the
   * thread's name is removed from released leases, and from the scope if no other run of it has a thread. A store may
   * write only the columns whose fields have changed; with `isRewritten` it writes all, to repair them.
   */
  touch(run: MutableRun, isRewritten?: boolean): void
  /** The run or another one of its thread is leased. */
  isLeased(run: MutableRun): boolean
  /** Forks that begin in an own event of the run; one is needy while it is not deleted or still owns events. */
  forksOf(run: MutableRun): readonly { readonly seq: number; readonly isNeedy: boolean }[]
  /** How many own events of the range are there. */
  countEvents(run: MutableRun, fromSeq: number, toSeq: number): number
  /** Whether the run still owns events that this transaction does not prune. */
  hasEvents(run: MutableRun): boolean
  /** Marks the events, drops their payloads (see `Blank`), and makes the scopes of their values pending. */
  blank(blank: Blank, at: string): void
  /**
   * Adds the pruned range, drops its events with their payloads, vault rows, rows in the memory index and steps, and
   * makes the scope of the values pending. An adopted range has no events to drop.
   */
  prune(run: MutableRun, seal: PruneMarker): void
  dropStep(run: MutableRun, stepId: string, attempt: number): void
  /** Leaves a row alone that is not as `before`. */
  replaceVault(change: VaultChange): void
}

export interface EventPlace {
  readonly seq: number
  readonly position: number
  readonly recordedAt: string
  readonly hash: string
  readonly schemaVersion: number
}

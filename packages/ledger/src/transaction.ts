import type { RunSummary } from './fold/run-summary.ts'
import type { StepSkeleton } from './fold/steps.ts'
import type { PreparedEvent, RunKey, StoredEvent } from './store.ts'

/** A run as a write transaction sees it. `id` is the store's own key; a draft is written back once, at the end. */
export interface RunDraft extends RunKey {
  readonly id: number
  /** What values are shared within: the thread, or the run when it has none (L8). */
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

/** What a synchronous store offers inside its write transaction. */
export interface Transaction {
  findRun(key: RunKey): RunDraft | undefined
  insertRun(run: NewRun): RunDraft
  findEvent(run: RunDraft, eventId: string): StoredEvent | undefined
  /** Own events only. */
  eventAt(run: RunDraft, seq: number): StoredEvent | undefined
  runById(id: number): RunDraft
  macOf(position: number): string | null
  nodeHash(id: number): string
  nextPosition(): number
  insertEvent(run: RunDraft, event: PreparedEvent, place: EventPlace, body: string | null): void
  findNode(scope: number, hash: string): number | undefined
  insertNode(scope: number, hash: string, body: string): number
  findStep(run: RunDraft, stepId: string, attempt: number): StepSkeleton | undefined
  putStep(run: RunDraft, step: StepSkeleton): void
  /** Epoch and whether somebody holds it; undefined when the run was never leased. */
  lease(key: RunKey): { readonly epoch: number; readonly held: boolean } | undefined
  touch(run: RunDraft): void
}

export interface EventPlace {
  readonly seq: number
  readonly position: number
  readonly recordedAt: string
  readonly hash: string
  readonly schemaVersion: number
}

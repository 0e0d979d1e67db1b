import type { RunStatus } from '../fold/run-summary.ts'
import type { Hold } from './holds.ts'

/** Facts about a run that the plan uses. */
export interface RunFacts {
  readonly runId: string
  readonly status: RunStatus
  readonly agent: string | null
  readonly threadId: string | null
  readonly parentRunId: string | null
  readonly subjects: readonly string[]
  readonly forkOf: EventPlace | null
  readonly seq: number
  readonly hash: string
  /** When its last event was recorded. */
  readonly recordedMs: number
  /** No process has begun the run: it may be deleted by its age. */
  readonly isOnlyRecorded?: boolean | undefined
  /** Remaining events of a deleted run. */
  readonly left?: readonly SeqRange[] | undefined
}

export interface EventPlace {
  readonly runId: string
  readonly seq: number
}

export interface SeqRange {
  readonly fromSeq: number
  readonly toSeq: number
}

/** Everything that a plan is made from: nothing else is looked at. */
export interface RetentionFacts {
  readonly workspace: string
  readonly nowMs: number
  /** Oldest first, without deleted ones that have nothing left. */
  readonly runs: readonly RunFacts[]
  readonly leases: readonly { readonly runId: string; readonly threadId: string | null }[]
  readonly holds: readonly Hold[]
  /** Among the system runs of memory that a rule selects, those in which a hold covers single items. */
  readonly heldWithin: ReadonlyMap<string, Hold>
  /** The consumer that is farthest behind, and the runs that have events which it has not seen. */
  readonly behind: { readonly name: string; readonly runIds: ReadonlySet<string> } | null
  readonly bytes: ReadonlyMap<string, number>
  /** Events of other runs that the state of a run goes on from. */
  readonly standsOn: ReadonlyMap<string, readonly EventPlace[]>
  /** Ranges that a rule deletes from a run that is kept, by rule and run. */
  readonly parts: ReadonlyMap<string, ReadonlyMap<string, readonly SeqRange[]>>
}

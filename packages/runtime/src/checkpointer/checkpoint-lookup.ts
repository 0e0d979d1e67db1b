import type { ClewEvent, Ledger, RunSummary } from '@clew/ledger'
import type { ForkPoint } from '../engine/cut.ts'
import type { CheckpointChoice } from '../engine/state-views.ts'
import type { SuperstepState } from '../engine/supersteps.ts'
import type { Channels } from '../graph/channel.ts'
import type { Checkpoint } from './checkpoint.ts'

/** A checkpoint that somebody's own checkpointer keeps, with what it takes to go on from it. */
export interface KeptCheckpoint extends Checkpoint {
  readonly versions: Readonly<Record<string, number>>
  /** What the run began with. */
  readonly started: { readonly seed?: unknown; readonly input?: unknown }
  /** What came after it, while its superstep was under way. */
  readonly events: readonly ClewEvent[]
  toStanding(channels: Channels, ledger: Ledger): SuperstepState
}

/** Reads what a ledger in front of a checkpointer does not have itself: older checkpoints. */
export interface CheckpointLookup {
  find(run: RunSummary, choice: CheckpointChoice): Promise<KeptCheckpoint | null>
  /** Where a fork parts; throws `not_found`. */
  cut(run: RunSummary, at: ForkPoint | undefined): Promise<KeptCheckpoint>
  list(threadId: string): AsyncIterable<KeptCheckpoint>
  /** Checkpointers are asked by thread: says where a run that another process made is to be found. */
  know(runId: string, threadId: string): void
}

const keepers = new WeakMap<Ledger, CheckpointLookup>()

export const checkpointLookupOf = (ledger: Ledger): CheckpointLookup | undefined => keepers.get(ledger)

export function setKeeper(ledger: Ledger, keeper: CheckpointLookup): void {
  keepers.set(ledger, keeper)
}

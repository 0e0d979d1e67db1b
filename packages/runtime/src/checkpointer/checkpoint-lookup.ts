import type { ClewEvent, Ledger, RunSummary } from '@clew/ledger'
import type { ForkPoint } from '../engine/cut.ts'
import type { CheckpointChoice } from '../engine/state-views.ts'
import type { SuperstepState } from '../engine/supersteps.ts'
import type { Channels } from '../graph/channel.ts'
import type { Checkpoint } from './checkpoint.ts'

/** Checkpoint of a user's checkpointer, with the data to continue the run from it. */
export interface KeptCheckpoint extends Checkpoint {
  readonly versions: Readonly<Record<string, number>>
  readonly started: { readonly seed?: string | undefined; readonly input?: unknown }
  /** Events after the checkpoint, of the superstep that had begun. */
  readonly events: readonly ClewEvent[]
  toStanding(channels: Channels, ledger: Ledger): SuperstepState
}

/** Reads what a ledger in front of a checkpointer does not have itself: older checkpoints. */
export interface CheckpointLookup {
  find(run: RunSummary, choice: CheckpointChoice): Promise<KeptCheckpoint | null>
  /** Checkpoint at a fork point; throws `not_found`. */
  cut(run: RunSummary, at: ForkPoint | undefined): Promise<KeptCheckpoint>
  list(threadId: string): AsyncIterable<KeptCheckpoint>
  /** Registers the thread of a run that another process made: checkpointers are queried by thread. */
  know(runId: string, threadId: string): void
}

const lookups = new WeakMap<Ledger, CheckpointLookup>()

export const checkpointLookupOf = (ledger: Ledger): CheckpointLookup | undefined => lookups.get(ledger)

export function setCheckpointLookup(ledger: Ledger, lookup: CheckpointLookup): void {
  lookups.set(ledger, lookup)
}

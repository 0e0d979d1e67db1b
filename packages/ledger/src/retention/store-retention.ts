import type { ClewError } from '../errors.ts'
import type { RunSummary } from '../fold/run-summary.ts'
import type { AppendCall, RunKey, StoredRun } from '../store.ts'

/** A pruned range of a run (P4): its events are gone, and the chain goes on from the hash of the last of them. */
export interface Seal {
  readonly fromSeq: number
  readonly toSeq: number
  readonly headHash: string
}

export interface RunSeal extends Seal {
  readonly runId: string
}

/** A seal as it is asked for. */
export interface PruneItem extends Seal {
  readonly runId: string
  /** Where the run must still stand. */
  readonly seq: number
  /** The run itself goes: its row stays as `deleted`, so that its id cannot be taken again. */
  readonly deletes: boolean
}

export interface PruneBatch {
  readonly workspace: string
  readonly items: readonly PruneItem[]
  /** The event of the audit book that says so, written in the same transaction. */
  readonly call: AppendCall
}

export type PruneOutcome =
  /** Sealed and gone, in a transaction that others had to wait for so long. */
  | { readonly events: number; readonly tookMs: number }
  /** Runs that stand elsewhere, are held by a lease, or have a fork that needs the range; nothing was written. */
  | { readonly moved: readonly string[] }
  /** The event was refused; nothing was written. */
  | { readonly error: ClewError }

/** Checkpoints of a run whose states go (R10). */
export interface StatePruneItem {
  readonly runId: string
  /** How many forks the run must still have. */
  readonly forks: number
  /** Events whose states are no longer to be read. */
  readonly marks: readonly number[]
  /** Events whose payloads go too. */
  readonly blanks: readonly number[]
}

export interface StatePruneBatch {
  readonly workspace: string
  readonly items: readonly StatePruneItem[]
  /** The event of the audit book that says so, written in the same transaction. */
  readonly call: AppendCall
}

/** Shared values (L8) that nobody refers to any more go scope by scope, once events of the scope are gone. */
export interface ValueSweep {
  /** Scopes of which events went and whose values were not looked through since; `mark` changes when more go. */
  pending(): Promise<{ scope: number; mark: number }[]>
  /** Bodies in the scope that refer to values, by position. */
  bodies(scope: number, afterPosition: number, limit: number): Promise<{ position: number; body: string }[]>
  /** Values of the scope, by id. */
  nodes(scope: number, afterId: number, limit: number): Promise<{ id: number; body: string }[]>
  /** In one transaction; false, and nothing goes, when a body of the scope after this position refers to values. */
  drop(scope: number, ids: readonly number[], position: number): Promise<boolean>
  /** The scope was looked through; it stays pending when its mark is another by now. */
  end(scope: number, mark: number): Promise<void>
}

/** What a part of the store takes on disk, or in memory where it has no disk. */
export interface StoragePart {
  readonly name: string
  readonly bytes: number
}

/** What a store does for retention (P4): nothing by itself. */
export interface StoreRetention {
  /** How long one transaction may take beside others, and how many times as long they then have. */
  readonly pace: { readonly batchMs: number; readonly rest: number }
  /** Of these runs, each by seq. */
  seals(workspace: string, runIds: readonly string[]): Promise<RunSeal[]>
  /** How many events all seals of the store cover. */
  sealedEvents(): Promise<number>
  /** One short transaction: seals, the event that names them, and without the events that they cover. */
  prune(batch: PruneBatch): Promise<PruneOutcome>
  /** The same for states (R10): events stay, with their hashes. `events` tells how many payloads went. */
  pruneStates(batch: StatePruneBatch): Promise<PruneOutcome>
  /** What the store takes, part by part, all workspaces together; with what lies beside the ledger. */
  storage(): Promise<StoragePart[]>
  /** Deleted runs that still have events: a fork needed them, or whoever deleted them was killed. */
  leftovers(workspace: string, after: number, limit: number): Promise<{ key: number; run: StoredRun }[]>
  /** Bytes of the payloads of these runs; of shared values each run of the scope counts an equal part. */
  sizes(workspace: string, runIds: readonly string[]): Promise<ReadonlyMap<string, number>>
  /**
   * Takes over a seal from elsewhere: the run goes on behind it. A run that is not here begins with it. False when the
   * run does not stand right before the range.
   */
  adopt(key: RunKey, seal: Seal, run: AdoptedRun): Promise<boolean>
  readonly values: ValueSweep
  /**
   * Called again and again by who reads much before it takes away: where writers have to bring on what they wrote now and
   * then, it is done here in their place. Nobody waits for it.
   */
  writeBack(): void
  /**
   * A small step towards giving free space back to the file system; false when there is nothing left to give. Where
   * others write (`isShared`) nothing is done that they would wait for.
   */
  reclaim(isShared: boolean): Promise<boolean>
}

/** What a run is that begins with a seal. */
export interface AdoptedRun {
  readonly summary: RunSummary
  readonly forkOf: { readonly runId: string; readonly seq: number } | null
  readonly recordedAt: string
}

/** What stays of a run that was deleted. Whose it was stays as long as events of it do. */
export const deletedSummary = (summary: RunSummary, hasEvents: boolean): RunSummary => ({
  ...summary,
  status: 'deleted',
  subjects: hasEvents ? summary.subjects : [],
  pauses: [],
  error: null,
  checkpoint: null,
  dueAt: null,
  stopRequested: false,
})

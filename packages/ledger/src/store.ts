import type { Origin } from './envelope.ts'
import type { ClewError } from './errors.ts'
import type { Erasing } from './erasure/erasing.ts'
import type { ClewEvent } from './envelope.ts'
import type { RunStatus, RunSummary } from './fold/run-summary.ts'
import type { ScoreAndTagFilter } from './fold/scores-and-tags.ts'
import type { StepSkeleton } from './fold/steps.ts'
import type { JsonObject } from './json.ts'
import type { ProgressStore } from './progress.ts'
import type { StoreRetention } from './retention/store-retention.ts'
import type { MemoryIndex } from './memory/memory-index.ts'
import type { SearchIndex } from './search/search-index.ts'
import type { StoredNode, TreeNode } from './tree.ts'
import type { VaultData, VaultRows } from './vault/vault-rows.ts'

/** An event that is checked, redacted, hashed and encoded: all that can be done before its place is known. */
export interface PreparedEvent {
  readonly eventId: string
  /** The id was made here just now, so it cannot be in the store yet. */
  readonly fresh: boolean
  readonly eventType: string
  readonly timestamp: string
  readonly origin: Origin
  readonly runtime: string
  readonly correlationId: string
  readonly causationId: string | null
  /** Redacted; null only for an erased payload that arrives by import. */
  readonly payload: JsonObject | null
  readonly text: string
  /** Present when the payload is large enough to be shared in parts. */
  readonly tree: TreeNode | undefined
  readonly salt: string
  readonly payloadHash: string
  /** Keyed digest of the content before redaction, kept where redaction changed it: what sameness is judged by (L4). */
  readonly mac: string | null
  /**
   * The content as it was sent, to compare with what stands under its id: its root, and its keyed digest. Null for a
   * fresh id, which nobody can send again but as it was read back.
   */
  readonly given: { readonly root: string; mac(): string } | null
  /** Encrypted originals of its placeholders, written in the same transaction; null where none are kept. */
  readonly vault: VaultData | null
  /** The place an imported event had and must get again. */
  readonly sealed?: SealedPlace
}

export interface SealedPlace {
  readonly seq: number
  readonly recordedAt: string
  readonly hash: string
  readonly schemaVersion: number
  /** What the erased first event of a fork does not say any more. */
  readonly forkedFrom?: { readonly runId: string; readonly seq: number } | undefined
  /** The state at its checkpoint is no longer kept (R10). */
  readonly pruned?: true | undefined
}

/** One `append`: all of it is written, or nothing. */
export interface AppendCall {
  readonly workspace: string
  readonly events: readonly PreparedEvent[]
  readonly expectedSeq?: number | undefined
  readonly epoch?: number | undefined
}

export type AppendOutcome = { readonly events: readonly ClewEvent[] } | { readonly error: ClewError }

export interface RunKey {
  readonly workspace: string
  readonly runId: string
}

/** A stored event with its payload body still as it lies in the store. */
export interface StoredEvent {
  readonly position: number
  readonly workspace: string
  readonly correlationId: string
  readonly seq: number
  readonly eventId: string
  readonly eventType: string
  readonly timestamp: string
  readonly origin: Origin
  readonly runtime: string
  readonly causationId: string | null
  readonly recordedAt: string
  readonly schemaVersion: number
  readonly payloadHash: string
  readonly hash: string
  /** Null when the payload is not there. */
  readonly body: string | null
  readonly salt: string | null
  /** An erasure covers it (P5), or its state was pruned: that, and only that, is why a payload may be missing. */
  readonly erased: boolean
  /** The state at its checkpoint is no longer kept (R10); its payload is there as long as others are folded from it. */
  readonly pruned: boolean
}

/** A run's row: its summary, its head, and where it was forked from. */
export interface StoredRun {
  readonly summary: RunSummary
  readonly workspace: string
  readonly seq: number
  readonly hash: string
  /** The run that owns the event before this run's first one, and that event's seq. */
  readonly forkOf: { readonly runId: string; readonly seq: number } | null
  /** When its last event was recorded, by the store's own clock. */
  readonly recordedAt: string
}

export interface ReadRunOptions {
  readonly afterSeq: number
  readonly upToSeq?: number | undefined
  readonly limit: number
  readonly types?: readonly string[] | undefined
}

export interface ReadAllOptions {
  readonly workspace?: string | undefined
  readonly afterPosition: number
  /** With it, all that is committed up to there; without, what nothing can come before any more (L3). */
  readonly upToPosition?: number | undefined
  readonly limit: number
  readonly types?: readonly string[] | undefined
}

export interface ListRunsOptions extends ScoreAndTagFilter {
  readonly workspace: string
  /** Books of this kind (`booksOf`); null for runs that are no books; all without it. */
  readonly book?: string | null | undefined
  readonly status?: RunStatus | undefined
  /** Deleted runs too, which are otherwise listed only when `status` asks for them. */
  readonly deleted?: boolean | undefined
  readonly agent?: string | undefined
  /** Runs of this thread; of a list, runs of any of them. */
  readonly threadId?: string | readonly string[] | undefined
  /** Only runs that began at or after this time. */
  readonly since?: string | undefined
  readonly limit: number
  readonly cursor?: string | undefined
}

export interface Lease extends RunKey {
  readonly owner: string
  readonly epoch: number
  readonly threadId: string | null
  readonly heartbeatAt: string
}

/** What a lease's owner is worth: alive, silent for too long, or gone for certain. */
export type OwnerState = 'alive' | 'stale' | 'dead'

/** Which runs somebody who has their agents would go on with. */
export interface ClaimOptions {
  readonly workspace: string
  /** By name; runs of other agents stay where they are. */
  readonly agents: readonly string[]
  /** Runs whose time has come by then. */
  readonly nowMs: number
  readonly limit: number
  /** Ids of runs that are left alone. */
  readonly except?: readonly string[] | undefined
  /** Also runs that are running by their record while nobody holds their lease. Looks at all that run: for now and then. */
  readonly orphans?: boolean | undefined
}

export interface Claimed {
  readonly leases: readonly Lease[]
  /** When the next of these runs is due that is not yet; null when none waits for a time. */
  readonly nextDueMs: number | null
}

export interface AcquireOptions {
  /**
   * Of somebody who works elsewhere and writes through this process: nothing can be proved of it by the life or death
   * of this process, so only its silence counts.
   */
  readonly owner?: string | undefined
  /** Other names under which runs of the same thread may be held. */
  readonly alsoThreads?: readonly string[] | undefined
}

/**
 * Coordination beside the ledger (R9). Taking a lease raises the run's epoch; from then on the run's execution
 * events need that epoch, checked inside the transaction that writes them.
 */
export interface Leases {
  /** Takes a free lease, or one whose owner is dead or stale; `busy` otherwise. One per thread. */
  acquire(key: RunKey, threadId?: string | null, options?: AcquireOptions): Promise<Lease>
  /**
   * Takes leases of runs that wait for being gone on with (`dueMsOf`), those that wait longest first: such as were
   * leased before, where neither the run nor its thread is held by anybody, dead or alive. Each run goes to one of
   * those who claim at once, and none of them waits for another (PostgreSQL: FOR UPDATE SKIP LOCKED).
   */
  claim(options: ClaimOptions): Promise<Claimed>
  /** Tells that the owner lives; `stale_epoch` when the lease was taken over. */
  renew(lease: Lease): Promise<void>
  release(lease: Lease): Promise<void>
  list(): Promise<readonly (Lease & { readonly state: OwnerState })[]>
}

/** Where a consumer of the ledger stands (V9). */
export interface StoredCursor {
  readonly workspace: string
  readonly name: string
  readonly position: number
  /** Raised by every write, so that a position that was set back and reached again is not taken for the old one. */
  readonly version: number
  /** Failures since it last moved, and what the last one said, redacted. */
  readonly failures: number
  readonly error: string | null
  readonly movedAt: string
}

/** Coordination beside the ledger: durable cursors. */
export interface Cursors {
  /** By name. */
  list(workspace: string): Promise<StoredCursor[]>
  /** Writes it if it still has this version, 0 for one that must not exist yet; null when it has another. */
  put(cursor: Omit<StoredCursor, 'version'>, version: number): Promise<StoredCursor | null>
}

/** Which folds made the stored rows, and how far a rebuild by newer ones has come. */
export interface ProjectionState {
  readonly version: number
  readonly rebuilding: { readonly version: number; readonly afterRun: number } | null
}

export interface ProjectionChange {
  /** Where the run must still stand. */
  readonly seq: number
  /** The row of the run; left as it is without one. */
  readonly summary?: RunSummary | undefined
  readonly steps: readonly StepSkeleton[]
  readonly gone: readonly Pick<StepSkeleton, 'stepId' | 'attempt'>[]
}

/** The stored rows of runs and steps can be made again from the events (L1). */
export interface Projections {
  state(): Promise<ProjectionState>
  mark(state: ProjectionState): Promise<void>
  /** Runs of all workspaces in the order in which they began here; `key` is for the next call. */
  runs(after: number, limit: number): Promise<{ readonly key: number; readonly run: StoredRun }[]>
  /** Replaces rows of a run in one transaction; false, and nothing is changed, when the run stands elsewhere. */
  replace(key: RunKey, change: ProjectionChange): Promise<boolean>
}

export interface StoreStats {
  readonly events: number
  readonly runs: number
  readonly values: number
  readonly bytes: number
}

/** Some of a run's steps, by where they began. */
export interface SkeletonRange {
  readonly afterSeq?: number | undefined
  readonly beforeSeq?: number | undefined
  readonly limit?: number | undefined
  /** The last that fit the limit instead of the first; in the order of their start all the same. */
  readonly last?: boolean | undefined
  /** Only attempts of this step. */
  readonly stepId?: string | undefined
}

/** What keeps a ledger. Every implementation passes the conformance suite (L10). */
export interface Store {
  /** Shown to people: `sqlite:./clew.db`. Never holds a password. */
  readonly url: string
  readonly leases: Leases
  readonly cursors: Cursors
  readonly projections: Projections
  readonly search: SearchIndex
  readonly memory: MemoryIndex
  readonly progress: ProgressStore
  readonly retention: StoreRetention
  readonly erasure: Erasing
  readonly vault: VaultRows
  /** One transaction for all calls; a call that is refused leaves no trace and harms no other. */
  write(calls: readonly AppendCall[]): Promise<readonly AppendOutcome[]>
  findRun(key: RunKey): Promise<StoredRun | null>
  /** Newest first. */
  listRuns(options: ListRunsOptions): Promise<{ runs: StoredRun[]; nextCursor: string | null }>
  /** The runs that work for one of these as its children, or were forked from one of them; oldest first. */
  findBelow(workspace: string, runIds: readonly string[]): Promise<StoredRun[]>
  /** Events that the run itself owns, by seq. */
  readRun(key: RunKey, options: ReadRunOptions): Promise<StoredEvent[]>
  /** Events by position; a hole that a writer may still fill ends the batch (L3). */
  readAll(options: ReadAllOptions): Promise<StoredEvent[]>
  findEvents(workspace: string, eventId: string): Promise<StoredEvent[]>
  /** Events caused by any of these. */
  findCaused(workspace: string, eventIds: readonly string[]): Promise<StoredEvent[]>
  readNodes(ids: readonly number[]): Promise<ReadonlyMap<number, StoredNode>>
  /** Steps of the run itself, in the order of their start: all of them, or those of a range. */
  readSkeleton(key: RunKey, range?: SkeletonRange): Promise<StepSkeleton[]>
  workspaces(): Promise<string[]>
  stats(): Promise<StoreStats>
  /** Position of the newest event that followers are told of, 0 when there is none. */
  lastPosition(): Promise<number>
  /** Position of the newest event that is committed. */
  newestPosition(): Promise<number>
  /** How many events lie after a position, also such as `readAll` holds back; about how many where they are very many. */
  countAfter(position: number): Promise<number>
  /** Calls `wake` after commits by anyone; carries no data, and a missed one only makes a reader late (L7). */
  watch(wake: () => void): () => void
  close(): Promise<void>
}

import type { Origin } from '../event/envelope.ts'
import type { RunStatus, RunSummary } from '../fold/run-summary.ts'
import type { ScoreAndTagFilter } from '../fold/scores-and-tags.ts'
import type { StepSkeleton } from '../fold/steps.ts'
import type { MemoryIndex } from '../memory/memory-index.ts'
import type { ProgressStore } from '../progress/progress.ts'
import type { SearchIndex } from '../search/search-index.ts'
import type { StoreChange, PruneMarker, Written } from './change.ts'
import type { Disk, StoragePart } from './disk.ts'
import type { Leases } from './leases.ts'
import type { RawRows } from './raw-rows.ts'
import type { Slots } from './slots.ts'
import type { Values } from './values.ts'
import type { VaultQuery, VaultRow } from '../vault/vault-rows.ts'

export interface RunKey {
  readonly workspace: string
  readonly runId: string
}

/** A stored event; its payload is still the body that the store holds. */
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
  /** Null if the payload is not there. */
  readonly body: string | null
  readonly salt: string | null
  /** An erasure covers it (P5), or its state was pruned: the only two reasons why a payload may be missing. */
  readonly erased: boolean
  /** The state at its checkpoint is no longer kept (R10); its payload stays as long as later states are folded from it. */
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
  /** Bytes of its payloads and its share of the values of its scope, if the query asked for it. */
  readonly bytes?: number
  /** Its pruned ranges by seq, if the query asked for them. */
  readonly pruned?: readonly PruneMarker[]
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
  /** With it, all that is committed up to there; without, only events that no later commit can precede (L3). */
  readonly upToPosition?: number | undefined
  readonly limit: number
  readonly types?: readonly string[] | undefined
  /** Only events whose stored body contains one of these texts, and all whose payload is stored in parts. */
  readonly containing?: readonly string[] | undefined
}

/** Events of one workspace: with one of these ids, caused by one of these events, or at these positions. */
export type EventQuery = { readonly workspace: string } & (
  | { readonly ids: readonly string[] }
  | { readonly causes: readonly string[] }
  | { readonly positions: readonly number[] }
)

/** Which runs; every condition that is given must hold. */
export interface RunQuery extends ScoreAndTagFilter {
  /** Runs of all workspaces without it. */
  readonly workspace?: string | undefined
  readonly ids?: readonly string[] | undefined
  /** Child runs and forks of any of these. */
  readonly below?: readonly string[] | undefined
  /** Runs about any of these subjects. */
  readonly subjects?: readonly string[] | undefined
  /** System runs of this kind (`systemRunRange`); null for all other runs. */
  readonly systemRun?: string | null | undefined
  readonly status?: RunStatus | undefined
  /** Includes deleted runs, which are otherwise found only by `status`. */
  readonly deleted?: boolean | undefined
  /** Only runs that still own events. */
  readonly hasEvents?: boolean | undefined
  readonly agent?: string | undefined
  /** Runs of any of these threads. */
  readonly threadIds?: readonly string[] | undefined
  /** Only runs that began at or after this time. */
  readonly since?: string | undefined
  /** Order of the runs' first commits in this store; newest first by default. */
  readonly order?: 'newest' | 'oldest' | undefined
  readonly limit?: number | undefined
  /** `next` of the page before. */
  readonly cursor?: string | undefined
  /** Parts to read beside the summary. */
  readonly with?: readonly ('bytes' | 'pruned')[] | undefined
}

export interface RunPage {
  readonly runs: readonly StoredRun[]
  /** Cursor of the next page; null if this was the last. */
  readonly next: string | null
}

/** Steps of a run, by where they began. */
export interface SkeletonRange {
  readonly afterSeq?: number | undefined
  readonly beforeSeq?: number | undefined
  readonly limit?: number | undefined
  /** The last steps that fit the limit instead of the first; still in the order of their start. */
  readonly last?: boolean | undefined
  /** Only attempts of this step. */
  readonly stepId?: string | undefined
}

export interface StoreStats {
  readonly events: number
  readonly runs: number
  readonly values: number
  readonly bytes: number
}

/** Facts about the whole store, all workspaces together. */
export interface StoreInfo {
  /** Position of the newest event that followers are shown; 0 if there is none. */
  readonly lastPosition: number
  /** Position of the newest committed event. */
  readonly newestPosition: number
  readonly workspaces: readonly string[]
  readonly stats: StoreStats
  /** Size on disk (or in memory), part by part, with the files next to the ledger. */
  readonly storage: readonly StoragePart[]
  /** How many events all pruned ranges cover. */
  readonly prunedEvents: number
  /** Ids of all keys that vault rows are encrypted with, sorted. */
  readonly vaultKeys: readonly string[]
}

/** The part of a store that every implementation provides. `withDefaults` adds the indexes. */
export interface StoreCore {
  /** Shown to people: `sqlite:./clew.db`. Never holds a password. */
  readonly url: string
  /** One transaction (`applyChange`). */
  write(change: StoreChange): Promise<Written>
  /** Events that the run itself owns, by seq. */
  readRun(key: RunKey, options: ReadRunOptions): Promise<StoredEvent[]>
  /** Events by position; a hole that a writer may still fill ends the batch (L3). */
  readAll(options: ReadAllOptions): Promise<StoredEvent[]>
  /** How many events lie after a position, also such as `readAll` holds back; approximate if they are very many. */
  countAfter(position: number): Promise<number>
  /** In order of position. */
  findEvents(query: EventQuery): Promise<StoredEvent[]>
  findRuns(query: RunQuery): Promise<RunPage>
  /** Steps that the run itself owns, in the order of their start. */
  readSteps(key: RunKey, range?: SkeletonRange): Promise<StepSkeleton[]>
  /** Rows of the vault, by position. */
  readVault(query: VaultQuery): Promise<readonly VaultRow[]>
  info<K extends keyof StoreInfo>(...keys: readonly K[]): Promise<Pick<StoreInfo, K>>
  /** Calls `wake` after commits by anyone. It carries no data; a missed call only makes a reader late (L7). */
  watch(wake: () => void): () => void
  close(): Promise<void>
  readonly values: Values
  readonly leases: Leases
  readonly slots: Slots
  readonly disk: Disk
  readonly rows: RawRows
}

/** Every implementation passes the conformance suite (L10). */
export interface Store extends StoreCore {
  readonly search: SearchIndex
  readonly memory: MemoryIndex
  readonly progress: ProgressStore
}

import type { ClewEvent, Origin } from '../event/envelope.ts'
import type { ClewError } from '../errors.ts'
import type { RunSummary } from '../fold/run-summary.ts'
import type { StepSkeleton } from '../fold/steps.ts'
import type { JsonObject } from '../json.ts'
import type { RunKey } from './store.ts'
import type { TreeNode } from '../hash/tree.ts'
import type { VaultChange, VaultData } from '../vault/vault-rows.ts'

/** An event that is checked, redacted, hashed and encoded: all that can be done before its seq is known. */
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
  /** Keyed digest of the content before redaction, if redaction changed it: a retry is compared by it (L4). */
  readonly mac: string | null
  /** Root and keyed digest of the content as it was sent, to compare with the stored event of the same id. Null for a fresh id. */
  readonly given: { readonly root: string; mac(): string } | null
  /** Encrypted originals of its placeholders, written in the same transaction; null if none are kept. */
  readonly vault: VaultData | null
  /** The fields an imported event had and must have again. */
  readonly sealed?: ImportedFields
}

export interface ImportedFields {
  readonly seq: number
  readonly recordedAt: string
  readonly hash: string
  readonly schemaVersion: number
  /** Source of a fork whose first event was erased. */
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

/** A pruned range of a run (P4): its events are deleted, and the chain continues from the hash of the last of them. */
export interface PruneMarker {
  readonly fromSeq: number
  readonly toSeq: number
  readonly headHash: string
}

/** Conditions on a run. If one no longer holds, the run is reported as moved and nothing is written. */
export interface Expectation extends RunKey {
  readonly seq?: number | undefined
  /** How many forks the run has. */
  readonly forks?: number | undefined
}

/** Events that lose their payload, salt, digest, vault row and row in the memory index. */
export interface Blank {
  readonly positions: readonly number[]
  /** Erased (P5), or states that are no longer kept (R10). */
  readonly as: 'erased' | 'pruned'
  /** Only marks the events: later states are folded from their payloads. */
  readonly keepPayloads?: boolean | undefined
}

/** A range to prune, with its steps. Refused if the run is leased, not prunable, or a fork needs the range. */
export interface PruneItem extends RunKey, PruneMarker {
  /** Seq that the run must still have. */
  readonly seq: number
  /** Deletes the run itself: its row stays with the status `deleted`, so that its id cannot be used again. */
  readonly deletes: boolean
}

/** Row of an imported run whose first events are pruned. */
export interface AdoptedRun {
  readonly summary: RunSummary
  readonly forkOf: { readonly runId: string; readonly seq: number } | null
  readonly recordedAt: string
}

/** A pruned range that comes by import: the run must end right before it, or begins with it. */
export interface Adoption extends RunKey, PruneMarker {
  readonly run: AdoptedRun
}

/** Rows of a run that are replaced by what its events fold to. */
export interface RowChange extends RunKey {
  /** The run's row; not changed if not given. */
  readonly summary?: RunSummary | undefined
  readonly steps: readonly StepSkeleton[]
  readonly gone: readonly Pick<StepSkeleton, 'stepId' | 'attempt'>[]
}

/**
 * All that one transaction does (`applyChange`). Calls alone are independent: a refused one leaves no trace and harms
 * no other. With other parts there is at most one call, and all of it is written or nothing.
 */
export interface StoreChange {
  readonly calls: readonly AppendCall[]
  readonly expect?: readonly Expectation[] | undefined
  readonly blank?: readonly Blank[] | undefined
  readonly prune?: readonly PruneItem[] | undefined
  readonly adopt?: readonly Adoption[] | undefined
  readonly replace?: readonly RowChange[] | undefined
  /** Vault rows that are replaced if they are still as given. */
  readonly vault?: readonly VaultChange[] | undefined
}

export type Applied =
  /** One outcome per call. */
  | { readonly outcomes: readonly AppendOutcome[] }
  /** Ids of runs that are not as expected: nothing was written. */
  | { readonly moved: readonly string[] }

/** `tookMs`: how long other writers had to wait for the transaction. */
export type Written = Applied & { readonly tookMs: number }

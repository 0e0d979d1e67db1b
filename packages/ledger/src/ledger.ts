import type { Codec } from './codecs.ts'
import type { ClewEvent, EventInput } from './envelope.ts'
import type { RunStatus, RunSummary } from './fold/run-summary.ts'
import type { RunState } from './fold/state.ts'
import type { StepRecord, StepSkeleton } from './fold/steps.ts'
import type { HeadSigner, SignedHeads } from './heads.ts'
import type { ImportOptions, ImportReport } from './import.ts'
import type { RedactOptions, Redactor } from './redact/redact.ts'
import type { Leases, StoreStats } from './store.ts'
import type { Verification } from './verify.ts'

export interface LedgerOptions {
  /** Workspaces never mix: a ledger object reads and writes one of them. Default `default`. */
  readonly workspace?: string | undefined
  /** What is taken out before anything is stored; `false` switches redaction off. Default: secrets. */
  readonly redact?: RedactOptions | false | undefined
  /** How values that JSON lacks travel. */
  readonly codecs?: readonly Codec[] | undefined
}

export interface AppendOptions {
  /** Append only if the run's last seq is this; 0 for a run that must not exist yet. */
  readonly expectedSeq?: number | undefined
  /** Epoch of the lease under which this is written. */
  readonly epoch?: number | undefined
}

export interface ReadOptions {
  readonly afterSeq?: number | undefined
  readonly limit?: number | undefined
  readonly types?: readonly string[] | undefined
}

export interface FollowOptions {
  readonly runId?: string | undefined
  readonly afterPosition?: number | undefined
  readonly types?: readonly string[] | undefined
  readonly signal?: AbortSignal | undefined
}

export interface RunFilter {
  readonly status?: RunStatus | undefined
  readonly agent?: string | undefined
  readonly threadId?: string | undefined
  readonly since?: string | Date | undefined
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}

export interface VerifyOptions {
  /** Heads that were signed earlier and kept elsewhere. */
  readonly heads?: SignedHeads | undefined
  /** The key the heads must be signed with; without it, the key they name is believed. */
  readonly publicKey?: string | undefined
  /** Compare the stored projections with a rebuild. */
  readonly projections?: boolean | undefined
  readonly onProgress?: ((checked: number) => void) | undefined
}

export interface ExportOptions {
  readonly runId?: string | undefined
  readonly onProgress?: ((events: number) => void) | undefined
}

/** One append-only record of what really happened, seen from one workspace. */
export interface Ledger {
  readonly url: string
  readonly workspace: string
  readonly leases: Leases
  /** What is taken out before anything is stored: for text that goes elsewhere, such as live progress (T4). */
  readonly redactor: Redactor
  /** Resolves when the event is committed. */
  record(event: EventInput): Promise<ClewEvent>
  /** All of them or none, in this order. */
  append(events: readonly EventInput[], options?: AppendOptions): Promise<readonly ClewEvent[]>
  /** A run from its first event; in a fork this is the shared prefix, then its own events. */
  read(runId: string, options?: ReadOptions): AsyncGenerator<ClewEvent>
  /** History, then live, without a gap or a repeat; ends when the signal aborts or the ledger closes. */
  follow(options?: FollowOptions): AsyncGenerator<ClewEvent>
  getEvent(eventId: string): Promise<ClewEvent | null>
  getRun(runId: string): Promise<RunSummary | null>
  /** Newest first. */
  listRuns(filter?: RunFilter): Promise<{ runs: RunSummary[]; nextCursor: string | null }>
  getSteps(runId: string): Promise<StepRecord[]>
  /** The run's own steps without what they gave back: one stored read, whatever their size. */
  getSkeleton(runId: string): Promise<StepSkeleton[]>
  getState(runId: string, options?: { superstep?: number | undefined }): Promise<RunState | null>
  /** The events that led to this one, nearest first; stops where a cause has not arrived. */
  causes(eventId: string): Promise<ClewEvent[]>
  /** The events that this one led to, breadth first. */
  effects(eventId: string): Promise<ClewEvent[]>
  /** Runs `fn` so that events recorded inside it, across awaits, name this event as their cause. */
  causedBy<T>(event: ClewEvent | string, fn: () => T): T
  verify(runId?: string, options?: VerifyOptions): Promise<Verification>
  /** Where every run of the workspace stands now, signed; keep it away from this machine. */
  signHeads(signer: HeadSigner): Promise<SignedHeads>
  export(options?: ExportOptions): AsyncGenerator<string>
  import(
    stream: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>,
    options?: ImportOptions,
  ): Promise<ImportReport>
  stats(): Promise<StoreStats>
  /** Place of the newest event in the whole ledger, 0 when there is none: follow from here to see only what comes. */
  lastPosition(): Promise<number>
  /** Appends that wait for their commit. */
  readonly waiting: number
  close(): Promise<void>
}

import type { CostFilter } from './billing/read-cost.ts'
import type { ForeignType, OwnEventType, RecordInput } from './catalogue/catalogue.ts'
import type { Codec } from './event/codecs.ts'
import type { ConsumeHandler, ConsumeOptions, ConsumerState } from './read/consume.ts'
import type { DiffOptions, RunDiff } from './diff/diff-runs.ts'
import type { ClewEvent, EventInput } from './event/envelope.ts'
import type { EraseOptions, EraseReport, EraseTarget } from './erasure/erase-types.ts'
import type { ExplainOptions, Explanation } from './read/explain.ts'
import type { CostReport } from './fold/cost.ts'
import type { RunStatus, RunSummary } from './fold/run-summary.ts'
import type { RunValues } from './read/read-run-values.ts'
import type { ScoreAndTagFilter } from './fold/scores-and-tags.ts'
import type { RunState } from './fold/state.ts'
import type { StepRecord, StepSkeleton } from './fold/steps.ts'
import type { HeadSigner, SignedHeads } from './verify/heads.ts'
import type { Identity } from './event/identity.ts'
import type { ImportOptions, ImportReport } from './transfer/import.ts'
import type { PolicyAccess } from './policy/workspace-policy.ts'
import type { Progress } from './progress/progress.ts'
import type { CheckpointReference } from './read/read-state.ts'
import type { LedgerMemory } from './memory/ledger-memory.ts'
import type { MemoryPolicy } from './memory/policy.ts'
import type { RebuildOptions, RebuildReport } from './projections/rebuild.ts'
import type { RedactOptions, Redactor } from './redact/redact.ts'
import type { SearchOptions, SearchResult } from './search/search.ts'
import type { RunViews } from './read/run-views.ts'
import type { GcOptions, GcReport } from './retention/gc.ts'
import type { StatePolicy } from './retention/plan-states.ts'
import type { Hold, HoldOptions, HoldTarget } from './retention/holds.ts'
import type { RetentionPolicyInput } from './retention/policy.ts'
import type { PrunedRange } from './retention/pruned.ts'
import type { RetentionReport } from './retention/report.ts'
import type { SkeletonRange, StoreStats } from './store/store.ts'
import type { Leases } from './store/leases.ts'
import type { RotateOptions, VaultRotation } from './vault/rotate-vault.ts'
import type { Verification } from './verify/verify.ts'

/** R11: what may be done with a ledger, switched one by one. Reading history always works. */
export interface LedgerMode {
  readonly write: boolean
  readonly resume: boolean
  readonly replay: boolean
}

/** R10: what a run waits for before it goes on. The ledger only keeps it for those who run agents. */
export const DURABILITIES = ['sync', 'group', 'async'] as const
export type Durability = (typeof DURABILITIES)[number]

export interface LedgerOptions {
  /** Workspaces never mix: a ledger object reads and writes one of them. Default `default`. */
  readonly workspace?: string | undefined
  /** Redaction before storing; `false` switches it off. Default: secrets. */
  readonly redact?: RedactOptions | false | undefined
  /** How values that JSON lacks travel. */
  readonly codecs?: readonly Codec[] | undefined
  /** Switches; by default everything is on. */
  readonly mode?: Partial<LedgerMode> | undefined
  /** Durability of runs whose agent or graph does not set it. Default `group`. */
  readonly durability?: Durability | undefined
  /** Retention policy of `gc` (R10); without it nothing is deleted. */
  readonly retention?: RetentionPolicyInput | undefined
  /** Promotion rules and retention of the memory layers. */
  readonly memory?: MemoryPolicy | undefined
}

export interface AppendOptions {
  /** Append only if the run's last seq is this; 0 for a run that must not exist yet. */
  readonly expectedSeq?: number | undefined
  /** Epoch of the lease under which this is written. */
  readonly epoch?: number | undefined
  /** Step ids are kept as they are: who writes them made them of `identity`, or has them from the record. */
  readonly keepStepIds?: boolean | undefined
  /**
   * Commits without waiting for a turn of the event loop, for a caller that goes on without waiting and may never yield.
   * Calls of one turn then share fewer transactions.
   */
  readonly eager?: boolean | undefined
}

export interface ReadOptions {
  readonly afterSeq?: number | undefined
  readonly limit?: number | undefined
  readonly types?: readonly string[] | undefined
  /**
   * Secrets from the vault in place of their placeholders, as far as it has them: for code that goes on with a run, never
   * for what is shown, logged or sent. Without a vault it changes nothing.
   */
  readonly restored?: boolean | undefined
}

export interface FollowOptions {
  /** `false`: ends where the ledger ends now, instead of waiting for what comes. */
  readonly live?: boolean | undefined
  readonly runId?: string | undefined
  readonly afterPosition?: number | undefined
  readonly types?: readonly string[] | undefined
  readonly signal?: AbortSignal | undefined
}

export interface RunFilter extends ScoreAndTagFilter {
  /**
   * A query such as `status:failed customer:acme duration:>30s error:"rate limit" sort:-tokens`, beside the other
   * conditions. A page may be shorter than its limit although `nextCursor` says that more follows.
   */
  readonly q?: string | undefined
  /** System runs of this kind, which other listings omit: `stream` for `clew:stream/…`. */
  readonly systemRun?: string | undefined
  readonly status?: RunStatus | undefined
  readonly agent?: string | undefined
  /** The thread as it was named when its runs were started, or one of several names. */
  readonly threadId?: string | readonly string[] | undefined
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

export interface IndexOptions {
  /** Make it from nothing, whatever is there. */
  readonly rebuild?: boolean | undefined
  /** Go on with what comes, until the signal aborts or the ledger closes. */
  readonly follow?: boolean | undefined
  readonly signal?: AbortSignal | undefined
  /** Called with the position up to which events are imported. */
  readonly onProgress?: ((position: number) => void) | undefined
}

export interface IndexReport {
  /** Everything up to here can be found. */
  readonly position: number
  /** Events of the ledger that it does not know yet. */
  readonly lag: number
  /** False: another version of Clew made it, and it is made again before it is next brought on. */
  readonly isCurrent: boolean
}

export interface ProjectionReport {
  /** Version of the folds that made the stored rows, and the one that this Clew has. */
  readonly version: number
  readonly current: number
  /** A rebuild was begun and is not at its end. */
  readonly isRebuilding: boolean
}

export interface ExportOptions {
  /** Only this run, with all that it stands on: child runs, what it was forked from, turns whose state it continues. */
  readonly runId?: string | undefined
  /** Take out what this ledger's rules take out today; what that changes gets hashes of its own. */
  readonly redacted?: boolean | undefined
  readonly onProgress?: ((events: number) => void) | undefined
}

/** One append-only record of what really happened, seen from one workspace. */
export interface Ledger extends RunViews, PolicyAccess {
  readonly url: string
  readonly workspace: string
  /**
   * The same store seen from another workspace: no second connection, and options as here. Closing such a view ends
   * what was begun through it; closing the ledger that was opened ends all its views. With `plain`, values go in and
   * come out as the JSON that is stored, those that JSON lacks as their tags: for who passes them on (E1).
   */
  in(workspace: string, options?: { readonly plain?: boolean | undefined }): Ledger
  readonly leases: Leases
  /** Text of running steps (T4), beside the ledger. */
  readonly progress: Progress
  readonly mode: LedgerMode
  readonly durability: Durability
  /** The ledger's redaction, for text that is sent elsewhere, such as live progress (T4). */
  readonly redactor: Redactor
  /** P2: the keyed hash in the placeholder of this text: shows whether a text is the one that was redacted. */
  fingerprint(secret: string): string
  /** Whether originals of redacted secrets are kept, so that `restored` reads give them back. */
  readonly hasVault: boolean
  /** The value as a report may show it: without texts that hold a secret, or a part of one, that was restored here (P3). */
  conceal<Value>(value: Value): Value
  /** Memory of agents: items of a run, a thread, a workspace, an agent or a user (section 8). */
  readonly memory: LedgerMemory
  /**
   * Resolves when the event is committed. Takes own types with their payloads; a type of your own is given as
   * `foreignType('execution.x')`. `append` takes any name.
   */
  record<T extends OwnEventType | ForeignType>(event: RecordInput<T>): Promise<ClewEvent>
  /** All of them or none, in this order. */
  append(events: readonly EventInput[], options?: AppendOptions): Promise<readonly ClewEvent[]>
  /** The same for events as they travel (E1): names as in JSON, values that JSON lacks tagged; a place they bring is not theirs. */
  appendWire(events: readonly unknown[], options?: AppendOptions): Promise<readonly ClewEvent[]>
  /** A run from its first event; in a fork this is the shared prefix, then its own events. */
  read(runId: string, options?: ReadOptions): AsyncGenerator<ClewEvent>
  /** History, then live, without a gap or a repeat; ends when the signal aborts or the ledger closes. */
  follow(options?: FollowOptions): AsyncGenerator<ClewEvent>
  getEvent(eventId: string): Promise<ClewEvent | null>
  getRun(runId: string, options?: { readonly values?: false | undefined }): Promise<RunSummary | null>
  /** With its input and its output, which a summary leaves out since they may be large. */
  getRun(runId: string, options: { readonly values: true }): Promise<(RunSummary & RunValues) | null>
  /** Newest first. */
  listRuns(filter?: RunFilter): Promise<{ runs: RunSummary[]; nextCursor: string | null }>
  /** The child runs of these, and the runs that were forked from them; oldest first, however many. */
  findBelow(runIds: readonly string[]): Promise<RunSummary[]>
  getSteps(runId: string): Promise<StepRecord[]>
  /**
   * The run's own steps without their output, in the order in which their starts were recorded; `sortExportedSteps` orders
   * those of an exported run. One stored read; a range reads no more than it returns.
   */
  getSkeleton(runId: string, range?: SkeletonRange): Promise<StepSkeleton[]>
  /** The latest state, or the one at a superstep. Frozen, for its parts are shared. Costs what the state is large. */
  getState(
    runId: string,
    options?: { superstep?: number | undefined; restored?: boolean | undefined },
  ): Promise<RunState | null>
  /** The state at the checkpoint that the event at `seq` carries; null when it carries none. Frozen. */
  getStateAt(
    runId: string,
    seq: number,
    /** `pruned`: also one that is no longer kept (R10), as long as others are folded from it. */
    options?: { readonly pruned?: boolean; readonly restored?: boolean },
  ): Promise<RunState | null>
  /** The checkpoints of a run, in a fork those of its source first, oldest first, without their states. */
  listCheckpoints(runId: string): AsyncGenerator<CheckpointReference>
  /** sha256 of the canonical text of a value as it would be stored: encoded, then redacted. */
  digest(value: unknown): string
  /**
   * The value as a reader of the record gets it, before redaction: encoded and decoded, without properties that are
   * undefined, and sharing nothing with what was given. Refuses what cannot be stored, with `bad_value`.
   */
  recordedCopy<T>(value: T): T
  /** Digest of a value as given, before redaction, keyed with the ledger's secret: the same whatever the rules are. */
  keyedDigest(value: unknown): string
  /** How a name (of a thread, a subject, a step, what is remembered) is recorded, and what the record may have for it. */
  identity(name: string): Identity
  /** The events that led to this one, nearest first; stops where a cause has not arrived. */
  causes(eventId: string): Promise<ClewEvent[]>
  /** The events that this one led to, breadth first. */
  effects(eventId: string, options?: Pick<ReadOptions, 'restored'>): Promise<ClewEvent[]>
  /** Tokens and money (V7): the calls of one run, or of all runs that fit. */
  cost(filter?: CostFilter): Promise<CostReport>
  /** Two runs side by side (V10): the first as expected, the second as received. */
  diff(runA: string, runB: string, options?: DiffOptions): Promise<RunDiff>
  /** The failed or last step, what led there, and what the last good run of the agent did differently. */
  explain(runId: string, options?: ExplainOptions): Promise<Explanation>
  /** Runs `fn` so that events recorded inside it, across awaits, name this event as their cause. */
  causedBy<T>(event: ClewEvent | string, fn: () => T): T
  /** Id of the event in whose async context the caller stands, and so inside which run. */
  currentCause(): string | undefined
  /**
   * V9. Hands events to the handler in their order, at least once each, and remembers how far it came under this
   * name: a batch counts when the handler resolved. Settles when the signal aborts or the ledger closes.
   */
  consume(name: string, handler: ConsumeHandler, options?: ConsumeOptions): Promise<void>
  /** Cursors of all consumers of the workspace. */
  consumers(): Promise<ConsumerState[]>
  /** Everything after this position comes to the consumer again. */
  resetConsumer(name: string, position: number): Promise<void>
  /** Runs whose events fit, best and newest first. Brings the index on for a moment before; `lag` is what it lacks. */
  search(query: string, options?: SearchOptions): Promise<SearchResult>
  /** Brings the search index to the newest event. */
  index(options?: IndexOptions): Promise<IndexReport>
  indexState(): Promise<IndexReport>
  /**
   * P5: makes payloads of a subject, a run or an event go for good, while the chain still verifies. By subject it takes
   * forks, child runs and memory along; what a legal hold covers stays. Runs that can still go on must be stopped first.
   */
  erase(target: EraseTarget, options?: EraseOptions): Promise<EraseReport>
  /**
   * P4: deletes what the retention policy no longer keeps and no other run depends on; each range leaves a prune
   * marker. The policy is the one given here, or that of `openLedger`, or that of the workspace (`setPolicy`).
   */
  gc(options?: GcOptions): Promise<GcReport>
  /** R10: size, growth, what goes and what stays, and a policy that would fit. Changes nothing. */
  retentionReport(): Promise<RetentionReport>
  /**
   * R10: deletes the states that the policy no longer keeps, of all checkpoints in the thread of this run, and
   * returns how many. Their events stay. The newest state, and states that unfinished runs, forks and holds need,
   * stay too.
   */
  pruneStates(runId: string, policy: StatePolicy): Promise<number>
  /** P4: a legal hold. As long as it stands, neither `gc` nor `erase` takes anything of what it covers. */
  hold(target: HoldTarget, options?: HoldOptions): Promise<Hold>
  release(holdId: string, options?: HoldOptions): Promise<Hold>
  /** Holds in force, oldest first. */
  holds(): Promise<readonly Hold[]>
  /** Which ranges of a run retention took. */
  pruned(runId: string): Promise<readonly PrunedRange[]>
  /** Makes the stored rows of runs and steps again from the events. */
  rebuild(options?: RebuildOptions): Promise<RebuildReport>
  projectionState(): Promise<ProjectionReport>
  /**
   * Encrypts all rows of the vault with a new key: one that is made now where keys are files beside the store, else the
   * current one that `openLedger` was given. After a kill it is simply called again.
   */
  rotateVault(options?: RotateOptions): Promise<VaultRotation>
  verify(runId?: string, options?: VerifyOptions): Promise<Verification>
  /** Signed heads of all runs of the workspace. Keep the copy on another machine. */
  signHeads(signer: HeadSigner): Promise<SignedHeads>
  export(options?: ExportOptions): AsyncGenerator<string>
  import(
    stream: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>,
    options?: ImportOptions,
  ): Promise<ImportReport>
  stats(): Promise<StoreStats>
  /** Place of the newest event in the whole ledger, 0 when there is none: follow from here to see only what comes. */
  lastPosition(): Promise<number>
  /**
   * Position of the newest committed event. Greater than `lastPosition` while an older transaction is open, since
   * that one may still commit events with smaller positions.
   */
  newestPosition(): Promise<number>
  /** Calls `wake` after commits by anyone, until what it gives back is called. It carries no data, and a missed one only makes late (L7). */
  watch(wake: () => void): () => void
  /** Appends that wait for their commit. */
  readonly waiting: number
  close(): Promise<void>
}

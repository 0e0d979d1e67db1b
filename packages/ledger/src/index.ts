export { canonicalText, inputDigest } from './canonical.ts'
export {
  isOwnEventType,
  needsEpoch,
  OWN_EVENT_TYPES,
  type OwnEventType,
  type PayloadOf,
  payloadSchemas,
  type Primitive,
  PRIMITIVES,
  primitiveOf,
  type StateOperation,
} from './catalogue.ts'
export {
  type ChainedEvent,
  type ChainedPlace,
  chainHash,
  GENESIS,
  payloadHash,
  SCHEMA_VERSION,
} from './chain.ts'
export { type CloudEvent, fromCloudEvent, toCloudEvent } from './cloud-events.ts'
export type { Codec } from './codecs.ts'
export { commitCalls } from './commit.ts'
export { createLedger, type LedgerParts } from './create-ledger.ts'
export type { ClewEvent, Envelope, EventInput, Origin, Payload, Place, Source } from './envelope.ts'
export { parseCursor } from './cursor.ts'
export { ClewError, type ErrorCode, type ErrorFields } from './errors.ts'
export {
  beginRun,
  foldRun,
  isTerminal,
  type Pause,
  RUN_STATUSES,
  type RunError,
  type RunStatus,
  type RunSummary,
} from './fold/run-summary.ts'
export { applyOperation, foldState, type RunState } from './fold/state.ts'
export { foldStep, foldSteps, type StepRecord, type StepSkeleton, type StepStatus } from './fold/steps.ts'
export {
  type Head,
  type HeadChecker,
  type HeadSigner,
  headsText,
  parseSignedHeads,
  type SignedHeads,
} from './heads.ts'
export { createIds, deriveId, isUuid } from './ids.ts'
export type { ImportOptions, ImportReport } from './import.ts'
export type { JsonObject, JsonValue } from './json.ts'
export {
  type AppendOptions,
  type ExportOptions,
  type FollowOptions,
  type Ledger,
  type LedgerOptions,
  type ReadOptions,
  type RunFilter,
  type VerifyOptions,
} from './ledger.ts'
export { busyLease, LEASE_STALE_MS, lostLease } from './memory-leases.ts'
export { createMemoryStore } from './memory-store.ts'
export type { AsyncContext, Ports } from './ports.ts'
export { projectRun } from './projections.ts'
export { findPlaceholders, isPlaceholder } from './redact/placeholder.ts'
export { createRedactor, type RedactionRule, type Redactor, type RedactOptions } from './redact/redact.ts'
export type { RedactionStream } from './redact/stream.ts'
export { formatStepId, parseStepId, type StepIdentity } from './step-id.ts'
export type {
  AppendCall,
  AppendOutcome,
  Lease,
  Leases,
  ListRunsOptions,
  OwnerState,
  PreparedEvent,
  ReadAllOptions,
  ReadRunOptions,
  RunKey,
  Store,
  StoredEvent,
  StoredRun,
  StoreStats,
} from './store.ts'
export type { EventPlace, NewRun, RunDraft, Transaction } from './transaction.ts'
export type { StoredNode } from './tree.ts'
export { type Upcast, upcastEvent } from './upcast.ts'
export type { Problem, ProblemKind, Verification } from './verify.ts'
export { wakeAll } from './wake.ts'
export { fromWire, toWire, type WireEnvelope, type WireEvent, type WirePlace } from './wire.ts'

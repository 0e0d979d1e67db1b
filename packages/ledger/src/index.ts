export { AUDIT_RUN_ID, auditEvent, type AuditType, recordAudit } from './append/audit-run.ts'
export { SYSTEM_RUNS, systemRunId, systemRunRange, type IdRange, isSystemRun } from './event/system-run.ts'
export { type Cost, type Price } from './billing/cost.ts'
export { countUsage } from './billing/count-usage.ts'
export { roundAmount } from './billing/money.ts'
export type { CostFilter } from './billing/read-cost.ts'
export { normaliseUsage, type Usage } from './billing/usage.ts'
export { canonicalText, inputDigest } from './hash/canonical.ts'
export { fitsRecorded, type FitOptions } from './diff/fits-recorded.ts'
export type { Identity } from './event/identity.ts'
export {
  asErasable,
  asOwn,
  type ErasableEvent,
  type EventOf,
  type FieldsOf,
  foreignType,
  type ForeignType,
  assertPayload,
  isOwn,
  isOwnEventType,
  needsEpoch,
  OWN_EVENT_TYPES,
  type OwnEvent,
  type OwnEventType,
  type PayloadOf,
  payloadSchemas,
  primitiveOf,
  type RecordInput,
  type StateOperation,
} from './catalogue/catalogue.ts'
export { isUnstarted, joinSubmission, readBeginning } from './event/join-submission.ts'
export { type Primitive, PRIMITIVES } from './catalogue/primitive.ts'
export {
  type ChainedEvent,
  type ChainedPlace,
  chainHash,
  GENESIS,
  payloadHash,
  SCHEMA_VERSION,
} from './hash/chain.ts'
export type { Held, SignalCounts, SignalWait } from './fold/signals.ts'
export { type CloudEvent, fromCloudEvent, toCloudEvent } from './event/cloud-events.ts'
export { type Codec, type Codecs, createCodecs } from './event/codecs.ts'
export { toWireInputs } from './append/to-wire-inputs.ts'
export { project } from './store/commit.ts'
export type { ConsumeHandler, ConsumeOptions, ConsumerState } from './read/consume.ts'
export { createLedger } from './create-ledger.ts'
export type { LedgerParts } from './ledger-context.ts'
export { type Change, findChanges } from './diff/changes.ts'
export type { DiffRow, Divergence, DivergenceKind, ItemReference } from './diff/compare.ts'
export type { Delta, DiffOptions, DiffSide, RunDiff } from './diff/diff-runs.ts'
export type {
  ClewEvent,
  Envelope,
  EventInput,
  Origin,
  Payload,
  LedgerFields,
  Source,
} from './event/envelope.ts'
export { isRunId, MAX_RUN_ID_CHARS } from './event/envelope.ts'
export { parseCursor } from './read/cursor.ts'
export { readInherited } from './read/read-inherited.ts'
export { type ReadSignals, readSignals, type SignalEvent } from './read/read-signals.ts'
export { checkCertificate } from './erasure/certificate.ts'
export type {
  EraseOptions,
  EraseReport,
  EraseTarget,
  ErasureCertificate,
  KeptPart,
} from './erasure/erase-types.ts'
export { ClewError, type ErrorCode, type ErrorFields } from './errors.ts'
export {
  type AuditAction,
  type AuditEntry,
  auditFold,
  type AuditState,
  type AuditTrail,
  type Safety,
} from './fold/audit.ts'
export {
  matchesScoresAndTags,
  type Score,
  SCORE_OPERATORS,
  type ScoreAndTagFilter,
  type ScoreFilter,
  type ScoreValue,
  type RunTags,
} from './fold/scores-and-tags.ts'
export { type Checkpoint, checkpointOf, type EventInRun } from './fold/checkpoint.ts'
export {
  COMPLIANCE_TYPES,
  type ComplianceEntry,
  complianceFold,
  type ComplianceLog,
} from './fold/compliance.ts'
export { type Fold, foldEvents } from './fold/fold.ts'
export type { ExplainedCause, ExplainedPlace, Explanation, ExplainOptions } from './read/explain.ts'
export type { Suspect } from './suspects/find-suspects.ts'
export type { MatchedBy, RunOutcome } from './read/last-good.ts'
export {
  COST_GROUPS,
  type CostFoldOptions,
  type CostGroup,
  type CostGrouping,
  type CostReport,
  costFold,
  type UnpricedModel,
} from './fold/cost.ts'
export {
  beginRun,
  type LastCheckpoint,
  foldRun,
  hasSameIdentity,
  isTerminal,
  type Pause,
  type ReplaySummary,
  RUN_STATUSES,
  type RunError,
  type RunStatus,
  type RunSummary,
  DEFAULT_QUEUE,
} from './fold/run-summary.ts'
export {
  applyOperation,
  createStateBuilder,
  foldState,
  type RunState,
  type StateBuilder,
} from './fold/state.ts'
export { beganMs, beginsStep, kindOfStep } from './fold/begins-step.ts'
export { isExported, sortExportedSteps, type StepVisits, tourSteps } from './fold/happened-order.ts'
export { foldSession, type Persona, type RunSession, stepTypeOf } from './fold/session.ts'
export {
  foldStep,
  foldSteps,
  stepKey,
  type StepRecord,
  type StepSkeleton,
  type StepStatus,
  toSkeleton,
} from './fold/steps.ts'
export { formatMermaid } from './fold/task-graph-mermaid.ts'
export {
  type TaskEdge,
  type TaskGraph,
  taskGraphFold,
  type TaskGraphState,
  type TaskNode,
} from './fold/task-graph.ts'
export { type Timeline, timelineFold, type TimelineItem, type TimelineState } from './fold/timeline.ts'
export { toChatMessages } from './fold/transcript-chat.ts'
export type {
  EntryKind,
  EntryOf,
  HumanAnswer,
  ToolOutcome,
  Transcript,
  TranscriptEntry,
} from './fold/transcript-entry.ts'
export { formatTranscriptMarkdown } from './fold/transcript-markdown.ts'
export { formatTranscriptText, type TranscriptBlock, transcriptBlocks } from './fold/transcript-text.ts'
export { transcriptFold } from './fold/transcript.ts'
export { showsInputOutput } from './fold/transcript-effects.ts'
export { readJsonText } from './fold/content-text.ts'
export type { TranscriptState } from './fold/transcript-state.ts'
export {
  type Head,
  type HeadChecker,
  type HeadSigner,
  headsText,
  parseSignedHeads,
  type SignedHeads,
} from './verify/heads.ts'
export { dueMsOf } from './store/due.ts'
export { createDeriver, createIds, deriveId, isUuid } from './event/ids.ts'
export type { ImportOptions, ImportReport } from './transfer/import.ts'
export { isoMs, isoText } from './event/iso-text.ts'
export type { RunValues } from './read/read-run-values.ts'
export { nearMisses } from './near-miss.ts'
export { deepFreeze, type JsonObject, type JsonValue } from './json.ts'
export { type MemoryInput } from './memory/check-put.ts'
export { findMessageEvent, messageEventId, streamRunId } from './messages/find-message-event.ts'
export {
  type AnthropicBlock,
  type AnthropicChat,
  type AnthropicMessage,
  type ChatMessage,
  type ChatToolCall,
  formatChat,
  formatMessages,
  type ModelForm,
  type ModelForms,
} from './messages/format-messages.ts'
export {
  type MessageRole,
  type ParsedMessage,
  type ParsedToolCall,
  type ParsedToolResult,
  parseMessage,
  parseMessages,
  toMessageRole,
} from './messages/parse-message.ts'
export { parseModelReply } from './messages/parse-reply.ts'
export { estimateTokens } from './memory/estimate-tokens.ts'
export { expandToWholeItems, foldMemory, MEMORY_VERSION } from './memory/fold.ts'
export {
  MEMORY_RUN_KIND,
  MEMORY_LAYERS,
  memoryRunId,
  type MemoryItem,
  type MemoryLayer,
  type MemoryRow,
  type MemoryScope,
  type MemoryWords,
  parseMemoryRunId,
} from './memory/item.ts'
export type {
  ForgetOptions,
  LedgerMemory,
  MemoryContext,
  MemoryContextOptions,
  MemoryFilter,
  MemoryHit,
  MemoryImportReport,
  MemoryListOptions,
  MemoryName,
  MemoryReceipt,
  MemorySearchOptions,
  MemorySweepOptions,
  MemorySweepReason,
  MemorySweepReport,
  PromoteOptions,
  Promotion,
  PromotionReport,
  PutOptions,
  SweptItem,
} from './memory/ledger-memory.ts'
export type {
  StaleScope,
  FindRows,
  FoundRow,
  MemoryChange,
  MemoryIndex,
  RowFilter,
  RowName,
  RowQuery,
  ScopeFilter,
  ScopeSize,
} from './memory/memory-index.ts'
export { type ContextCandidate, pickContext, type Picked } from './memory/pick-context.ts'
export {
  checkMemoryPolicy,
  type LayerRetention,
  type MemoryCondition,
  type MemoryPolicy,
  type PromotionRule,
} from './memory/policy.ts'
export {
  type AppendOptions,
  type Durability,
  type ExportOptions,
  type FollowOptions,
  type IndexOptions,
  type IndexReport,
  type Ledger,
  type LedgerMode,
  type LedgerOptions,
  type ProjectionReport,
  type ReadOptions,
  type RunFilter,
  type VerifyOptions,
} from './ledger.ts'
export { createInProcessStore } from './in-process/in-process-store.ts'
export type { AsyncContext, Ports } from './ports.ts'
export {
  MAX_NOTE_CHARS,
  MAX_NOTES,
  NOTE_TTL_MS,
  type Progress,
  type ProgressNote,
  type ProgressStore,
  type ReadNotesOptions,
  type StoredNote,
} from './progress/progress.ts'
export {
  createProgressWriter,
  type ProgressWriter,
  type ProgressWriterOptions,
  type Report,
} from './progress/progress-writer.ts'
export {
  type PartialFields,
  type PartialOutputs,
  partialText,
  readPartialOutputs,
} from './progress/partial-output.ts'
export {
  type PolicyAccess,
  readPolicies,
  type StoredRule,
  type WorkspacePolicy,
} from './policy/workspace-policy.ts'
export { projectRun } from './projections/projections.ts'
export { type CheckpointReference, noSuperstep } from './read/read-state.ts'
export { NEW_PROJECTIONS, PROJECTION_VERSION } from './projections/projection-version.ts'
export type { RebuildOptions, RebuildReport } from './projections/rebuild.ts'
export { alignRedacted } from './redact/align-redacted.ts'
export { findSecrets, type SecretPlace } from './redact/find-secrets.ts'
export { compilePath } from './redact/path-rule.ts'
export {
  findPlaceholderPlaces,
  findPlaceholders,
  fingerprintOf,
  isPlaceholder,
  type PlaceholderPlace,
} from './redact/placeholder.ts'
export { recut, redactBody } from './redact/redact-body.ts'
export { type OriginalOf, restoreEvent, restoreSecrets } from './vault/restore-secrets.ts'
export type { GcOptions, GcReport, PolicySource } from './retention/gc.ts'
export {
  type Hold,
  type HoldOptions,
  type HoldTarget,
  heldBy,
  readHolds,
  type ActiveHolds,
} from './retention/holds.ts'
export { yieldToEventLoop } from './yield-to-event-loop.ts'
export type { KeptRun } from './retention/plan.ts'
export { parsePolicy, type RetentionPolicy, type RetentionPolicyInput } from './retention/policy.ts'
export { isPrunable } from './retention/is-prunable.ts'
export { type PrunedRange, prunedState } from './retention/pruned.ts'
export type {
  PolicyInForce,
  ReportedHold,
  RetentionOutlook,
  RetentionReport,
} from './retention/report.ts'
export { formatPolicy } from './retention/format-policy.ts'
export type { Growth, GrowthDay, GrowthRate } from './retention/growth.ts'
export type { LastGc } from './retention/last-gc.ts'
export type { ProposedPolicy } from './retention/propose.ts'
export { checkStatePolicy, keepsAll, type StatePolicy } from './retention/plan-states.ts'
export { createRedactor, type RedactionRule, type Redactor, type RedactOptions } from './redact/redact.ts'
export type { RedactionStream } from './redact/stream.ts'
export type { Highlight } from './search/highlight.ts'
export type { SearchEvent, SearchHit, SearchOptions, SearchResult } from './search/search.ts'
export {
  FIELD_WEIGHTS,
  type FindOptions,
  type IndexState,
  isAboutEvents,
  type Phrase,
  SEARCH_FIELDS,
  type SearchDocument,
  type SearchField,
  type SearchIndex,
  type SearchMatch,
  type SearchQuery,
  type ValueFilter,
} from './search/search-index.ts'
export { joinQuery, type QueryItem, splitQuery } from './query/split-query.ts'
export { isEventField, QUERY_FIELD_NAMES, QUERY_FIELDS } from './query/query-fields.ts'
export { RUN_SORTS } from './query/parse-query.ts'
export { createTags, type Tags } from './search/tags.ts'
export { indexedTokens } from './search/tokens.ts'
export { formatStepId, parseStepId, type StepIdentity, stepLabel } from './event/step-id.ts'
export { packStep, type StepKey, type StepMarks, unpackStep } from './projections/step-row.ts'
export { type ComplianceFilter, createRunViews, type RunViews } from './read/run-views.ts'
export type {
  EventQuery,
  ReadAllOptions,
  ReadRunOptions,
  RunKey,
  RunPage,
  RunQuery,
  SkeletonRange,
  Store,
  StoreCore,
  StoredEvent,
  StoredRun,
  StoreInfo,
  StoreStats,
} from './store/store.ts'
export { applyChange } from './store/apply-change.ts'
export type {
  Adoption,
  AppendCall,
  AppendOutcome,
  Applied,
  Blank,
  StoreChange,
  Expectation,
  PreparedEvent,
  PruneItem,
  RowChange,
  PruneMarker,
  Written,
} from './store/change.ts'
export {
  CLAIM_RETRY_MS,
  createQueueSlots,
  pickWaiting,
  type QueueCount,
  type QueueEntry,
  type QueueLimits,
  type QueueSlots,
  type QueueUse,
  type WaitingRun,
} from './store/queue-slots.ts'
export { type Disk, noDisk, type Scrubbed, type StoragePart } from './store/disk.ts'
export {
  type AcquireOptions,
  busyLease,
  type Claimed,
  type ClaimOptions,
  type Lease,
  LEASE_STALE_MS,
  type Leases,
  lostLease,
  type OwnerState,
  WORKERS,
} from './store/leases.ts'
export type {
  RawRows,
  RemovalMark,
  RunColumns,
  StoredRows,
  StoredScore,
  StrayRows,
} from './store/raw-rows.ts'
export type { Slot, Slots, StoredSlot } from './store/slots.ts'
export type { DropValues, PendingScope, Values } from './store/values.ts'
export { withDefaults } from './store/with-defaults.ts'
export { eventOfRow, storedEvent, withPayload } from './store/stored-event.ts'
export type { EventPlace, NewRun, MutableRun, Transaction } from './store/transaction.ts'
export { endingEvent, isOpenStep, isResumedByCode } from './lifecycle/close-open.ts'
export {
  findStopRequest,
  type RecordedStopRequest,
  recordStopRequest,
  stopAsked,
  type StopRequest,
} from './lifecycle/stop-request.ts'
export { supersedeRun } from './lifecycle/supersede-run.ts'
export { type ListedLease, sweepOrphans, type SweepOptions, sweepThread } from './lifecycle/sweep-orphans.ts'
export { splitLines } from './transfer/transfer.ts'
export { childIds, type StoredNode } from './hash/tree.ts'
export { type Upcast, upcastEvent } from './event/upcast.ts'
export { createConcealment } from './vault/conceal.ts'
export type { RotateOptions, VaultRotation } from './vault/rotate-vault.ts'
export { badKey, type VaultCipher, vaultContext, type VaultProblem } from './vault/vault.ts'
export type { VaultChange, VaultData, VaultedEvent, VaultQuery, VaultRow } from './vault/vault-rows.ts'
export type { Problem, ProblemKind, Verification } from './verify/verify.ts'
export { notifyAll } from './store/wake.ts'
export { fromWire, toWire, type WireEnvelope, type WireEvent, type WireLedgerFields } from './event/wire.ts'

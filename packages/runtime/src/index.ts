export { agent, type Agent, type AgentOptions } from './run/agent.ts'
export type { Shutdown, ResumeOptions, RunOptions, SessionOptions, StartOptions } from './run/run-options.ts'
export type { Checkpoint, Checkpointer, CheckpointQuery, Retention } from './checkpointer/checkpoint.ts'
export { type Lineage, lineage, type LineageLink, type LineageRun } from './checkpointer/lineage.ts'
export { MemorySaver, type MemorySaverOptions } from './checkpointer/memory-saver.ts'
export { searchStates, type StateHit } from './checkpointer/search-states.ts'
export { type ThreadStats, threadStats } from './checkpointer/thread-stats.ts'
export { toLedger } from './checkpointer/to-ledger.ts'
export type { ForkPoint } from './engine/cut.ts'
export type { ForkedFrom } from './engine/graph-parts.ts'
export type { CheckpointChoice, CheckpointView, StateView } from './engine/state-views.ts'
export type {
  GraphForkOptions,
  GraphForkResult,
  GraphRetryOptions,
  StateHistory,
  TimeTravel,
} from './engine/time-travel.ts'
export type { UpdatedState, UpdateOptions } from './engine/update-state.ts'
export type { Compared, Fidelity } from './run/fidelity.ts'
export { fork, type ForkOptions, retry, type RetryOptions } from './fork/fork.ts'
export {
  type ForkPreview,
  type PreviewedEffect,
  previewFork,
  type PreviewForkOptions,
} from './fork/preview-fork.ts'
export type { Replacement } from './fork/replace-value.ts'
export type { IfStorable } from './options/storable.ts'
export { type SentSignal, signal, type SignalOptions } from './signal/signal.ts'
export type { SignalSchema, SignalSchemas } from './signal/signal-schemas.ts'
export type { Branches, SelectBranch, Selected, SelectOptions } from './signal/select.ts'
export { type PauseOptions, requestPause, requestResume } from './lifecycle/request-pause.ts'
export { requestStop, type StopOptions } from './lifecycle/request-stop.ts'
export type { NodeRecord } from './log/node-record.ts'
export type { NodeStats } from './log/node-stats.ts'
export type { RunLog } from './log/run-log.ts'
export type { Budget } from './machine/budget.ts'
export { interrupt } from './machine/current-run.ts'
export type { Durability } from './machine/machine-types.ts'
export type { RunMemory } from './memory/run-memory.ts'
export { type AnswerOptions, recordAnswers } from './pause/record-answers.ts'
export { recordFork, type RecordForkOptions } from './fork/record-fork.ts'
export type {
  ResumeDivergence,
  RunPause,
  RunEnd,
  RunFacts,
  RunResult,
  StepChange,
  RunListener,
  NodeUpdate,
} from './run/result.ts'
export { replay, type ReplayOptions, type ReplayProgress, type ReplayTarget } from './replay/replay.ts'
export type { Volatile } from './replay/same-value.ts'
export type {
  ReplayDivergence,
  DivergenceKind,
  PathStep,
  ReplayMode,
  ReplayOutcome,
  ReplayReport,
} from './replay/report.ts'
export {
  type CachePolicy,
  type CallUsage,
  type ChildOptions,
  type EffectCall,
  type HandoffDetail,
  type DetachOptions,
  type EffectOptions,
  type ReceiveOptions,
  type Question,
  type RetryPolicy,
  type Run,
  StepError,
  type StepOptions,
  type TypedQuestion,
} from './run/run.ts'
export type {
  CompiledGraph,
  CompileOptions,
  GraphPlace,
  GraphResult,
  GraphStream,
  InvokeOptions,
} from './engine/compiled-graph.ts'
export type { Channel, Channels, StateOf, WriteOf } from './graph/channel.ts'
export { append, channel, last } from './graph/channels.ts'
export { type Command, command, type Send, send } from './graph/command.ts'
export { END, type NodeOptions, START } from './graph/definition.ts'
export type { Drawing } from './graph/draw.ts'
export { type KeptMessage, Message, type MessageRole } from './graph/message.ts'
export type { AnswerOf, FromJsonSchema, StandardSchema } from './options/standard-schema.ts'
export { messages } from './graph/messages.ts'
export { StateGraph } from './graph/state-graph.ts'
export { restoreFetch } from './tape/install-fetch.ts'
export type { TapedRequest, TapeOptions, VolatileParts } from './tape/tape-options.ts'
export { isPauseItem } from './stream/stream-items.ts'
export type { RunStream } from './stream/run-stream.ts'
export type {
  AgentStreamMode,
  MessageItem,
  StreamOrigin,
  PauseItem,
  StepItem,
  StreamItem,
  StreamMode,
  TokenItem,
  UpdateItem,
} from './stream/stream-items.ts'
export type { MapInput, MapOptions, MapProgress } from './map/map-items.ts'
export type { MapItem, MapResult } from './map/map-result.ts'
export { zipInputs } from './map/zip-inputs.ts'
export {
  HOUSEKEEPING_RUN_ID,
  type HousekeepingRound,
  readLastHousekeeping,
} from './housekeeping/housekeeping-round.ts'
export {
  type Housekeeping,
  type HousekeepingOptions,
  startHousekeeping,
} from './housekeeping/start-housekeeping.ts'
export { nextTimes, type Timing } from './schedule/occurrences.ts'
export {
  listSchedules,
  nextOccurrences,
  readSchedule,
  type ScheduleSkip,
  type ScheduleState,
} from './schedule/read-schedule.ts'
export { changeSchedule, noSchedule, schedule } from './schedule/schedule.ts'
export {
  CATCH_UPS,
  OVERLAPS,
  type ScheduledRun,
  type ScheduleDefinition,
  type ScheduleOptions,
} from './schedule/schedule-definition.ts'
export { type Scheduler, type SchedulerOptions, startScheduler } from './schedule/start-scheduler.ts'
export { startWorker } from './worker/start-worker.ts'
export type { Worker, WorkerAgent, WorkerGraph, WorkerOptions, WorkerNotice } from './worker/worker.ts'
export { openRunHandle, type RunHandle } from './work/run-handle.ts'
export type { RunOnceOptions } from './work/run-once.ts'
export { submitRun, type SubmitOptions } from './work/submit-run.ts'
export type { WaitOptions } from './work/wait-for-run.ts'
export { listQueues, type QueueOptions, type QueueState, setQueue } from './work/queues.ts'
export { findUnserved, type UnservedRuns } from './work/serving.ts'

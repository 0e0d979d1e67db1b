export type { Persona } from '@clew/ledger'
export {
  ACTIVITY_ENDED,
  ACTIVITY_STARTED,
  MESSAGE_CREATED,
  MESSAGE_UPDATED,
  SESSION_COMPLETED,
  SESSION_DELETED,
  SESSION_FAILED,
  SESSION_INTERRUPTED,
  SESSION_PAUSED,
  SESSION_STARTED,
  STEP_COMPLETED,
  STEP_PROGRESS,
  STEP_STARTED,
  STREAM_CREATED,
  STREAM_PROGRESS,
  TRACE_EVENTS,
  type TraceEventName,
} from './names.ts'
export type {
  ActivityPayload,
  AgentActivity,
  Content,
  MessageAuthor,
  MessageCreatedPayload,
  MessageUpdatedPayload,
  RoomMessage,
  SessionHead,
  SessionPayload,
  StepCompletedPayload,
  StepProgressPayload,
  StepStartedPayload,
  StreamCreatedPayload,
  StreamMessage,
  StreamProgressPayload,
  TraceMessage,
  TracePayloads,
} from './payloads.ts'
export { parseRoom, type RoomAddress, type RoomKind, sessionRoom, streamRoom } from './rooms.ts'
export type {
  RunningActivity,
  RunningProgress,
  SessionDetail,
  SessionView,
  StreamPage,
  StreamView,
  TraceStep,
} from './session-view.ts'
export {
  isKnownStepType,
  type KnownStepType,
  STEP_TYPES,
  type StepSource,
  type StepType,
} from './step-types.ts'
export { findStops } from './find-stops.ts'
export { createLedgerPort } from './ledger-port.ts'
export type {
  FoundSession,
  OpenStep,
  SessionStop,
  TakenSession,
  TakeRequest,
  TraceEvent,
  TracePort,
} from './port.ts'
export {
  type ClearBody,
  createRemotePort,
  type EventsBody,
  type Fetch,
  type LeaseBody,
  type ProgressBody,
  type RemotePortOptions,
  type StopsAnswer,
  type StopsBody,
} from './remote-port.ts'
export {
  createStream,
  deleteMessage,
  editMessage,
  type NewMessage,
  type NewStream,
  postMessage,
  streamRunId,
} from './streams.ts'
export { takeSession } from './take-session.ts'
export type { TracePorts } from './trace-ports.ts'
export { createRelay, type Relay } from './create-relay.ts'
export { foldStream, type FoldedStream } from './fold-stream.ts'
export {
  EMPTY_SESSION,
  laterHead,
  liveSteps,
  type LiveSession,
  mergeSession,
} from './merge-session.ts'
export { readSession } from './read-session.ts'
export type { SessionPage } from './read-session-steps.ts'
export { listStreams, readStream, type StreamPageOptions } from './read-stream.ts'
export {
  type ParentMessage,
  relayEvent,
  type RelayContext,
  relayProgress,
  type Replies,
} from './relay-event.ts'
export { foldSessionState, type SessionState } from './session-state.ts'
export { type Completion, completionOf, toTraceStep } from './to-trace-step.ts'
export type {
  ForSessionOptions,
  GivenError,
  GivenPersona,
  GivenSource,
  StartStepOptions,
  StepCompletion,
} from './session-options.ts'
export type { ActiveStep, SessionTrace } from './session-trace.ts'
export { TraceEmitter, type TraceEmitterOptions } from './trace-emitter.ts'

import type { JsonValue, Persona, RunError, RunStatus, StepStatus } from '@clew/ledger'
import type {
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
} from './names.ts'
import type { StepSource, StepType } from './step-types.ts'

/** A text is text to show, anything else is data: never JSON inside a string. */
export type Content = JsonValue

interface OfSession {
  readonly workspaceId: string
  readonly sessionId: string
  readonly streamId: string
}

/** Step and attempt: together they identify the work shown. */
interface OfStep extends OfSession {
  readonly stepId: string
  readonly attempt: number
  /** From 1, in the order in which steps began; goes on after a retry. */
  readonly stepNumber: number
  readonly stepType: StepType
  /** The step's name in the run; equal to the type for steps of a `SessionTrace`. */
  readonly name: string
}

export interface StepStartedPayload extends OfStep {
  /** Place of its start in the session: sorts steps. */
  readonly startedSeq: number
  readonly parentStepId: string | null
  readonly startedAt: string
  readonly content: Content
}

/** Not stored. Carries all of the text so far, so a lost one does no harm. */
export interface StepProgressPayload extends OfSession {
  readonly stepId: string
  readonly attempt: number
  readonly stepType: StepType
  /** Rises with every progress of the step; a lower one is older. */
  readonly version: number
  readonly content: Content
  readonly at: string
}

export interface StepCompletedPayload extends OfStep {
  readonly startedSeq: number
  readonly endedSeq: number
  readonly parentStepId: string | null
  readonly status: Exclude<StepStatus, 'running' | 'paused'>
  /** The step has no recorded end, but its session has ended or lost its owner. */
  readonly isAssumed: boolean
  readonly content: Content
  /** The content is too large for a room: fetch the session. */
  readonly isContentLeftOut: boolean
  readonly sources: readonly StepSource[]
  readonly messageId: string | null
  readonly error: RunError | null
  readonly startedAt: string
  readonly completedAt: string
  readonly durationMs: number | null
}

/** Position of a session, the same in fetched and sent data. */
export interface SessionHead extends OfSession {
  readonly status: RunStatus
  readonly persona: Persona | null
  readonly triggerMessageId: string | null
  readonly supersedes: string | null
  readonly currentStepType: StepType | null
  /** Steps begun so far. */
  readonly stepCount: number
  /** Rises when the session is taken up again: what belongs to an earlier one is older, whatever its rank. */
  readonly generation: number
  /** Place of its newest event in the session. */
  readonly seq: number
  /** Place of the session's first event in the ledger: where its card stands between messages. */
  readonly position: number
  readonly startedAt: string
  readonly endedAt: string | null
  readonly error: RunError | null
}

/** Life cycle: the same for all of them, to session room and stream room. */
export interface SessionPayload extends SessionHead {
  readonly at: string
}

/** To the stream's room: what the card shows beside the life cycle. */
export interface StreamProgressPayload extends OfSession {
  readonly persona: Persona | null
  readonly stepId: string
  readonly stepNumber: number
  readonly stepType: StepType
  readonly seq: number
  readonly generation: number
  readonly at: string
}

/** To the stream's room and, for the thread on a message, to that of its parent (T5). */
export interface ActivityPayload extends OfSession {
  readonly parentStreamId: string | null
  readonly parentMessageId: string | null
  readonly persona: Persona | null
  readonly stepType: StepType | null
  readonly seq: number
  readonly generation: number
  readonly at: string
}

export interface AgentActivity {
  readonly sessionId: string
  readonly streamId: string
  readonly persona: Persona | null
  readonly stepType: StepType | null
  readonly isActive: boolean
  readonly seq: number
  readonly generation: number
}

interface OfMessage {
  readonly workspaceId: string
  readonly streamId: string
  readonly messageId: string
}

export interface MessageCreatedPayload extends OfMessage {
  readonly message: StreamMessage
}

export type MessageUpdatedPayload = OfMessage &
  (
    | { readonly updateType: 'agent_activity'; readonly activity: AgentActivity }
    | {
        readonly updateType: 'content'
        readonly content: Content
        readonly editedAt: string
        readonly seq: number
      }
    | { readonly updateType: 'deleted'; readonly deletedAt: string; readonly seq: number }
    /** The thread below the message, `threadStreamId`, got a message or lost one. */
    | {
        readonly updateType: 'replies'
        readonly threadStreamId: string
        readonly replyCount: number
        readonly lastReplyAt: string | null
      }
  )

export interface StreamCreatedPayload {
  readonly workspaceId: string
  readonly streamId: string
  readonly title: string | null
  readonly parentStreamId: string | null
  readonly parentMessageId: string | null
  readonly createdAt: string
}

/** One message of a stream, as `foldStream` gives it. */
export interface StreamMessage {
  readonly messageId: string
  readonly streamId: string
  readonly author: MessageAuthor
  /** Null once deleted. */
  readonly content: Content
  /** For an agent's message: the session that wrote it. */
  readonly sessionId: string | null
  /** Sources (T6). */
  readonly sources: readonly StepSource[]
  readonly createdAt: string
  readonly editedAt: string | null
  readonly deletedAt: string | null
  /** Place of its creation in the ledger: sorts messages and cards. */
  readonly position: number
  /** Place of its last change in the stream's run. */
  readonly seq: number
  /** The thread on it, if there is one. */
  readonly threadStreamId: string | null
  readonly replyCount: number
  readonly lastReplyAt: string | null
}

export interface MessageAuthor {
  readonly type: 'user' | 'persona' | 'system'
  readonly id: string
  readonly name: string | null
}

/** Payload of each message name. */
export interface TracePayloads {
  readonly [SESSION_STARTED]: SessionPayload
  readonly [SESSION_COMPLETED]: SessionPayload
  readonly [SESSION_FAILED]: SessionPayload
  readonly [SESSION_INTERRUPTED]: SessionPayload
  readonly [SESSION_PAUSED]: SessionPayload
  readonly [SESSION_DELETED]: SessionPayload
  readonly [STEP_STARTED]: StepStartedPayload
  readonly [STEP_PROGRESS]: StepProgressPayload
  readonly [STEP_COMPLETED]: StepCompletedPayload
  readonly [STREAM_PROGRESS]: StreamProgressPayload
  readonly [ACTIVITY_STARTED]: ActivityPayload
  readonly [ACTIVITY_ENDED]: ActivityPayload
  readonly [MESSAGE_CREATED]: MessageCreatedPayload
  readonly [MESSAGE_UPDATED]: MessageUpdatedPayload
  readonly [STREAM_CREATED]: StreamCreatedPayload
}

/** Message: a name with its payload. */
export type TraceMessage = {
  [Name in keyof TracePayloads]: { readonly name: Name; readonly payload: TracePayloads[Name] }
}[keyof TracePayloads]

/** Message with its room. */
export type RoomMessage = TraceMessage & { readonly room: string }

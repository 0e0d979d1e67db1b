import type { Persona, RunError, RunSummary, StepStatus } from '@clew/ledger'
import type { Content, SessionHead, StreamMessage } from './payloads.ts'
import type { StepSource, StepType } from './step-types.ts'

/** A session as the endpoint gives it. */
export interface SessionView extends SessionHead {
  readonly durationMs: number | null
  readonly checkpoint: RunSummary['checkpoint']
  readonly replay: RunSummary['replay']
}

/** A step as pages show it. */
export interface TraceStep {
  readonly stepId: string
  readonly attempt: number
  readonly stepNumber: number
  readonly stepType: StepType
  readonly name: string
  readonly parentStepId: string | null
  readonly status: StepStatus
  readonly content: Content
  readonly isContentLeftOut: boolean
  readonly sources: readonly StepSource[]
  readonly messageId: string | null
  readonly error: RunError | null
  readonly startedSeq: number
  readonly endedSeq: number | null
  readonly startedAt: string
  readonly completedAt: string | null
  readonly durationMs: number | null
  /** The text so far of a running step; null once it has ended. */
  readonly progress: { readonly version: number; readonly content: Content } | null
}

/** `GET /api/workspaces/{workspaceId}/agent-sessions/{sessionId}`. */
export interface SessionDetail {
  readonly session: SessionView
  readonly steps: readonly TraceStep[]
  readonly persona: Persona | null
  /** Sessions on the same message and in the same line of superseding; newest first. Only in the newest page. */
  readonly relatedSessions: readonly SessionView[]
  /** For the steps before these; null when these are all from the first on. */
  readonly previousCursor: string | null
}

/** A stream in a list of streams. */
export interface StreamView {
  readonly streamId: string
  readonly workspaceId: string
  readonly title: string | null
  readonly parentStreamId: string | null
  readonly parentMessageId: string | null
  readonly createdAt: string
  readonly updatedAt: string
}

/** `GET /api/workspaces/{workspaceId}/streams/{streamId}/messages`: one page, oldest first. */
export interface StreamPage {
  readonly stream: StreamView
  readonly messages: readonly StreamMessage[]
  /** Cards of sessions that began in this part of the stream; sorted by `position` like messages. */
  readonly sessions: readonly SessionView[]
  /** Running sessions of threads on these messages (T5). */
  readonly activities: readonly RunningActivity[]
  /** Text so far of running steps, of this stream's sessions and of those of its threads. */
  readonly progress: readonly RunningProgress[]
  /** For the page before this one; null at the beginning. */
  readonly previousCursor: string | null
}

export interface RunningActivity {
  readonly messageId: string
  readonly sessionId: string
  readonly streamId: string
  readonly persona: Persona | null
  readonly stepType: StepType | null
  readonly seq: number
  readonly generation: number
}

export interface RunningProgress {
  readonly sessionId: string
  readonly stepId: string
  readonly attempt: number
  readonly stepType: StepType
  readonly version: number
  readonly content: Content
  readonly at: string
}

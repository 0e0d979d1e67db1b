import { type ClewEvent, isSystemRun, type ProgressNote } from '@clew/ledger'
import { STEP_PROGRESS } from './names.ts'
import type { RoomMessage } from './payloads.ts'
import { relaySession } from './relay-session.ts'
import { relayStream } from './relay-stream.ts'
import { sessionRoom } from './rooms.ts'
import type { SessionState } from './session-state.ts'

/** Context of an event. */
export interface RelayContext {
  /** Session of the event's run before the event, if it is one. */
  readonly session: SessionState | null
  /** The message that the event's stream is the thread on. */
  readonly parent: ParentMessage | null
  /** Messages of the event's stream, where it is a thread: with this event. */
  readonly replies: Replies | null
}

export interface ParentMessage {
  readonly streamId: string
  readonly messageId: string
}

export interface Replies {
  readonly count: number
  readonly lastAt: string | null
}

/** Messages for a stored event, with their rooms. None for runs without a session and for system runs other than streams. */
export const relayEvent = (event: ClewEvent, context: RelayContext): RoomMessage[] =>
  isSystemRun(event.correlationId) ? relayStream(event, context) : relaySession(event, context)

/** Progress goes to the session's room only: others see which step it is at. */
export function relayProgress(
  note: ProgressNote,
  { workspaceId, streamId }: { readonly workspaceId: string; readonly streamId: string },
): RoomMessage[] {
  const { runId: sessionId, stepId, attempt, stepType, version, content, at } = note
  const payload = { workspaceId, sessionId, streamId, stepId, attempt, stepType, version, content, at }
  return [{ name: STEP_PROGRESS, payload, room: sessionRoom(workspaceId, sessionId) }]
}

import type { ClewEvent, RunSession, RunStatus } from '@clew/ledger'
import {
  ACTIVITY_ENDED,
  ACTIVITY_STARTED,
  MESSAGE_UPDATED,
  SESSION_COMPLETED,
  SESSION_DELETED,
  SESSION_FAILED,
  SESSION_INTERRUPTED,
  SESSION_PAUSED,
  SESSION_STARTED,
  STREAM_PROGRESS,
} from './names.ts'
import type { AgentActivity, RoomMessage, SessionPayload, TraceMessage } from './payloads.ts'
import type { RelayContext } from './relay-event.ts'
import { relayStep } from './relay-step.ts'
import { sessionRoom, streamRoom } from './rooms.ts'
import { foldSessionState, type SessionState } from './session-state.ts'
import { textOf } from './to-trace-step.ts'

/** Message name for each status; a status without one is not sent. */
const NAMES: Partial<Record<RunStatus, SessionName>> = {
  running: SESSION_STARTED,
  completed: SESSION_COMPLETED,
  partial: SESSION_COMPLETED,
  stopped: SESSION_COMPLETED,
  superseded: SESSION_COMPLETED,
  failed: SESSION_FAILED,
  interrupted: SESSION_INTERRUPTED,
  deleted: SESSION_DELETED,
}
export type SessionName =
  | typeof SESSION_STARTED
  | typeof SESSION_COMPLETED
  | typeof SESSION_FAILED
  | typeof SESSION_INTERRUPTED
  | typeof SESSION_PAUSED
  | typeof SESSION_DELETED

/** One event of a session: its steps to its own room, its life cycle there and in the stream, its activity around it. */
export function relaySession(event: ClewEvent, { session: before, parent }: RelayContext): RoomMessage[] {
  const after = foldSessionState(before, event)
  const session = after?.summary.session
  if (!after || !session || after === before) return []
  const { workspaceId, summary } = after
  const own = sessionRoom(workspaceId, summary.runId)
  const stream = streamRoom(workspaceId, session.streamId)
  const above = parent && streamRoom(workspaceId, parent.streamId)
  const told: RoomMessage[] = relayStep(event, before, after).map((each) => ({ ...each, room: own }))
  const around = (each: TraceMessage): void => {
    told.push({ ...each, room: stream })
    if (above !== null) told.push({ ...each, room: above })
  }
  const isTurn = isTurningPoint(event, before, after)
  const isBegun = before !== null && summary.steps > before.summary.steps
  if (isTurn) {
    const name = NAMES[summary.status] ?? SESSION_PAUSED
    const payload = toSessionPayload(after, session, event.timestamp)
    told.push({ name, payload, room: own }, { name, payload, room: stream })
    around(activityTold(after, session, parent, event.timestamp))
  }
  if (isBegun) around(stepTold(event, after, session))
  if (parent && above !== null && (isTurn || isBegun)) {
    const activity = toActivity(after, session)
    const payload = { workspaceId, ...parent, updateType: 'agent_activity', activity } as const
    told.push({ name: MESSAGE_UPDATED, payload, room: above })
  }
  return told
}

/** The record was pruned or erased: clients remove it. */
export function relayDeleted(state: SessionState, session: RunSession, at: string): RoomMessage[] {
  const { workspaceId, summary } = state
  const deleted = { ...state, summary: { ...summary, status: 'deleted', error: null } } as const
  const told = { name: SESSION_DELETED, payload: toSessionPayload(deleted, session, at) } as const
  return [
    { ...told, room: sessionRoom(workspaceId, summary.runId) },
    { ...told, room: streamRoom(workspaceId, session.streamId) },
  ]
}

/** The status changed, or the session was resumed without a recorded pause. */
const isTurningPoint = (event: ClewEvent, before: SessionState | null, after: SessionState): boolean =>
  !before?.summary.session ||
  before.summary.status !== after.summary.status ||
  event.eventType === 'system.workflow_resumed'

const toActivity = ({ summary, seq }: SessionState, session: RunSession): AgentActivity => ({
  sessionId: summary.runId,
  streamId: session.streamId,
  persona: session.persona,
  stepType: session.currentStepType,
  isActive: summary.status === 'running',
  seq,
  generation: session.generation,
})

function activityTold(
  { summary, workspaceId, seq }: SessionState,
  { streamId, persona, currentStepType, generation }: RunSession,
  parent: RelayContext['parent'],
  at: string,
): TraceMessage {
  return {
    name: summary.status === 'running' ? ACTIVITY_STARTED : ACTIVITY_ENDED,
    payload: {
      workspaceId,
      sessionId: summary.runId,
      streamId,
      parentStreamId: parent?.streamId ?? null,
      parentMessageId: parent?.messageId ?? null,
      persona,
      stepType: currentStepType,
      seq,
      generation,
      at,
    },
  }
}

function toSessionPayload(state: SessionState, session: RunSession, at: string): SessionPayload {
  const { summary, workspaceId, position, seq } = state
  return {
    workspaceId,
    sessionId: summary.runId,
    streamId: session.streamId,
    status: summary.status,
    persona: session.persona,
    triggerMessageId: session.triggerMessageId,
    supersedes: session.supersedes,
    currentStepType: session.currentStepType,
    stepCount: summary.steps,
    generation: session.generation,
    seq,
    position,
    startedAt: summary.startedAt,
    at,
    endedAt: summary.endedAt,
    error: summary.error,
  }
}

function stepTold(
  event: ClewEvent,
  { summary, workspaceId, seq }: SessionState,
  session: RunSession,
): TraceMessage {
  return {
    name: STREAM_PROGRESS,
    payload: {
      workspaceId,
      sessionId: summary.runId,
      streamId: session.streamId,
      persona: session.persona,
      stepId: textOf(event.payload.stepId) ?? '',
      stepNumber: summary.steps,
      stepType: session.currentStepType ?? '',
      seq,
      generation: session.generation,
      at: event.timestamp,
    },
  }
}

/** Names of the messages sent to rooms (T2). Other clients and servers depend on these texts: they never change. */
export const SESSION_STARTED = 'agent_session:started'
export const SESSION_COMPLETED = 'agent_session:completed'
export const SESSION_FAILED = 'agent_session:failed'
export const SESSION_INTERRUPTED = 'agent_session:interrupted'
/** Paused, sleeping or blocked: neither working nor ended. */
export const SESSION_PAUSED = 'agent_session:paused'
export const SESSION_DELETED = 'agent_session:deleted'

export const STEP_STARTED = 'agent_session:step:started'
export const STEP_PROGRESS = 'agent_session:step:progress'
/** Sent at every end of a step; `status` says which. */
export const STEP_COMPLETED = 'agent_session:step:completed'

/** In the stream's room: which step the session is at now. */
export const STREAM_PROGRESS = 'agent_session:progress'
/** In the room of the parent stream: an agent works, or no longer works, in the thread on a message. */
export const ACTIVITY_STARTED = 'agent_session:activity_started'
export const ACTIVITY_ENDED = 'agent_session:activity_ended'

export const MESSAGE_CREATED = 'message:created'
/** `updateType` says what: `content`, `deleted`, `replies` or `agent_activity`. */
export const MESSAGE_UPDATED = 'message:updated'
export const STREAM_CREATED = 'stream:created'

export const TRACE_EVENTS = [
  SESSION_STARTED,
  SESSION_COMPLETED,
  SESSION_FAILED,
  SESSION_INTERRUPTED,
  SESSION_PAUSED,
  SESSION_DELETED,
  STEP_STARTED,
  STEP_PROGRESS,
  STEP_COMPLETED,
  STREAM_PROGRESS,
  ACTIVITY_STARTED,
  ACTIVITY_ENDED,
  MESSAGE_CREATED,
  MESSAGE_UPDATED,
  STREAM_CREATED,
] as const
export type TraceEventName = (typeof TRACE_EVENTS)[number]

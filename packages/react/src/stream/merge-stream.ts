import {
  ACTIVITY_ENDED,
  ACTIVITY_STARTED,
  type AgentActivity,
  laterHead,
  MESSAGE_CREATED,
  MESSAGE_UPDATED,
  SESSION_COMPLETED,
  SESSION_DELETED,
  SESSION_FAILED,
  SESSION_INTERRUPTED,
  SESSION_PAUSED,
  SESSION_STARTED,
  type SessionHead,
  STREAM_PROGRESS,
  type StreamMessage,
  type StreamPage,
  type StreamView,
  type TraceMessage,
} from '@clew/trace'

/** State of a stream on a page, merged from messages and pages in any order. */
export interface LiveStream {
  readonly stream: StreamView | null
  readonly messages: ReadonlyMap<string, StreamMessage>
  readonly sessions: ReadonlyMap<string, SessionHead>
  /** Agents in threads on messages of this stream, by session. */
  readonly activities: ReadonlyMap<string, MessageActivity>
  /** Changes of messages that have not arrived yet: a page that was asked for before them may arrive after them. */
  readonly early: ReadonlyMap<string, Update>
  /** For the page before the oldest one that was fetched; null when there is none, undefined before the first. */
  readonly previousCursor: string | null | undefined
}

export interface MessageActivity extends Omit<AgentActivity, 'isActive'> {
  readonly messageId: string
  readonly isActive: boolean
}

export const EMPTY_STREAM: LiveStream = {
  stream: null,
  messages: new Map(),
  sessions: new Map(),
  activities: new Map(),
  early: new Map(),
  previousCursor: undefined,
}

/** The same things in any order come to the same (T3). */
export function mergeStream(
  state: LiveStream,
  incoming: TraceMessage | StreamPage,
  streamId: string,
): LiveStream {
  if (!('name' in incoming)) return mergePage(state, incoming)
  switch (incoming.name) {
    case MESSAGE_CREATED:
      return incoming.payload.streamId === streamId ? withMessage(state, incoming.payload.message) : state
    case MESSAGE_UPDATED:
      return incoming.payload.streamId === streamId ? withUpdate(state, incoming.payload) : state
    case SESSION_STARTED:
    case SESSION_COMPLETED:
    case SESSION_FAILED:
    case SESSION_INTERRUPTED:
    case SESSION_PAUSED:
    case SESSION_DELETED:
      return incoming.payload.streamId === streamId ? withSession(state, incoming.payload) : state
    case STREAM_PROGRESS:
      return incoming.payload.streamId === streamId ? withStep(state, incoming.payload) : state
    case ACTIVITY_STARTED:
    case ACTIVITY_ENDED: {
      const { parentStreamId, parentMessageId, ...activity } = incoming.payload
      if (parentStreamId !== streamId || parentMessageId === null) return state
      const isActive = incoming.name === ACTIVITY_STARTED
      return withActivity(state, { ...activity, messageId: parentMessageId, isActive })
    }
    default:
      return state
  }
}

function mergePage(state: LiveStream, page: StreamPage): LiveStream {
  let next: LiveStream = { ...state, stream: page.stream }
  for (const message of page.messages) next = withMessage(next, message)
  for (const session of page.sessions) next = withSession(next, session)
  for (const activity of page.activities) next = withActivity(next, { ...activity, isActive: true })
  // A later page is newer than what was read before it only if it is the first: then older ones stay reachable.
  const isOlder =
    state.previousCursor === undefined ||
    oldestOf(page) < oldestOf({ messages: [...state.messages.values()] })
  return isOlder ? { ...next, previousCursor: page.previousCursor } : next
}

const oldestOf = ({ messages }: { readonly messages: readonly StreamMessage[] }): number =>
  messages.reduce((least, { position }) => Math.min(least, position), Number.POSITIVE_INFINITY)

function withMessage(state: LiveStream, message: StreamMessage): LiveStream {
  const before = state.messages.get(message.messageId)
  if (!before) {
    const early = UPDATES.flatMap((type) => state.early.get(`${type} ${message.messageId}`) ?? [])
    return {
      ...state,
      messages: new Map(state.messages).set(message.messageId, early.reduce(changed, message)),
    }
  }
  if (before.seq >= message.seq && before.replyCount >= message.replyCount) return state
  const merged = { ...(before.seq > message.seq ? before : message), ...laterReplies(before, message) }
  return { ...state, messages: new Map(state.messages).set(message.messageId, merged) }
}

type Replies = Pick<StreamMessage, 'threadStreamId' | 'replyCount' | 'lastReplyAt'>
function laterReplies(a: StreamMessage, b: Replies): Replies {
  const { threadStreamId, replyCount, lastReplyAt } = (b.lastReplyAt ?? '') >= (a.lastReplyAt ?? '') ? b : a
  return { threadStreamId: threadStreamId ?? a.threadStreamId, replyCount, lastReplyAt }
}

type Changed = Extract<TraceMessage, { name: typeof MESSAGE_UPDATED }>['payload']
type Update = Exclude<Changed, { updateType: 'agent_activity' }>
const UPDATES: readonly Update['updateType'][] = ['content', 'deleted', 'replies']

function withUpdate(state: LiveStream, update: Changed): LiveStream {
  if (update.updateType === 'agent_activity')
    return withActivity(state, { ...update.activity, messageId: update.messageId })
  const before = state.messages.get(update.messageId)
  if (!before) return { ...state, early: withEarly(state.early, update) }
  const message = changed(before, update)
  if (message === before) return state
  return { ...state, messages: new Map(state.messages).set(message.messageId, message) }
}

function withEarly(early: LiveStream['early'], update: Update): LiveStream['early'] {
  const key = `${update.updateType} ${update.messageId}`
  const before = early.get(key)
  return before && orderOf(before) >= orderOf(update) ? early : new Map(early).set(key, update)
}

const orderOf = (update: Update): string | number =>
  update.updateType === 'replies' ? (update.lastReplyAt ?? '') : update.seq

function changed(message: StreamMessage, update: Update): StreamMessage {
  if (update.updateType === 'replies') return { ...message, ...laterReplies(message, update) }
  if (update.seq <= message.seq) return message
  const { seq } = update
  return update.updateType === 'content'
    ? { ...message, content: update.content, editedAt: update.editedAt, seq }
    : { ...message, content: null, sources: [], deletedAt: update.deletedAt, seq }
}

const isAtWork = ({ status }: SessionHead): boolean => status === 'running' || status === 'pending'

function withSession(state: LiveStream, session: SessionHead): LiveStream {
  const merged = laterHead(state.sessions.get(session.sessionId) ?? null, session)
  return { ...state, sessions: new Map(state.sessions).set(session.sessionId, merged) }
}

type Step = Extract<TraceMessage, { name: typeof STREAM_PROGRESS }>['payload']
function withStep(state: LiveStream, { sessionId, stepType, stepNumber, seq, generation }: Step): LiveStream {
  const before = state.sessions.get(sessionId)
  if (!before || before.generation > generation || before.seq >= seq || !isAtWork(before)) return state
  const stepCount = Math.max(before.stepCount, stepNumber)
  const sessions = new Map(state.sessions).set(sessionId, {
    ...before,
    currentStepType: stepType,
    stepCount,
    seq,
  })
  return { ...state, sessions }
}

function withActivity(state: LiveStream, activity: MessageActivity): LiveStream {
  const before = state.activities.get(activity.sessionId)
  if (before && (before.generation - activity.generation || before.seq - activity.seq) >= 0) return state
  return { ...state, activities: new Map(state.activities).set(activity.sessionId, activity) }
}

/** A message, or the card of a session, in the order of the ledger. */
export type StreamEntry =
  | {
      readonly type: 'message'
      readonly key: string
      readonly position: number
      readonly message: StreamMessage
    }
  | {
      readonly type: 'session'
      readonly key: string
      readonly position: number
      readonly session: SessionHead
    }

/**
 * All life-cycle events of a session are one card; one that was superseded stands behind the one in its place, and so
 * does what it said as soon as the other one has spoken. A message with a thread on it stays.
 */
export function streamItems({ messages, sessions }: LiveStream): StreamEntry[] {
  const items: StreamEntry[] = []
  const isReplaced = replacedBy(messages, sessions)
  for (const message of messages.values())
    if ((message.deletedAt === null && !isReplaced(message.sessionId)) || message.replyCount > 0)
      items.push({ type: 'message', key: message.messageId, position: message.position, message })
  for (const session of sessions.values())
    if (session.status !== 'superseded' && session.status !== 'deleted')
      items.push({ type: 'session', key: session.sessionId, position: session.position, session })
  return items.sort((a, b) => a.position - b.position)
}

function replacedBy(
  messages: LiveStream['messages'],
  sessions: LiveStream['sessions'],
): (sessionId: string | null) => boolean {
  const speaking = new Set([...messages.values()].map(({ sessionId }) => sessionId))
  const next = new Map<string, string>()
  for (const { sessionId, supersedes } of sessions.values())
    if (supersedes !== null) next.set(supersedes, sessionId)
  return (sessionId) => {
    const seen = new Set<string>()
    for (let at = sessionId; at !== null && !seen.has(at); ) {
      seen.add(at)
      const after = next.get(at)
      if (after === undefined || sessions.get(at)?.status !== 'superseded') return false
      if (speaking.has(after)) return true
      at = after
    }
    return false
  }
}

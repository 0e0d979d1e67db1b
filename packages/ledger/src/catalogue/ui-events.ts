import { anything, integer, maybe, maybeNull, open, text } from './schema.ts'
import { optional, readings } from './payload-parts.ts'
import type { EventFamily } from './primitive.ts'

const inAttempt = { stepId: optional.text, attempt: maybe(integer(1)) }

const inStream = { streamId: optional.text }
/** As chats of other systems bring them along. */
const spoken = { role: anything, name: anything, model: anything }

/** Questions to people and their answers, and messages of a stream. */
export const UI_EVENTS = {
  'ui.input_requested': [
    'ui.interaction',
    open({
      pauseId: optional.text,
      question: anything,
      options: anything,
      schema: anything,
      timeoutMs: optional.amount,
      dueAt: optional.text,
      /** Default answer if none was given by then. */
      default: anything,
      /** The child run that asked, if the question is passed on from one. */
      childRunId: anything,
      ...inAttempt,
      ...readings,
    }),
  ],
  'ui.input_received': [
    'ui.interaction',
    open({ pauseId: optional.text, answer: anything, by: optional.text, denied: anything, ...inAttempt }),
  ],
  /** First event of a stream's run; one with a parent is the thread on a message. */
  'ui.stream_created': [
    'ui.interaction',
    open({
      streamId: text,
      title: maybeNull(text),
      parentStreamId: maybeNull(text),
      parentMessageId: maybeNull(text),
    }),
  ],
  'ui.message_created': [
    'ui.interaction',
    open({
      messageId: optional.text,
      streamId: optional.text,
      author: maybe(open({ type: optional.text, id: optional.text, name: maybeNull(text) })),
      /** For an agent's message. */
      sessionId: maybeNull(text),
      /** Sources: each with `type`, `title`, `url`, `domain`, `snippet`. */
      sources: anything,
      content: anything,
      ...spoken,
    }),
  ],
  'ui.message_edited': [
    'ui.interaction',
    open({ ...inStream, messageId: optional.text, content: anything, ...spoken }),
  ],
  'ui.message_deleted': ['ui.interaction', open({ ...inStream, messageId: text })],
  /** In the run of the message's stream: a thread was opened on it. */
  'ui.thread_created': ['ui.interaction', open({ ...inStream, messageId: text, threadStreamId: text })],
  /** In the run of its stream: a user asks an agent to answer, or to answer again; agents consume it (V9). */
  'ui.session_requested': [
    'ui.interaction',
    open({ sessionId: text, streamId: text, triggerMessageId: maybeNull(text), supersedes: maybeNull(text) }),
  ],
  'ui.output_displayed': ['ui.interaction', open({ messageId: anything, content: anything, ...spoken })],
} as const satisfies EventFamily

import {
  ClewError,
  type ClewEvent,
  type EventInput,
  findMessageEvent,
  fitsRecorded,
  isOwn,
  isResumedByCode,
  type JsonValue,
  type Ledger,
  messageEventId,
  streamRunId,
} from '@clew/ledger'
import type { Content, MessageAuthor } from './payloads.ts'
import type { GivenSource } from './session-options.ts'

export interface NewStream {
  readonly streamId: string
  readonly title?: string | null | undefined
  /** The message that it is the thread on, and the stream of that message. */
  readonly parentStreamId?: string | null | undefined
  readonly parentMessageId?: string | null | undefined
}

export interface NewMessage {
  readonly streamId: string
  readonly author: MessageAuthor
  readonly content: Content
  /** Made when left out. The same id again with the same content is no second message. */
  readonly messageId?: string | undefined
  /** For an agent's message: the session that wrote it. */
  readonly sessionId?: string | null | undefined
  /** Sources of the message; its row shows their number and a link. */
  readonly sources?: readonly GivenSource[] | undefined
  /** The event that led to it; default: what is being worked on here, else the last step of the session. */
  readonly causedBy?: ClewEvent | string | undefined
}

/** Makes a stream; one that is there already, with the same parent, is left as it is. */
export async function createStream(ledger: Ledger, stream: NewStream): Promise<void> {
  const { streamId, title = null, parentStreamId = null, parentMessageId = null } = stream
  const payload = { streamId, title, parentStreamId, parentMessageId }
  const created = written('ui.stream_created', streamId, payload)
  const events = [created]
  if (parentStreamId !== null && parentMessageId !== null) {
    await assertMessage(ledger, parentStreamId, parentMessageId)
    const opened = { streamId: parentStreamId, messageId: parentMessageId, threadStreamId: streamId }
    events.push(written('ui.thread_created', parentStreamId, opened))
  } else if (parentStreamId !== parentMessageId) throw halfParent(streamId)
  try {
    await ledger.append(events, { expectedSeq: 0 })
  } catch (error) {
    if (!(error instanceof ClewError) || error.code !== 'wrong_seq') throw error
    await assertSame(ledger, payload)
  }
}

const halfParent = (streamId: string): ClewError =>
  new ClewError(
    'bad_option',
    `The thread ${streamId} needs both parentStreamId and parentMessageId`,
    'Give both, or neither for a stream of its own; nothing was written.',
    { streamId },
  )

async function assertSame(
  ledger: Ledger,
  wanted: { streamId: string; parentStreamId: string | null; parentMessageId: string | null },
): Promise<void> {
  for await (const event of ledger.read(streamRunId(wanted.streamId), { limit: 1 }))
    if (
      isOwn(event, 'ui.stream_created') &&
      (event.payload.parentStreamId ?? null) === wanted.parentStreamId &&
      (event.payload.parentMessageId ?? null) === wanted.parentMessageId
    )
      return
  throw new ClewError(
    'conflict',
    `There is a stream ${wanted.streamId} already, with another parent`,
    'Use another id; nothing was written.',
    { streamId: wanted.streamId },
  )
}

/** Resolves when the message is committed; gives its id. */
export async function postMessage(ledger: Ledger, message: NewMessage): Promise<string> {
  const { streamId, author, content, messageId, sessionId = null, sources = [] } = message
  if (!(await ledger.getRun(streamRunId(streamId)))) throw missingStream(streamId)
  const event = written('ui.message_created', streamId, {
    ...(messageId !== undefined && { messageId }),
    streamId,
    author: { type: author.type, id: author.id, name: author.name },
    sessionId,
    ...(sources.length > 0 && { sources }),
    content,
  })
  const posted = messageId === undefined ? undefined : await findMessageEvent(ledger, streamId, messageId)
  const eventId =
    messageId === undefined ? undefined : (posted?.eventId ?? messageEventId(ledger, streamId, messageId))
  try {
    const causationId = await causeOf(ledger, message)
    const [stored] = await ledger.append([{ ...event, eventId, causationId }])
    return messageId ?? (stored as ClewEvent).eventId
  } catch (error) {
    // Sent again by another attempt of the same work: only its cause is another one.
    if (eventId === undefined || !(error instanceof ClewError) || error.code !== 'conflict') throw error
    const before = await ledger.getEvent(eventId)
    if (before && isSameMessage(ledger, before, event)) return messageId as string
    throw error
  }
}

/** Undefined leaves it to the code around (L9), as in a run, whose effect posts the message. */
async function causeOf(
  ledger: Ledger,
  { causedBy, sessionId = null }: NewMessage,
): Promise<string | undefined> {
  if (causedBy !== undefined) return typeof causedBy === 'string' ? causedBy : causedBy.eventId
  const run = sessionId === null ? null : await ledger.getRun(sessionId)
  if (!run || (await isResumedByCode(ledger, run.runId))) return undefined
  const afterSeq = Math.max(0, run.events - LOOKED_AT)
  const events = await Array.fromAsync(ledger.read(run.runId, { afterSeq }))
  return (events.findLast(({ eventType }) => eventType === 'execution.step_completed') ?? events.at(-1))
    ?.eventId
}

/** Number of a session's last events that are searched for its last step. */
const LOOKED_AT = 20

export async function editMessage(
  ledger: Ledger,
  change: { readonly streamId: string; readonly messageId: string; readonly content: Content },
): Promise<void> {
  const { streamId, messageId, content } = change
  await assertMessage(ledger, streamId, messageId)
  await ledger.append([written('ui.message_edited', streamId, { streamId, messageId, content })])
}

export async function deleteMessage(
  ledger: Ledger,
  { streamId, messageId }: { readonly streamId: string; readonly messageId: string },
): Promise<void> {
  await assertMessage(ledger, streamId, messageId)
  await ledger.append([written('ui.message_deleted', streamId, { streamId, messageId })])
}

const written = (eventType: string, streamId: string, payload: Record<string, unknown>): EventInput => ({
  eventType,
  correlationId: streamRunId(streamId),
  source: { origin: 'ui', runtime: 'clew' },
  payload,
})

/** But for the id of the message, which stands in the record by another name where redaction changed it. */
function isSameMessage(ledger: Ledger, recorded: ClewEvent, { payload = {} }: EventInput): boolean {
  const { messageId: _was, streamId: _in, ...was } = recorded.payload
  const { messageId: _id, streamId: _of, ...now } = payload
  const { value } = ledger.redactor.value(now as JsonValue)
  return ledger.digest(was) === ledger.digest(now) || fitsRecorded(was, value, { bySecret: true })
}

async function assertMessage(ledger: Ledger, streamId: string, messageId: string): Promise<void> {
  if (await findMessageEvent(ledger, streamId, messageId)) return
  throw new ClewError(
    'not_found',
    `There is no message ${messageId} in stream ${streamId}`,
    'Name one of its messages; nothing was written.',
    { streamId, messageId },
  )
}

export { streamRunId }
export const missingStream = (streamId: string): ClewError =>
  new ClewError('not_found', `There is no stream ${streamId}`, 'Create it first.', { streamId })

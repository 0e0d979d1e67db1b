import {
  systemRunId,
  ClewError,
  type ClewEvent,
  deriveId,
  type EventInput,
  fitsRecorded,
  type JsonValue,
  type Ledger,
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
}

/** The run that holds a stream. */
export const streamRunId = (streamId: string): string => systemRunId('stream', streamId)

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
  for await (const { payload } of ledger.read(streamRunId(wanted.streamId), { limit: 1 }))
    if (
      (payload.parentStreamId ?? null) === wanted.parentStreamId &&
      (payload.parentMessageId ?? null) === wanted.parentMessageId
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
  const posted = messageId === undefined ? undefined : await findMessage(ledger, streamId, messageId)
  const eventId =
    messageId === undefined ? undefined : (posted?.eventId ?? messageEventId(ledger, streamId, messageId))
  try {
    const [stored] = await ledger.append([{ ...event, eventId }])
    return messageId ?? (stored as ClewEvent).eventId
  } catch (error) {
    // Sent again by another attempt of the same work: only its cause is another one.
    if (eventId === undefined || !(error instanceof ClewError) || error.code !== 'conflict') throw error
    const before = await ledger.getEvent(eventId)
    if (before && isSameMessage(ledger, before, event)) return messageId as string
    throw error
  }
}

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

/** The same for the same message, so that posting it again is free (L4). */
const messageEventId = (ledger: Ledger, streamId: string, messageId: string): string =>
  deriveId((text) => ledger.keyedDigest(text), streamRunId(streamId), 'message', messageId)

/** Also one that an earlier version of Clew wrote, which made its id without the key. */
async function findMessage(ledger: Ledger, streamId: string, messageId: string): Promise<ClewEvent | null> {
  const runId = streamRunId(streamId)
  const earlier = deriveId((text) => ledger.digest(text), runId, 'message', messageId)
  for (const eventId of [messageEventId(ledger, streamId, messageId), earlier]) {
    const found = await ledger.getEvent(eventId)
    if (found?.correlationId === runId) return found
  }
  return null
}

/** But for the id of the message, which stands in the record by another name where redaction changed it. */
function isSameMessage(ledger: Ledger, recorded: ClewEvent, { payload = {} }: EventInput): boolean {
  const { messageId: _was, streamId: _in, ...was } = recorded.payload
  const { messageId: _id, streamId: _of, ...now } = payload
  const { value } = ledger.redactor.value(now as JsonValue)
  return ledger.digest(was) === ledger.digest(now) || fitsRecorded(was, value, { bySecret: true })
}

async function assertMessage(ledger: Ledger, streamId: string, messageId: string): Promise<void> {
  // A message without an id of its own is known by that of its event.
  const found = (await findMessage(ledger, streamId, messageId)) ?? (await ledger.getEvent(messageId))
  if (found?.correlationId === streamRunId(streamId)) return
  throw new ClewError(
    'not_found',
    `There is no message ${messageId} in stream ${streamId}`,
    'Name one of its messages; nothing was written.',
    { streamId, messageId },
  )
}

export const missingStream = (streamId: string): ClewError =>
  new ClewError('not_found', `There is no stream ${streamId}`, 'Create it first.', { streamId })

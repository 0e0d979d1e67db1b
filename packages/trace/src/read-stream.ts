import { type ClewEvent, ClewError, type Ledger, type RunSummary } from '@clew/ledger'
import { countReplies } from './create-relay.ts'
import { foldStream, streamBegunBy } from './fold-stream.ts'
import type { StreamMessage } from './payloads.ts'
import { viewOf } from './read-session.ts'
import type { RunningActivity, RunningProgress, SessionView, StreamPage, StreamView } from './session-view.ts'
import { missingStream, streamRunId } from './streams.ts'

export interface StreamPageOptions {
  /** `previousCursor` of the page after it; without it the newest messages. */
  readonly before?: string | undefined
  readonly limit?: number | undefined
}

const DEFAULT_LIMIT = 50
const MAX_PAGE = 200
const CHANGES = ['ui.message_edited', 'ui.message_deleted', 'ui.thread_created']

/**
 * One page of a stream with all that its first load shows (T5): messages with their threads, cards of the sessions
 * between them, sessions at work in threads, and the text so far of all that is running.
 */
export async function readStream(
  ledger: Ledger,
  streamId: string,
  { before, limit = DEFAULT_LIMIT }: StreamPageOptions = {},
): Promise<StreamPage> {
  const stream = await readHead(ledger, streamId)
  const end = before === undefined ? Number.MAX_SAFE_INTEGER : parseCursor(before)
  const part = await readPart(ledger, streamId, end, Math.min(Math.max(1, limit), MAX_PAGE))
  const [messages, sessions, activities] = await Promise.all([
    withReplies(ledger, part.messages),
    readCards(ledger, streamId, part),
    readActivities(ledger, part.messages),
  ])
  const running = [
    ...sessions.filter(({ status }) => status === 'running').map(({ sessionId }) => sessionId),
    ...activities.map(({ sessionId }) => sessionId),
  ]
  return {
    stream,
    messages,
    sessions,
    activities,
    progress: (await Promise.all(running.map((sessionId) => readProgress(ledger, sessionId)))).flat(),
    previousCursor: part.previousSeq === null ? null : String(part.previousSeq),
  }
}

/** Streams of the workspace that are no threads, newest first. */
export async function listStreams(
  ledger: Ledger,
  {
    limit = DEFAULT_LIMIT,
    cursor,
  }: { readonly limit?: number | undefined; readonly cursor?: string | undefined } = {},
): Promise<{ readonly streams: readonly StreamView[]; readonly nextCursor: string | null }> {
  const { runs, nextCursor } = await ledger.listRuns({ systemRun: 'stream', limit, cursor })
  const heads = await Promise.all(runs.map(async (run) => ({ head: await firstOf(ledger, run.runId), run })))
  const streams = heads.flatMap(({ head, run }) => {
    const stream = head && streamBegunBy(head)
    return stream?.parentStreamId === null ? [{ ...stream, updatedAt: run.updatedAt }] : []
  })
  return { streams, nextCursor }
}

async function readHead(ledger: Ledger, streamId: string): Promise<StreamView> {
  const runId = streamRunId(streamId)
  const [head, run] = await Promise.all([firstOf(ledger, runId), ledger.getRun(runId)])
  const stream = head && streamBegunBy(head)
  if (!stream || !run) throw missingStream(streamId)
  return { ...stream, updatedAt: run.updatedAt }
}

async function firstOf(ledger: Ledger, runId: string): Promise<ClewEvent | null> {
  for await (const event of ledger.read(runId, { limit: 1 })) return event
  return null
}

/** A part of the stream: its messages, and between which places of the ledger sessions belong to it. */
interface Part {
  readonly messages: readonly StreamMessage[]
  readonly from: number
  readonly to: number
  /** Seq of the first message, when there are older ones. */
  readonly previousSeq: number | null
}

/** Reads backwards in growing strides: a long stream costs what is shown of it. */
async function readPart(ledger: Ledger, streamId: string, end: number, limit: number): Promise<Part> {
  const runId = streamRunId(streamId)
  const last = Math.min((await ledger.getRun(runId))?.events ?? 0, end - 1)
  for (let stride = 2 * limit; ; stride *= 4) {
    const afterSeq = Math.max(0, last - stride)
    const events = await Array.fromAsync(ledger.read(runId, { afterSeq, limit: last - afterSeq }))
    const created = events.filter(({ eventType }) => eventType === 'ui.message_created')
    if (created.length <= limit && afterSeq > 0) continue
    const shown = created.slice(-limit)
    const later = await Array.fromAsync(ledger.read(runId, { afterSeq: last, types: CHANGES }))
    const first = shown[0]
    const from = created.length > shown.length ? (first?.ledger.position ?? 0) : 0
    const previousSeq = created.length > shown.length ? (first?.ledger.seq ?? null) : null
    const { messages } = foldStream([...events.slice(first ? events.indexOf(first) : 0), ...later])
    return { messages, from, to: await positionAfter(ledger, runId, last, end), previousSeq }
  }
}

/** Sessions before the next page's first message belong to this one. */
async function positionAfter(ledger: Ledger, runId: string, last: number, end: number): Promise<number> {
  if (end === Number.MAX_SAFE_INTEGER) return end
  for await (const event of ledger.read(runId, { afterSeq: last, limit: 1 })) return event.ledger.position
  return Number.MAX_SAFE_INTEGER
}

async function withReplies(ledger: Ledger, messages: readonly StreamMessage[]): Promise<StreamMessage[]> {
  return Promise.all(
    messages.map(async (message) => {
      if (message.threadStreamId === null) return message
      const events = await Array.fromAsync(ledger.read(streamRunId(message.threadStreamId)))
      const { count, lastAt } = countReplies(events)
      return { ...message, replyCount: count, lastReplyAt: lastAt }
    }),
  )
}

async function readCards(ledger: Ledger, streamId: string, { from, to }: Part): Promise<SessionView[]> {
  const cards: SessionView[] = []
  let cursor: string | undefined
  do {
    const page = await ledger.listRuns({ threadId: streamId, limit: DEFAULT_LIMIT, cursor })
    const views = await Promise.all(page.runs.map((run) => viewOf(ledger, run)))
    for (const view of views) if (view && view.position >= from && view.position < to) cards.push(view)
    const oldest = views.findLast((view) => view !== null)
    if (oldest && oldest.position < from) break
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
  return cards.sort((a, b) => a.position - b.position)
}

async function readActivities(
  ledger: Ledger,
  messages: readonly StreamMessage[],
): Promise<RunningActivity[]> {
  const found = messages.map(async ({ messageId, threadStreamId }) => {
    if (threadStreamId === null) return []
    const { runs } = await ledger.listRuns({ threadId: threadStreamId, status: 'running', limit: 4 })
    return runs.flatMap((run) => toActivity(run, messageId))
  })
  return (await Promise.all(found)).flat()
}

function toActivity({ runId, session, events }: RunSummary, messageId: string): RunningActivity[] {
  if (!session) return []
  const { streamId, persona, currentStepType: stepType, generation } = session
  return [{ messageId, sessionId: runId, streamId, persona, stepType, seq: events, generation }]
}

async function readProgress(ledger: Ledger, sessionId: string): Promise<RunningProgress[]> {
  const { notes } = await ledger.progress.read({ runId: sessionId })
  return notes.map(({ runId: _, ...note }) => ({ sessionId, ...note }))
}

function parseCursor(cursor: string): number {
  const seq = Number(cursor)
  if (Number.isSafeInteger(seq) && seq > 0) return seq
  throw new ClewError(
    'bad_option',
    'The cursor is none that a page has given',
    'Use previousCursor as it came.',
    {},
  )
}

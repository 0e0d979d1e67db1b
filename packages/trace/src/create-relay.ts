import {
  asOwn,
  AUDIT_RUN_ID,
  type ClewEvent,
  isSystemRun,
  type Ledger,
  type ProgressNote,
} from '@clew/ledger'
import type { RoomMessage } from './payloads.ts'
import { type ParentMessage, relayEvent, relayProgress, type Replies } from './relay-event.ts'
import { relayDeleted } from './relay-session.ts'
import { foldSessionState, forkState, SESSION_TYPES, type SessionState } from './session-state.ts'
import { foldStream, streamBegunBy } from './fold-stream.ts'
import { streamRunId } from './streams.ts'
import { textOf } from './to-trace-step.ts'

/** Sends what a follower of one workspace reads; events must come in their order, one at a time. */
export interface Relay {
  event(event: ClewEvent): Promise<RoomMessage[]>
  progress(note: ProgressNote): Promise<RoomMessage[]>
}

/** Runs and streams that are remembered; of others the record is read again. */
const REMEMBERED = 10_000

interface Thread {
  readonly parent: ParentMessage
  readonly runId: string
}

/** `relayEvent` with what it needs to know of each event's run and stream, kept while it is in use. */
export function createRelay(ledger: Ledger): Relay {
  /** Null for a run that is no session. */
  const sessions = createMemo<SessionState | null>(REMEMBERED)
  const threads = createMemo<Thread | null>(REMEMBERED)

  async function stateBefore(event: ClewEvent): Promise<SessionState | null> {
    const { correlationId: runId, ledger: place } = event
    const known = sessions.get(runId)
    if (known || place.seq === 1) return known ?? null
    const forkedFrom = (await ledger.getRun(runId))?.forkedFrom ?? null
    const source = forkedFrom && (await ledger.getRun(forkedFrom.runId))
    const afterSeq = forkedFrom?.seq ?? 0
    let state: SessionState | null = null
    for await (const each of ledger.read(runId, { types: SESSION_TYPES, afterSeq })) {
      if (source) state ??= forkState(each, source)
      if (each.ledger.seq >= place.seq) break
      state = foldSessionState(state, each)
    }
    return state
  }

  async function threadOf(streamId: string): Promise<Thread | null> {
    const known = threads.get(streamId)
    if (known !== undefined) return known
    const runId = streamRunId(streamId)
    for await (const event of ledger.read(runId, { types: ['ui.stream_created'], limit: 1 })) {
      const { parentStreamId = null, parentMessageId = null } = streamBegunBy(event) ?? {}
      const isThread = parentStreamId !== null && parentMessageId !== null
      const thread = isThread
        ? { parent: { streamId: parentStreamId, messageId: parentMessageId }, runId }
        : null
      threads.set(streamId, thread)
      return thread
    }
    return null
  }

  /** Threads are short, and each message in one is sent once. */
  async function repliesIn({ runId }: Thread, upToSeq: number): Promise<Replies> {
    const events = await Array.fromAsync(ledger.read(runId, { limit: upToSeq }))
    return countReplies(events)
  }

  async function fromStream(event: ClewEvent): Promise<RoomMessage[]> {
    const streamId = textOf(event.payload.streamId)
    if (streamId === null || event.correlationId !== streamRunId(streamId)) return []
    const thread = await threadOf(streamId)
    const replies = thread && (await repliesIn(thread, event.ledger.seq))
    return relayEvent(event, { session: null, parent: thread?.parent ?? null, replies })
  }

  /** Only the audit run names pruned and erased events, so it is read for them. */
  async function fromAudit(event: ClewEvent): Promise<RoomMessage[]> {
    const own = asOwn(event)
    if (own?.eventType !== 'system.range_pruned' && own?.eventType !== 'system.payload_erased') return []
    const { timestamp } = own
    const told: RoomMessage[] = []
    for (const runId of new Set(own.payload.ranges?.flatMap((range) => range.runId ?? []))) {
      const run = await ledger.getRun(runId)
      // Only a part of it went.
      if (run?.session && run.status !== 'deleted') continue
      const known = sessions.get(runId)
      const state =
        known ?? (run && { ...UNSEEN, summary: run, workspaceId: ledger.workspace, seq: run.events })
      const session = state?.summary.session
      if (state && session) told.push(...relayDeleted(state, session, timestamp))
      sessions.set(runId, null)
    }
    return told
  }

  async function fromRun(event: ClewEvent): Promise<RoomMessage[]> {
    // A run may say that it is a session after other events.
    if (sessions.get(event.correlationId) === null && event.eventType !== 'system.workflow_started') return []
    const before = await stateBefore(event)
    const after = foldSessionState(before, event)
    sessions.set(event.correlationId, after?.summary.session ? after : null)
    const streamId = after?.summary.session?.streamId
    if (streamId === undefined) return []
    const parent = (await threadOf(streamId))?.parent ?? null
    return relayEvent(event, { session: before, parent, replies: null })
  }

  return {
    event(event) {
      if (!isSystemRun(event.correlationId)) return fromRun(event)
      return event.correlationId === AUDIT_RUN_ID ? fromAudit(event) : fromStream(event)
    },
    async progress(note) {
      const { workspace: workspaceId } = ledger
      const streamId =
        sessions.get(note.runId)?.summary.session?.streamId ??
        (await ledger.getRun(note.runId))?.session?.streamId
      return streamId === undefined ? [] : relayProgress(note, { workspaceId, streamId })
    },
  }
}

/** Session whose events this relay has not seen. */
const UNSEEN: Pick<SessionState, 'position' | 'open'> = { position: 0, open: new Map() }

export function countReplies(events: readonly ClewEvent[]): Replies {
  const messages = foldStream(events).messages.filter(({ deletedAt }) => deletedAt === null)
  return { count: messages.length, lastAt: messages.at(-1)?.createdAt ?? null }
}

function createMemo<T>(most: number): { get(key: string): T | undefined; set(key: string, value: T): void } {
  const kept = new Map<string, T>()
  return {
    get(key) {
      const value = kept.get(key)
      if (value === undefined) return undefined
      kept.delete(key)
      kept.set(key, value)
      return value
    },
    set(key, value) {
      kept.delete(key)
      kept.set(key, value)
      const [oldest] = kept.keys()
      if (kept.size > most && oldest !== undefined) kept.delete(oldest)
    },
  }
}

import {
  MESSAGE_CREATED,
  MESSAGE_UPDATED,
  SESSION_COMPLETED,
  SESSION_STARTED,
  type SessionHead,
  STREAM_PROGRESS,
  type StreamMessage,
  type StreamPage,
  type TraceMessage,
} from '@clew/trace'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { catchUp } from './catch-up.ts'
import { EMPTY_STREAM, type LiveStream, mergeStream, streamItems } from './merge-stream.ts'

const of = { workspaceId: 'w', streamId: 's' }
const message = (messageId: string, position: number, more: Partial<StreamMessage> = {}): StreamMessage => ({
  messageId,
  streamId: 's',
  author: { type: 'user', id: 'u', name: 'U' },
  content: messageId,
  sessionId: null,
  sources: [],
  createdAt: '2026-01-01T00:00:00.000Z',
  editedAt: null,
  deletedAt: null,
  position,
  seq: position,
  threadStreamId: null,
  replyCount: 0,
  lastReplyAt: null,
  ...more,
})
const session = (
  status: SessionHead['status'],
  seq: number,
  more: Partial<SessionHead> = {},
): SessionHead => ({
  ...of,
  sessionId: 'x',
  status,
  persona: null,
  triggerMessageId: 'a',
  supersedes: null,
  currentStepType: null,
  stepCount: 0,
  generation: 1,
  seq,
  position: 3,
  startedAt: '2026-01-01T00:00:00.000Z',
  endedAt: null,
  error: null,
  ...more,
})
/** Only what is looked at here is filled in. */
const told = (name: string, payload: object): TraceMessage =>
  Object.assign({} as TraceMessage, { name, payload: { ...of, ...payload } })
const page = (messages: StreamMessage[], sessions: SessionHead[] = []): StreamPage =>
  Object.assign({} as StreamPage, {
    stream: { streamId: 's', title: 'S' },
    messages,
    sessions,
    activities: [],
    progress: [],
    previousCursor: null,
  })

/** Of a session in the thread below message `a`. */
const activity = (seq: number, isActive: boolean): TraceMessage =>
  told(MESSAGE_UPDATED, {
    messageId: 'a',
    updateType: 'agent_activity',
    activity: {
      sessionId: 'y',
      streamId: 't',
      persona: null,
      stepType: isActive ? 'thinking' : null,
      isActive,
      seq,
      generation: 1,
    },
  })

type Incoming = Parameters<typeof mergeStream>[1]

const STORY: readonly Incoming[] = [
  told(MESSAGE_CREATED, { messageId: 'a', message: message('a', 1) }),
  told(MESSAGE_CREATED, { messageId: 'b', message: message('b', 2) }),
  told(SESSION_STARTED, session('running', 1)),
  told(STREAM_PROGRESS, {
    sessionId: 'x',
    stepId: 't',
    stepNumber: 1,
    stepType: 'thinking',
    seq: 2,
    generation: 1,
  }),
  told(SESSION_COMPLETED, session('completed', 5, { stepCount: 2 })),
  activity(1, true),
  activity(4, false),
  told(MESSAGE_UPDATED, { messageId: 'b', updateType: 'deleted', deletedAt: 'then', seq: 12 }),
  told(MESSAGE_UPDATED, {
    messageId: 'a',
    updateType: 'content',
    content: 'better',
    editedAt: 'then',
    seq: 11,
  }),
  told(MESSAGE_UPDATED, {
    messageId: 'b',
    updateType: 'replies',
    threadStreamId: 't',
    replyCount: 2,
    lastReplyAt: '2026-01-02T00:00:00.000Z',
  }),
  page(
    [message('a', 1), message('b', 2, { content: 'changed', seq: 9, editedAt: 'then' })],
    [session('running', 1)],
  ),
]

const fold = (story: readonly Incoming[]): LiveStream =>
  story.reduce((state, each) => mergeStream(state, each, 's'), EMPTY_STREAM)
const shown = (state: LiveStream): unknown => [
  // Whether a deleted message was edited before does not show.
  streamItems(state).map((item) =>
    item.type === 'message' && item.message.deletedAt !== null
      ? { ...item, message: { ...item.message, editedAt: null } }
      : item,
  ),
  [...state.activities.values()],
]

describe('mergeStream', () => {
  it('T3 comes to the same in any order and with anything told again', () => {
    const expected = shown(fold(STORY))
    fc.assert(
      fc.property(
        fc.shuffledSubarray([...STORY], { minLength: STORY.length }),
        fc.subarray([...STORY]),
        (order, again) => {
          expect(shown(fold([...order, ...again]))).toEqual(expected)
        },
      ),
      { numRuns: 200 },
    )
  })

  it('T3 shows a session as one card, between messages, at its end', () => {
    const items = streamItems(fold(STORY))
    expect(items.map(({ key }) => key)).toEqual(['a', 'b', 'x'])
    expect(items[2]).toMatchObject({ session: { status: 'completed', stepCount: 2 } })
    expect(items[0]).toMatchObject({ message: { content: 'better' } })
    expect(items[1]).toMatchObject({ message: { content: null, deletedAt: 'then', replyCount: 2 } })
  })

  it('T1 an answer stands until the session in its place has spoken; one with a thread on it stays', () => {
    const old = { ...session('superseded', 5), sessionId: 'old' }
    const next = { ...session('running', 1), sessionId: 'new', supersedes: 'old' }
    const said = message('said', 2, { sessionId: 'old' })
    const before = fold([page([message('a', 1), said], [old, next])])
    const keysOf = (state: LiveStream): string[] => streamItems(state).map(({ key }) => key)
    expect(keysOf(before)).toContain('said')
    const better = message('better', 9, { sessionId: 'new' })
    expect(keysOf(mergeStream(before, page([better]), 's'))).not.toContain('said')
    const withThread = page([{ ...said, seq: 9, replyCount: 1, threadStreamId: 't' }, better])
    expect(keysOf(mergeStream(before, withThread, 's'))).toContain('said')
  })

  it('T5 an activity that has ended does not come back', () => {
    expect([...fold(STORY).activities.values()]).toMatchObject([{ isActive: false, messageId: 'a' }])
  })

  it('what is told to other streams changes nothing', () => {
    const other = { ...told(MESSAGE_CREATED, { messageId: 'c', message: message('c', 3) }) }
    Object.assign(other, { payload: { ...other.payload, streamId: 'other' } })
    expect(fold([other])).toBe(EMPTY_STREAM)
  })
})

describe('catchUp', () => {
  const isActive = (state: LiveStream): boolean | undefined => state.activities.get('y')?.isActive

  it('T5 who ended while nobody listened is not shown at work; who was heard of since is', () => {
    const known = fold([page([message('a', 1)]), activity(1, true)])
    const fresh = page([message('a', 1)])
    expect(isActive(catchUp(mergeStream(known, fresh, 's'), fresh, known))).toBe(false)
    const since = mergeStream(mergeStream(known, activity(2, true), 's'), fresh, 's')
    expect(isActive(catchUp(since, fresh, known))).toBe(true)
  })

  it('T3 more than a page was written: what stands before the gap goes, and can be read again', () => {
    const known = fold([page([message('a', 1), message('b', 2)], [session('running', 1)])])
    const fresh = { ...page([message('y', 50), message('z', 51)]), previousCursor: '50' }
    const state = catchUp(mergeStream(known, fresh, 's'), fresh, known)
    expect(streamItems(state).map(({ key }) => key)).toEqual(['y', 'z'])
    expect(state.previousCursor).toBe('50')
    const joined = { ...page([message('b', 2), message('z', 51)]), previousCursor: '2' }
    const both = catchUp(mergeStream(known, joined, 's'), joined, known)
    expect(streamItems(both).map(({ key }) => key)).toEqual(['a', 'b', 'x', 'z'])
    expect(both.previousCursor).toBeNull()
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type History, histories } from '../test/random-session.ts'
import { EMPTY_SESSION, liveSteps, type LiveSession, mergeSession } from './merge-session.ts'
import { SESSION_COMPLETED, STEP_COMPLETED, STEP_PROGRESS, STEP_STARTED } from './names.ts'
import type { TraceMessage } from './payloads.ts'
import type { SessionDetail } from './session-view.ts'

type Incoming = TraceMessage | SessionDetail
const mergeAll = (incoming: readonly Incoming[]): LiveSession => incoming.reduce(mergeSession, EMPTY_SESSION)
/** Step as a page shows it. The input is sent live only, so it may be missing after a fetch. */
const shown = (state: LiveSession, withStart = true) => ({
  head: state.head,
  steps: liveSteps(state).map((step) =>
    withStart || step.status === 'completed' ? step : { ...step, content: null },
  ),
})
const last = ({ details }: History): SessionDetail => details.at(-1) as SessionDetail

/** All of these in another order, some of them again. */
const shuffled = <T>(items: readonly T[]): fc.Arbitrary<T[]> =>
  fc
    .tuple(fc.shuffledSubarray([...items], { minLength: items.length }), fc.subarray([...items]))
    .chain(([all, again]) =>
      fc.shuffledSubarray([...all, ...again], { minLength: all.length + again.length }),
    )

const session = (history: Incoming[]) => shown(mergeAll(history))

describe('T3 the merge of what is fetched and what is told', () => {
  it('T3 any order and any duplicates of what was told come to the same', () => {
    fc.assert(
      fc.property(
        histories.chain((history) => shuffled(history.told).map((mixed) => ({ history, mixed }))),
        ({ history, mixed }) => {
          expect(session(mixed)).toEqual(session([...history.told]))
        },
      ),
      { numRuns: 150 },
    )
  })

  it('T3 any interleaving with fetches of any moment comes to the same', () => {
    fc.assert(
      fc.property(
        histories.chain((history) =>
          fc
            .subarray([...history.details])
            .chain((fetches) => shuffled<Incoming>([...history.told, ...fetches, last(history)]))
            .map((mixed) => ({ history, mixed })),
        ),
        ({ history, mixed }) => {
          expect(session(mixed)).toEqual(session([...history.told, last(history)]))
        },
      ),
      { numRuns: 150 },
    )
  })

  it('T3 after a reconnect that missed anything, one fetch is enough', () => {
    fc.assert(
      fc.property(
        histories.chain((history) =>
          fc
            .subarray([...history.told])
            .chain((heard) => shuffled<Incoming>([...heard, last(history)]))
            .map((mixed) => ({ history, mixed })),
        ),
        ({ history, mixed }) => {
          expect(shown(mergeAll(mixed), false)).toEqual(shown(mergeAll([last(history)]), false))
        },
      ),
      { numRuns: 150 },
    )
  })

  it('T3 what is shown at the end is what a fetch shows: live adds nothing and lacks nothing', () => {
    fc.assert(
      fc.property(histories, (history) => {
        const { steps } = last(history)
        const live = shown(mergeAll(history.told), false).steps
        expect(live.map(({ stepId, status, stepNumber }) => [stepId, status, stepNumber])).toEqual(
          steps.map(({ stepId, status, stepNumber }) => [stepId, status, stepNumber]),
        )
        expect(live.map(({ progress }) => progress)).toEqual(steps.map(({ progress }) => progress))
      }),
      { numRuns: 150 },
    )
  })
})

describe('T3 by rank', () => {
  const of = { workspaceId: 'w', sessionId: 'r', streamId: 't' }
  const step = { ...of, stepId: 'a', attempt: 1, stepNumber: 1, stepType: 'thinking', name: 'thinking' }
  const started: TraceMessage = {
    name: STEP_STARTED,
    payload: { ...step, startedSeq: 2, parentStepId: null, startedAt: 'x', content: null },
  }
  const completed: TraceMessage = {
    name: STEP_COMPLETED,
    payload: {
      ...step,
      startedSeq: 2,
      endedSeq: 3,
      parentStepId: null,
      status: 'completed',
      isAssumed: false,
      content: 'done',
      isContentLeftOut: false,
      sources: [],
      messageId: null,
      error: null,
      startedAt: 'x',
      completedAt: 'y',
      durationMs: 1,
    },
  }
  const progress = (version: number): TraceMessage => ({
    name: STEP_PROGRESS,
    payload: {
      ...of,
      stepId: 'a',
      attempt: 1,
      stepType: 'thinking',
      version,
      content: `v${version}`,
      at: 'x',
    },
  })

  it('T3 started may arrive after completed: never go back', () => {
    expect(session([completed, started]).steps).toMatchObject([{ status: 'completed', content: 'done' }])
  })

  it('T3 Late progress after completion is dropped', () => {
    expect(session([started, completed, progress(9)]).steps[0]?.progress).toBeNull()
    expect(mergeAll([started, completed, progress(9)])).toEqual(mergeAll([progress(9), started, completed]))
  })

  it('T3 an older progress does not replace a newer one, and one before its start waits for it', () => {
    expect(session([progress(2), progress(1), started]).steps[0]?.progress?.content).toBe('v2')
    expect(session([progress(2)]).steps).toEqual([])
  })

  it('T3 "Realtime wins" is wrong after a reconnect: a stale started hides the fetched completed', () => {
    const payload = {
      ...of,
      status: 'running' as const,
      persona: null,
      triggerMessageId: null,
      supersedes: null,
      currentStepType: null,
      stepCount: 0,
      generation: 1,
      seq: 1,
      position: 1,
      startedAt: 'x',
      at: 'x',
      endedAt: null,
      error: null,
    }
    const at = (
      status: 'running' | 'failed' | 'completed' | 'interrupted' | 'deleted',
      more = {},
    ): TraceMessage => ({
      name: SESSION_COMPLETED,
      payload: { ...payload, status, ...more },
    })
    const statusOf = (...told: TraceMessage[]): [string | undefined, string | undefined] => [
      mergeAll(told).head?.status,
      mergeAll(told.toReversed()).head?.status,
    ]
    expect(statusOf(at('completed', { seq: 5 }), at('running', { seq: 9 }))).toEqual([
      'completed',
      'completed',
    ])
    expect(statusOf(at('failed', { seq: 5 }), at('running', { seq: 9 }))).toEqual(['failed', 'failed'])
    expect(statusOf(at('completed', { seq: 5 }), at('failed', { seq: 9 }))).toEqual([
      'completed',
      'completed',
    ])
    expect(statusOf(at('deleted', { seq: 5 }), at('completed', { seq: 9 }))).toEqual(['deleted', 'deleted'])
    // Interrupted is not terminal, and a session that failed may be taken up again.
    expect(statusOf(at('interrupted', { seq: 5 }), at('running', { seq: 6 }))).toEqual(['running', 'running'])
    expect(statusOf(at('failed', { seq: 5 }), at('running', { seq: 6, generation: 2 }))).toEqual([
      'running',
      'running',
    ])
  })
})

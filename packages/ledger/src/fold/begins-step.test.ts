import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toItems } from '../diff/items.ts'
import type { ClewEvent } from '../event/envelope.ts'
import { projectRun } from '../projections/projections.ts'
import { searchedText } from '../search/extract.ts'
import { auditFold } from './audit.ts'
import { beginsStep, createBeginnings } from './begins-step.ts'
import { costFold } from './cost.ts'
import { foldEvents } from './fold.ts'
import { type EventFixture, buildEvents } from './event-fixtures.ts'
import { foldSteps } from './steps.ts'
import { taskGraphFold } from './task-graph.ts'
import { timelineFold } from './timeline.ts'
import { transcriptFold } from './transcript.ts'

const stepId = fc.constantFrom('say@s1', 'say@s2', 'ask@s2', 'say@s1/look#0', 'plan#0')
const usage = fc.record({ inputTokens: fc.nat(9), outputTokens: fc.nat(9) })
const attempt = fc.constantFrom(1, 2)
const start = {
  name: fc.constantFrom('say', 'ask'),
  kind: fc.constantFrom('node', 'step'),
  parentStepId: fc.constantFrom('plan#0', 'say@s2'),
  superstep: fc.nat(3),
  index: fc.nat(3),
  inputDigest: fc.constant('abc'),
  inputVersions: fc.constant({ count: 1 }),
  key: fc.constant('k'),
  ordinal: fc.nat(2),
  input: fc.constantFrom<unknown>({ q: 'owls' }, 'text'),
}
const startOnly = { safety: fc.constantFrom('read', 'write'), childRunId: fc.constantFrom('run-2', 'run-3') }
const end = {
  output: fc.constantFrom<unknown>({ count: 1 }, 'said', null),
  decision: fc.constantFrom<unknown>('say', ['ask', 'say'], null),
  durationMs: fc.oneof(fc.nat(900), fc.double({ min: 0, max: 900, noNaN: true }), fc.constant(1.5)),
  usage,
  cached: fc.boolean(),
  checkpoint: fc.record({ superstep: fc.nat(3), next: fc.constant(['say']) }),
}
const STARTS = new Set(Object.keys(start))
const both = fc.record({ stepId, attempt, ...start, ...end }, { requiredKeys: ['stepId', 'name'] })
const of = (type: string, payload: fc.Arbitrary<Record<string, unknown>>): fc.Arbitrary<EventFixture> =>
  fc.record({ type: fc.constant(type), payload, cause: fc.oneof(fc.constant(null), fc.nat(20)) })
const happening = fc.oneof(
  { weight: 3, arbitrary: of('execution.step_completed', both) },
  of('execution.step_completed', fc.record({ stepId, attempt, ...end }, { requiredKeys: ['stepId'] })),
  of(
    'execution.step_started',
    fc.record({ stepId, attempt, ...start, ...startOnly }, { requiredKeys: ['stepId', 'name'] }),
  ),
  of('execution.step_failed', fc.record({ stepId, attempt })),
  of(
    'execution.message',
    fc.record({ stepId, content: fc.constant('x'), usage }, { requiredKeys: ['content'] }),
  ),
  of('execution.tool_call', fc.record({ stepId, name: fc.constant('look') })),
  of('ui.input_requested', fc.record({ stepId, pauseId: fc.constant('p'), question: fc.constant('?') })),
  of('system.workflow_paused', fc.constant({})),
)
const histories = fc
  .array(happening, { maxLength: 25 })
  .map((list) => buildEvents([{ type: 'system.workflow_started', payload: { agent: 'owl' } }, ...list]))

const later = (text: string, ms: number): string => new Date(Date.parse(text) + Math.round(ms)).toISOString()

/** The same history with each start written right before its end. */
function apart(events: readonly ClewEvent[]): ClewEvent[] {
  const isBeginning = createBeginnings()
  const parted = events.flatMap((event) => {
    if (!isBeginning(event) || event.eventType === 'execution.step_started') return [event]
    const { stepId: id, attempt: tried, durationMs } = event.payload
    const given = Object.entries(event.payload).filter(([key]) => STARTS.has(key))
    const ended = Object.entries(event.payload).filter(([key]) => !STARTS.has(key))
    const identity = { stepId: id, ...(tried !== undefined && { attempt: tried }) }
    const { checkpoint } = event.payload as { checkpoint?: { superstep?: number } }
    // What a checkpoint says of the step that carries it, a start says itself.
    const implied = checkpoint && {
      kind: 'node',
      ...(checkpoint.superstep !== undefined && { superstep: checkpoint.superstep }),
    }
    const startId = event.eventId.replace(/^0198/, 'ffff')
    const timestamp = later(event.timestamp, -((durationMs as number | undefined) ?? 0))
    return [
      {
        ...event,
        eventId: startId,
        eventType: 'execution.step_started',
        timestamp,
        payload: { ...identity, ...implied, ...Object.fromEntries(given) },
      },
      { ...event, causationId: startId, payload: Object.fromEntries(ended) },
    ]
  })
  return parted.map((event, at) => ({ ...event, ledger: { ...event.ledger, seq: at + 1 } }))
}

/** Only how many events there are, and where they stand, may tell the two apart. */
function views(events: readonly ClewEvent[], place: (seq: number) => number): unknown {
  const all = {
    summary: projectRun(events),
    steps: foldSteps(events),
    timeline: foldEvents(timelineFold, events),
    graph: foldEvents(taskGraphFold, events),
    transcript: foldEvents(transcriptFold, events),
    audit: foldEvents(auditFold, events),
    cost: foldEvents(costFold(), events),
    items: toItems(events).map(({ keys: _, ...item }) => item),
  }
  return JSON.parse(JSON.stringify(all).replaceAll('fffff0aa', '0198f0aa'), (key, value) => {
    if (/^(?:seq|endSeq|startedSeq|endedSeq|firstSeq)$/.test(key) && typeof value === 'number')
      return place(value)
    return ['events', 'otherEvents', 'eventType', 'recordedAt'].includes(key) ? undefined : (value as unknown)
  })
}

describe('steps of one event', () => {
  it('V1 V2 V3 V4 V5 V6 V7 V10 a completion with a name folds as a start and an end right after it', () => {
    fc.assert(
      fc.property(histories, (events) => {
        const parted = apart(events)
        const ids = parted.map(({ eventId }) => eventId.replace(/^ffff/, '0198'))
        const seqs = new Map(events.map(({ eventId, ledger }) => [eventId, ledger.seq]))
        const place = (seq: number): number => seqs.get(ids[seq - 1] as string) as number
        expect(views(events, (seq) => seq)).toEqual(views(parted, place))
      }),
      { numRuns: 500 },
    )
  })

  it('R2 V4 it starts where it ends, as long ago as it took', () => {
    const events = buildEvents([
      { type: 'system.workflow_started' },
      {
        type: 'execution.step_completed',
        payload: { stepId: 'say@s1', name: 'say', kind: 'node', superstep: 1, output: 7, durationMs: 40.4 },
        cause: 0,
      },
    ])
    const [step] = foldSteps(events)
    expect(step).toMatchObject({
      nodeName: 'say',
      attempt: 1,
      index: 0,
      status: 'completed',
      values: 7,
      startedSeq: 2,
      endedSeq: 2,
      spanId: events[1]?.eventId,
      durationMs: 40.4,
    })
    expect(Date.parse(step?.completedAt ?? '') - Date.parse(step?.createdAt ?? '')).toBe(40)
    expect(foldEvents(timelineFold, events).items[1]).toMatchObject({
      started: true,
      startMs: 60,
      endMs: 100,
    })
    expect(projectRun(events)?.steps).toBe(1)
  })

  it('R2 a completion that repeats the name of a step begun before is an end and no more', () => {
    const events = buildEvents([
      {
        type: 'execution.step_started',
        payload: { stepId: 'a#0', name: 'a', kind: 'effect', safety: 'write' },
      },
      { type: 'execution.step_completed', payload: { stepId: 'a#0', name: 'a', output: 1, safety: 'write' } },
    ])
    expect(foldSteps(events)).toMatchObject([{ startedSeq: 1, endedSeq: 2, kind: 'effect' }])
    expect(projectRun(events)?.steps).toBe(1)
    expect(foldEvents(auditFold, events).entries).toMatchObject([
      { action: 'effect_begun', outcome: 'completed' },
    ])
    expect(toItems(events)).toHaveLength(1)
  })

  it('V1 a completion without a name begins nothing, with one that no date could have it still folds', () => {
    const bare = { type: 'execution.step_completed', payload: { stepId: 'a#0' } }
    expect(foldSteps(buildEvents([bare]))).toEqual([])
    const endless = { ...bare, payload: { stepId: 'a#0', name: 'a', durationMs: 1e300 } }
    const [event] = buildEvents([endless]) as [ClewEvent]
    expect(beginsStep(event)).toBe(true)
    expect(foldSteps([event])).toMatchObject([{ createdAt: event.timestamp, durationMs: 1e300 }])
  })

  it('R4 its name and its output are searched, its digests are not', () => {
    const payload = { stepId: 'say@s1', name: 'say', inputDigest: 'abc', output: { said: 'owls' } }
    expect(searchedText({ payload })).toEqual({ name: 'say', error: '', message: '', data: 'owls' })
  })
})

import { describe, expect, it } from 'vitest'
import { foldEvents } from './fold.ts'
import { type EventFixture, buildEvents } from './event-fixtures.ts'
import { timelineFold } from './timeline.ts'

const fold = (...happenings: EventFixture[]) => foldEvents(timelineFold, buildEvents(happenings))
const start = (stepId: string, atMs: number, payload: object = {}): EventFixture => ({
  type: 'execution.step_started',
  payload: { stepId, name: stepId, ...payload },
  atMs,
})
const end = (stepId: string, atMs: number, payload: object = {}): EventFixture => ({
  type: 'execution.step_completed',
  payload: { stepId, ...payload },
  atMs,
})
const outline = (...happenings: EventFixture[]): string[] =>
  fold(...happenings).items.map(
    ({ name, depth, startMs, endMs, lane }) => `${'>'.repeat(depth)}${name} ${startMs}-${endMs} @${lane}`,
  )

describe('timeline', () => {
  it('V4 nests steps, counts from the start of the run, and gives lanes to what overlaps', () => {
    expect(
      outline(
        { type: 'system.workflow_started', atMs: 1000 },
        start('a#0', 1100),
        start('a#0/b#0', 1150),
        start('c#0', 1200),
        end('a#0/b#0', 1250),
        end('a#0', 1300),
        start('d#0', 1310),
        end('c#0', 1400),
      ),
    ).toEqual([
      'workflow_started 0-0 @0',
      'a#0 100-300 @0',
      '>a#0/b#0 150-250 @0',
      'c#0 200-400 @1',
      'd#0 310-null @0',
    ])
  })

  it('V4 takes children before parents, ends before starts, and orphans as roots', () => {
    expect(outline(start('a#0/b#0', 10), end('a#0', 40), start('a#0', 0), start('x#0/y#0', 50))).toEqual([
      'a#0 -10-30 @0',
      '>a#0/b#0 0-null @0',
      'x#0/y#0 40-null @0',
    ])
    const [lost] = fold(end('lost#0', 90, { durationMs: 30 })).items
    expect(lost).toMatchObject({ name: 'lost', started: false, status: 'completed', durationMs: 30 })
  })

  it('V4 steps that name each other as parents are shown once each', () => {
    const items = outline(
      start('a', 0, { parentStepId: 'b' }),
      start('b', 1, { parentStepId: 'a' }),
      start('c', 2, { parentStepId: 'c' }),
    )
    expect(items).toEqual(['c 2-null @0', 'a 0-null @0', '>b 1-null @0'])
  })

  it('V4 each attempt is a bar of its own, and holds what happened in it', () => {
    const failed: EventFixture = {
      type: 'execution.step_failed',
      payload: { stepId: 'a#0', error: { message: 'no' } },
    }
    const { items } = fold(
      start('a#0', 0),
      { type: 'execution.tool_call', payload: { toolCallId: 'c', name: 't', stepId: 'a#0' }, atMs: 1 },
      { ...failed, atMs: 5 },
      start('a#0', 9, { attempt: 2 }),
      { type: 'execution.message', payload: { role: 'assistant', stepId: 'a#0' }, atMs: 10 },
      { type: 'execution.tool_result', payload: { toolCallId: 'c', result: 1 }, atMs: 12 },
    )
    expect(items).toMatchObject([
      { name: 'a#0', attempt: 1, status: 'failed', error: { message: 'no' } },
      { kind: 'call', name: 't', parent: 0, startMs: 1, endMs: 12, status: 'completed' },
      { name: 'a#0', attempt: 2, status: 'running', endMs: null },
      { kind: 'event', name: 'assistant', parent: 2 },
    ])
  })

  it('V4 an event without a step lies in the step that caused it, while that runs', () => {
    const { items } = fold(
      { ...start('a#0', 0), id: 80 },
      { type: 'execution.reasoning', cause: 80 },
      end('a#0', 300),
      { type: 'execution.message', payload: { role: 'assistant' }, cause: 80 },
    )
    expect(items.map((item) => [item.name, item.parent])).toEqual([
      ['a#0', null],
      ['reasoning', 0],
      ['assistant', null],
    ])
  })

  it('V4 goes 20,000 deep and 20,000 wide', () => {
    const deep = Array.from({ length: 20_000 }, (_, n) =>
      start(`s${n}`, n, n === 0 ? {} : { parentStepId: `s${n - 1}` }),
    )
    expect(fold(...deep).items.at(-1)).toMatchObject({ depth: 19_999, parent: 19_998 })
    const wide = fold(...Array.from({ length: 20_000 }, (_, n) => start(`w${n}`, n)))
    expect(wide.lanes).toBe(20_000)
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ClewEvent } from '../envelope.ts'
import { applyProgress, beginProgress } from './run-progress.ts'
import { beginRun, foldRun, isTerminal, RUN_STATUSES } from './run-summary.ts'
import { applyOperation, createStateBuilder, foldState } from './state.ts'
import { foldSteps } from './steps.ts'

const at = (seq: number): string => new Date(1_800_000_000_000 + seq * 100).toISOString()
const events = (...list: [string, Record<string, unknown>][]): ClewEvent[] =>
  list.map(([eventType, payload], i) => ({
    eventId: `0198f0aa-0000-7000-8000-${String(i).padStart(12, '0')}`,
    eventType,
    timestamp: at(i),
    source: { origin: 'agent', runtime: 'clew' },
    correlationId: 'run-1',
    causationId: null,
    payload,
    ledger: { workspace: 'w', seq: i + 1, position: i + 1, recordedAt: at(i), hash: '', schemaVersion: 0 },
  }))
const summarise = (list: ClewEvent[]) =>
  list.reduce((run, event) => foldRun(run, event), beginRun(list[0] as ClewEvent))

describe('run summary', () => {
  it('V1 execution.completed ends a recorded run, where no other end comes', () => {
    const chat: [string, Record<string, unknown>][] = [
      ['execution.message', { role: 'user', content: 'Owls?' }],
      ['execution.completed', { output: 'Two.' }],
    ]
    const completed = { status: 'completed', endedAt: at(1), durationMs: 100 }
    expect(summarise(events(...chat))).toMatchObject(completed)
    const failed = events(...chat, ['system.workflow_failed', { error: 'no' }])
    expect(summarise(failed)).toMatchObject({ status: 'failed', endedAt: at(2) })
    const stopped = events(['system.workflow_stopped', {}], ...chat)
    expect(summarise(stopped)).toMatchObject({ status: 'stopped', endedAt: at(0) })
    for (const list of [events(...chat), failed, stopped]) {
      const progress = beginProgress()
      for (const event of list) applyProgress(progress, event)
      expect(progress).toMatchObject({ status: summarise(list).status, endedAt: summarise(list).endedAt })
    }
  })

  it('V1 counts, adds up tokens and ends with duration', () => {
    const run = summarise(
      events(
        ['system.workflow_started', { agent: 'research', threadId: 't', subjects: ['user-1', 7] }],
        ['execution.step_started', { stepId: 'plan#0', name: 'plan' }],
        ['execution.message', { role: 'user', usage: { inputTokens: 3, outputTokens: 4 } }],
        ['execution.tool_call', { name: 'search' }],
        ['execution.tool_error', { error: 'no' }],
        ['integration.response', { usage: { inputTokens: 10, outputTokens: 'x' } }],
        ['system.workflow_completed', { output: 1 }],
      ),
    )
    expect(run).toMatchObject({
      status: 'completed',
      agent: 'research',
      threadId: 't',
      subjects: ['user-1'],
      steps: 1,
      messages: 1,
      toolCalls: 1,
      errors: 1,
      inputTokens: 13,
      outputTokens: 4,
      durationMs: 600,
      events: 7,
    })
  })

  it('R0 a map that came out mixed has ended as partial', () => {
    const list = events(['system.workflow_started', {}], ['system.workflow_completed', { status: 'partial' }])
    expect(summarise(list)).toMatchObject({ status: 'partial', endedAt: at(1), durationMs: 100 })
    const progress = beginProgress()
    for (const event of list) applyProgress(progress, event)
    expect(progress.status).toBe('partial')
  })

  it('R0 walks through paused, resumed, failed and interrupted', () => {
    const paused = events(
      ['system.workflow_started', {}],
      ['ui.input_requested', { pauseId: 'p1', question: 'Publish?' }],
      ['system.workflow_paused', { pauseIds: ['p1'] }],
    )
    expect(summarise(paused)).toMatchObject({
      status: 'paused',
      pauses: [{ pauseId: 'p1', question: 'Publish?' }],
    })
    const answered = events(
      ...paused.map((e): [string, Record<string, unknown>] => [e.eventType, e.payload]),
      ['ui.input_received', { pauseId: 'p1', answer: 'yes' }],
      ['system.workflow_resumed', {}],
      ['system.workflow_failed', { error: { name: 'Error', message: 'boom' } }],
      ['system.workflow_interrupted', {}],
    )
    expect(summarise(answered)).toMatchObject({ status: 'failed', pauses: [], error: { message: 'boom' } })
    expect(RUN_STATUSES.filter(isTerminal)).toEqual([
      'completed',
      'failed',
      'stopped',
      'partial',
      'superseded',
      'deleted',
    ])
  })

  it('R0 every view says the same of where a run stands, whatever came in which order', () => {
    const happening = fc.constantFrom<[string, Record<string, unknown>]>(
      ['system.workflow_started', {}],
      ['system.workflow_paused', {}],
      ['system.workflow_resumed', {}],
      ['system.workflow_interrupted', {}],
      ['system.workflow_blocked', {}],
      ['system.workflow_completed', {}],
      ['system.workflow_failed', {}],
      ['system.workflow_stopped', {}],
      ['system.workflow_superseded', {}],
      ['execution.step_started', { stepId: 'a', name: 'a' }],
      ['execution.step_completed', { stepId: 'b', name: 'b' }],
      ['execution.step_interrupted', { stepId: 'a' }],
      ['ui.input_requested', { pauseId: 'p', question: '?', stepId: 'a' }],
      ['ui.input_received', { pauseId: 'p', answer: 1 }],
    )
    fc.assert(
      fc.property(fc.array(happening, { minLength: 1, maxLength: 12 }), (list) => {
        const folded = events(...list)
        const progress = beginProgress()
        for (const event of folded) applyProgress(progress, event)
        const { status, endedAt } = summarise(folded)
        expect([progress.status, progress.endedAt]).toEqual([status, endedAt])
      }),
      { numRuns: 500 },
    )
  })

  it('T7 a step that begins or ends tells that a run which was taken for dead works on', () => {
    const step = (type: string): [string, Record<string, unknown>] => [type, { stepId: 'a', name: 'a' }]
    const cut = [step('execution.step_started'), ['system.workflow_interrupted', {}]] as const
    for (const type of ['execution.step_started', 'execution.step_completed', 'execution.step_failed'])
      expect(summarise(events(...cut.map((each) => [...each] as never), step(type))).status).toBe('running')
    expect(
      summarise(events(...cut.map((each) => [...each] as never), step('execution.step_interrupted'))).status,
    ).toBe('interrupted')
  })

  it('V1 folding never throws, whatever a foreign payload holds', () => {
    const types = fc.constantFrom(
      'system.workflow_started',
      'system.workflow_failed',
      'ui.input_requested',
      'execution.message',
      'execution.tool_error',
    )
    fc.assert(
      fc.property(
        fc.array(fc.tuple(types, fc.dictionary(fc.string(), fc.jsonValue())), { minLength: 1 }),
        (list) => {
          const folded = events(...list)
          expect(summarise(folded).events).toBe(list.length)
          expect(Array.isArray(foldSteps(folded))).toBe(true)
        },
      ),
    )
  })
})

describe('steps', () => {
  it('V2 one record per attempt, with what it gave back', () => {
    const steps = foldSteps(
      events(
        ['execution.step_started', { stepId: 'a#0', name: 'a', kind: 'effect', inputDigest: 'd' }],
        ['execution.step_failed', { stepId: 'a#0', error: { name: 'E', message: 'no' } }],
        ['execution.step_started', { stepId: 'a#0', name: 'a', attempt: 2 }],
        ['execution.step_started', { stepId: 'a#0/b#0', name: 'b' }],
        ['execution.step_stopped', { stepId: 'a#0/b#0' }],
        [
          'execution.step_completed',
          { stepId: 'a#0', attempt: 2, output: 42, decision: ['x'], cached: true },
        ],
        ['execution.step_completed', { stepId: 'never started' }],
      ),
    )
    expect(steps.map((s) => [s.stepId, s.attempt, s.status, s.parentStepId])).toEqual([
      ['a#0', 1, 'failed', null],
      ['a#0', 2, 'completed', null],
      ['a#0/b#0', 1, 'stopped', 'a#0'],
    ])
    expect(steps[1]).toMatchObject({
      values: 42,
      decision: ['x'],
      cached: true,
      durationMs: 300,
      startedSeq: 3,
      endedSeq: 6,
    })
  })
})

describe('state', () => {
  it('L1 closed operations fold without any merge rule', () => {
    const transition = (superstep: number, ...operations: object[]): [string, Record<string, unknown>] => [
      'system.state_transitioned',
      { superstep, operations },
    ]
    const list = events(
      transition(1, { op: 'set', channel: 'n', value: 1 }, { op: 'append', channel: 'log', items: ['a'] }),
      ['execution.checkpoint', { checkpointId: 'c1', superstep: 1, next: ['think'] }],
      transition(
        2,
        { op: 'append', channel: 'log', items: ['b', 'c'] },
        { op: 'patch', channel: 'map', set: { x: 1, y: 2 } },
      ),
      transition(
        3,
        { op: 'patch', channel: 'map', set: { z: 3 }, remove: ['x'] },
        { op: 'remove', channel: 'n' },
      ),
    )
    expect(foldState(list)?.state).toEqual({ log: ['a', 'b', 'c'], map: { y: 2, z: 3 } })
    expect(foldState(list, 1)).toMatchObject({
      state: { n: 1, log: ['a'] },
      next: ['think'],
      checkpointId: 'c1',
      superstep: 1,
    })
    expect(foldState([])).toBeNull()
  })

  it('L1 applying an operation never changes the state before it', () => {
    const before = Object.freeze({ list: Object.freeze([1]), map: Object.freeze({ a: 1 }) })
    applyOperation(before, { op: 'append', channel: 'list', items: [2] })
    applyOperation(before, { op: 'patch', channel: 'map', set: { b: 2 }, remove: ['a'] })
    expect(before).toEqual({ list: [1], map: { a: 1 } })
  })
  it('L1 a checkpoint takes values from the steps of its superstep, and a whole state replaces all', () => {
    const done = (
      stepId: string,
      output: unknown,
      checkpoint?: object,
    ): [string, Record<string, unknown>] => [
      'execution.step_completed',
      { stepId, output, ...(checkpoint && { checkpoint }) },
    ]
    const from = (op: string, channel: string, stepId: string): object => ({ op, channel, from: stepId })
    const list = events(
      done('a@s1', { log: 'one', map: { x: 1 } }),
      done(
        'b@s1',
        { log: ['two', 'three'] },
        {
          superstep: 1,
          next: ['c'],
          operations: [
            from('append', 'log', 'a@s1'),
            from('append', 'log', 'b@s1'),
            from('patch', 'map', 'a@s1'),
          ],
        },
      ),
      // Completed in the superstep before: what it wrote is no longer there to refer to.
      done('c@s2', {}, { superstep: 2, next: [], operations: [from('append', 'log', 'a@s1')] }),
      done(
        'd@s3',
        { n: 1 },
        {
          superstep: 3,
          operations: [from('set', 'n', 'd@s3')],
          state: { n: 1, log: [] },
          versions: { n: 4, log: 2 },
        },
      ),
      ['execution.checkpoint', { superstep: 4, operations: [{ op: 'set', channel: 'n', value: 2 }] }],
    )
    expect(foldState(list, 1)).toMatchObject({
      state: { log: ['one', 'two', 'three'], map: { x: 1 } },
      versions: { log: 2, map: 1 },
      next: ['c'],
    })
    expect(foldState(list, 2)?.versions).toEqual({ log: 2, map: 1 })
    expect(foldState(list, 3)).toMatchObject({ state: { n: 1, log: [] }, versions: { n: 4, log: 2 } })
    expect(foldState(list)).toMatchObject({ state: { n: 2, log: [] }, versions: { n: 5, log: 2 } })
  })

  it('L1 a view that was handed out never changes, though the builder changes its own lists in place', () => {
    const item = (n: number): [string, Record<string, unknown>] => [
      'execution.checkpoint',
      {
        superstep: n,
        operations: [
          { op: 'append', channel: 'list', items: [n] },
          { op: 'patch', channel: 'map', set: { [n]: n } },
        ],
      },
    ]
    const list = events(...[0, 1, 2, 3, 4, 5].map(item))
    const builder = createStateBuilder()
    const views = list.map((event) => {
      builder.apply(event)
      return event.ledger.seq % 2 === 0 ? builder.view() : null
    })
    for (const [at, view] of views.entries()) if (view) expect(view).toEqual(foldState(list, at))
    const [before, after] = [views[3], views[5]]
    expect(before?.state['list']).not.toBe(after?.state['list'])
    expect(createStateBuilder().view()).toBeNull()
  })
})

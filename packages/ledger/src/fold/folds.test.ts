import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ClewEvent } from '../envelope.ts'
import { beginRun, foldRun, isTerminal, RUN_STATUSES } from './run-summary.ts'
import { applyOperation, foldState } from './state.ts'
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
})

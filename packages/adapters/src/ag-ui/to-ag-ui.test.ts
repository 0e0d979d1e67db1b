import type { ClewEvent, JsonObject, JsonValue } from '@clew/ledger'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openMemory, readAll } from '../../test/memory-ledger.ts'
import { type AgUiEvent, fromAgUiEvents, toAgUiEvents } from './index.ts'
import { applyPatch } from './json-patch.ts'
import { plain, STREAM } from '../../test/ag-ui.ts'

describe('A3 a run of the ledger as an AG-UI stream', () => {
  /** What AG-UI demands of any stream. */
  function assertValid(events: readonly AgUiEvent[]): void {
    let running = false
    const steps = new Set<unknown>()
    const open = new Set<unknown>()
    for (const event of events) {
      const { type } = event
      if (type === 'RUN_STARTED') {
        expect(running).toBe(false)
        running = true
        continue
      }
      expect(running).toBe(true)
      if (type === 'STEP_STARTED') {
        expect(steps.has(event['stepName'])).toBe(false)
        steps.add(event['stepName'])
      }
      if (type === 'STEP_FINISHED') expect(steps.delete(event['stepName'])).toBe(true)
      const id = type.startsWith('TOOL') ? event['toolCallId'] : event['messageId']
      if (/^(?:TEXT_MESSAGE|REASONING_MESSAGE|TOOL_CALL)_START$/.test(type)) open.add(id)
      if (/_(?:CONTENT|ARGS)$/.test(type)) {
        expect(open.has(id)).toBe(true)
        expect(event['delta']).not.toBe('')
      }
      if (/^(?:TEXT_MESSAGE|REASONING_MESSAGE|TOOL_CALL)_END$/.test(type)) open.delete(id)
      if (type === 'RUN_FINISHED' || type === 'RUN_ERROR') {
        expect([steps.size, open.size]).toEqual([0, 0])
        running = false
      }
    }
  }

  const name = fc.constantFrom('a', 'b')
  const payload = fc.record(
    {
      stepId: fc.constantFrom('a#0', 'a#1', 'b#0'),
      name,
      kind: fc.constantFrom('tool', 'model'),
      content: fc.jsonValue({ maxDepth: 1 }),
      toolCallId: name,
      pauseId: name,
    },
    { requiredKeys: ['stepId', 'name'] },
  )
  const event = fc.tuple(
    fc.constantFrom(
      'execution.step_started',
      'execution.step_completed',
      'execution.step_failed',
      'execution.message',
      'execution.reasoning',
      'execution.tool_call',
      'execution.tool_result',
      'ui.input_requested',
      'ui.input_received',
      'system.workflow_started',
      'system.workflow_paused',
      'system.workflow_resumed',
      'system.workflow_interrupted',
      'system.workflow_completed',
      'integration.call',
      'execution.other',
    ),
    payload,
  )

  it('is valid whatever the run holds', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 30 }), (list) => {
        const events = list.map(
          ([eventType, given], nth) =>
            ({
              eventType,
              eventId: `e${nth}`,
              correlationId: 'r',
              causationId: null,
              timestamp: '2026-11-15T07:00:00.000Z',
              source: { origin: 'agent', runtime: 'x' },
              payload: given,
              ledger: { seq: nth + 1 },
            }) as unknown as ClewEvent,
        )
        assertValid(toAgUiEvents(events))
      }),
      { numRuns: 300 },
    )
  })

  it('tells the state so that a page has what the ledger has', async () => {
    const operation = fc.oneof(
      fc.record({ op: fc.constant('set'), channel: name, value: fc.jsonValue({ maxDepth: 1 }) }),
      fc.record({
        op: fc.constant('append'),
        channel: name,
        items: fc.array(fc.integer(), { maxLength: 2 }),
      }),
      fc.record({
        op: fc.constant('patch'),
        channel: name,
        set: fc.dictionary(name, fc.integer(), { noNullPrototype: true }),
        remove: fc.array(name),
      }),
      fc.record({ op: fc.constant('remove'), channel: name }),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(operation, { maxLength: 3 }), { minLength: 1, maxLength: 6 }),
        async (supersteps) => {
          const ledger = openMemory()
          for (const [superstep, operations] of supersteps.entries())
            await ledger.record({
              eventType: superstep % 2 === 0 ? 'execution.checkpoint' : 'system.state_transitioned',
              correlationId: 'r',
              payload: { superstep, operations },
            })
          let state: JsonValue = {}
          for (const told of toAgUiEvents(await readAll(ledger, 'r'))) {
            if (told.type === 'STATE_SNAPSHOT') state = told['snapshot'] as JsonValue
            if (told.type === 'STATE_DELTA') state = applyPatch(state, told['delta'] as JsonValue[])
          }
          expect(state).toEqual((await ledger.getState('r'))?.state ?? {})
        },
      ),
      { numRuns: 60 },
    )
  })

  it('names the thread, keeps steps of one name apart, and tells tools as calls only', async () => {
    const ledger = openMemory()
    const record = (eventType: string, payload: JsonObject) =>
      ledger.append([{ eventType, correlationId: 'r', payload }])
    await record('execution.step_started', { stepId: 'a#0', name: 'a' })
    await record('execution.step_started', { stepId: 'a#1', name: 'a' })
    await record('execution.step_started', { stepId: 'f#0', name: 'f', kind: 'tool' })
    await record('execution.tool_call', { toolCallId: 'c', name: 'f', arguments: { n: 1 } })
    await record('execution.tool_error', { toolCallId: 'c', error: { message: 'broken' } })
    await record('execution.step_completed', { stepId: 'a#1' })
    await record('execution.message', { role: 'assistant', content: [{ type: 'text', text: 'Done.' }] })
    await record('execution.handoff', { from: 'a', to: 'b' })
    await record('system.workflow_completed', { output: 1 })
    await record('execution.message', { role: 'assistant', content: 'too late' })
    const told = plain(toAgUiEvents(await readAll(ledger, 'r'), { threadId: 't' }))
    expect(told.map(({ type, stepName, name: custom }) => [type, stepName ?? custom])).toEqual([
      ['RUN_STARTED', undefined],
      ['STEP_STARTED', 'a'],
      ['STEP_STARTED', 'a#1'],
      ['TOOL_CALL_START', undefined],
      ['TOOL_CALL_ARGS', undefined],
      ['TOOL_CALL_END', undefined],
      ['TOOL_CALL_RESULT', undefined],
      ['STEP_FINISHED', 'a#1'],
      ['TEXT_MESSAGE_START', undefined],
      ['TEXT_MESSAGE_CONTENT', undefined],
      ['TEXT_MESSAGE_END', undefined],
      ['CUSTOM', 'execution.handoff'],
      ['STEP_FINISHED', 'a'],
      ['RUN_FINISHED', undefined],
    ])
    expect(told[0]).toEqual({ type: 'RUN_STARTED', threadId: 't', runId: 'r' })
    expect(told[6]).toMatchObject({ toolCallId: 'c', content: 'broken', role: 'tool' })
  })

  it('answers any JSON with events that a ledger takes, or with an error of its own', async () => {
    const ledger = openMemory()
    let nth = 0
    const field = fc.oneof(fc.constantFrom('m', 'c', 'f', 'user'), fc.jsonValue({ maxDepth: 1 }))
    const any = fc.record(
      {
        type: fc.oneof(fc.constantFrom(...new Set(STREAM.map((item) => item.type))), fc.jsonValue()),
        messageId: field,
        toolCallId: field,
        toolCallName: field,
        stepName: field,
        delta: fc.oneof(field, fc.constant([{ op: 'add', path: '/a', value: 1 }])),
        snapshot: fc.jsonValue({ maxDepth: 2 }),
        input: fc.jsonValue({ maxDepth: 2 }),
        outcome: fc.jsonValue({ maxDepth: 2 }),
        usage: fc.jsonValue({ maxDepth: 2 }),
        superstep: field,
        kind: field,
        dueAt: field,
        name: field,
        code: field,
        timestamp: fc.oneof(fc.nat(), fc.jsonValue()),
      },
      { requiredKeys: ['type'] },
    )
    await fc.assert(
      fc.asyncProperty(fc.array(any, { maxLength: 12 }), async (stream) => {
        const { events } = fromAgUiEvents(stream, { runId: `r${++nth}` })
        await ledger.append(events)
        for (const runId of new Set(events.map((found) => found.correlationId)))
          assertValid(toAgUiEvents(await readAll(ledger, runId)).filter(({ type }) => !/[^A-Z_]/.test(type)))
      }),
      { numRuns: 300 },
    )
  })
})

import { describe, expect, it } from 'vitest'
import { auditFold } from './audit.ts'
import { complianceFold } from './compliance.ts'
import { countPlaceholders } from './count-placeholders.ts'
import { foldEvents } from './fold.ts'
import { type EventFixture, buildEvents } from './event-fixtures.ts'

const fold = (...happenings: EventFixture[]) => foldEvents(auditFold, buildEvents(happenings))
const deeds = (...happenings: EventFixture[]): unknown[] =>
  fold(...happenings).entries.map(({ action, who, target, outcome, safety }) => [
    action,
    who,
    target,
    outcome,
    safety,
  ])

describe('audit', () => {
  it('V6 tool calls have the safety of their step and what came of them, in any order', () => {
    expect(
      deeds(
        { type: 'execution.tool_call', payload: { toolCallId: 'c', name: 'rm', stepId: 'rm#0' } },
        { type: 'execution.step_started', payload: { stepId: 'rm#0', name: 'rm', safety: 'destructive' } },
        { type: 'execution.tool_error', payload: { toolCallId: 'c', error: 'no' } },
        { type: 'execution.step_interrupted', payload: { stepId: 'rm#0' } },
        {
          type: 'integration.call',
          payload: { callId: 'i', service: 'mail', operation: 'send' },
          origin: 'integration',
        },
      ),
    ).toEqual([
      ['tool_called', 'agent/clew', 'rm', 'failed', 'destructive'],
      ['effect_begun', 'agent/clew', 'rm', 'interrupted', 'destructive'],
      ['external_called', 'integration/clew', 'mail send', 'open', null],
    ])
  })

  it('V6 names people, stops, forks, take-overs, erasures and policies', () => {
    const trail = fold(
      { type: 'system.workflow_forked', payload: { sourceRunId: 'run-0', sourceSeq: 4 }, origin: 'system' },
      { type: 'ui.input_requested', payload: { pauseId: 'p', question: 'Pay 12 €?' } },
      { type: 'ui.input_received', payload: { pauseId: 'p', answer: 'yes', by: 'ann' }, origin: 'ui' },
      { type: 'system.workflow_resumed', payload: { epoch: 3, reason: 'owner dead' }, origin: 'system' },
      {
        type: 'system.payload_erased',
        payload: { runId: 'run-1', seqs: [2, 3], by: 'dpo', reason: 'asked' },
      },
      { type: 'system.policy_changed', payload: { policy: { retention: 'latest' }, by: 'ops' } },
      { type: 'system.workflow_stopped', payload: { reason: 'too dear' }, origin: 'ui' },
    )
    expect(trail.entries.map(({ action, who, detail }) => [action, who, detail])).toEqual([
      ['run_forked', 'system/clew', 'after seq 4'],
      ['input_requested', 'agent/clew', 'Pay 12 €?'],
      ['input_received', 'ann', 'Pay 12 €? → yes'],
      ['lease_taken', 'system/clew', 'epoch 3: owner dead'],
      ['payload_erased', 'dpo', '2 events: asked'],
      ['policy_changed', 'ops', '{ "retention": "latest" }'],
      ['run_stopped', 'ui/clew', 'too dear'],
    ])
  })

  it('V6 counts what redaction took out, and what was erased', () => {
    const secret = '[redacted:api-key:ab12]'
    const trail = fold(
      {
        type: 'execution.tool_call',
        payload: { name: 't', arguments: { [secret]: [secret, `x ${secret}`] } },
      },
      { type: 'execution.memory_written', payload: { value: '[redacted:card:ff]' } },
      { type: 'execution.message', payload: { role: 'user', content: 'gone' }, erased: true },
    )
    expect(trail).toMatchObject({ redactions: { 'api-key': 3, card: 1 }, events: 3, erasedEvents: 1 })
    expect(trail.entries[0]?.redactions).toBe(3)
    const shared = Object.freeze(['[redacted:card:ff]'])
    expect([...countPlaceholders({ a: shared, b: shared })]).toEqual([['card', 2]])
  })
})

describe('compliance', () => {
  it('V8 takes administrative events and nothing else', () => {
    const { entries } = foldEvents(
      complianceFold,
      buildEvents([
        { type: 'system.access', payload: { action: 'export', by: 'ann', target: 'run-7', reason: 'court' } },
        { type: 'execution.message', payload: { content: 'x' } },
        { type: 'system.range_pruned', payload: { runId: 'run-2', fromSeq: 1, toSeq: 90 }, origin: 'system' },
        { type: 'system.access', erased: true },
      ]),
    )
    expect(entries.map(({ who, action, target, detail }) => [who, action, target, detail])).toEqual([
      ['ann', 'export', 'run-7', 'court'],
      ['system/clew', 'pruned', 'run-2', 'seq 1 to 90'],
      ['agent/clew', 'accessed', null, null],
    ])
  })
})

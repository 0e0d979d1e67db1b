import { expect, it } from 'vitest'
import { foldEvents } from './fold.ts'
import { type EventFixture, buildEvents } from './event-fixtures.ts'
import { transcriptFold } from './transcript.ts'

const told = (...happenings: EventFixture[]): string[] =>
  foldEvents(transcriptFold, buildEvents(happenings)).entries.map((entry) => {
    if (entry.kind === 'tool_call')
      return `${entry.name} ${JSON.stringify(entry.arguments)} → ${entry.outcome?.error?.message ?? JSON.stringify(entry.outcome?.result)}`
    if (entry.kind === 'reasoning' || entry.kind === 'message')
      return `${entry.kind}: ${JSON.stringify(entry.content)}`
    return entry.kind
  })
const began = (name: string, more: object = {}): EventFixture => ({
  type: 'execution.step_started',
  payload: { stepId: `${name}#0`, name, kind: 'effect', attempt: 1, input: 1, ...more },
})
const gave = (name: string, output: unknown, more: object = {}): EventFixture => ({
  type: 'execution.step_completed',
  payload: { stepId: `${name}#0`, attempt: 1, output, ...more },
})
const answer = { role: 'assistant', content: 'Owls.' }

it('V3 an effect is told as a call and what came back, also in one event and while it is open', () => {
  expect(told(began('search'), gave('search', [2]), began('read'))).toEqual([
    'search 1 → [2]',
    'read 1 → undefined',
  ])
  expect(told(gave('search', 2, { name: 'search', kind: 'effect', input: 1 }))).toEqual(['search 1 → 2'])
})

it('V3 what a model gave is told as what it thought and said', () => {
  const message = { ...answer, reasoning_content: 'Hm' }
  expect(told(began('ask'), gave('ask', { choices: [{ message }] }))).toEqual([
    'reasoning: "Hm"',
    'message: "Owls."',
  ])
  const next: EventFixture = { ...began('search'), cause: 1 }
  expect(told(began('ask'), gave('ask', { choices: [{ message }] }), next)).toEqual([
    'reasoning: "Hm"',
    'message: "Owls."',
    'search 1 → undefined',
  ])
  const asks = {
    role: 'assistant',
    content: null,
    tool_calls: [{ function: { name: 'search', arguments: '{}' } }],
  }
  expect(told(began('ask'), gave('ask', { message: asks }))).toEqual([
    'message: [{"type":"tool_call","id":null,"name":"search","arguments":{}}]',
  ])
})

it('V3 an attempt that failed is told once, with its error, and the next one beside it', () => {
  const failed: EventFixture = {
    type: 'execution.step_failed',
    payload: { stepId: 'search#0', attempt: 1, error: { message: 'late' }, retryInMs: 1 },
  }
  expect(
    told(began('search'), failed, began('search', { attempt: 2 }), gave('search', 2, { attempt: 2 })),
  ).toEqual(['search 1 → late', 'search 1 → 2'])
  const ask = (attempt: number): EventFixture => began('thinking', { kind: 'thinking', attempt })
  const refused: EventFixture = {
    type: 'execution.step_failed',
    payload: { stepId: 'thinking#0', attempt: 1, error: { message: 'overloaded' } },
  }
  const lost: EventFixture = {
    type: 'execution.step_interrupted',
    payload: { stepId: 'thinking#0', attempt: 1 },
  }
  const thought = gave('thinking', { content: 'Hm' }, { attempt: 2 })
  expect(told(ask(1), refused, ask(2), thought)).toEqual(['thinking 1 → overloaded', 'reasoning: "Hm"'])
  expect(told(ask(1), lost, ask(2), thought)).toEqual(['thinking 1 → undefined', 'reasoning: "Hm"'])
})

it('V3 a step that tells its own messages and calls is not told a second time', () => {
  const said: EventFixture = { type: 'execution.message', payload: { ...answer, stepId: 'ask#0' } }
  expect(told(began('ask'), said, gave('ask', answer))).toEqual(['message: "Owls."'])
  expect(told(said, began('ask'), gave('ask', answer))).toEqual(['message: "Owls."'])
})

it('V3 T6 steps of a session are told by their type; nodes and own computations are not', () => {
  expect(told(began('thinking', { kind: 'thinking' }), gave('thinking', { content: 'Hm' }))).toEqual([
    'reasoning: "Hm"',
  ])
  expect(told(began('web_search', { kind: 'web_search' }), gave('web_search', { content: null }))).toEqual([
    'web_search 1 → {"content":null}',
  ])
  expect(told(began('plan', { kind: 'compute' }), gave('plan', 1), began('n', { kind: 'node' }))).toEqual([])
})

import { describe, expect, it } from 'vitest'
import { foldEvents } from './fold.ts'
import { type EventFixture, buildEvents } from './event-fixtures.ts'
import { toChatMessages } from './transcript-chat.ts'
import { formatTranscriptMarkdown } from './transcript-markdown.ts'
import { formatTranscriptText } from './transcript-text.ts'
import { transcriptFold } from './transcript.ts'

const fold = (...happenings: EventFixture[]) => foldEvents(transcriptFold, buildEvents(happenings))
const kinds = (...happenings: EventFixture[]): string[] =>
  fold(...happenings).entries.map((entry) => `${entry.kind} ${entry.seq}`)

const started: EventFixture = {
  type: 'system.workflow_started',
  payload: { agent: 'owl', input: { topic: 'owls' } },
}
const reasoning = (stepId?: string, more: Partial<EventFixture> = {}): EventFixture => ({
  type: 'execution.reasoning',
  payload: { content: 'hm', stepId },
  ...more,
})
const call = (id: string, stepId?: string, more: Partial<EventFixture> = {}): EventFixture => ({
  type: 'execution.tool_call',
  payload: { toolCallId: id, name: 'search', arguments: { q: id }, stepId },
  ...more,
})
const result = (id: string, stepId?: string): EventFixture => ({
  type: 'execution.tool_result',
  payload: { toolCallId: id, name: 'search', result: { of: id }, stepId },
})
const says = (role: string, content: unknown, more: Partial<EventFixture> = {}): EventFixture => ({
  type: 'execution.message',
  payload: { role, content },
  ...more,
})

describe('a run whose place was taken', () => {
  const superseded: EventFixture = { type: 'system.workflow_superseded', payload: { by: 's2' } }

  it('V3 says so at its end, and by whom', () => {
    const cut = fold(started, superseded)
    expect(cut.entries.at(-1)).toMatchObject({ kind: 'end', status: 'superseded', reason: 'by s2' })
    expect([cut.status, cut.otherEvents]).toEqual(['superseded', 0])
    expect(formatTranscriptText(cut)).toMatch(/SUPERSEDED\n\s+by s2\n$/)
    expect(formatTranscriptMarkdown(cut)).toMatch(/Superseded[^]*by s2/)
  })

  it('V3 keeps what it had come to before, and when', () => {
    const completed: EventFixture = { type: 'system.workflow_completed', payload: { output: 'owls' } }
    const both = fold(started, completed, superseded)
    expect(both.entries.map((entry) => (entry.kind === 'end' ? entry.status : entry.kind))).toEqual([
      'start',
      'completed',
      'superseded',
    ])
    expect(both.endedAt).toBe(fold(started, completed).endedAt)
    expect(toChatMessages(both).at(-1)).toEqual({ role: 'assistant', content: 'owls' })
  })
})

describe('the order of reading', () => {
  it('V3 reasoning stands above what it led to, however it was recorded', () => {
    const inOrder = kinds(reasoning('a#0'), call('c1', 'a#0'), result('c1', 'a#0'))
    expect(inOrder).toEqual(['reasoning 1', 'tool_call 2'])
    expect(kinds(call('c1', 'a#0'), result('c1', 'a#0'), reasoning('a#0'))).toEqual([
      'reasoning 3',
      'tool_call 1',
    ])
    expect(kinds(call('c1', 'a#0'), reasoning('a#0'), reasoning('a#0'), result('c1'))).toEqual([
      'reasoning 2',
      'reasoning 3',
      'tool_call 1',
    ])
    // Two steps side by side: each reasoning goes to the call of its own step.
    expect(kinds(reasoning('a#0'), reasoning('b#0'), call('c2', 'b#0'), call('c1', 'a#0'))).toEqual([
      'reasoning 2',
      'tool_call 3',
      'reasoning 1',
      'tool_call 4',
    ])
  })

  it('V3 a cause tells more than a step, and what is explained is not explained again', () => {
    expect(kinds(reasoning('a#0', { id: 90 }), call('c1', 'a#0'), call('c2', 'b#0', { cause: 90 }))).toEqual([
      'tool_call 2',
      'reasoning 1',
      'tool_call 3',
    ])
    expect(kinds(reasoning('a#0'), call('c1', 'a#0'), result('c1', 'a#0'), reasoning('a#0'))).toEqual([
      'reasoning 1',
      'tool_call 2',
      'reasoning 4',
    ])
    expect(kinds(says('assistant', 'hi', { cause: 91 }), reasoning(undefined, { id: 91 }))).toEqual([
      'reasoning 2',
      'message 1',
    ])
    // What people ask is not the outcome of a model's reasoning.
    expect(kinds(says('user', 'hi', { payload: { role: 'user', stepId: 'a#0' } }), reasoning('a#0'))).toEqual(
      ['message 1', 'reasoning 2'],
    )
  })

  it('V3 joins results and errors with their calls, whichever came first', () => {
    const { entries } = fold(
      result('c2'),
      call('c1'),
      call('c2'),
      { type: 'execution.tool_error', payload: { toolCallId: 'c1', error: 'no' } },
      { type: 'execution.tool_result', payload: { name: 'lost', result: 1 } },
      call('c3'),
    )
    expect(entries).toMatchObject([
      { seq: 2, toolCallId: 'c1', outcome: { seq: 4, error: { message: 'no' } } },
      { seq: 3, toolCallId: 'c2', outcome: { seq: 1, result: { of: 'c2' } } },
      { seq: 5, called: false, name: 'lost', outcome: { result: 1 } },
      { seq: 6, toolCallId: 'c3', outcome: null },
    ])
  })

  it('V3 an id used twice belongs to the latest call; without ids the cause or the step decides', () => {
    const again = fold(call('c1'), call('c1'), result('c1'))
    expect(again.entries.map((entry) => entry.kind === 'tool_call' && entry.outcome?.seq)).toEqual([
      undefined,
      3,
    ])
    const anonymous = fold(
      { type: 'execution.tool_call', payload: { name: 'a', stepId: 's#0' }, id: 70 },
      { type: 'execution.tool_call', payload: { name: 'a', stepId: 's#1' }, id: 71 },
      { type: 'execution.tool_result', payload: { name: 'a', stepId: 's#0', result: 's0' } },
      { type: 'execution.tool_result', payload: { result: 's1' }, cause: 71 },
    )
    expect(anonymous.entries).toMatchObject([{ outcome: { result: 's0' } }, { outcome: { result: 's1' } }])
  })

  it('V3 questions find their answers, child runs and hand-offs are named, other events are counted', () => {
    const view = fold(
      started,
      { type: 'execution.step_started', payload: { stepId: 'w#0', name: 'w', childRunId: 'run-1-w' } },
      { type: 'execution.handoff', payload: { from: 'owl', to: 'writer' } },
      { type: 'execution.step_completed', payload: { stepId: 'w#0', childRunId: 'run-1-w' } },
      { type: 'ui.input_requested', payload: { pauseId: 'p', question: 'Go?', options: ['yes', 'no'] } },
      { type: 'system.workflow_paused' },
      { type: 'ui.input_received', payload: { pauseId: 'p', answer: 'yes', by: 'ann' } },
      { type: 'execution.my_own_type', payload: { any: 1 } },
    )
    expect(view.entries.map((entry) => entry.kind)).toEqual([
      'start',
      'child_run',
      'handoff',
      'question',
      'status',
    ])
    expect(view.entries[3]).toMatchObject({ answer: { value: 'yes', by: 'ann' } })
    expect(view).toMatchObject({ status: 'pending', otherEvents: 2, agent: 'owl' })
  })

  it('V3 an edited message shows its last content; a view taken before keeps the first', () => {
    const [first, second] = buildEvents([
      { type: 'ui.message_created', payload: { messageId: 'm', content: 'a', sessionId: 's' } },
      { type: 'ui.message_edited', payload: { messageId: 'm', content: 'b' } },
    ])
    let state = transcriptFold.apply(transcriptFold.begin(), first as never)
    const before = transcriptFold.view(state)
    state = transcriptFold.apply(state, second as never)
    expect(transcriptFold.view(state).entries).toMatchObject([
      { role: 'assistant', content: 'b', edited: true },
    ])
    expect(before.entries).toMatchObject([{ content: 'a', edited: false }])
  })
})

const conversation = [
  started,
  says('system', 'Be kind.', { origin: 'system' }),
  says('user', [
    { type: 'text', text: 'Look:' },
    { type: 'image_url', image_url: { url: 'https://e.org/owl.png' } },
  ]),
  says('assistant', 'I search.', { id: 50 }),
  call('c1', undefined, { cause: 50 }),
  call('c2', undefined, { cause: 50 }),
  result('c2'),
  { type: 'execution.tool_error', payload: { toolCallId: 'c1', error: { name: 'E', message: 'no' } } },
  says('assistant', 'Done.'),
]

describe('the forms', () => {
  it('V3 chat messages can be sent again: calls of one turn together, results in their order', () => {
    expect(toChatMessages(fold(...conversation))).toEqual([
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: expect.any(Array) as unknown },
      {
        role: 'assistant',
        content: 'I search.',
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'search', arguments: '{"q":"c1"}' } },
          { id: 'c2', type: 'function', function: { name: 'search', arguments: '{"q":"c2"}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'c1', name: 'search', content: 'Error: E: no' },
      { role: 'tool', tool_call_id: 'c2', name: 'search', content: '{"of":"c2"}' },
      { role: 'assistant', content: 'Done.' },
    ])
  })

  it('V3 chat messages of a run without messages are its input and output; no call stays unanswered', () => {
    const end: EventFixture = { type: 'system.workflow_completed', payload: { output: { ok: true } } }
    expect(toChatMessages(fold(started, call('c1'), end))).toMatchObject([
      { role: 'user', content: '{"topic":"owls"}' },
      { role: 'assistant', tool_calls: [{ id: 'c1' }] },
      { role: 'tool', tool_call_id: 'c1', content: 'No result was recorded.' },
      { role: 'assistant', content: '{"ok":true}' },
    ])
  })

  it('V3 no message can pass for a heading, in text or Markdown', () => {
    const view = fold(
      says('user', 'hello\nASSISTANT\u2028TOOL CALL\r# Title\n```\nx'),
      says('assistant', '```json'),
    )
    const text = formatTranscriptText(view)
    expect(text.split('\n').filter((line) => /^\S/.test(line))).toEqual([
      'run-1 · pending',
      'USER',
      'ASSISTANT',
      'NOT RUNNING',
    ])
    const markdown = formatTranscriptMarkdown(view)
    expect(markdown.split('\n').filter((line) => /^[#`]/.test(line))).toEqual([
      '# run-1',
      '### User',
      '### Assistant',
      '### Not running',
    ])
    const data = formatTranscriptMarkdown(fold(call('````', 'a#0'), result('````')))
    expect(data).toContain('`````json\n')
  })

  it('V3 says what is erased, unfinished, failed or missing', () => {
    const text = (...happenings: EventFixture[]): string => formatTranscriptText(fold(...happenings))
    expect(text({ ...says('user', 'secret'), erased: true })).toContain('(erased)')
    expect(text(started, call('c1'))).toMatch(/RESULT search\n {2}none was recorded[\s\S]*STILL RUNNING/)
    expect(text(result('c9'))).toContain('its call was not recorded')
    expect(
      text(started, { type: 'system.workflow_failed', payload: { error: { name: 'E', message: 'boom' } } }),
    ).toContain('FAILED\n  E: boom')
    expect(
      text(
        started,
        { type: 'ui.input_requested', payload: { question: 'Go?' } },
        { type: 'system.workflow_paused' },
      ),
    ).toMatch(/QUESTION\n {2}Go\?[\s\S]*none yet[\s\S]*PAUSED/)
    expect(
      text(
        started,
        { type: 'system.workflow_interrupted' },
        { type: 'system.workflow_resumed', payload: { reason: 'swept' } },
      ),
    ).toMatch(/INTERRUPTED[\s\S]*RESUMED\n {2}swept/)
    expect(text()).toBe('(no run)\n')
  })
})

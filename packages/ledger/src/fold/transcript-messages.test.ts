import { describe, expect, it } from 'vitest'
import { type EventFixture, buildEvents } from './event-fixtures.ts'
import { foldEvents } from './fold.ts'
import { toChatMessages } from './transcript-chat.ts'
import { formatTranscriptText } from './transcript-text.ts'
import { transcriptFold } from './transcript.ts'

const told = (...happenings: EventFixture[]): string[] =>
  foldEvents(transcriptFold, buildEvents(happenings)).entries.map((entry) => {
    if (entry.kind === 'tool_call')
      return `${entry.name} ${JSON.stringify(entry.arguments)} → ${entry.outcome?.error?.message ?? JSON.stringify(entry.outcome?.result)}`
    if (entry.kind === 'message')
      return `${entry.role}: ${JSON.stringify(entry.content)}${entry.edited ? ' (edited)' : ''}`
    return entry.kind === 'reasoning' ? `reasoning: ${String(entry.content)}` : entry.kind
  })
const chat = (...happenings: EventFixture[]) =>
  toChatMessages(foldEvents(transcriptFold, buildEvents(happenings)))

const call = { id: 'c1', name: 'search', arguments: { q: 'owls' } }
const ask = { id: 'm1', role: 'human', content: 'Owls?' }
const asks = { id: 'm2', role: 'ai', content: '', toolCalls: [call] }
const found = { id: 'm3', role: 'tool', toolCallId: 'c1', content: 'Two owls' }
const says = { id: 'm4', role: 'ai', content: 'Two.' }

describe('messages in a state', () => {
  const input = (...items: object[]): EventFixture => ({
    type: 'execution.checkpoint',
    payload: { superstep: 0, operations: [{ op: 'append', channel: 'messages', items }] },
  })
  const node = (stepId: string, written: object[], operations?: object[]): EventFixture => ({
    type: 'execution.step_completed',
    payload: {
      stepId,
      output: { messages: written },
      ...(operations && { checkpoint: { superstep: 1, operations } }),
    },
  })
  const appended = (from: string): object => ({ op: 'append', channel: 'messages', from })
  const loop = [
    input(ask),
    node('think@s1', [asks], [appended('think@s1')]),
    node('search@s2', [found], [appended('search@s2')]),
    node('think@s3', [says], [appended('think@s3')]),
  ]

  it('V3 what a superstep adds to a conversation was said: messages, calls and results', () => {
    expect(told(...loop)).toEqual(['user: "Owls?"', 'search {"q":"owls"} → "Two owls"', 'assistant: "Two."'])
    expect(chat(...loop)).toEqual([
      { role: 'user', content: 'Owls?' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'search', arguments: '{"q":"owls"}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', name: 'search', content: 'Two owls' },
      { role: 'assistant', content: 'Two.' },
    ])
  })

  it('V3 each message stands at the step that wrote it', () => {
    const { entries } = foldEvents(
      transcriptFold,
      buildEvents([
        node('a@s1', [says]),
        node('b@s1', [{ role: 'ai', content: 'And I.' }], [appended('a@s1'), appended('b@s1')]),
      ]),
    )
    expect(entries.map(({ stepId, seq }) => [stepId, seq])).toEqual([
      ['a@s1', 1],
      ['b@s1', 2],
    ])
  })

  it('V3 a list that takes the place of another tells what is new in it, and what was changed', () => {
    const edited = { ...says, content: 'Three.' }
    const more = { id: 'm5', role: 'human', content: 'Sure?' }
    const value = [ask, edited, more]
    const replaced = node('b@s2', [edited, more], [{ op: 'set', channel: 'messages', value }])
    expect(told(input(ask), node('a@s1', [says], [appended('a@s1')]), replaced)).toEqual([
      'user: "Owls?"',
      'assistant: "Three." (edited)',
      'user: "Sure?"',
    ])
    const set = (...items: string[]): EventFixture => ({
      type: 'execution.checkpoint',
      payload: {
        operations: [
          { op: 'set', channel: 'log', value: items.map((content) => ({ role: 'user', content })) },
        ],
      },
    })
    expect(told(set('ok'), set('ok', 'go'), set('ok', 'go', 'ok'), set('ok'))).toEqual([
      'user: "ok"',
      'user: "go"',
      'user: "ok"',
    ])
  })

  it('V3 a whole state repeats what the operations say, and says it where there are none', () => {
    const whole = (operations: object[]): EventFixture => ({
      type: 'execution.checkpoint',
      payload: { operations, state: { messages: [ask, says], n: 1 }, versions: {} },
    })
    expect(told(whole([{ op: 'append', channel: 'messages', items: [says] }]))).toEqual(['assistant: "Two."'])
    expect(told(whole([]))).toEqual(['user: "Owls?"', 'assistant: "Two."'])
  })

  it('V3 other channels are no conversation, erased ones say nothing', () => {
    const other = { op: 'append', channel: 'pages', items: [{ url: 'x', content: 'y' }] }
    expect(told({ type: 'execution.checkpoint', payload: { operations: [other] } })).toEqual([])
    expect(told({ ...(loop[0] as EventFixture), erased: true })).toEqual([])
  })

  it('V3 what a model gave an effect and the node then wrote is told once', () => {
    const effect = (stepId: string, name: string, given: unknown, output: unknown): EventFixture => ({
      type: 'execution.step_completed',
      payload: { stepId, name, kind: 'effect', input: given, output },
    })
    const reply = {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c1', function: { name: 'search', arguments: '{"q":"owls"}' } }],
    }
    expect(
      told(
        input(ask),
        effect('think@s1/model#0', 'model', 1, reply),
        node('think@s1', [asks], [appended('think@s1')]),
        effect('search@s2/search#0', 'search', call.arguments, 'Two owls'),
        node('search@s2', [found], [appended('search@s2')]),
        effect('think@s3/model#0', 'model', 2, { role: 'assistant', content: 'Two.' }),
        node('think@s3', [says], [appended('think@s3')]),
      ),
    ).toEqual(['user: "Owls?"', 'search {"q":"owls"} → "Two owls"', 'assistant: "Two."'])
  })
})

describe('effects that perform the call of a model under another name', () => {
  const asked = (...calls: object[]): EventFixture => ({
    type: 'execution.step_completed',
    payload: {
      stepId: 'think#0',
      name: 'think',
      kind: 'effect',
      output: { role: 'assistant', content: null, tool_calls: calls },
    },
  })
  const wants = (id: string, name: string, given: object): object => ({
    id,
    function: { name, arguments: JSON.stringify(given) },
  })
  const effect = (name: string, input: unknown, end: object): EventFixture[] => {
    const stepId = `${name}#${JSON.stringify(input)}`
    const type = 'error' in end ? 'execution.step_failed' : 'execution.step_completed'
    return [
      { type: 'execution.step_started', payload: { stepId, name, kind: 'effect', input } },
      { type, payload: { stepId, ...end } },
    ]
  }
  const answered = (...answers: readonly (readonly [id: string, content: unknown])[]): EventFixture => ({
    type: 'execution.checkpoint',
    payload: {
      operations: [
        {
          op: 'append',
          channel: 'messages',
          items: answers.map(([tool_call_id, content]) => ({ role: 'tool', tool_call_id, content })),
        },
      ],
    },
  })
  const owls = { q: 'owls' }
  const output = { hits: ['a', 'b'] }
  const search = wants('c1', 'search_notes', owls)

  it('V3 are told by the call if the model was told what they gave for the same arguments', () => {
    const [began, ended] = effect('workspace_search', owls, { output }) as [EventFixture, EventFixture]
    const events = [asked(search), began, ended, answered(['c1', JSON.stringify(output)])]
    expect(told(...events)).toEqual([`search_notes {"q":"owls"} → ${JSON.stringify(output)}`])
    const { entries } = foldEvents(transcriptFold, buildEvents(events))
    expect(entries).toMatchObject([
      { seq: 1, stepId: 'think#0', performedBy: 'workspace_search#{"q":"owls"}', outcome: { seq: 3 } },
    ])
    expect(told(asked(search), ...effect('find', owls, { output: 'Two' }), answered(['c1', 'Two']))).toEqual([
      'search_notes {"q":"owls"} → "Two"',
    ])
  })

  it('V3 are told by themselves if they gave something else: a check before the tool is not the tool', () => {
    const remove = wants('c1', 'delete_file', { path: '/a' })
    const allowed = effect('may_delete', { path: '/a' }, { output: true })
    const tool = effect('delete_file', { path: '/a' }, { output: 'gone' })
    const check = 'may_delete {"path":"/a"} → true'
    expect(told(asked(remove), ...allowed)).toEqual(['delete_file {"path":"/a"} → undefined', check])
    expect(told(asked(remove), ...allowed, answered(['c1', 'Not allowed']))).toEqual([
      'delete_file {"path":"/a"} → "Not allowed"',
      check,
    ])
    expect(told(asked(remove), ...allowed, ...tool, answered(['c1', 'gone']))).toEqual([
      'delete_file {"path":"/a"} → "gone"',
      check,
    ])
  })

  it('V3 each performs one call, whatever the order in which they end, and none without arguments', () => {
    const again = wants('c2', 'search_notes', owls)
    const text = JSON.stringify(output)
    const one = `search_notes {"q":"owls"} → ${text}`
    const twice = [{ stepId: 'x#0' }, { stepId: 'x#1' }].map(
      (step): EventFixture => ({
        type: 'execution.step_completed',
        payload: { ...step, name: 'x', kind: 'effect', input: owls, output },
      }),
    )
    expect(told(asked(search, again), ...twice, answered(['c2', text], ['c1', text]))).toEqual([one, one])
    const once = twice.slice(0, 1)
    expect(told(asked(search, again), ...once, answered(['c1', text], ['c2', text]))).toEqual([
      one,
      `search_notes {"q":"owls"} → ${JSON.stringify(text)}`,
    ])
    const list = wants('c3', 'list', {})
    expect(told(asked(list), ...effect('flush', {}, { output: 'ok' }), answered(['c3', 'ok']))).toEqual([
      'list {} → "ok"',
      'flush {} → "ok"',
    ])
  })

  it('V3 are told by the call if they failed and the model was told why', () => {
    const failed = effect('visit', owls, { error: { name: 'Gone', message: 'No such page' } })
    const text = JSON.stringify({ content: 'No such page' })
    expect(told(asked(search), ...failed, answered(['c1', text]))).toEqual([
      'search_notes {"q":"owls"} → No such page',
    ])
  })
})

describe('model calls on the tape', () => {
  const url = 'https://api.example/v1/chat/completions'
  const user = { role: 'user', content: 'Owls?' }
  const calls = [{ id: 'c1', type: 'function', function: { name: 'search', arguments: '{"q":"owls"}' } }]
  const asking = { role: 'assistant', content: null, tool_calls: calls }
  const result = { role: 'tool', tool_call_id: 'c1', content: 'Two owls' }
  const head = (
    n: number,
    messages: object[],
    output: object = { status: 200, hasBody: true },
  ): EventFixture => ({
    type: 'execution.step_completed',
    payload: {
      stepId: `fetch#${n}`,
      name: 'fetch',
      kind: 'effect',
      input: { method: 'POST', url, body: { model: 'owl-1', messages } },
      output,
    },
  })
  const body = (n: number, ...chunks: string[]): EventFixture => ({
    type: 'execution.step_completed',
    payload: {
      stepId: `fetch body@${n}`,
      name: 'fetch body',
      kind: 'effect',
      input: { method: 'POST', url },
      output: { chunks: chunks.map((chunk, at) => [at, chunk]), startedAt: 0 },
    },
  })
  const whole = (message: object): string => JSON.stringify({ model: 'owl-1', choices: [{ message }] })

  it('D4 V3 are told as messages, calls and results, each once', () => {
    const system = { role: 'system', content: 'Be brief' }
    const second = [system, user, asking, result]
    const events = [
      head(0, [system, user]),
      body(0, whole(asking)),
      head(1, second),
      body(1, whole({ role: 'assistant', content: 'Two.' })),
      head(2, [...second, { role: 'assistant', content: 'Two.' }, user]),
      body(2, whole({ role: 'assistant', content: 'Two.' })),
    ]
    expect(told(...events)).toEqual([
      'system: "Be brief"',
      'user: "Owls?"',
      'search {"q":"owls"} → "Two owls"',
      'assistant: "Two."',
      'user: "Owls?"',
      'assistant: "Two."',
    ])
    const { entries } = foldEvents(transcriptFold, buildEvents(events))
    expect(entries.flatMap((entry) => (entry.kind === 'message' ? [entry.model] : []))).toEqual([
      null,
      null,
      'owl-1',
      null,
      'owl-1',
    ])
  })

  it('D4 V3 a tool that an effect performs is the call of the model, its failed attempts too', () => {
    const failed: EventFixture[] = [
      { type: 'execution.step_started', payload: { stepId: 'search#0', name: 'search', kind: 'effect' } },
      {
        type: 'execution.step_failed',
        payload: { stepId: 'search#0', attempt: 1, error: { message: 'late' }, retryInMs: 1 },
      },
      {
        type: 'execution.step_completed',
        payload: { stepId: 'search#0', name: 'search', kind: 'effect', attempt: 2, output: 'Two owls' },
      },
    ]
    const events = [head(0, [user]), body(0, whole(asking)), ...failed, head(1, [user, asking, result])]
    expect(
      told(...events).filter((line) => !line.startsWith('failure') && !line.startsWith('fetch')),
    ).toEqual(['user: "Owls?"', 'search {"q":"owls"} → "Two owls"'])
  })

  it('D4 V3 a streamed answer is put together', () => {
    const delta = (piece: object): string =>
      `data: ${JSON.stringify({ model: 'm', choices: [{ delta: piece }] })}\n\n`
    const call0 = { index: 0, id: 'c1', function: { name: 'search', arguments: '{"q":' } }
    const call1 = { index: 0, function: { arguments: '"owls"}' } }
    expect(
      told(
        head(0, [user]),
        body(
          0,
          delta({ role: 'assistant', content: 'Let ' }),
          delta({ content: 'me' }),
          delta({ tool_calls: [call0] }),
          delta({ tool_calls: [call1] }),
          'data: [DONE]\n\n',
        ),
      ),
    ).toEqual(['user: "Owls?"', 'assistant: "Let me"', 'search {"q":"owls"} → undefined'])
  })

  it('D4 V3 a refused request, and any other, stays what it was', () => {
    const refused = { status: 429, hasBody: true }
    const other: EventFixture = {
      type: 'execution.step_completed',
      payload: {
        stepId: 'fetch#1',
        name: 'fetch',
        kind: 'effect',
        input: { url: 'https://x.y/z' },
        output: 1,
      },
    }
    expect(
      told(head(0, [user], refused), body(0, '{"error":1}'), other).map((line) => line.slice(0, 10)),
    ).toEqual(['fetch {"me', 'user: "Owl', 'fetch body', 'fetch {"ur'])
  })
})

it('V3 a result that is JSON text is laid out as JSON; other text stays text', () => {
  const text = (content: string): string => {
    const events = buildEvents([
      { type: 'execution.message', payload: { role: 'tool', tool_call_id: 'c1', content } },
    ])
    return formatTranscriptText(foldEvents(transcriptFold, events))
  }
  expect(text('{"hits":[{"type":"note"}]}')).toContain('    "hits": [\n')
  expect(text('[{"type":"note"}]')).toContain('      "type": "note"\n')
  expect(text('[1] Owls')).toContain('  [1] Owls\n')
  expect(text('"42"')).toContain('  "42"\n')
})

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ClewEvent, costFold, foldEvents, foldSteps, projectRun, transcriptFold } from '@clew/ledger'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openMemory, readAll } from '../../test/memory-ledger.ts'
import {
  attribute,
  FOLDER,
  from,
  load,
  of,
  runOf,
  span,
  spansOf,
  withSpans,
} from '../../test/otlp-exports.ts'
import { fromOtlpLogs, fromOtlpTraces } from './index.ts'

describe('A3 L4 any order and any number of deliveries', () => {
  const inputs = ['gen-ai', 'openinference', 'ai-sdk', 'mixed', 'gen-ai-older', 'langfuse'].map(load)

  it('gives the same events in the same order', () => {
    fc.assert(
      fc.property(fc.constantFrom(...inputs), fc.infiniteStream(fc.nat()), (input, dice) => {
        const spans = spansOf(input)
        const shuffled = [...spans, ...spans.slice(0, 2)]
          .map((item) => ({ item, at: dice.next().value as number }))
          .toSorted((a, b) => a.at - b.at)
          .map(({ item }) => item)
        expect(fromOtlpTraces(withSpans(input, shuffled)).events).toEqual(fromOtlpTraces(input).events)
      }),
      { numRuns: 60 },
    )
  })

  /** What does not depend on the order in which the ledger was told. */
  function summary(events: readonly ClewEvent[]) {
    const steps = foldSteps(events).map(
      ({ startedSeq: _, endedSeq: __, superstep: ___, billing: ____, ...step }) => step,
    )
    const { total } = foldEvents(costFold(), events)
    const run = projectRun(events)
    return {
      events: new Set(events.map((event) => event.eventId)),
      steps: steps.toSorted((a, b) => (a.stepId < b.stepId ? -1 : 1)),
      total,
      // What the root says, whenever it comes.
      identity: [run?.agent, run?.startedAt, run?.durationMs],
      counts: [run?.status, run?.steps, run?.messages, run?.toolCalls, run?.errors, run?.modelCalls],
      entries: foldEvents(transcriptFold, events)
        .entries.map(({ kind, eventId }) => `${kind} ${eventId}`)
        .toSorted(),
    }
  }

  it('gives the same run when spans come in batches of any kind, some of them twice', async () => {
    for (const input of inputs) {
      const whole = openMemory()
      const { events } = fromOtlpTraces(input)
      await whole.append(events)
      const expected = summary(await readAll(whole, runOf(events)))
      await fc.assert(
        fc.asyncProperty(
          fc.shuffledSubarray([...spansOf(input)], { minLength: spansOf(input).length }),
          fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 4 }),
          async (shuffled, sizes) => {
            const ledger = openMemory()
            const queue = [...shuffled]
            for (let nth = 0; queue.length > 0; nth++) {
              const batch = withSpans(input, queue.splice(0, sizes[nth % sizes.length]))
              await ledger.append(fromOtlpTraces(batch).events)
              if (nth % 2 === 0) await ledger.append(fromOtlpTraces(batch).events)
            }
            expect(summary(await readAll(ledger, runOf(events)))).toEqual(expected)
          },
        ),
        { numRuns: 8 },
      )
    }
  })

  it('tells a span that says something else under the same ids', () => {
    const { events, problems } = from(span({}), span({ name: 'other' }), span({}))
    expect(of(events, 'execution.step_completed')).toHaveLength(1)
    expect(problems).toEqual([{ index: 1, reason: expect.stringContaining('the same ids') }])
  })
})

describe('A3 what is wrong with a span is told by its place', () => {
  it.each([
    [{ traceId: '' }, 'traceId is missing; it must be 32 hex digits; logs and metrics have paths'],
    [{ traceId: '0'.repeat(32) }, 'traceId is all zeros'],
    [{ spanId: 'abc' }, 'spanId is 3 digits long'],
    [{ parentSpanId: '12' }, 'parentSpanId is 2 digits long'],
    [{ spanId: 'not hex' }, 'spans[1].spanId is a string; it must be hex digits'],
    [{ startTimeUnixNano: 'noon' }, 'startTimeUnixNano is a string'],
    [{ kind: 'SPAN_KIND_ODD' }, 'kind is a string'],
    [{ attributes: 5 }, 'attributes is a number'],
    [{ events: [5] }, 'events[0] is a number'],
  ])('%j', (fault, reason) => {
    const { events, problems, received } = from(
      span({}),
      span({ spanId: '2'.repeat(16), ...fault }),
      span({ spanId: '3'.repeat(16) }),
    )
    expect(received).toBe(3)
    expect(of(events, 'execution.step_completed')).toHaveLength(2)
    expect(problems).toEqual([{ index: 1, reason: expect.stringContaining(reason) }])
  })

  it('never says what a value was', () => {
    const { problems } = from(span({ name: ['hunter2'], spanId: 'hunter2' }))
    expect(JSON.stringify(problems)).not.toContain('hunter2')
  })
})

describe('A3 details of spans', () => {
  it('keeps the nanoseconds', () => {
    const { events } = from(
      span({ startTimeUnixNano: '1763190000123456789', endTimeUnixNano: '1763190000123456790' }),
    )
    const step = events.find((event) => event.eventType === 'execution.step_completed')
    expect(step?.timestamp).toBe('2025-11-15T07:00:00.123456790Z')
    expect(step?.payload?.['otel']).toMatchObject({
      startTimeUnixNano: '1763190000123456789',
      endTimeUnixNano: '1763190000123456790',
    })
    expect(step?.payload?.['durationMs']).toBe(0.000001)
  })

  it('keeps numbers that JSON cannot hold, bytes, and hostile names', () => {
    const { events } = from(
      span({
        attributes: [
          { key: 'big', value: { intValue: '9007199254740993' } },
          { key: 'none', value: { doubleValue: 'NaN' } },
          { key: 'raw', value: { bytesValue: 'AAEC' } },
          { key: '__proto__', value: { stringValue: 'polluted' } },
        ],
      }),
    )
    const [payload] = of(events, 'execution.step_completed')
    const otel = payload?.['otel'] as { attributes: object } | undefined
    expect(Object.entries(otel?.attributes ?? {})).toEqual([
      ['big', '9007199254740993'],
      ['none', 'NaN'],
      ['raw', 'AAEC'],
      ['__proto__', 'polluted'],
    ])
    expect(Reflect.get({}, 'polluted')).toBeUndefined()
  })

  it('counts of tokens that are minus zero are zero', async () => {
    const { events } = from(
      span({
        attributes: [
          attribute('gen_ai.operation.name', 'chat'),
          { key: 'gen_ai.usage.input_tokens', value: { doubleValue: -0 } },
          attribute('gen_ai.usage.reasoning_tokens', '-0'),
        ],
      }),
    )
    await openMemory().append(events)
    const [step] = of(events, 'execution.step_completed')
    expect(step?.['usage']).toEqual({ inputTokens: 0, reasoningTokens: 0 })
  })

  it('does not take texts apart that only look like JSON, or nest too deep', () => {
    const deep = '['.repeat(5000) + ']'.repeat(5000)
    const chat = (output: string, spanId: string) =>
      span({
        spanId,
        attributes: [
          attribute('gen_ai.operation.name', 'chat'),
          attribute('gen_ai.completion', output),
          attribute('gen_ai.prompt', deep),
        ],
      })
    const { events } = from(chat('{not json', '4'.repeat(16)), chat('{"a":1}', '5'.repeat(16)))
    const steps = of(events, 'execution.step_completed')
    expect(steps.map((step) => step?.['output'])).toEqual(['{not json', { a: 1 }])
    expect(of(events, 'execution.message').map((said) => said?.['content'])).toContain(deep)
  })

  it('takes indexed attributes with huge or odd indexes without filling up memory', () => {
    const { events } = from(
      span({
        attributes: [
          attribute('openinference.span.kind', 'LLM'),
          attribute('llm.input_messages.0.message.role', 'user'),
          attribute('llm.input_messages.0.message.content', 'one'),
          attribute('llm.input_messages.999999999.message.role', 'user'),
          attribute('llm.input_messages.999999999.message.content', 'two'),
          attribute(`llm.input_messages.2.${'a.'.repeat(3000)}b`, 'deep'),
        ],
      }),
    )
    expect(of(events, 'execution.step_completed')).toHaveLength(1)
    const odd = from(
      span({
        attributes: [
          attribute('openinference.span.kind', 'LLM'),
          attribute('llm.input_messages.0.message.role', 'user'),
          attribute('llm.input_messages.0.message.content', 'one'),
          attribute('llm.input_messages.999999999.message.role', 'user'),
          attribute('llm.input_messages.999999999.message.content', 'two'),
        ],
      }),
    )
    expect(of(odd.events, 'execution.message').map((said) => said?.['content'])).toEqual(['one', 'two'])
  })

  it('tells a span that has only begun, and its end when it comes', async () => {
    const pending = {
      attributes: [
        attribute('logfire.span_type', 'pending_span'),
        attribute('logfire.pending_parent_id', '0000000000000000'),
      ],
      parentSpanId: '1'.repeat(16),
      spanId: '9'.repeat(16),
    }
    const ledger = openMemory()
    await ledger.append(from(span(pending)).events)
    const runId = 'a'.repeat(32)
    expect(await ledger.getSteps(runId)).toMatchObject([{ stepId: '1'.repeat(16), status: 'running' }])
    await ledger.append(from(span({})).events)
    expect(await ledger.getSteps(runId)).toMatchObject([{ stepId: '1'.repeat(16), status: 'completed' }])
    expect(await ledger.getRun(runId)).toMatchObject({ status: 'completed', steps: 1 })
  })

  it('tells tools by messages where only the client of the model is watched, or where asked to', () => {
    const input = load('gen-ai-older')
    const types = (toolCalls: 'auto' | 'spans' | 'messages') =>
      fromOtlpTraces(input, { toolCalls }).events.map((event) => event.eventType)
    expect(types('auto')).toEqual(types('messages'))
    expect(types('messages')).toContain('execution.tool_result')
    expect(types('spans')).not.toContain('execution.tool_call')
    const framework = fromOtlpTraces(load('gen-ai')).events.map((event) => event.eventType)
    expect(framework.filter((type) => type === 'execution.tool_call')).toHaveLength(1)
  })

  it('a log record without a trace needs a session or the run that is given', () => {
    const body = { resourceLogs: [{ scopeLogs: [{ logRecords: [{ body: { stringValue: 'x' } }] }] }] }
    expect(fromOtlpLogs(body)).toMatchObject({ events: [], problems: [{ index: 0 }] })
    expect(runOf(fromOtlpLogs(body, { runId: 'r9' }).events)).toBe('r9')
    const named = (session: string) => ({
      resourceLogs: [{ scopeLogs: [{ logRecords: [{ attributes: [attribute('session.id', session)] }] }] }],
    })
    expect(runOf(fromOtlpLogs(named('s1')).events)).toBe('s1')
    expect(fromOtlpLogs(named('a\u001b[2Jb')).problems).toHaveLength(1)
    expect(fromOtlpLogs(named('x'.repeat(10_000))).problems).toHaveLength(1)
  })
})

describe('A3 attributes that are not what their names promise', () => {
  const keys = ['gen-ai', 'openinference', 'ai-sdk', 'traceloop', 'langfuse', 'mixed', 'claude-code-logs']
    .flatMap((name) => [...readFileSync(join(FOLDER, `${name}.json`), 'utf8').matchAll(/"key": "([^"]+)"/g)])
    .map(([, key]) => key ?? '')
  const part = fc.record(
    {
      type: fc.constantFrom(
        'text',
        'tool_call',
        'tool-result',
        'tool_call_response',
        'reasoning',
        'image',
        7,
      ),
      role: fc.constantFrom('user', 'assistant', 'tool', 'system', 'constructor', null),
      content: fc.jsonValue({ maxDepth: 1 }),
      parts: fc.jsonValue({ maxDepth: 2 }),
      id: fc.constantFrom('a', 'b', null, 5),
      name: fc.constantFrom('f', 'toString', {}),
      tool_calls: fc.jsonValue({ maxDepth: 2 }),
    },
    { requiredKeys: [] },
  )
  const value = fc.oneof(
    fc.constantFrom('chat', 'execute_tool', 'LLM', 'TOOL', 'generation', 'ai.generateText.doGenerate', '-1'),
    fc.string().map((stringValue) => ({ stringValue })),
    fc.array(part, { maxLength: 3 }).map((list) => ({ stringValue: JSON.stringify(list) })),
    fc.jsonValue({ maxDepth: 2 }).map((json) => ({ stringValue: JSON.stringify(json) })),
    fc.integer().map((intValue) => ({ intValue })),
    fc.double().map((number) => ({ doubleValue: Number.isFinite(number) ? number : String(number) })),
    fc.boolean().map((boolValue) => ({ boolValue })),
  )
  const pairs = fc.array(
    fc.tuple(
      fc.oneof(fc.constantFrom(...keys), fc.constantFrom('gen_ai.operation.name', 'event.name')),
      value,
    ),
    { maxLength: 12 },
  )
  const toAttributes = (found: readonly (readonly [string, object | string])[]) =>
    found.map(([key, given]) => ({ key, value: typeof given === 'string' ? { stringValue: given } : given }))

  it('become events that a ledger takes', async () => {
    const ledger = openMemory()
    let nth = 0
    await fc.assert(
      fc.asyncProperty(pairs, pairs, fc.constantFrom(0, 2), async (first, second, code) => {
        const attributes = toAttributes(first)
        const traceId = (++nth).toString(16).padStart(32, '0')
        const found = from(
          span({ traceId, attributes, status: { code } }),
          span({
            traceId,
            spanId: '2'.repeat(16),
            parentSpanId: '1'.repeat(16),
            attributes: toAttributes(second),
          }),
        )
        expect(found.problems).toEqual([])
        await ledger.append(found.events)
        const logRecords = [{ attributes, traceId }, { attributes: toAttributes(second) }]
        const logs = fromOtlpLogs({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] }, { runId: `r${nth}` })
        await ledger.append(logs.events)
        expect(await ledger.getRun(traceId)).not.toBeNull()
      }),
      { numRuns: 250 },
    )
  })
})

import { foldSteps, type JsonObject } from '@clew/ledger'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openMemory, readAll } from '../../test/memory-ledger.ts'
import { attribute, from, span } from '../../test/otlp-exports.ts'

const RUN = 'a'.repeat(32)
const id = (digit: string): string => digit.repeat(16)
const at = (ms: number): string =>
  `${1763190000000n + BigInt(Math.floor(ms))}${String(Math.round((ms % 1) * 1e6)).padStart(6, '0')}`

interface Timed {
  readonly name: string
  readonly digit: string
  readonly parent?: string
  readonly from: number
  readonly to: number
  readonly more?: readonly JsonObject[]
  readonly status?: JsonObject
}

const timed = ({ name, digit, parent, from: start, to, more = [], status }: Timed): JsonObject =>
  span({
    name,
    spanId: id(digit),
    parentSpanId: parent === undefined ? '' : id(parent),
    startTimeUnixNano: at(start),
    endTimeUnixNano: at(to),
    attributes: [...more],
    ...(status && { status }),
  })

const chat = (question: string, answer: string) => [
  attribute('gen_ai.operation.name', 'chat'),
  attribute(
    'gen_ai.input.messages',
    JSON.stringify([{ role: 'user', parts: [{ type: 'text', content: question }] }]),
  ),
  attribute(
    'gen_ai.output.messages',
    JSON.stringify([{ role: 'assistant', parts: [{ type: 'text', content: answer }] }]),
  ),
]
const tool = (name: string) => [
  attribute('gen_ai.operation.name', 'execute_tool'),
  attribute('gen_ai.tool.name', name),
  attribute('gen_ai.tool.call.result', 'done'),
]

const LONG_RUN = [
  timed({
    name: 'agent',
    digit: 'c',
    from: 0,
    to: 90_000,
    more: [attribute('gen_ai.operation.name', 'invoke_agent')],
  }),
  timed({ name: 'chat', digit: '1', parent: 'c', from: 10, to: 20_000.000_5, more: chat('Which?', 'One.') }),
  timed({ name: 'tool', digit: '5', parent: 'c', from: 20_000.000_6, to: 40_000, more: tool('look') }),
  timed({
    name: 'save',
    digit: '3',
    parent: 'c',
    from: 41_000,
    to: 42_000,
    status: { code: 2, message: 'full' },
  }),
  timed({ name: 'chat', digit: '2', parent: 'c', from: 50_000, to: 89_000, more: chat('And then?', 'Two.') }),
]

async function told(batches: readonly (readonly JsonObject[])[]) {
  const ledger = openMemory()
  for (const batch of batches) await ledger.append(from(...batch).events)
  const { entries } = await ledger.transcript(RUN)
  return {
    ledger,
    entries: entries.map((entry) =>
      entry.kind === 'message'
        ? `${entry.role}: ${String(entry.content)}`
        : entry.kind === 'tool_call' || entry.kind === 'failure'
          ? `${entry.kind} ${entry.name}`
          : entry.kind,
    ),
    steps: (await ledger.getSteps(RUN)).map((step) => step.nodeName),
  }
}

const EXPECTED = [
  'start',
  'user: Which?',
  'assistant: One.',
  'tool_call look',
  'failure save',
  'user: And then?',
  'assistant: Two.',
  'end',
]

describe('V12 an exported run is shown as it happened', () => {
  it('V12 with the root in the last of several exports', async () => {
    const [root, ...children] = LONG_RUN as [JsonObject, ...JsonObject[]]
    const { entries, steps, ledger } = await told([...children.map((child) => [child]), [root]])
    expect(entries).toEqual(EXPECTED)
    expect(steps).toEqual(['agent', 'chat', 'look', 'save', 'chat'])
    const { items } = await ledger.timeline(RUN)
    expect(items.filter(({ kind }) => kind === 'step').map(({ name }) => name)).toEqual(steps)
    expect(await ledger.getRun(RUN)).toMatchObject({
      durationMs: 90_000,
      startedAt: '2025-11-15T07:00:00.000Z',
    })
  })

  it('V12 with the root first and a child after the end', async () => {
    const [root, first, ...rest] = LONG_RUN as [JsonObject, JsonObject, ...JsonObject[]]
    const { entries } = await told([[root], rest, [first]])
    expect(entries).toEqual(EXPECTED)
  })

  it('V12 in any order of exports', async () => {
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray(LONG_RUN, { minLength: LONG_RUN.length }), async (shuffled) => {
        const { entries, steps } = await told(shuffled.map((each) => [each]))
        expect(entries).toEqual(EXPECTED)
        expect(steps).toEqual(['agent', 'chat', 'look', 'save', 'chat'])
      }),
      { numRuns: 20 },
    )
  })

  it('V12 within one millisecond: parent first, then in the order of arrival', async () => {
    const steps = [
      timed({
        name: 'agent',
        digit: 'f',
        from: 0,
        to: 0,
        more: [attribute('gen_ai.operation.name', 'invoke_agent')],
      }),
      timed({ name: 'chat', digit: 'e', parent: 'f', from: 0, to: 0, more: chat('Which?', 'I look.') }),
      timed({ name: 'tool', digit: '1', parent: 'f', from: 0, to: 0, more: tool('look') }),
      timed({ name: 'chat', digit: '7', parent: 'f', from: 0, to: 0, more: chat('Which?', 'This.') }),
    ]
    const [root, ...children] = steps as [JsonObject, ...JsonObject[]]
    for (const batches of [[steps], [[...children, root]], [...children.map((child) => [child]), [root]]]) {
      const { entries, steps: names } = await told(batches)
      expect(entries).toEqual([
        'start',
        'user: Which?',
        'assistant: I look.',
        'tool_call look',
        'assistant: This.',
        'end',
      ])
      expect(names).toEqual(['agent', 'chat', 'look', 'chat'])
    }
  })

  it('V12 without a root the run begins with its first span', async () => {
    const [, ...children] = LONG_RUN as [JsonObject, ...JsonObject[]]
    const { ledger } = await told(children.toReversed().map((child) => [child]))
    expect(await ledger.getRun(RUN)).toMatchObject({
      status: 'running',
      startedAt: '2025-11-15T07:00:00.010Z',
    })
  })

  it('V12 an interruption that a late root corrects is told no more', async () => {
    const [root, ...children] = LONG_RUN as [JsonObject, ...JsonObject[]]
    const { ledger } = await told([children])
    await ledger.record({
      eventType: 'system.workflow_interrupted',
      correlationId: RUN,
      payload: { reason: 'quiet' },
    })
    await ledger.append(from(root).events)
    const { entries } = await ledger.transcript(RUN)
    expect(entries.map(({ kind }) => kind)).not.toContain('status')
    expect(entries.at(-1)?.kind).toBe('end')
  })

  it('V12 starts of steps keep their nanoseconds', async () => {
    const ledger = openMemory()
    await ledger.append(from(...LONG_RUN).events)
    const steps = foldSteps(await readAll(ledger, RUN))
    expect(steps.find((step) => step.nodeName === 'look')?.createdAt).toBe('2025-11-15T07:00:20.000000600Z')
  })
})

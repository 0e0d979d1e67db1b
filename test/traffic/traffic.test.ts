import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fromOtlpLogs, fromOtlpTraces } from '@clew/adapters/otel'
import { type Ledger, openLedger, type TranscriptEntry } from 'clew'
import { describe, expect, it } from 'vitest'

const FOLDER = join(import.meta.dirname, 'recordings')

/** What the recording of one SDK must become beside the story, which is the same for all. */
interface Expected {
  readonly steps: readonly string[]
  readonly tokens: readonly [input: number, output: number]
  readonly threadId?: string
  /** Id of the call of the tool, where the SDK says which; else it is that of the span. */
  readonly toolCallId?: string
  readonly arguments?: unknown
}

const CALL = 'call_609c56ae'

const EXPECTED: Readonly<Record<string, Expected>> = {
  opentelemetry: {
    steps: ['invoke_agent ferry-desk', '. chat ferry-1', '. timetable', '. chat ferry-1'],
    tokens: [60, 10],
    threadId: 'conversation-1',
    toolCallId: 'call_1',
  },
  'ai-sdk': {
    steps: [
      'invoke_agent ferry-1',
      '. step 1',
      '. . chat ferry-1',
      '. . timetable',
      '. step 2',
      '. . chat ferry-1',
    ],
    tokens: [254, 51],
    toolCallId: CALL,
  },
  'openinference-openai': {
    steps: ['ferry-desk', '. OpenAI Chat Completions', '. OpenAI Chat Completions'],
    tokens: [214, 51],
    toolCallId: CALL,
  },
  // The client of Anthropic has spans of its own: a call is counted once all the same.
  'openinference-anthropic': {
    steps: [
      'ferry-desk',
      '. Anthropic Messages',
      '. . anthropic.messages.create',
      '. Anthropic Messages',
      '. . anthropic.messages.create',
    ],
    tokens: [56, 51],
    toolCallId: 'toolu_72d0bb5c',
  },
  // LangChain hands the tool the one field that it takes, and OpenInference records that.
  'openinference-langchain': {
    steps: [
      'ferry-desk',
      '. __start__',
      '. agent',
      '. . RunnableSequence',
      '. . . prompt',
      '. . . ChatOpenAI',
      '. . RunnableLambda',
      '. tools',
      '. . timetable',
      '. agent',
      '. . RunnableSequence',
      '. . . prompt',
      '. . . ChatOpenAI',
      '. . RunnableLambda',
    ],
    tokens: [267, 51],
    toolCallId: CALL,
    arguments: 'Sunday',
  },
  openllmetry: {
    steps: ['ferry-desk.workflow', '. chat ferry-1', '. timetable', '. chat ferry-1'],
    tokens: [214, 51],
  },
  langfuse: {
    steps: ['ferry-desk', '. OpenAI.chat', '. timetable', '. OpenAI.chat'],
    tokens: [214, 51],
  },
  mastra: {
    steps: [
      'invoke_agent ferry-desk',
      '. model_generation ferry-1',
      '. . agent_step ferry-desk',
      '. . . chat ferry-1',
      '. . . . model_chunk ferry-desk',
      '. . . timetable',
      '. . . . model_chunk ferry-desk',
      '. . agent_step ferry-desk',
      '. . . chat ferry-1',
      '. . . . model_chunk ferry-desk',
    ],
    tokens: [254, 51],
    toolCallId: CALL,
  },
  'openai-agents': {
    steps: [
      'Agent workflow',
      '. Agent workflow',
      '. . ferry-desk',
      '. . . turn',
      '. . . . generation',
      '. . . . timetable',
      '. . . turn',
      '. . . . generation',
    ],
    tokens: [262, 51],
  },
}

interface Body {
  readonly resourceSpans?: readonly {
    readonly scopeSpans: readonly { readonly spans: readonly { readonly endTimeUnixNano: string }[] }[]
  }[]
  readonly resourceLogs?: unknown
}
const bodiesOf = (name: string): Body[] => JSON.parse(readFileSync(join(FOLDER, `${name}.json`), 'utf8'))

type Order = (bodies: readonly Body[]) => readonly Body[]

/** When the span of a body ended; log records come first. */
const endOf = ({ resourceSpans: [group] = [] }: Body): bigint =>
  BigInt(group?.scopeSpans[0]?.spans[0]?.endTimeUnixNano ?? 0)

/** Spans of a recording that all came in bodies of their own, in the given order. */
function oneByOne(bodies: readonly Body[], order: Order): readonly Body[] {
  const single = bodies.flatMap((body): Body[] => {
    if (!body.resourceSpans) return [body]
    return body.resourceSpans.flatMap((group) =>
      group.scopeSpans.flatMap((scope) =>
        scope.spans.map((span) => ({
          resourceSpans: [{ ...group, scopeSpans: [{ ...scope, spans: [span] }] }],
        })),
      ),
    )
  })
  return order(single)
}

const shuffled =
  (seed: number): Order =>
  (bodies) =>
    bodies
      .map((body, at) => ({ body, rank: createHash('sha256').update(`${seed} ${at}`).digest('hex') }))
      .toSorted((a, b) => (a.rank < b.rank ? -1 : 1))
      .map(({ body }) => body)

async function ingest(bodies: readonly Body[], toolCalls?: 'spans'): Promise<Ledger> {
  const ledger = await openLedger('memory:')
  for (const body of bodies) {
    const { events, problems } =
      body.resourceLogs === undefined ? fromOtlpTraces(body, { toolCalls }) : fromOtlpLogs(body)
    expect(problems.filter(({ withoutRun }) => withoutRun !== true)).toEqual([])
    await ledger.append(events)
  }
  return ledger
}

function toLine(entry: TranscriptEntry): string {
  if (entry.kind === 'message')
    return `${entry.role}: ${typeof entry.content === 'string' ? entry.content : '(calls)'}`
  if (entry.kind === 'tool_call')
    return `${entry.name}(${JSON.stringify(entry.arguments)}) = ${String(entry.outcome?.result)}`
  return entry.kind
}

async function expectStory(ledger: Ledger, name: string, expected: Expected): Promise<void> {
  const { runs } = await ledger.listRuns()
  expect(runs).toHaveLength(1)
  const [run] = runs
  const runId = run?.runId ?? ''
  expect(run).toMatchObject({
    agent: 'ferry-desk',
    status: 'completed',
    exported: true,
    threadId: expected.threadId ?? null,
    toolCalls: 1,
    modelCalls: 2,
    inputTokens: expected.tokens[0],
    outputTokens: expected.tokens[1],
    errors: 0,
  })
  const { entries } = await ledger.transcript(runId)
  // Mastra says of the first answer neither that it calls nor what it says.
  const answers = name === 'mastra' ? [] : ['assistant: (calls)']
  expect(entries.map(toLine)).toEqual([
    'start',
    'system: Answer briefly.',
    'user: When does the ferry leave on Sunday?',
    ...answers,
    `timetable(${JSON.stringify(expected.arguments ?? { day: 'Sunday' })}) = Sunday: 09:05`,
    'assistant: At 09:05.',
    'end',
  ])
  const call = entries.find((entry) => entry.kind === 'tool_call')
  expect(call?.toolCallId).toBe(expected.toolCallId ?? call?.stepId)
  const steps = await ledger.getSteps(runId)
  const parents = new Map(steps.map(({ stepId, parentStepId }) => [stepId, parentStepId]))
  const depthOf = (stepId: string | null): number =>
    stepId === null ? -1 : 1 + depthOf(parents.get(stepId) ?? null)
  expect(steps.map(({ stepId, nodeName }) => '. '.repeat(depthOf(stepId)) + nodeName)).toEqual(expected.steps)
  expect(await ledger.verify(undefined, { projections: true })).toMatchObject({ ok: true })
}

describe('A3 what real SDKs export', () => {
  it('A3 has a recording of each', () => {
    expect(readdirSync(FOLDER).toSorted()).toEqual(
      Object.keys(EXPECTED)
        .map((name) => `${name}.json`)
        .toSorted(),
    )
  })

  it('A3 holds nothing of the machine that recorded it', () => {
    for (const name of Object.keys(EXPECTED)) {
      const text = JSON.stringify(bodiesOf(name))
      expect(text).not.toMatch(/"(?:host|process|os)\.[\w.]+"|\/(?:home|root|work|Users)\/|file:\/\//)
      expect(text.match(/127\.0\.0\.1:(?!8080)\d+/g) ?? []).toEqual([])
    }
  })

  describe.each(Object.entries(EXPECTED))('%s', (name, expected) => {
    it('A3 V12 tells the story once, in its order', async () => {
      const ledger = await ingest(bodiesOf(name))
      await expectStory(ledger, name, expected)
      await ledger.close()
    })

    it('A3 L4 V12 tells the same when it is sent twice', async () => {
      const bodies = bodiesOf(name)
      const ledger = await ingest([...bodies, ...bodies])
      await expectStory(ledger, name, expected)
      await ledger.close()
    })

    it.each<[string, Order]>([
      ['as they were exported', (bodies) => bodies],
      ['the last one first', (bodies) => [...bodies.slice(-1), ...bodies.slice(0, -1)]],
      [
        'as they ended',
        (bodies) => bodies.toSorted((a, b) => (endOf(a) < endOf(b) ? -1 : endOf(a) > endOf(b) ? 1 : 0)),
      ],
      ['in the opposite order', (bodies) => bodies.toReversed()],
      ...[1, 2, 3].map((seed): [string, Order] => [`in any order (${seed})`, shuffled(seed)]),
    ])('A3 V12 tells the same when spans come one by one, %s', async (_, order) => {
      // Whether the trace has spans of tools does not show in a single span of OpenLLMetry's.
      const toolCalls = name === 'openllmetry' ? 'spans' : undefined
      const ledger = await ingest(oneByOne(bodiesOf(name), order), toolCalls)
      await expectStory(ledger, name, expected)
      await ledger.close()
    })
  })
})

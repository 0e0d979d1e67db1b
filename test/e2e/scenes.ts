import type { EventInput, Ledger } from '@clew/ledger'
import { fork, openLedger } from 'clew'
import { flaky, research, triage } from './agents.ts'

/** What stands in the ledger when the page is looked at: told with times of its own, so that it takes none. */

type Told = readonly [atMs: number, eventType: string, payload: EventInput['payload']]

/** Records what happened at these times; each event is caused by the one before it. */
async function tell(ledger: Ledger, runId: string, startedMs: number, story: readonly Told[]): Promise<void> {
  let causationId: string | null = null
  const events: EventInput[] = story.map(([atMs, eventType, payload]) => {
    const eventId = crypto.randomUUID()
    const event: EventInput = {
      eventId,
      eventType,
      correlationId: runId,
      causationId,
      timestamp: new Date(startedMs + atMs).toISOString(),
      source: {
        origin: eventType.startsWith('ui.') ? 'ui' : eventType.startsWith('system.') ? 'system' : 'agent',
        runtime: 'clew',
      },
      payload,
    }
    causationId = eventId
    return event
  })
  await ledger.append(events)
}

const step = (
  stepId: string,
  kind: string,
  fromMs: number,
  toMs: number,
  more: { input?: unknown; output?: unknown; usage?: unknown; model?: string; parentStepId?: string } = {},
): Told[] => {
  const { input = {}, output = null, usage, model, parentStepId } = more
  const name = stepId.split('/').at(-1)?.split('#')[0] ?? stepId
  return [
    [
      fromMs,
      'execution.step_started',
      { stepId, name, kind, input, ...(parentStepId !== undefined && { parentStepId }) },
    ],
    [
      toMs,
      'execution.step_completed',
      { stepId, output, ...(usage !== undefined && { usage }), ...(model !== undefined && { model }) },
    ],
  ]
}

const ANSWER = `Three species hunt **by day**:

| species | where | best seen |
|---|---|---|
| Short-eared owl | moor and marsh | late afternoon |
| Northern hawk-owl | edge of the taiga | all day in winter |
| Burrowing owl | prairie | morning |

All others are \`crepuscular\` or nocturnal. [Source](https://example.org/day-owls)

\`\`\`ts
const seen = owls.filter((owl) => owl.hunts === 'by day') // three of them
\`\`\``

/** A conversation with thoughts, tools, an error that is tried again and a question that was answered. */
export function fieldNotes(ledger: Ledger, runId: string, startedMs: number): Promise<void> {
  const call = (id: string, stepId: string, name: string, args: unknown): EventInput['payload'] => ({
    toolCallId: id,
    stepId,
    name,
    arguments: args,
  })
  return tell(
    ledger,
    runId,
    startedMs,
    [
      [
        0,
        'system.workflow_started',
        {
          agent: 'field-notes',
          agentVersion: '3',
          threadId: `${runId}-thread`,
          input: { question: 'Which owls hunt by day?' },
        },
      ],
      [
        40,
        'execution.message',
        { role: 'user', content: 'Which owls hunt by day? Keep it short, with sources.' },
      ],
      ...step('plan', 'model', 80, 1420, {
        input: { question: 'Which owls hunt by day?' },
        output: { queries: ['diurnal owls', 'owl hunting times'] },
        usage: { inputTokens: 812, outputTokens: 64 },
        model: 'gpt-4o-mini',
      }),
      [
        900,
        'execution.reasoning',
        {
          stepId: 'plan',
          content:
            'I should look at *diurnal* species first, then check at what time of day each of them is really seen hunting. Two searches do not depend on each other, so both can be sent at once; the pages are read as they arrive, and if one search fails the other still answers half of it.',
        },
      ],
      [
        1440,
        'execution.step_started',
        { stepId: 'search', name: 'search', kind: 'web_search', input: { q: 'diurnal owls' } },
      ],
      [
        1450,
        'execution.tool_call',
        call('c1', 'search', 'web_search', {
          q: 'diurnal owls',
          headers: { authorization: 'Bearer not-a-real-token-5f2c9e71' },
        }),
      ],
      [
        1452,
        'execution.step_started',
        { stepId: 'search#1', name: 'search', kind: 'web_search', input: { q: 'owl hunting times' } },
      ],
      [1460, 'execution.tool_call', call('c2', 'search#1', 'web_search', { q: 'owl hunting times' })],
      [
        2262,
        'execution.tool_result',
        {
          toolCallId: 'c1',
          stepId: 'search',
          name: 'web_search',
          result: {
            hits: 3,
            pages: [
              { title: 'Owls that fly at noon', url: 'https://example.org/day-owls', words: 1840 },
              { title: 'Hawk-owl', url: 'https://example.org/hawk-owl', words: 920 },
              { title: 'Burrowing owl', url: 'https://example.org/burrowing', words: 1310 },
            ],
          },
        },
      ],
      [2264, 'execution.step_completed', { stepId: 'search', output: { hits: 3 } }],
      [
        2900,
        'execution.tool_error',
        {
          toolCallId: 'c2',
          stepId: 'search#1',
          name: 'web_search',
          error: { name: 'SearchError', message: '503 Service Unavailable' },
        },
      ],
      [
        2902,
        'execution.step_failed',
        {
          stepId: 'search#1',
          error: { name: 'SearchError', message: '503 Service Unavailable' },
          retryInMs: 400,
        },
      ],
      [
        3300,
        'execution.step_started',
        {
          stepId: 'search#1',
          name: 'search',
          kind: 'web_search',
          attempt: 2,
          input: { q: 'owl hunting times' },
        },
      ],
      [3310, 'execution.tool_call', call('c3', 'search#1', 'web_search', { q: 'owl hunting times' })],
      [
        3990,
        'execution.tool_result',
        { toolCallId: 'c3', stepId: 'search#1', name: 'web_search', result: { hits: 2 } },
      ],
      [3992, 'execution.step_completed', { stepId: 'search#1', attempt: 2, output: { hits: 2 } }],
      ...step('read', 'visit_page', 4010, 5210, {
        input: { url: 'https://example.org/day-owls' },
        output: { title: 'Owls that fly at noon', words: 1840 },
      }),
      ...step('read#1', 'visit_page', 4012, 4630, {
        input: { url: 'https://example.org/hawk-owl' },
        output: { title: 'Hawk-owl', words: 920 },
      }),
      ...step('read#2', 'visit_page', 4015, 6120, {
        input: { url: 'https://example.org/burrowing' },
        output: { title: 'Burrowing owl', words: 1310 },
      }),
      ...step('remember', 'memory', 6130, 6160, { input: { key: 'owls/day' }, output: { written: true } }),
      [
        6180,
        'execution.step_started',
        { stepId: 'write', name: 'write', kind: 'model', input: { pages: 3 } },
      ],
      ...step('write/outline', 'thinking', 6190, 7220, { parentStepId: 'write', output: { sections: 3 } }),
      ...step('write/check', 'tool', 8800, 9140, { parentStepId: 'write', output: { facts: 3, wrong: 0 } }),
      [9200, 'execution.message', { stepId: 'write', role: 'assistant', model: 'gpt-4o', content: ANSWER }],
      [
        9210,
        'execution.step_completed',
        {
          stepId: 'write',
          output: { words: 74 },
          usage: { inputTokens: 2310, outputTokens: 174 },
          model: 'gpt-4o',
        },
      ],
      [9230, 'execution.step_started', { stepId: 'approve', name: 'approve', kind: 'human' }],
      [
        9232,
        'ui.input_requested',
        {
          pauseId: `${runId}-p`,
          stepId: 'approve',
          question: 'Publish the summary?',
          options: ['yes', 'no'],
        },
      ],
      [9240, 'system.workflow_paused', { pauseIds: [`${runId}-p`] }],
      [14_830, 'ui.input_received', { pauseId: `${runId}-p`, stepId: 'approve', answer: 'yes', by: 'ann' }],
      [14_840, 'system.workflow_resumed', { reason: 'answered' }],
      [14_850, 'execution.step_completed', { stepId: 'approve', output: 'yes' }],
      ...step('publish', 'integration', 14_870, 15_460, { output: { messageId: 'm-1042' } }),
      [
        15_480,
        'execution.structured_output',
        {
          value: {
            answer: 'Short-eared, northern hawk-owl and burrowing owl',
            confidence: 0.92,
            published: true,
          },
        },
      ],
      [15_500, 'system.workflow_completed', { output: { published: true } }],
    ].toSorted(([a], [b]) => (a as number) - (b as number)) as Told[],
  )
}

export const MARKUP =
  '<script>globalThis.hacked = true</script><img src=x onerror="globalThis.hacked = true">'
const ZALGO = 'Z̷̡͔̈́a̵̢͛l̶̰͐g̵̙̿o̵͔͝ ́̂̃̄̅̆̇̈'

function deep(levels: number): string {
  return `${'{"in":'.repeat(levels)}"bottom"${'}'.repeat(levels)}`
}

/** Everything that a payload should not be. */
export function hostile(ledger: Ledger, runId: string, startedMs: number): Promise<void> {
  const long = 'x'.repeat(5_000_000)
  return tell(ledger, runId, startedMs, [
    [0, 'system.workflow_started', { agent: MARKUP, input: { question: MARKUP } }],
    [
      1,
      'execution.message',
      {
        role: 'user',
        content: `${MARKUP}\n\n[click](javascript:globalThis.hacked=true) ![x](https://example.org/beacon.png)`,
      },
    ],
    [2, 'execution.message', { role: 'assistant', content: 'مرحبا بالعالم، البوم يصطاد ليلا — and back' }],
    [3, 'execution.message', { role: 'assistant', content: ZALGO.repeat(40) }],
    [4, 'execution.message', { role: 'assistant', content: long }],
    [5, 'execution.message', { role: 'assistant', content: 'a'.repeat(400) }],
    [
      6,
      'execution.tool_call',
      { toolCallId: 'c1', name: MARKUP, arguments: JSON.parse(deep(480)) as object },
    ],
    [
      7,
      'execution.tool_result',
      {
        toolCallId: 'c1',
        name: MARKUP,
        result: {
          long,
          wide: Object.fromEntries(
            Array.from({ length: 5000 }, (_, index) => [`key ${index} ${MARKUP}`, index]),
          ),
        },
      },
    ],
    [8, 'execution.purple_haze', { unknown: 'type' }],
    [9, 'system.workflow_completed', { output: MARKUP }],
  ])
}

/** A loop: one step after the other, in a step of its own at the start; the last one fails. */
export async function longRun(
  ledger: Ledger,
  runId: string,
  count: number,
  startedMs: number,
): Promise<void> {
  const story: Told[] = [[0, 'system.workflow_started', { agent: 'loop', input: 'count' }]]
  for (let index = 0; index < count - 1; index++)
    story.push(
      ...step(index === 0 ? 'begin' : `work#${index}`, index === 0 ? 'model' : 'step', index, index + 1),
    )
  const stepId = `work#${count - 1}`
  story.push(
    [count, 'execution.step_started', { stepId, name: 'work', kind: 'step' }],
    [count + 1, 'execution.step_failed', { stepId, error: { name: 'Error', message: 'the very last one' } }],
    [count + 2, 'system.workflow_failed', { error: { name: 'Error', message: 'the very last one' } }],
  )
  for (let from = 0; from < story.length; from += 1000)
    await tell(ledger, runId, startedMs, story.slice(from, from + 1000))
}

/** Records all scenes into a store; `pace` is how many milliseconds things take that really run. */
export async function recordScenes(url: string, pace = 0): Promise<void> {
  const ledger = await openLedger(url)
  const now = Date.now()
  const MIN = 60_000
  for (const [index, question] of QUESTIONS.entries())
    await tell(
      ledger,
      `archive-${String(QUESTIONS.length - index).padStart(3, '0')}`,
      now - (QUESTIONS.length - index + 3) * 37 * MIN,
      [
        [0, 'system.workflow_started', { agent: AGENTS[index % AGENTS.length], input: { question } }],
        ...Array.from({ length: 3 + ((index * 7) % 19) }, (_, at) =>
          step(
            `work#${at}`,
            KINDS[(index + at) % KINDS.length] as string,
            100 + at * 400,
            100 + at * 400 + 40 + ((index * 131 + at * 977) % 1400),
            at % 4 === 0
              ? { usage: { inputTokens: 300 + at * 90, outputTokens: 40 }, model: 'gpt-4o-mini' }
              : {},
          ),
        ).flat(),
        index % 6 === 4
          ? [
              12_000,
              'system.workflow_failed',
              { error: { name: 'TimeoutError', message: 'the tool did not answer in 30 s' } },
            ]
          : [9000 + ((index * 1733) % 40_000), 'system.workflow_completed', { output: 'done' }],
      ],
    )
  await fieldNotes(ledger, 'field-notes-7', now - 14 * MIN)
  await triage
    .withCheckpointer(ledger)
    .invoke({ tickets: TICKETS }, { threadId: 'inbox', runId: 'triage-31' })
  await fork(triage.withCheckpointer(ledger), {
    ledger,
    runId: 'triage-31',
    at: { superstep: 4 },
    state: { tickets: TICKETS.slice(0, 3) },
    newRunId: 'triage-31-short',
  })
  await flaky.start(ledger, { pace }, { runId: 'flaky-12' })
  await research.start(ledger, { question: 'Which owls hunt by day?', pace }, { runId: 'research-9' })
  await tell(ledger, 'crawler-live', now - 20_000, [
    [0, 'system.workflow_started', { agent: 'crawler', input: { question: 'Read all of example.org' } }],
    ...step('visit', 'visit_page', 300, 1400),
    ...step('visit#1', 'visit_page', 1500, 3900),
    [4000, 'execution.step_started', { stepId: 'visit#2', name: 'visit', kind: 'visit_page' }],
  ])
  await ledger.close()
}

const AGENTS = ['field-notes', 'support', 'crawler', 'writer']
const KINDS = ['model', 'tool', 'web_search', 'thinking', 'visit_page']
const TICKETS = [
  { id: 'T-1', text: 'The box is too small for a barn owl' },
  { id: 'T-2', text: 'There is a fire in the archive' },
  { id: 'T-3', text: 'Please send the list of ringed birds' },
  { id: 'T-4', text: 'flood in the cellar' },
]
const QUESTIONS = [
  'How many eggs does a tawny owl lay?',
  'Summarise the ringing report of 2025',
  'Where did box 14 go?',
  'Translate the leaflet into French',
  'Why do owls fly so quietly?',
  'Draft an answer to the school',
  'Find the three largest colonies',
  'Is the feeder camera broken again?',
  'Compare vole counts of both valleys',
  'Write the invitation for the night walk',
  'Which boxes were empty last year?',
  'What did we promise the council?',
  'Plan the route for the eastern boxes',
  'Who has the ladder?',
  'List all sightings of snowy owls',
  'Check the links on our page',
  'Make a table of hatching dates',
  'Explain the new form to volunteers',
  'How loud is a long-eared owl?',
  'Order rings for next season',
  'Collect quotes for the nest cameras',
  'What is the weight of an eagle owl?',
  'Tidy up the photo archive',
  'Answer the farmer about the barn',
]

import type { Ledger } from '@clew/ledger'
import { fork, openLedger } from 'clew'
import { flaky, research, triage } from './agents.ts'
import { fieldNotes } from './field-notes.ts'
import { step, tell, type TimedEvent } from './tell.ts'

/** What stands in the ledger when the page is looked at: told with times of its own, so that it takes none. */

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
  const story: TimedEvent[] = [[0, 'system.workflow_started', { agent: 'loop', input: 'count' }]]
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

import type { EventInput, Ledger } from '@clew/ledger'
import { step, tell, type TimedEvent } from './tell.ts'

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
    ].toSorted(([a], [b]) => (a as number) - (b as number)) as TimedEvent[],
  )
}

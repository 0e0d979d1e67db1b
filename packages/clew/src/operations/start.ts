import { z } from 'zod'
import { answering } from './operation.ts'
import { readOutcome, runOutcome } from './result.ts'

const name = z.string().min(1).max(200)
const DAY_MS = 86_400_000

export const start = answering({
  name: 'start',
  summary: 'Submit a run to the workers that have its agent',
  scope: 'control',
  surfaces: ['cli', 'rest'],
  rest: { method: 'post', path: '/v1/runs' },
  input: z.object({
    agent: name.describe('name of the agent or graph'),
    input: z.unknown().optional().describe('its input: JSON, or else text'),
    runId: z.string().min(1).max(512).optional().describe('id of the run; the same again gives the same run'),
    dedupe: z.string().min(1).max(2000).optional().describe('one run for all submissions that name the same'),
    threadId: z.string().min(1).max(512).optional().describe('thread that it belongs to'),
    queue: name.optional().describe('queue whose limits hold for it; default: default'),
    key: z.string().min(1).max(512).optional().describe('runs of one key take turns with others: a tenant'),
    priority: z.int().min(-1_000_000).max(1_000_000).optional().describe('higher ones go first; default 0'),
    at: z.string().min(1).max(40).optional().describe('not before this time, such as 2026-12-01T08:00:00Z'),
    delayMs: z
      .int()
      .min(0)
      .max(36_500 * DAY_MS)
      .optional()
      .describe('not before so many milliseconds'),
    deadlineMs: z
      .int()
      .min(1)
      .max(36_500 * DAY_MS)
      .optional()
      .describe('it fails if it has not ended by then, in milliseconds'),
    tags: z.record(name, z.string().max(2000)).optional().describe('tags, each as name=value'),
    waitMs: z
      .int()
      .min(0)
      .max(600_000)
      .default(0)
      .describe('how long to wait for its result, in milliseconds'),
  }),
  output: runOutcome,
  example: {
    command: `clew start summary --input '{"text":"owls"}' --queue mail --key acme --wait 10000`,
    input: { agent: 'summary', input: { text: 'owls' }, queue: 'mail', key: 'acme', waitMs: 10_000 },
  },
  cli: {
    group: 'Control',
    arguments: [{ word: 'agent', field: 'agent', required: true, about: 'name of the agent or graph' }],
    options: {
      input: '--input <value>',
      runId: '--run-id <id>',
      dedupe: '--dedupe <key>',
      threadId: '--thread <id>',
      queue: '--queue <name>',
      key: '--key <key>',
      priority: '--priority <n>',
      at: '--at <time>',
      delayMs: '--delay <ms>',
      deadlineMs: '--deadline <ms>',
      waitMs: '--wait <ms>',
    },
    flags: { '--tag <tags>': 'tags as name=value, separated by commas' },
  },
  async run(ledger, { agent, input, waitMs, ...options }, { signal } = {}) {
    // Imported on use: readers need no runtime.
    const { submitRun } = await import('@clew/runtime')
    return readOutcome(ledger, await submitRun(ledger, agent, input, options), waitMs, signal)
  },
})

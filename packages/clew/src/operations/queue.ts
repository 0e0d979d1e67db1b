import { z } from 'zod'
import { answering } from './operation.ts'

const name = z.string().min(1).max(200)
const least = z.int().min(1).max(1_000_000_000)
const limits = {
  concurrency: least.optional().describe('runs of the queue at a time; default no limit'),
  concurrencyPerKey: least.optional().describe('runs of one key at a time; default no limit'),
}
const rate = z.object({ count: least, perMs: least })

const queueState = z.object({
  queue: z.string(),
  ...limits,
  rate: rate.optional().describe('runs that begin in any interval of so many milliseconds'),
  waiting: z.int(),
  delayed: z.int().describe('waiting for their time'),
  running: z.int().describe('leased runs: each holds a slot'),
})
export type ShownQueue = z.output<typeof queueState>

const output = z.object({
  queues: z.array(queueState).readonly(),
  unserved: z
    .array(z.object({ agent: z.string(), waiting: z.int() }))
    .readonly()
    .describe('agents whose runs wait although no live worker has them'),
})

export const queueList = answering({
  name: 'queueList',
  summary: 'List queues: limits, waiting and running runs, and agents that no worker has',
  scope: 'read',
  surfaces: ['cli', 'rest'],
  rest: { method: 'get', path: '/v1/queues' },
  input: z.object({ queue: name.optional().describe('only this queue') }),
  output,
  example: { command: 'clew queue list', input: {} },
  cli: {
    group: 'Look',
    words: ['queue', 'list'],
    arguments: [{ word: 'queue', field: 'queue', required: false, about: 'name of one queue' }],
  },
  async run(ledger, { queue }) {
    const { findUnserved, listQueues } = await import('@clew/runtime')
    const queues = await listQueues(ledger)
    return {
      queues: queues.filter((each) => queue === undefined || each.queue === queue),
      unserved: await findUnserved(ledger),
    }
  },
})

export const queueSet = answering({
  name: 'queueSet',
  summary: 'Set the limits of a queue for all workers, in place of those it had',
  scope: 'admin',
  surfaces: ['cli', 'rest'],
  rest: { method: 'post', path: '/v1/queues' },
  input: z.object({
    queue: name.describe('name of the queue'),
    ...limits,
    rate: rate.optional().describe('runs that begin in any interval, as JSON with count and perMs'),
    by: name.optional().describe('who changes it'),
  }),
  output,
  example: {
    command: `clew queue set mail --concurrency 20 --per-key 2 --rate '{"count":100,"perMs":60000}'`,
    input: { queue: 'mail', concurrency: 20, concurrencyPerKey: 2, rate: { count: 100, perMs: 60_000 } },
  },
  cli: {
    group: 'Control',
    words: ['queue', 'set'],
    arguments: [{ word: 'queue', field: 'queue', required: true, about: 'name of the queue' }],
    options: {
      concurrency: '--concurrency <n>',
      concurrencyPerKey: '--per-key <n>',
      rate: '--rate <json>',
      by: '--by <who>',
    },
  },
  async run(ledger, { queue, by, ...options }) {
    const { setQueue } = await import('@clew/runtime')
    await setQueue(ledger, queue, options, { by })
    return queueList.run(ledger, { queue })
  },
})

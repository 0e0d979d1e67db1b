import { ClewError, RUN_STATUSES } from '@clew/ledger'
import type { WorkerNotice } from '@clew/runtime'
import { z } from 'zod'
import type { AgentSet } from '../control/run-control.ts'
import { streaming } from './operation.ts'

const ofRun = { at: z.string(), runId: z.string(), agent: z.string() }

const item = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('taken'),
    ...ofRun,
    why: z.enum(RUN_STATUSES).describe('status of the run before'),
  }),
  z.object({
    type: z.literal('ended'),
    ...ofRun,
    status: z.enum(RUN_STATUSES),
    ms: z.number(),
    dueAt: z.string().nullable().describe('when it resumes automatically'),
    error: z.string().nullable(),
  }),
  z.object({ type: z.literal('postponed'), ...ofRun, error: z.string(), untilMs: z.number() }),
  z.object({ type: z.literal('blocked'), ...ofRun, crashes: z.int() }),
  z.object({ type: z.literal('swept'), at: z.string(), runIds: z.array(z.string()) }),
  z.object({ type: z.literal('failed'), at: z.string(), error: z.string() }),
  z.object({
    type: z.literal('housekeeping'),
    at: z.string(),
    events: z.int().describe('events that retention deleted'),
    runs: z.int(),
    interrupted: z.int().describe('runs without a living owner'),
    errors: z.array(z.string()),
  }),
])
export type WorkerItem = z.output<typeof item>

export const worker = streaming({
  name: 'worker',
  summary: 'Resume waiting and interrupted runs of the given agents until stopped',
  scope: 'control',
  surfaces: ['cli'],
  input: z.object({
    agentNames: z.array(z.string().min(1)).optional().describe('only these agents, separated by commas'),
    concurrency: z.int().min(1).max(10_000).default(4).describe('how many runs at a time'),
    once: z.boolean().optional().describe('exit when no run can be resumed now'),
    housekeeping: z
      .boolean()
      .default(true)
      .describe('without retention, sweep of orphans and index catch-up every hour'),
    sweepMs: z
      .int()
      .min(10)
      .max(3_600_000)
      .default(15_000)
      .describe('interval of checks for runs whose process died, in milliseconds'),
    graceMs: z
      .int()
      .min(0)
      .max(3_600_000)
      .default(10_000)
      .describe('grace period for running steps on shutdown, in milliseconds'),
  }),
  output: item,
  example: {
    command: 'clew worker --agent ./agents.ts --concurrency 8',
    input: { concurrency: 8 },
  },
  cli: {
    group: 'Control',
    options: {
      agentNames: '--agent-name <names>',
      concurrency: '--concurrency <n>',
      once: '--once',
      housekeeping: '--no-housekeeping',
      sweepMs: '--poll <ms>',
      graceMs: '--grace <ms>',
    },
    flags: { '--agent <module>': 'file or package that exports the agents; required' },
  },
  async *run(ledger, { agentNames, once = false, housekeeping, ...options }, { agents, signal } = {}) {
    const items: WorkerItem[] = []
    let notify = (): void => {}
    const add = (item: WorkerItem): void => {
      items.push(item)
      notify()
    }
    const onNotice = (notice: WorkerNotice): void =>
      add({ ...notice, at: new Date().toISOString() } as WorkerItem)
    const chosen = choose(agents, agentNames)
    // Loaded late, as in `resume`.
    const { startHousekeeping, startScheduler, startWorker } = await import('@clew/runtime')
    const working = await startWorker({ ...options, ledger, agents: chosen, onNotice })
    const upkeep =
      housekeeping && !once
        ? startHousekeeping(ledger, {
            onRound: ({ at, events = 0, runs = 0, interrupted = 0, errors = [] }) =>
              add({
                type: 'housekeeping',
                at,
                events,
                runs,
                interrupted,
                errors: errors.map(({ task, message = '' }) => `${task}: ${message}`),
              }),
            onError: (error) => onNotice({ type: 'failed', error: `housekeeping: ${String(error)}` }),
          })
        : undefined
    const scheduler = once
      ? undefined
      : startScheduler(ledger, {
          onError: (error, scheduleId) =>
            onNotice({ type: 'failed', error: `schedule ${scheduleId ?? ''}: ${String(error)}` }),
        })
    const stop = (): void => void working.stop().catch(() => {})
    signal?.addEventListener('abort', stop)
    if (signal?.aborted) stop()
    if (once) void working.idle().then(stop)
    let isOver = false
    const ended = working.ended.finally(() => {
      isOver = true
      notify()
    })
    ended.catch(() => {})
    try {
      while (!isOver || items.length > 0) {
        const notified = new Promise<void>((resolve) => (notify = resolve))
        if (items.length === 0 && !isOver) await notified
        yield* items.splice(0)
      }
      await ended
    } finally {
      signal?.removeEventListener('abort', stop)
      await scheduler?.stop()
      await upkeep?.stop()
      await working.stop()
    }
  },
})

function choose(agents: AgentSet | undefined, names: readonly string[] = agents?.names ?? []) {
  if (!agents)
    throw new ClewError(
      'bad_option',
      'A worker needs the agents whose runs it resumes',
      'Name the module that exports them: clew worker --agent ./agents.ts.',
      { option: '--agent' },
    )
  return names.map((agent) => {
    if (agents.names.includes(agent)) return agents.of({ runId: '', agent })
    throw new ClewError(
      'bad_option',
      `The module exports no agent named ${agent}`,
      `It has ${agents.names.join(', ')}.`,
      { option: '--agent-name', agent },
    )
  })
}

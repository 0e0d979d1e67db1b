import type { Ledger, StepSkeleton } from '@clew/ledger'
import { z } from 'zod'
import { answering } from './operation.ts'
import { runId, stepSkeleton } from './schemas.ts'

export const steps = answering({
  name: 'steps',
  summary: 'List the steps of a run, attempt by attempt',
  scope: 'read',
  surfaces: ['cli', 'rest', 'mcp'],
  rest: { method: 'get', path: '/v1/runs/{runId}/steps' },
  input: z.object({
    runId,
    status: stepSkeleton.shape.status.optional().describe('only steps with this status'),
    node: z
      .string()
      .min(1)
      .optional()
      .describe('only steps of this name: a node, or what step() was called with'),
    superstep: z.int().min(0).optional().describe('only steps of this superstep'),
    limit: z.int().min(1).max(10_000).default(100).describe('how many at once, 1 to 10000'),
    cursor: z
      .string()
      .regex(/^\d{1,15}$/)
      .optional()
      .describe('where the page before ended'),
  }),
  output: z.object({
    steps: z.array(stepSkeleton),
    total: z.int().min(0),
    nextCursor: z.string().nullable(),
  }),
  example: {
    command: 'clew steps demo-3f9a1c --status failed',
    input: { runId: 'demo-3f9a1c', status: 'failed' },
  },
  cli: {
    group: 'Look',
    arguments: [{ word: 'run', field: 'runId', required: true, about: 'id of the run, or how it begins' }],
    options: {
      status: '--status <status>',
      node: '--node <name>',
      superstep: '--superstep <number>',
      limit: '--limit <count>',
      cursor: '--cursor <cursor>',
    },
  },
  async run(ledger, { runId: id, status, node, superstep, limit, cursor }) {
    const all = await readSteps(ledger, id)
    const fitting = all.filter(
      (step) =>
        (status === undefined || step.status === status) &&
        (node === undefined || step.nodeName === node) &&
        (superstep === undefined || step.superstep === superstep),
    )
    const after = fitting.filter((step) => step.startedSeq > Number(cursor ?? 0))
    const page = after.slice(0, limit)
    const nextCursor = after.length > limit ? String(page.at(-1)?.startedSeq) : null
    if (nextCursor === null) readings.delete(ledger)
    return { steps: page, total: fitting.length, nextCursor }
  },
})

interface Reading {
  readonly runId: string
  readonly events: number
  readonly steps: readonly StepSkeleton[]
}

/** What was read last, while its pages are asked for one by one: a run of 100,000 steps is not read anew for each. */
const readings = new WeakMap<Ledger, Reading>()

/** The stored skeleton has a run's own steps; those that a fork shares with its source are folded from events. */
export async function readSteps(ledger: Ledger, id: string): Promise<readonly StepSkeleton[]> {
  const run = await ledger.getRun(id)
  const last = readings.get(ledger)
  if (run && last?.runId === id && last.events === run.events) return last.steps
  const steps = run?.forkedFrom
    ? (await ledger.getSteps(id)).map(({ values: _, ...skeleton }) => skeleton)
    : await ledger.getSkeleton(id)
  if (run) readings.set(ledger, { runId: id, events: run.events, steps })
  return steps
}

import type { Ledger, RunSummary, StepSkeleton } from '@clew/ledger'
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
    const afterSeq = Number(cursor ?? 0)
    const run = await ledger.getRun(id)
    const isPicked = status !== undefined || node !== undefined || superstep !== undefined
    if (!isPicked && !run?.forkedFrom) {
      // One more than is given tells whether there is more.
      const found = await ledger.getSkeleton(id, { afterSeq, limit: limit + 1 })
      const isAll = afterSeq === 0 && found.length <= limit
      return toPage(found, limit, isAll ? found.length : (run?.steps ?? 0))
    }
    const fitting = (await readSteps(ledger, id, run)).filter(
      (step) =>
        (status === undefined || step.status === status) &&
        (node === undefined || step.nodeName === node) &&
        (superstep === undefined || step.superstep === superstep),
    )
    const after = fitting.filter((step) => step.startedSeq > afterSeq)
    if (after.length <= limit) readings.delete(ledger)
    return toPage(after, limit, fitting.length)
  },
})

function toPage(
  found: readonly StepSkeleton[],
  limit: number,
  total: number,
): { steps: StepSkeleton[]; total: number; nextCursor: string | null } {
  const page = found.slice(0, limit)
  const isMore = found.length > limit
  return { steps: page, total, nextCursor: isMore ? String(page.at(-1)?.startedSeq) : null }
}

interface Reading {
  readonly runId: string
  readonly events: number
  readonly steps: readonly StepSkeleton[]
}

/** What was folded last, while its pages are asked for one by one: a fork of a long run is not folded anew for each. */
const readings = new WeakMap<Ledger, Reading>()

/** The stored skeleton has a run's own steps; those that a fork shares with its source are folded from events. */
async function readSteps(
  ledger: Ledger,
  id: string,
  run: RunSummary | null,
): Promise<readonly StepSkeleton[]> {
  if (!run?.forkedFrom) return ledger.getSkeleton(id)
  const last = readings.get(ledger)
  if (last?.runId === id && last.events === run.events) return last.steps
  const steps = (await ledger.getSteps(id)).map(({ values: _, ...skeleton }) => skeleton)
  readings.set(ledger, { runId: id, events: run.events, steps })
  return steps
}

/** The attempts of one step. */
export async function readAttempts(ledger: Ledger, id: string, stepId: string): Promise<StepSkeleton[]> {
  const run = await ledger.getRun(id)
  if (!run?.forkedFrom) return ledger.getSkeleton(id, { stepId })
  return (await readSteps(ledger, id, run)).filter((step) => step.stepId === stepId)
}

import { type Ledger, type RunSummary, sortExportedSteps, type StepSkeleton } from '@clew/ledger'
import { z } from 'zod'
import { answering } from './operation.ts'
import { runId, stepSkeleton } from './schemas.ts'

export const steps = answering({
  name: 'steps',
  summary: 'List the steps of a run, attempt by attempt',
  scope: 'read',
  surfaces: ['cli', 'rest', 'mcp'],
  rest: { method: 'get', path: '/v1/runs/{runId}/steps' },
  mcp: { tool: 'list_steps' },
  input: z.object({
    runId,
    status: stepSkeleton.shape.status.optional().describe('only steps with this status'),
    node: z
      .string()
      .min(1)
      .optional()
      .describe('only steps of this name: a node, or what step() was called with'),
    superstep: z.int().min(0).optional().describe('only steps of this superstep'),
    limit: z.int().min(1).max(10_000).default(100).describe('page size, 1 to 10000'),
    cursor: z
      .string()
      .regex(/^\d{1,15}$/)
      .optional()
      .describe('cursor that the previous page returned'),
  }),
  output: z.object({
    steps: z.array(stepSkeleton),
    total: z.int().min(0).nullable().describe('total number; null if the page was found without reading all'),
    nextCursor: z.string().nullable(),
  }),
  example: {
    command: 'clew steps demo-3f9a1c --status failed',
    input: { runId: 'demo-3f9a1c', status: 'failed' },
  },
  cli: {
    group: 'Look',
    arguments: [
      { word: 'run', field: 'runId', required: true, about: 'id of the run, or its first characters' },
    ],
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
    const found: StepSkeleton[] = []
    // Reads one more than the limit, to know whether there are more.
    for await (const page of stepPages(ledger, id, run, afterSeq, isPicked ? READ_AT_ONCE : limit + 1)) {
      for (const step of page)
        if (
          (status === undefined || step.status === status) &&
          (node === undefined || step.nodeName === node) &&
          (superstep === undefined || step.superstep === superstep)
        )
          found.push(step)
      if (found.length > limit) break
    }
    const isAll = afterSeq === 0 && found.length <= limit
    const known = isPicked || run?.forkedFrom ? null : (run?.steps ?? 0)
    return toPage(found, limit, isAll ? found.length : known)
  },
})

const READ_AT_ONCE = 2000

function toPage(
  found: readonly StepSkeleton[],
  limit: number,
  total: number | null,
): { steps: StepSkeleton[]; total: number | null; nextCursor: string | null } {
  const page = found.slice(0, limit)
  const isMore = found.length > limit
  return { steps: page, total, nextCursor: isMore ? String(page.at(-1)?.startedSeq) : null }
}

/** Steps in the order of their start, page by page: who has enough stops reading. */
async function* stepPages(
  ledger: Ledger,
  id: string,
  run: RunSummary | null,
  afterSeq: number,
  size: number,
): AsyncGenerator<readonly StepSkeleton[]> {
  if (run?.exported) {
    const all = run.forkedFrom
      ? await foldFork(ledger, id, run.events)
      : sortExportedSteps(await ledger.getSkeleton(id))
    yield all.slice(all.findIndex(({ startedSeq }) => startedSeq === afterSeq) + 1)
    return
  }
  const source = run?.forkedFrom ?? null
  let after = afterSeq
  for await (const page of storedPages(ledger, source?.runId ?? id, source?.seq ?? null, after, size)) {
    yield page
    after = page.at(-1)?.startedSeq ?? after
  }
  if (!source) return
  const rest = (await foldFork(ledger, id, run?.events ?? 0)).filter(({ startedSeq }) => startedSeq > after)
  if (rest.length <= size) forks.delete(ledger)
  yield rest
}

/**
 * Stored rows of a run. For the source of a fork (`upToSeq`) only rows that hold for both: up to a step that was
 * still open at the fork point.
 */
async function* storedPages(
  ledger: Ledger,
  id: string,
  upToSeq: number | null,
  afterSeq: number,
  size: number,
): AsyncGenerator<readonly StepSkeleton[]> {
  // The rows of a fork have only its own steps, counted from its own first one.
  if (upToSeq !== null && (await ledger.getRun(id))?.forkedFrom) return
  for (let after = afterSeq; ; ) {
    const beforeSeq = upToSeq === null ? undefined : upToSeq + 1
    const page = await ledger.getSkeleton(id, { afterSeq: after, beforeSeq, limit: size })
    const open = page.findIndex(
      ({ endedSeq }) => upToSeq !== null && (endedSeq === null || endedSeq > upToSeq),
    )
    const same = open < 0 ? page : page.slice(0, open)
    if (same.length > 0) yield same
    if (same.length < size) return
    after = same.at(-1)?.startedSeq ?? after
  }
}

interface FoldedFork {
  readonly runId: string
  readonly events: number
  readonly steps: readonly StepSkeleton[]
}

/** Cache of the last folded fork, so that a fork of a long run is not folded again for each page. */
const forks = new WeakMap<Ledger, FoldedFork>()

/** All steps of a fork: what it shares with its source goes on in its own events. */
async function foldFork(ledger: Ledger, id: string, events: number): Promise<readonly StepSkeleton[]> {
  const last = forks.get(ledger)
  if (last?.runId === id && last.events === events) return last.steps
  const steps = (await ledger.getSteps(id)).map(({ values: _, ...skeleton }) => skeleton)
  forks.set(ledger, { runId: id, events, steps })
  return steps
}

/** The attempts of one step. */
export async function readAttempts(ledger: Ledger, id: string, stepId: string): Promise<StepSkeleton[]> {
  const run = await ledger.getRun(id)
  if (!run?.forkedFrom) return ledger.getSkeleton(id, { stepId })
  return (await foldFork(ledger, id, run.events)).filter((step) => step.stepId === stepId)
}

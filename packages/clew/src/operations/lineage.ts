import { asOwn, ClewError, type Ledger, RUN_STATUSES, type RunSummary } from '@clew/ledger'
import { z } from 'zod'
import { answering } from './operation.ts'
import { readBelow } from './run-tree.ts'

const row = z.object({
  runId: z.string(),
  /** How it came from `of`: the first run of its line, the next turn of a thread, a fork, a retry, a child run. */
  relation: z.enum(['first', 'turn', 'fork', 'retry', 'child']),
  of: z.string().nullable(),
  depth: z.int().min(0),
  status: z.enum(RUN_STATUSES),
  agent: z.string().nullable(),
  startedAt: z.string(),
  durationMs: z.number().nullable(),
  superstep: z.int().nullable().describe('its last superstep'),
  parted: z
    .object({
      seq: z.int(),
      superstep: z.int().nullable(),
      stepId: z.string().nullable(),
      edited: z.enum(['input', 'state']).nullable(),
    })
    .nullable()
    .describe('where a fork diverged from its source'),
  isNewest: z.boolean().describe('the run that the next turn of the thread continues'),
})
export type LineageRow = z.output<typeof row>

const MAX_RUNS = 1000
const output = z.object({
  threadId: z.string().nullable(),
  runs: z.array(row),
  more: z.boolean().describe(`true when there are more than ${MAX_RUNS} runs: then the oldest are left out`),
})
export type Lineage = z.output<typeof output>

export const lineage = answering({
  name: 'lineage',
  summary: 'Show the runs related to a run: turns, forks, retries, child runs',
  scope: 'read',
  surfaces: ['cli', 'rest'],
  rest: { method: 'get', path: '/v1/runs/{runId}/lineage', also: '/v1/lineage' },
  input: z.object({
    runId: z.string().min(1).optional().describe('id of the run'),
    threadId: z.string().min(1).optional().describe('all runs of this thread'),
  }),
  output,
  example: { command: 'clew lineage chat-7', input: { runId: 'chat-7' } },
  cli: {
    group: 'Look',
    arguments: [
      { word: 'run', field: 'runId', required: false, about: 'id of the run, or its first characters' },
    ],
    options: { threadId: '--thread <id>' },
  },
  async run(ledger, { runId, threadId }) {
    if ((runId === undefined) === (threadId === undefined))
      throw new ClewError('bad_option', 'Name a run or a thread', 'For example: clew lineage chat-7.', {})
    if (threadId !== undefined) return ofThread(ledger, threadId)
    const root = await rootOf(ledger, runId as string)
    if (root.threadId !== null) return ofThread(ledger, root.threadId)
    const below = await readBelow(ledger, [root])
    return { threadId: null, runs: await toRows(ledger, [root], below, null), more: false }
  },
})

type Below = ReadonlyMap<string, readonly RunSummary[]>

/** The run that this one belongs to in the end: no child, no fork. */
async function rootOf(ledger: Ledger, runId: string): Promise<RunSummary> {
  let run = await ledger.getRun(runId)
  if (!run)
    throw new ClewError(
      'not_found',
      `There is no run ${runId} in workspace ${ledger.workspace}`,
      'List the runs with `clew runs`.',
      { runId },
    )
  for (const seen = new Set([run.runId]); ; ) {
    const above: string | undefined = run.parentRunId ?? run.forkedFrom?.runId
    const next: RunSummary | null = above === undefined || seen.has(above) ? null : await ledger.getRun(above)
    if (!next) return run
    seen.add(next.runId)
    run = next
  }
}

async function ofThread(ledger: Ledger, threadId: string): Promise<Lineage> {
  const { runs, nextCursor } = await ledger.listRuns({ threadId, limit: MAX_RUNS })
  const own = runs.filter((run) => run.parentRunId === null)
  const turns = own.filter((run) => run.forkedFrom === null).toReversed()
  const known = new Set(own.map((run) => run.runId))
  // A fork whose source is not in the thread, or not among those that were read, begins a line of its own.
  const strays = own.filter((run) => run.forkedFrom !== null && !known.has(run.forkedFrom.runId)).toReversed()
  const below = await readBelow(ledger, own)
  const rows = await toRows(ledger, [...turns, ...strays], below, own[0]?.runId ?? null)
  return { threadId, runs: rows, more: nextCursor !== null }
}

/** Depth first: below each run its children and forks, then the turn that follows it, as deep as itself. */
async function toRows(
  ledger: Ledger,
  turns: readonly RunSummary[],
  below: Below,
  newest: string | null,
): Promise<LineageRow[]> {
  const previous = new Map<string, string | null>()
  // Runs of functions do not record which run they follow: it is the one before them in their thread.
  for (const [at, { runId, forkedFrom, threadId }] of turns.entries()) {
    const before = threadId === null ? null : (turns[at - 1]?.runId ?? null)
    previous.set(runId, forkedFrom ? null : ((await previousOf(ledger, runId)) ?? before))
  }
  const here = new Set(turns.map(({ runId }) => runId))
  const forks = new Set([...below.values()].flat().map(({ runId }) => runId))
  const following = Map.groupBy(turns, ({ runId }) => {
    const before = previous.get(runId) ?? null
    return before !== null && (here.has(before) || forks.has(before)) ? before : null
  })

  const rows: LineageRow[] = []
  const seen = new Set<string>()
  interface Item {
    readonly run: RunSummary
    readonly relation: 'first' | 'turn' | 'child' | 'fork'
    readonly of: string | null
    readonly depth: number
  }
  const stack: Item[] = []
  const push = (items: readonly Item[]): void => void stack.push(...items.toReversed())
  push(
    (following.get(null) ?? []).map((run) => {
      const of = run.forkedFrom?.runId ?? null
      return { run, relation: of === null ? 'first' : 'fork', of, depth: 0 }
    }),
  )
  for (let item = stack.pop(); item; item = stack.pop()) {
    const { run, depth } = item
    if (seen.has(run.runId)) continue
    seen.add(run.runId)
    rows.push(await toRow(ledger, item, newest))
    push(
      (following.get(run.runId) ?? []).map((next) => ({ run: next, relation: 'turn', of: run.runId, depth })),
    )
    push(
      (below.get(run.runId) ?? []).toReversed().map((next) => ({
        run: next,
        relation: next.forkedFrom?.runId === run.runId ? 'fork' : 'child',
        of: run.runId,
        depth: depth + 1,
      })),
    )
  }
  return rows
}

async function previousOf(ledger: Ledger, runId: string): Promise<string | null> {
  for await (const event of ledger.read(runId, { limit: 1 })) {
    const own = asOwn(event)
    if (own?.eventType === 'system.workflow_started') return own.payload.previous?.runId ?? null
  }
  return null
}

async function toRow(
  ledger: Ledger,
  {
    run,
    relation,
    of,
    depth,
  }: Pick<LineageRow, 'of' | 'depth'> & { run: RunSummary; relation: LineageRow['relation'] },
  newest: string | null,
): Promise<LineageRow> {
  const { runId, status, agent, startedAt, durationMs, checkpoint, forkedFrom } = run
  const fork = forkedFrom && relation === 'fork' ? await readFork(ledger, runId, forkedFrom.seq) : null
  return {
    runId,
    relation: fork?.isRetry === true ? 'retry' : relation,
    of,
    depth,
    status,
    agent,
    startedAt,
    durationMs,
    superstep: checkpoint?.superstep ?? null,
    parted: fork && { seq: fork.seq, superstep: fork.superstep, stepId: fork.stepId, edited: fork.edited },
    isNewest: runId === newest,
  }
}

type Parted = NonNullable<LineageRow['parted']> & { readonly isRetry: boolean }

/** A fork's first own event says where it left its source, and with what; an edited state is the checkpoint after it. */
async function readFork(ledger: Ledger, runId: string, seq: number): Promise<Parted> {
  const [forked, second] = await Array.fromAsync(ledger.read(runId, { afterSeq: seq, limit: 2 }))
  const first = forked && asOwn(forked)
  const after = second && asOwn(second)
  const { atStepId, checkpoint, input, edit, retryOf } =
    first?.eventType === 'system.workflow_forked' ? first.payload : {}
  const { operations = [] } = after?.eventType === 'execution.checkpoint' ? after.payload : {}
  const isEdited = (edit ?? null) !== null || operations.length > 0
  return {
    seq,
    superstep: checkpoint?.superstep ?? null,
    stepId: atStepId ?? null,
    edited: (input ?? null) !== null ? 'input' : isEdited ? 'state' : null,
    isRetry: retryOf !== undefined,
  }
}

import {
  ClewError,
  type Ledger,
  type OwnerState,
  readSignals,
  type RunSummary,
  type RunValues,
  sortExportedSteps,
  type StepSkeleton,
} from '@clew/ledger'
import { z } from 'zod'
import { readGaps, runGap } from './gaps.ts'
import { answering } from './operation.ts'
import { readRunTree, runTreeRow } from './run-tree.ts'
import { readWarnings } from './run-warnings.ts'
import { runId, runSummary, stepSkeleton } from './schemas.ts'

const LAST_EVENTS = 5
const MAX_UNREAD = 20

/** An event in a listing: no payload, it is asked for by reference (A1). */
const eventReference = z.object({
  seq: z.int(),
  eventId: z.string(),
  eventType: z.string(),
  timestamp: z.string(),
})

/** A signal in a listing, without its payload. */
const unreadSignal = z.object({
  seq: z.int(),
  eventId: z.string(),
  name: z.string(),
  id: z.string().nullable(),
  by: z.string().nullable(),
  timestamp: z.string(),
})

export const show = answering({
  name: 'show',
  summary: 'Show one run: its status, steps and last events',
  scope: 'read',
  surfaces: ['cli', 'rest', 'mcp'],
  rest: { method: 'get', path: '/v1/runs/{runId}' },
  mcp: { tool: 'get_run' },
  input: z.object({
    runId,
    steps: z.int().min(0).max(100_000).default(60).describe('how many steps at most, from the first on'),
    values: z.boolean().optional().describe('also its input and its output'),
    tree: z.boolean().optional().describe('also its child runs and forks, as a tree'),
    gaps: z.boolean().optional().describe('also list what was erased or pruned, when and by whom'),
  }),
  output: z.object({
    run: runSummary,
    /** Owner of the run's lease; dead or stale means that it is abandoned. Null without a lease. */
    owner: z
      .object({ owner: z.string(), state: z.enum(['alive', 'stale', 'dead']), heartbeatAt: z.string() })
      .nullable(),
    /** Null unless asked for: they may be large. A graph's output is its state. */
    values: z.object({ input: z.unknown(), output: z.unknown() }).nullable(),
    steps: z.array(stepSkeleton),
    /** Steps that were left out. */
    moreSteps: z.int().min(0),
    lastEvents: z.array(eventReference),
    /** Signals that the run has not received, the oldest first; `run.signals` counts them. */
    unread: z.array(unreadSignal),
    /** Redacted text that the code or the effects of the run were given: step, path and kind. */
    warnings: z.array(z.string()),
    /** Null unless asked for. */
    tree: z.array(runTreeRow).nullable(),
    gaps: z.array(runGap).nullable(),
  }),
  example: { command: 'clew show demo-3f9a1c', input: { runId: 'demo-3f9a1c' } },
  cli: {
    group: 'Look',
    arguments: [
      { word: 'run', field: 'runId', required: true, about: 'id of the run, or its first characters' },
    ],
    options: { steps: '--steps <count>', values: '--values', tree: '--tree', gaps: '--gaps' },
    flags: { '--watch': 'update the output with every event until the run ends' },
  },
  async run(ledger, input) {
    const found = input.values
      ? await ledger.getRun(input.runId, { values: true })
      : await ledger.getRun(input.runId)
    if (!found)
      throw new ClewError(
        'not_found',
        `There is no run ${input.runId} in workspace ${ledger.workspace}`,
        'List the runs with `clew runs`.',
        { runId: input.runId },
      )
    const { run, values } = withoutValues(found)
    const steps = await readFirstSteps(ledger, run, input.steps)
    return {
      run,
      values,
      owner: await readOwner(ledger, run),
      steps,
      moreSteps: steps.length < input.steps ? 0 : Math.max(0, run.steps - steps.length),
      lastEvents: await readLast(ledger, run),
      unread: await readUnread(ledger, run),
      warnings: await readWarnings(ledger, input.runId),
      tree: input.tree === true ? await readRunTree(ledger, run) : null,
      gaps: input.gaps === true ? await readGaps(ledger, run) : null,
    }
  },
})

/** The summary as every listing has it, and what only this command shows. */
function withoutValues(found: RunSummary | (RunSummary & RunValues)): {
  readonly run: RunSummary
  readonly values: RunValues | null
} {
  if (!('input' in found)) return { run: found, values: null }
  const { input, output, ...run } = found
  return { run, values: { input, output } }
}

async function readFirstSteps(ledger: Ledger, run: RunSummary, limit: number): Promise<StepSkeleton[]> {
  if (limit === 0) return []
  if (!run.exported) return ledger.getSkeleton(run.runId, { limit })
  return sortExportedSteps(await ledger.getSkeleton(run.runId)).slice(0, limit)
}

async function readOwner(
  ledger: Ledger,
  run: RunSummary,
): Promise<{ owner: string; state: OwnerState; heartbeatAt: string } | null> {
  if (run.endedAt !== null) return null
  const held = (await ledger.leases.list()).find(
    (lease) => lease.runId === run.runId && lease.workspace === ledger.workspace,
  )
  return held ? { owner: held.owner, state: held.state, heartbeatAt: held.heartbeatAt } : null
}

async function readUnread(
  ledger: Ledger,
  { runId: id, signals }: RunSummary,
): Promise<z.output<typeof unreadSignal>[]> {
  if (!signals || signals.unread === 0) return []
  const { unread } = await readSignals(ledger, id, { afterSeq: signals.sinceSeq })
  return unread.slice(0, MAX_UNREAD).map(({ eventId, timestamp, payload, ledger: { seq } }) => ({
    seq,
    eventId,
    name: payload.name,
    id: payload.id ?? null,
    by: payload.by ?? null,
    timestamp,
  }))
}

async function readLast(ledger: Ledger, run: RunSummary): Promise<z.output<typeof eventReference>[]> {
  const headSeq = (run.forkedFrom?.seq ?? 0) + run.events
  const last = []
  for await (const event of ledger.read(run.runId, { afterSeq: Math.max(0, headSeq - LAST_EVENTS) })) {
    const { eventId, eventType, timestamp } = event
    last.push({ seq: event.ledger.seq, eventId, eventType, timestamp })
  }
  return last.slice(-LAST_EVENTS)
}

import {
  ClewError,
  type ClewEvent,
  checkpointOf,
  type Ledger,
  prunedState,
  type RunSummary,
} from '@clew/ledger'
import {
  findCheckpoint,
  findSuperstep,
  lastCheckpointUpTo,
  readAhead,
} from '../checkpointer/read-checkpoints.ts'
import { assertNotErased } from '../fork/not-erased.ts'
import { isStepEvent } from '../machine/record.ts'

/** Point at which a fork leaves its source. Default: the end of a function's run, the newest checkpoint of a graph's. */
export type ForkPoint =
  /** After this superstep. */
  | { readonly superstep: number }
  /** Before this step, which runs again: a step id, or a name, which means its first step. */
  | { readonly step: string }
  /** After this checkpoint: of a graph, the end of a superstep; of a function, the end of a step. */
  | { readonly checkpointId: string }
  /** After this event; a graph's run: at the last checkpoint up to it. */
  | { readonly seq: number }

export interface ResolvedGraphForkPoint {
  /** Carries the checkpoint that the fork goes on from. */
  readonly event: ClewEvent
  readonly superstep: number
  readonly atStepId: string | undefined
}

export async function findCut(
  ledger: Ledger,
  run: RunSummary,
  at: ForkPoint | undefined,
): Promise<ResolvedGraphForkPoint> {
  try {
    return await find(ledger, run, at)
  } catch (error) {
    // If an event is erased, the fork point may have been in it: that is another error.
    assertNotErased(run.runId, await Array.fromAsync(ledger.read(run.runId)))
    throw error
  }
}

async function find(
  ledger: Ledger,
  run: RunSummary,
  at: ForkPoint | undefined,
): Promise<ResolvedGraphForkPoint> {
  const { runId } = run
  if (at === undefined) return toCut(run, await newest(ledger, run))
  if ('checkpointId' in at) {
    const event = await findCheckpoint(ledger, at.checkpointId)
    if (!event || !(await isInLine(ledger, run, event))) throw nowhere(run, `checkpoint ${at.checkpointId}`)
    return toCut(run, event)
  }
  if ('seq' in at) {
    if (!Number.isInteger(at.seq) || at.seq < 1) throw nowhere(run, `event ${at.seq}`)
    return toCut(run, await lastCheckpointUpTo(ledger, runId, at.seq))
  }
  if ('superstep' in at) return beforeSuperstep(ledger, run, at.superstep + 1, `superstep ${at.superstep}`)
  const step = await findStep(ledger, run, at.step)
  const cut = await beforeSuperstep(ledger, run, step.superstep, `step ${at.step}`)
  return { ...cut, atStepId: step.stepId }
}

/** The checkpoint from which a superstep began. */
async function beforeSuperstep(
  ledger: Ledger,
  run: RunSummary,
  superstep: number,
  what: string,
): Promise<ResolvedGraphForkPoint> {
  const last = run.checkpoint?.superstep ?? -1
  if (!Number.isInteger(superstep) || superstep < 1 || superstep > last + 1) throw nowhere(run, what)
  if (superstep === last + 1) return toCut(run, await newest(ledger, run))
  return toCut(run, await findSuperstep(ledger, run, superstep - 1))
}

const newest = async (ledger: Ledger, { checkpoint }: RunSummary): Promise<ClewEvent | null> =>
  checkpoint && findCheckpoint(ledger, checkpoint.id)

function toCut(run: RunSummary, event: ClewEvent | null): ResolvedGraphForkPoint {
  const checkpoint = event && checkpointOf(event)
  if (!checkpoint) throw nowhere(run, 'a checkpoint there')
  if (event.ledger.pruned) throw prunedState(event.correlationId, event.ledger.seq)
  return { event, superstep: checkpoint.superstep ?? 0, atStepId: undefined }
}

/** Ids of a graph's steps name their superstep: `think@s12`, `think@s12.i3`, and what runs inside them. */
const SUPERSTEP = /^[^/]*@s(\d+)(?:\.i\d+)?(?:\/|$)/

async function findStep(
  ledger: Ledger,
  run: RunSummary,
  step: string,
): Promise<{ stepId: string; superstep: number }> {
  const named = SUPERSTEP.exec(step)
  // Steps of a superstep come after the checkpoint it began from, so the search for an id can begin there.
  const from = named ? await beforeSuperstep(ledger, run, Number(named[1]), `step ${step}`) : undefined
  const types = ['execution.step_started', 'execution.step_completed']
  const range = { afterSeq: from?.event.ledger.seq ?? 0, limit: 8, types }
  for await (const event of readAhead(ledger, run.runId, range)) {
    if (!isStepEvent(event)) continue
    const { stepId = '', name } = event.payload
    const superstep = Number(SUPERSTEP.exec(stepId)?.[1])
    if (named && superstep > Number(named[1])) break
    if ((named ? stepId === step : name === step) && superstep > 0) return { stepId, superstep }
  }
  throw nowhere(run, `step ${step}`)
}

async function isInLine(ledger: Ledger, run: RunSummary, event: ClewEvent): Promise<boolean> {
  let at: RunSummary | null = run
  while (at && at.runId !== event.correlationId) {
    if (!at.forkedFrom || event.ledger.seq > at.forkedFrom.seq) return false
    at = await ledger.getRun(at.forkedFrom.runId)
  }
  return at !== null
}

const nowhere = ({ runId }: RunSummary, what: string): ClewError =>
  new ClewError(
    'not_found',
    `Run ${runId} has no ${what.replace(/^a /, '')}`,
    'See `clew steps` for its steps and supersteps; nothing was changed.',
    { runId },
  )

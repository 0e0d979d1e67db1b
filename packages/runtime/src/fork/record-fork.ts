import { ClewError, checkpointOf, type Ledger, readInherited, type RunSummary } from '@clew/ledger'
import { cutRun } from './cut-run.ts'
import { findCut, type ForkPoint } from '../engine/cut.ts'
import { underLease } from '../engine/under-lease.ts'
import { assertMode } from '../run/mode.ts'
import { unknownRun } from '../run/unknown-run.ts'
import { checkRunId } from '../run/run-id.ts'
import { existingRun } from '../run/record-start.ts'

export interface RecordForkOptions {
  /** Default: where the source stands. */
  readonly at?: ForkPoint | undefined
  /** For functions: what the fork has in place of the source's input. A graph has to be there to take one. */
  readonly input?: unknown
  readonly newRunId?: string | undefined
  readonly by?: string | undefined
  readonly effects?: 'live' | 'ask' | undefined
}

/** Writes a fork without its agent: it is pending until a process that has the agent resumes it. */
export async function recordFork(
  ledger: Ledger,
  runId: string,
  { at, input, by, effects, newRunId }: RecordForkOptions = {},
): Promise<RunSummary> {
  assertMode(ledger, 'write')
  const source = await ledger.getRun(runId)
  if (!source) throw unknownRun(runId)
  if (source.checkpoint && input !== undefined)
    throw new ClewError(
      'bad_option',
      `Run ${runId} is one of a graph, which has to be there to take another input`,
      'Fork it with its graph; nothing was changed.',
      { runId },
    )
  const forkId = checkRunId(newRunId)
  if (await ledger.getRun(forkId)) throw existingRun(forkId)
  const cut = source.checkpoint ? await cutGraph(ledger, source, at) : await cutFunction(ledger, runId, at)
  await underLease({ ledger }, forkId, source.threadId, {}, async (journal, epoch) => {
    const forked = journal.draft('system.workflow_forked', [], null, {
      sourceRunId: runId,
      ...cut,
      ...(source.agent !== null && { agent: source.agent }),
      ...(source.threadId !== null && { threadId: source.threadId }),
      ...(input !== undefined && { input }),
      ...(by !== undefined && { by }),
      ...(effects === 'ask' && { effects }),
      ...(await readInherited(ledger, runId, cut.sourceSeq)),
    })
    const paused = journal.draft('system.workflow_paused', ['fork'], forked.eventId, {})
    await ledger.append([forked, paused], { expectedSeq: cut.sourceSeq, epoch })
  })
  return (await ledger.getRun(forkId)) as RunSummary
}

interface CutFields {
  readonly sourceSeq: number
  readonly atStepId?: string
}

async function cutFunction(ledger: Ledger, runId: string, at: ForkPoint | undefined): Promise<CutFields> {
  const { seq, atStepId } = cutRun(runId, await Array.fromAsync(ledger.read(runId)), at)
  return { sourceSeq: seq, ...(atStepId !== null && { atStepId }) }
}

async function cutGraph(
  ledger: Ledger,
  source: RunSummary,
  at: ForkPoint | undefined,
): Promise<CutFields & { readonly checkpoint: unknown }> {
  const { event, superstep, atStepId } = await findCut(ledger, source, at)
  const { seq } = event.ledger
  const checkpoint = checkpointOf(event)
  return {
    sourceSeq: seq,
    ...(atStepId !== undefined && { atStepId }),
    checkpoint: {
      id: checkpoint?.id ?? event.eventId,
      superstep,
      seq,
      baseSeq: checkpoint?.baseSeq ?? 1,
      createdAt: event.timestamp,
    },
  }
}

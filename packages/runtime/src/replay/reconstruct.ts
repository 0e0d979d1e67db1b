import { ClewError, type ClewEvent, foldSteps, type Ledger } from '@clew/ledger'
import type { PathStep } from './report.ts'

/** D1: nothing executes. The record is checked for gaps and returned. */
export async function reconstruct(
  ledger: Ledger,
  runId: string,
  events: readonly ClewEvent[],
): Promise<readonly PathStep[]> {
  const { ok, problems } = await ledger.verify(runId)
  const [first] = problems
  if (!ok)
    throw new ClewError(
      'store_corrupt',
      `The record of run ${runId} is not whole: ${first?.problem ?? 'unknown'} at seq ${first?.seq ?? '?'}`,
      'See `clew verify`, and restore the run from an export.',
      { runId, seq: first?.seq ?? null },
    )
  const steps = new Map(foldSteps(events).map((step) => [step.stepId, step]))
  return [...steps.values()].map(({ stepId, nodeName, kind, decision, startedSeq }) => ({
    step: nodeName,
    stepId,
    kind: kind ?? '',
    decision,
    match: 'same',
    seq: startedSeq,
  }))
}

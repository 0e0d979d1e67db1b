import { type ClewEvent, foldSteps } from '@clew/ledger'
import type { Program } from '../machine/program.ts'
import { loadRun } from './load-run.ts'
import { type ReplayContext, replayRun, type RunReplay } from './replay-run.ts'
import type { ReplayDivergence, PathStep } from './report.ts'

/** Runs of a map have no code of their own: each of its items is a run, and is gone through again. */
export async function replayMap(
  context: ReplayContext,
  program: Program,
  events: readonly ClewEvent[],
): Promise<RunReplay> {
  const divergences: ReplayDivergence[] = []
  const path: PathStep[] = []
  let steps = 0
  for (const { stepId, nodeName, childRunId, kind, startedSeq, status } of foldSteps(events)) {
    if (childRunId === null || status === 'stopped') continue
    const child = await loadRun(context.ledger, childRunId)
    // Announced by the map, and never begun.
    if (child.length === 0) continue
    const gone = await replayRun(context, program, child, childRunId)
    steps += gone.steps
    divergences.push(
      ...gone.divergences.map((found) => ({ ...found, childRunId: found.childRunId ?? childRunId })),
    )
    path.push({
      step: nodeName,
      stepId,
      kind: kind ?? 'child',
      decision: null,
      match: gone.divergences.length === 0 ? 'same' : 'changed',
      seq: startedSeq,
    })
  }
  return { outcome: undefined, divergences, path, steps }
}

export const isMapOf = ({ name }: Program, agent: string | null): boolean => agent === `${name} map`

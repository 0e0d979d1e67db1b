import { ClewError } from '../errors.ts'
import type { PruneMarker } from '../store/change.ts'

/** A range that retention deleted, as the audit run records it. */
export interface PrunedRange {
  readonly runId: string
  readonly fromSeq: number
  readonly toSeq: number
  /** The rule of the policy. */
  readonly rule: string | null
  readonly by: string | null
  readonly at: string
  /** Number of pruned states if the events stay (R10). */
  readonly states?: number
}

export function prunedRun(
  runId: string,
  seals: readonly Pick<PruneMarker, 'fromSeq' | 'toSeq'>[] = [],
): ClewError {
  const [first] = seals
  const toSeq = seals.at(-1)?.toSeq
  const range = first ? ` (seq ${first.fromSeq} to ${toSeq})` : ''
  return new ClewError(
    'pruned',
    `Run ${runId} was deleted by retention${range}`,
    'See with `clew compliance` by which rule; an export made before still has it. Its id cannot be used again.',
    { runId, fromSeq: first?.fromSeq, toSeq },
  )
}

export function prunedPlace(runId: string, seq: number): ClewError {
  return new ClewError(
    'pruned',
    `Event ${seq} of run ${runId} was deleted by the retention policy`,
    'See with `clew verify` which ranges are gone, and fork from an event that is still there; nothing was written.',
    { runId, seq },
  )
}

export function prunedState(runId: string, seq: number): ClewError {
  return new ClewError(
    'pruned',
    `The state of run ${runId} at seq ${seq} is no longer kept: the retention of its graph let it go`,
    'See with `clew compliance` when and by which policy; the states that are kept are in getStateHistory.',
    { runId, seq },
  )
}

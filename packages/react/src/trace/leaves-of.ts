import type { TraceStep } from '@clew/trace'

/** Without steps that only hold others. A failed step without a failed step inside is kept. */
export function leavesOf(steps: readonly TraceStep[]): TraceStep[] {
  const parents = new Set<string>()
  const failedInside = new Set<string>()
  for (const { parentStepId, status } of steps) {
    if (parentStepId === null) continue
    parents.add(parentStepId)
    if (status === 'failed') failedInside.add(parentStepId)
  }
  return steps.filter(
    ({ stepId, status, sources, messageId }) =>
      !parents.has(stepId) ||
      sources.length > 0 ||
      messageId !== null ||
      (status === 'failed' && !failedInside.has(stepId)),
  )
}

import type { TraceStep } from '@clew/trace'

/** Without steps that only hold others. One that failed though none inside it did has something to tell. */
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

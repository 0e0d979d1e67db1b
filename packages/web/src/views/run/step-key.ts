import type { StepSkeleton } from '@clew/ledger'

/** An attempt of a step as it stands in an address: its id, and which attempt if not the first. */
export const stepKey = ({ stepId, attempt }: Pick<StepSkeleton, 'stepId' | 'attempt'>): string =>
  attempt === 1 ? stepId : `${stepId}@${attempt}`

export const findStep = (
  steps: readonly StepSkeleton[],
  key: string | undefined,
): StepSkeleton | undefined => (key === undefined ? undefined : steps.find((step) => stepKey(step) === key))

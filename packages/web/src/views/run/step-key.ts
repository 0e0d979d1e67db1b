import type { StepSkeleton, TranscriptEntry } from '@clew/ledger'
import type { RunSearch } from '../../url.ts'

/** An attempt of a step as it stands in an address: its id, and which attempt if not the first. */
export const stepKey = ({ stepId, attempt }: Pick<StepSkeleton, 'stepId' | 'attempt'>): string =>
  attempt === 1 ? stepId : `${stepId}@${attempt}`

/** Steps that a key in the address may mean, likeliest first: a step id can end in the same way as an attempt number. */
export function readStepKey(key: string): readonly Pick<StepSkeleton, 'stepId' | 'attempt'>[] {
  const whole = { stepId: key, attempt: 1 }
  const [, stepId, attempt] = /^(.+)@(\d{1,9})$/.exec(key) ?? []
  return stepId === undefined ? [whole] : [{ stepId, attempt: Number(attempt) }, whole]
}

const findStep = (steps: readonly StepSkeleton[], key: string): StepSkeleton | undefined =>
  steps.find((step) => stepKey(step) === key)

/** The step that an event of the run belongs to. */
function stepOfEvent(
  steps: readonly StepSkeleton[],
  entries: readonly TranscriptEntry[],
  seq: number,
): StepSkeleton | undefined {
  const own = steps.find(({ startedSeq, endedSeq }) => startedSeq === seq || endedSeq === seq)
  if (own) return own
  const stepId = entries.find((entry) => entry.seq === seq)?.stepId ?? null
  return stepId === null
    ? undefined
    : steps.findLast((step) => step.stepId === stepId && step.startedSeq <= seq)
}

/** One selection for all tabs: what is chosen as an event in one is its step in another. */
export function chosenStep(
  steps: readonly StepSkeleton[],
  entries: readonly TranscriptEntry[],
  { step, event }: RunSearch,
): StepSkeleton | undefined {
  if (step !== undefined) return findStep(steps, step)
  return event === undefined ? undefined : stepOfEvent(steps, entries, event)
}

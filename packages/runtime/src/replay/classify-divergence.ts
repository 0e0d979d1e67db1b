import { findChanges } from '@clew/ledger'
import type { RecordedCall } from '../machine/record.ts'
import type { Step } from '../machine/step.ts'
import { placeOf, type ReplayState } from './replay-state.ts'
import type { ReplayDivergence, DivergenceKind } from './report.ts'

/** Kind of the first divergence, decided after the end of the replay: it depends on the calls that followed. */
export function classifyDivergence(
  state: ReplayState,
  { step, expected, found }: NonNullable<ReplayState['firstDivergence']>,
): ReplayDivergence {
  if (found) return found
  if (!step) return notMade(state, expected as RecordedCall)
  if (!expected) return step.recorded ? made('order', step, step.recorded) : extra(step)
  if (step.recorded && step.recorded !== expected)
    return made(expected.step ? 'order' : 'missing', step, expected)
  if (expected.step && expected.step !== step) return extra(step)
  return step.recorded || state.isRenamed || wentOn(state, step) ? made('name', step, expected) : extra(step)
}

/** The code went past a call that stands where a recorded one was expected, and never asked for that. */
const wentOn = (state: ReplayState, step: Step): boolean =>
  step.isOver && (state.core.ended !== undefined || state.made.at(-1) !== step)

function notMade(state: ReplayState, expected: RecordedCall): ReplayDivergence {
  const { stepId } = expected
  const kind: DivergenceKind = expected.step
    ? 'order'
    : state.core.ended && expected.parent === undefined && !wasPassed(state, expected)
      ? 'unconsumed'
      : 'missing'
  return { kind, ...placeOf(expected), expected: stepId, received: null, changes: [] }
}

/** The code asked for something that the record has after it. */
function wasPassed(state: ReplayState, expected: RecordedCall): boolean {
  const calls = state.record.scopeOf('', 1)?.calls ?? []
  return calls.slice(calls.indexOf(expected) + 1).some(({ step }) => step !== undefined)
}

const extra = ({ stepId, replayed }: Step): ReplayDivergence => ({
  kind: 'extra',
  step: replayed?.name ?? stepId,
  stepId,
  seq: null,
  expected: null,
  received: stepId,
  changes: [],
})

const made = (kind: DivergenceKind, step: Step, expected: RecordedCall): ReplayDivergence => ({
  kind,
  ...placeOf(expected),
  ...(kind === 'order' && { step: step.replayed?.name ?? null, stepId: step.stepId }),
  expected: expected.stepId,
  received: step.stepId,
  changes: findChanges(expected.stepId, step.stepId),
})

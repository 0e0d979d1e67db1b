import { findChanges } from '@clew/ledger'
import type { RecordedCall } from './recorded-run.ts'
import { type Parting, placeOf, type ReplayCore } from './replay-core.ts'
import type { ReplayStep } from './replay-step.ts'
import type { ReplayDivergence, DivergenceKind } from './report.ts'

/** What the first divergence is called, now that it is known what the code did after it. */
export function nameParting(core: ReplayCore, { step, expected, found }: Parting): ReplayDivergence {
  if (found) return found
  if (!step) return notMade(core, expected as RecordedCall)
  if (!expected) return step.recorded ? made('order', step, step.recorded) : extra(step)
  if (step.recorded && step.recorded !== expected)
    return made(expected.step ? 'order' : 'missing', step, expected)
  if (expected.step && expected.step !== step) return extra(step)
  return step.recorded || core.isRenamed || wentOn(core, step) ? made('name', step, expected) : extra(step)
}

/** The code went past a call that stands where a recorded one was expected, and never asked for that. */
const wentOn = (core: ReplayCore, step: ReplayStep): boolean =>
  step.isOver && (core.ended !== undefined || core.made.at(-1) !== step)

function notMade(core: ReplayCore, expected: RecordedCall): ReplayDivergence {
  const { stepId } = expected
  const kind: DivergenceKind = expected.step
    ? 'order'
    : core.ended && expected.parent === undefined && !wasPassed(core, expected)
      ? 'unconsumed'
      : 'missing'
  return { kind, ...placeOf(expected), expected: stepId, received: null, changes: [] }
}

/** The code asked for something that the record has after it. */
function wasPassed(core: ReplayCore, expected: RecordedCall): boolean {
  const calls = core.scopeOf(core.root)?.calls ?? []
  return calls.slice(calls.indexOf(expected) + 1).some(({ step }) => step !== undefined)
}

const extra = ({ stepId, name }: ReplayStep): ReplayDivergence => ({
  kind: 'extra',
  step: name,
  stepId,
  seq: null,
  expected: null,
  received: stepId,
  changes: [],
})

const made = (kind: DivergenceKind, step: ReplayStep, expected: RecordedCall): ReplayDivergence => ({
  kind,
  ...placeOf(expected),
  ...(kind === 'order' && { step: step.name, stepId: step.stepId }),
  expected: expected.stepId,
  received: step.stepId,
  changes: findChanges(expected.stepId, step.stepId),
})

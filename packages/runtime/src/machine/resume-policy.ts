import { createComparison } from '../replay/same-value.ts'
import type { ResumeDivergence } from '../run/result.ts'
import type { DivergencePolicy } from './cursor.ts'
import type { MachineState } from './machine-state.ts'
import type { RecordedCall } from './record.ts'
import { isClosed, type Scope } from './scope.ts'
import { isWrite, type Step } from './step.ts'

/** Changed code is blocked before it does anything that the record does not have (R5, D2). */
export function resumePolicy(core: MachineState): DivergencePolicy {
  const { record } = core.options
  /** A divergence is shown to people: without secrets, also those that the vault gave back (P3). */
  const shown = (value: unknown): unknown =>
    core.ledger ? createComparison(core.ledger).shown(value) : value
  return {
    redoesShared: true,
    unrecorded(step) {
      if (core.isReading) return 'hold'
      // With async durability a gap is legal: what only reads begins.
      const isGapless = core.options.durability !== 'async' || !isWrite(step.spec.work)
      return isGapless || !record?.actedAfter(step.askedCause, step.scope.step?.startId) ? 'begin' : 'part'
    },
    part({ step, expected }) {
      if (expected && !expected.step) core.diverge(missing(core, expected, step))
      else if (step) core.diverge(extra(step))
    },
    differ({ kind, step, call, expected, received }) {
      const { stepId } = call
      if (kind === 'order') return core.diverge({ kind, stepId, expected: null, received: step.stepId })
      core.diverge({ kind, stepId, expected: shown(expected), received: shown(received) })
    },
  }
}

/** The record has a step that the code did not ask for. */
export function missing(core: MachineState, { stepId, parent }: RecordedCall, step?: Step): ResumeDivergence {
  const path = parent?.stepId ?? ''
  const instead = step ?? core.cursor?.held.find(({ scope }) => scope.path === path)
  return { kind: 'missing', stepId, expected: stepId, received: instead?.stepId ?? null }
}

export const extra = ({ stepId }: Step): ResumeDivergence => ({
  kind: 'extra',
  stepId,
  expected: null,
  received: stepId,
})

/** A recorded call that the code has not made, in the run itself or in a body that asks for more than the record has. */
export function missingIn({ root, cursor }: MachineState): RecordedCall | undefined {
  const scopes = new Set<Scope>([root, ...(cursor?.held.map(({ scope }) => scope) ?? [])])
  for (const scope of scopes) {
    const call = isClosed(scope) ? undefined : cursor?.nextIn(scope.path, scope.attempt)
    if (call) return call
  }
  return undefined
}

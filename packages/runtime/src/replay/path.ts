import type { RecordedCall, RunRecord } from '../machine/record.ts'
import type { Step } from '../machine/step.ts'
import type { PathStep } from './report.ts'

/** The two paths side by side: what the code asked for, with what only the record has at its place. */
export function alignPaths(
  { calls }: Pick<RunRecord, 'calls'>,
  made: readonly Step[],
  isIdentical: boolean,
): PathStep[] {
  const path: PathStep[] = []
  const told = new Set<RecordedCall>()
  const places = new Map(calls.map((call, at) => [call, at]))
  let next = 0
  const tellUnasked = (before: number): void => {
    for (; next < before; next++) {
      const call = calls[next] as RecordedCall
      if (call.step || told.has(call)) continue
      // What lies in a body that did not run again, or was left behind when the code ended, was not looked at; what a
      // fork has no use for is no part of it.
      const isPassedBy = call.isInside || isIdentical
      if (isPassedBy || !call.isShared) path.push(recordedOnly(call, isPassedBy ? 'same' : 'missing'))
    }
  }
  for (const step of made) {
    const { recorded } = step
    if (recorded && recorded.step === step) {
      tellUnasked(places.get(recorded) as number)
      told.add(recorded)
    }
    if (!recorded && step.replayed?.isBeyond) continue
    path.push(toPathStep(step))
  }
  tellUnasked(calls.length)
  return path
}

function toPathStep({ stepId, replayed, recorded, isSame }: Step): PathStep {
  const { name = stepId, kind = '', decision = null } = replayed ?? {}
  const isChanged =
    !isSame || (recorded !== undefined && recorded.stepId !== stepId && recorded.name !== name)
  return {
    step: name,
    stepId,
    kind,
    decision: decision ?? (recorded ? decisionIn(recorded) : null),
    match: !recorded ? 'new' : isChanged ? 'changed' : 'same',
    seq: recorded?.attempts[0]?.start.ledger.seq ?? null,
  }
}

const recordedOnly = (call: RecordedCall, match: PathStep['match']): PathStep => ({
  step: call.name,
  stepId: call.stepId,
  kind: call.kind,
  decision: decisionIn(call),
  match,
  seq: call.attempts[0]?.start.ledger.seq ?? null,
})

const decisionIn = ({ attempts }: RecordedCall): PathStep['decision'] =>
  attempts.at(-1)?.end?.payload.decision ?? null

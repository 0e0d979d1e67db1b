import { kindOfStep } from '@clew/ledger'
import { UNSTORABLE } from '../machine/run-appender.ts'
import { isClosed } from '../machine/scope.ts'
import { hasBody } from '../machine/step.ts'
import type { Bodies } from './bodies.ts'
import { digestIn, type RecordedCall, startOf } from './recorded-run.ts'
import { placeOf, reasonOf, type ReplayCore } from './replay-core.ts'
import type { ReplayStep } from './replay-step.ts'
import { isSameCall } from './same-value.ts'

/** In which superstep of a graph a node is called: its key says so. */
export const superstepIn = (stepId: string): number => Number(/@s(\d+)/.exec(stepId)?.[1] ?? Number.NaN)

/**
 * D2: the n-th call of a scope is the n-th recorded call of that scope, of the same kind, with the same input and for the
 * same reason. Nodes of a superstep are called in the order of their index, which is theirs to compare.
 */
export function createStrictCalls(core: ReplayCore, bodies: Bodies): (step: ReplayStep) => void {
  const { options, record } = core
  const { isGraph, comparison, ledger } = options

  function ask(step: ReplayStep): void {
    const { scope, stepId, spec } = step
    const recorded = record.find(scope.attempt, stepId)
    if (!recorded) return askUnrecorded(step)
    const isTask = isGraph && scope === core.root
    const due = isTask ? recorded : core.nextIn(core.scopeOf(scope))
    recorded.step = step
    step.recorded = recorded
    core.owed.delete(recorded)
    const lost = recorded.isShared ? undefined : core.doubtful.find((each) => !isClosed(each.scope))
    if (lost)
      return partAt(core, lost, lost.scope === scope ? recorded : core.nextIn(core.scopeOf(lost.scope)))
    if (!recorded.isEarlier && due !== recorded) return core.part({ step, expected: due, found: undefined })
    if (recorded.kind !== spec.work.kind) {
      step.isSame = false
      return core.diverge('kind', placeOf(recorded), recorded.kind, spec.work.kind)
    }
    if (!isSameInput(step, recorded) || !isSameReason(step, recorded, isTask)) return
    begin(step, recorded)
  }

  function askUnrecorded(step: ReplayStep): void {
    const expected = expectedFor(core, step)
    const mayBeLost = record.takenUp.some((seq) => seq > core.givenSeq)
    if (mayBeLost && !(expected && core.owed.has(expected))) core.doubtful.push(step)
    else partAt(core, step, expected)
  }

  function isSameInput(step: ReplayStep, recorded: RecordedCall): boolean {
    const { spec } = step
    const start = startOf(recorded)
    if (start.ledger.erased) {
      step.isSame = false
      core.diverge('redacted', placeOf(recorded), null, spec.input ?? null)
      return false
    }
    if (spec.digest && spec.digest() === digestIn(start)) return true
    const was = spec.isInputKept ? (start.payload['input'] ?? null) : options.inputOf(recorded)
    const now = spec.input ?? null
    if (isSameCall(comparison, spec, was) !== 'different') return true
    if (spec.isInputKept && digestIn(start) === '' && isRefused(now)) return true
    step.isSame = false
    core.diverge('input', placeOf(recorded), was === undefined ? digestIn(start) : was, now)
    return false
  }

  /** It could not be stored then, and cannot now. */
  function isRefused(input: unknown): boolean {
    try {
      ledger.digest(input)
      return false
    } catch (error) {
      return UNSTORABLE.has((error as { code?: string }).code ?? '')
    }
  }

  function isSameReason({ spec, scope }: ReplayStep, recorded: RecordedCall, isTask: boolean): boolean {
    const start = startOf(recorded)
    const { payload } = start
    const index = spec.startFields?.index ?? 0
    if (isTask && (payload['index'] ?? 0) !== index && kindOfStep(payload) !== 'interrupt') {
      core.diverge('order', placeOf(recorded), payload['index'] ?? 0, index)
      return false
    }
    const { reason } = recorded
    if (reason === null || !core.isWoken) return true
    const around = recorded.parent?.step
    const isEntry = around?.body === scope && around.enteredAt === core.wakes
    const received = isEntry
      ? (around.recorded?.attempts[around.at]?.start.eventId ?? core.cause)
      : core.cause
    if (received === reason) return true
    core.diverge('order', placeOf(recorded), reasonOf(core, reason), reasonOf(core, received))
    return false
  }

  function begin(step: ReplayStep, recorded: RecordedCall): void {
    const { work } = step.spec
    options.trace?.began(step, startOf(recorded))
    if (recorded.isGiven) {
      if (recorded.isPassed) core.belated.push(step)
    } else if (isCut(recorded)) return
    else if (hasBody(work) || work.kind === 'child') {
      if (isRefusedCall(step, recorded)) recorded.isGiven = true
      else bodies.enter(step)
    } else if (work.kind === 'effect' && work.pieces) {
      const end = recorded.attempts.at(-1)?.end
      if (end?.eventType === 'execution.step_completed') core.pieces.add(work.pieces(end.payload['output']))
    }
  }

  /** Its first attempt was cut before anything of it counts: the next one is a turn of its own. */
  const isCut = ({ attempts }: RecordedCall): boolean =>
    attempts[0]?.end?.eventType === 'execution.step_interrupted'

  const isRefusedCall = ({ spec }: ReplayStep, recorded: RecordedCall): boolean =>
    spec.isInputKept && digestIn(startOf(recorded)) === '' && isRefused(spec.input ?? null)

  return ask
}

/** What the record has where the code asks for something that it does not have. */
function expectedFor(core: ReplayCore, { scope, stepId }: ReplayStep): RecordedCall | undefined {
  const place = core.scopeOf(scope)
  if (!core.options.isGraph || scope !== core.root) return core.nextIn(place)
  const superstep = superstepIn(stepId)
  return place?.calls.find((call) => !call.step && superstepIn(call.stepId) === superstep)
}

/** Where the record stops, the code goes on: that is no difference. */
function partAt(core: ReplayCore, step: ReplayStep, expected: RecordedCall | undefined): void {
  step.isBeyond = !expected && isOpenEnded(core, step)
  if (!step.isBeyond) core.part({ step, expected, found: undefined })
}

/** The body around, or the run, has no end in the record. */
function isOpenEnded(core: ReplayCore, { scope }: ReplayStep): boolean {
  if (scope === core.root) return core.record.end === undefined
  const around = [...core.open].find(({ body }) => body === scope)
  const end = around?.recorded?.attempts[around.at]?.end
  return end?.eventType !== 'execution.step_completed' && end?.eventType !== 'execution.step_failed'
}

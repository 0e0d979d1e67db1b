import type { ClewEvent } from '@clew/ledger'
import { finalOf } from '../machine/cursor.ts'
import { outcomeOf } from '../machine/payloads.ts'
import { digestIn, type RecordedCall, startOf } from '../machine/record.ts'
import { isClosed } from '../machine/scope.ts'
import { hasBody, type Outcome, type Step } from '../machine/step.ts'
import { outcomeIn } from './compare-step.ts'
import type { ReplayBodies } from './replay-bodies.ts'
import { placeOf, type ReplayState } from './replay-state.ts'
import { isSameCall } from './same-value.ts'

export interface LenientCursor {
  ask(step: Step): void
  /** The next end that can be handed out, in recorded order where there is one. */
  next(): { readonly step: Step; readonly outcome: Outcome; readonly end: ClewEvent | null } | undefined
}

/** After the first divergence code may loop for ever on what its own bodies give. */
const MAX_NEW = 1000

/** Names in a step id, without numbers: ordinals shift when a call is added or removed, supersteps when a node is. */
const namesIn = (stepId: string): string => stepId.replace(/[#@][^/]*/g, '')

/**
 * Going on after the first divergence: what the record has (by name, kind and input) is given its recorded end, bodies run,
 * anything else stays unanswered. Nothing is invented and nothing reaches the outside.
 */
export function createLenientCursor(state: ReplayState, bodies: ReplayBodies): LenientCursor {
  const { record, options } = state
  const { comparison } = options
  let pool: Map<string, RecordedCall[]> | undefined
  let asked = 0

  function poolOf(kind: string, stepId: string): readonly RecordedCall[] {
    if (!pool) {
      pool = new Map()
      for (const call of record.calls) {
        if (call.isInside) continue
        const key = `${call.kind} ${namesIn(call.stepId)}`
        const calls = pool.get(key)
        if (calls) calls.push(call)
        else pool.set(key, [call])
      }
    }
    return pool.get(`${kind} ${namesIn(stepId)}`) ?? []
  }

  function isSameInput({ spec, digest }: Step, call: RecordedCall): boolean {
    const start = startOf(call)
    if (digest === digestIn(start)) return true
    const was = spec.isInputKept ? (start.payload.input ?? null) : options.inputOf(call)
    return isSameCall(comparison, spec, was) !== 'different'
  }

  function ask(step: Step): void {
    if (++asked > record.calls.length + MAX_NEW) return
    const { work } = step.spec
    if (!step.recorded) find(step)
    const isBegun = step.body !== undefined || step.replayed?.child !== 'none'
    if (!isBegun && (hasBody(work) || work.kind === 'child')) bodies.enter(step)
  }

  function find(step: Step): void {
    const { kind } = step.spec.work
    const exact = record.find(step.scope.attempt, step.stepId)
    const isExact = exact !== undefined && !exact.isInside && exact.kind === kind && isFree(exact, step)
    const alike = poolOf(kind, step.stepId).filter((call) => isFree(call, step))
    const found = isExact && isSameInput(step, exact) ? exact : alike.find((call) => isSameInput(step, call))
    if (found) return take(step, found, true)
    const renamed = findRenamed(step)
    if (renamed) return take(step, renamed, true)
    if (isExact) take(step, exact, false)
    else if (hasBody(step.spec.work) && alike[0]) take(step, alike[0], false)
  }

  /** A recorded call that was matched with a renamed step is free for the step with its own name. */
  const isFree = (call: RecordedCall, step: Step): boolean =>
    !call.step ||
    (call.step === state.firstDivergence?.step &&
      call.step !== step &&
      call === state.firstDivergence.expected)

  /** Finds the recorded call of a renamed step: everything but the name is equal. Inside that step, finds its calls. */
  function findRenamed(step: Step): RecordedCall | undefined {
    const { step: other, expected } = state.firstDivergence ?? {}
    if (!other || !expected) return undefined
    const { kind } = step.spec.work
    if (step === other)
      return !expected.step && !step.spec.digest && expected.kind === kind && isSameInput(step, expected)
        ? expected
        : undefined
    if (!step.stepId.startsWith(`${other.stepId}/`)) return undefined
    const inner = expected.stepId + step.stepId.slice(other.stepId.length)
    const found = poolOf(kind, inner).find((call) => !call.step && isSameInput(step, call))
    if (found) state.isRenamed = true
    return found
  }

  function take(step: Step, call: RecordedCall, isSame: boolean): void {
    call.step = step
    step.recorded = call
    step.isSame = isSame
    const { spec } = step
    if (!isSame && spec.isInputKept)
      state.diverge('input', placeOf(call), startOf(call).payload.input ?? null, spec.input ?? null)
  }

  function next(): ReturnType<LenientCursor['next']> {
    let best: { step: Step; seq: number } | undefined
    for (const step of state.core.unwinding.open) {
      if (step.isOver || isClosed(step.scope)) continue
      const seq = dueOf(step)
      if (seq !== undefined && (!best || seq < best.seq)) best = { step, seq }
    }
    if (!best) return undefined
    const { step } = best
    const end = lastOf(step)?.end
    const isOwn = hasBody(step.spec.work) || step.spec.work.kind === 'child'
    const outcome = isOwn ? bodies.ownEndOf(step) : end && outcomeOf(end, step.stepId)
    if (!outcome) {
      step.isOver = true
      return next()
    }
    return { step, outcome, end: end ?? null }
  }

  const lastOf = (step: Step) => {
    const last = step.recorded && finalOf(step.recorded)
    return last?.end?.ledger.erased ? undefined : last
  }

  /** Place of its end in the record; ends that the record does not have come last. */
  function dueOf(step: Step): number | undefined {
    const seq = lastOf(step)?.end?.ledger.seq
    if (!hasBody(step.spec.work) && step.spec.work.kind !== 'child') return step.isSame ? seq : undefined
    if (!outcomeIn(step) || isTriedAgain(step)) return undefined
    return seq ?? Number.MAX_SAFE_INTEGER
  }

  /** Its attempt failed as recorded, and the record has another one. */
  function isTriedAgain(step: Step): boolean {
    const { recorded } = step
    const outcome = outcomeIn(step)
    const again = recorded?.attempts[step.at]?.end?.payload.retryInMs !== undefined
    if (!again || !outcome || 'output' in outcome || !recorded?.attempts[step.at + 1]) return false
    step.at++
    bodies.enter(step)
    return true
  }

  return { ask, next }
}

import { type Attempts, earlierOf } from './attempts.ts'
import type { Ends } from './ends.ts'
import type { MachineState } from './machine-state.ts'
import { outcomeOf } from './payloads.ts'
import type { BodiesPort, MachineParts, OutsidePort } from './ports.ts'
import { isFinal, lastOf, type RecordedAttempt, type StepEvent } from './record.ts'
import { recoveryOf } from './recovery.ts'
import { copyEnd } from './recorded-copy.ts'
import { giveRedacted, isRedacted, refresh } from './refresh.ts'
import { missing } from './resume-policy.ts'
import type { EventDraft } from './run-appender.ts'
import { isEnding } from './scope.ts'
import { isOnceOnly, type Outcome, type Step } from './step.ts'

export interface Resume {
  readonly bodies: BodiesPort
  readonly outside: OutsidePort
}

/** Handles calls of a live run: recorded results are returned, all other calls are performed. */
export function createResume(
  core: MachineState,
  { endGiven, end }: Ends,
  { begin, perform, wait, later, conclude }: Attempts,
  { deliver }: MachineParts,
): Resume {
  const { options, cursor, writes, tried, deferred, ready, answers } = core
  const { runId, now, record } = options

  const numberOf = ({ stepId }: Step): number => (tried.get(stepId) ?? record?.triedOf(stepId) ?? 0) + 1

  const beginNew = (step: Step): void => begin(step, numberOf(step), step.askedCause)

  const cut = (stepId: string, attempt: number): EventDraft =>
    writes.draft('execution.step_interrupted', [stepId, attempt], core.cause, {
      stepId,
      attempt,
      ...core.partialOf(stepId, attempt),
    })

  /** P2: what the record has only in part, when it is this call's turn in the code and not in the record. */
  function giveFresh(step: Step, recorded: Outcome, give: (outcome: Outcome) => void): void {
    core.refreshes.push(async () => {
      const outcome = await refresh(core, step, recorded)
      if (outcome && !isEnding(step.scope)) give(outcome)
    })
    core.notify()
  }

  function again(step: Step, { eventId, timestamp, payload }: StepEvent): void {
    if (isEnding(step.scope)) return
    // It was sent after somebody had said what became of the attempt in doubt.
    step.isDoubtful = false
    const due = Date.parse(timestamp) + (payload.retryInMs ?? 0)
    later(step, Math.max(0, due - now()), () => begin(step, step.attempt + 1, eventId))
  }

  /** R10: an attempt that was in flight when its process died. */
  function recover(step: Step, last: RecordedAttempt): void {
    if (isEnding(step.scope)) return
    if (step.refused) return end(step, { error: step.refused })
    const earlier = earlierOf(core, step)
    if (earlier) return endGiven(step, earlier, { restored: true })
    const idempotencyKey = core.keyOf(step)
    const recovery = recoveryOf(step, last, answers, { runId, idempotencyKey })
    switch (recovery.type) {
      case 'perform':
        return perform(step)
      case 'retry':
        step.isDoubtful = false
        return startAgain(step)
      case 'start again':
        return startAgain(step)
      case 'ask':
        return wait(step, [recovery.pause])
      case 'end':
        return endGiven(step, recovery.outcome, { by: recovery.by })
    }
  }

  const startAgain = (step: Step): void =>
    begin(step, step.attempt + 1, core.cause, [cut(step.stepId, step.attempt)])

  const isInDoubt = ({ stepId, digest, scope }: Step): boolean =>
    core.doubtful.get(stepId) === digest || cursor?.isInDoubt(stepId, digest, scope.attempt) === true

  const bodies: BodiesPort = {
    areRun: false,
    causesCalls: () => core.journal !== undefined,
    attemptOf: lastOf,
    concluded: conclude,
    endOf(step, { end: over }) {
      const recorded = outcomeOf(over as StepEvent, step.stepId)
      return isRedacted(recorded, step.spec.work) ? refresh(core, step, recorded) : recorded
    },
    isPast: (step, { attempt }) => step.attempt !== attempt,
    enterAgain: () => true,
    missed(call) {
      const mayHaveGaps = options.durability === 'async' || record?.hasShared === true
      const later = options.durability === 'async' ? cursor?.laterAsked() : undefined
      if (later?.step) {
        later.isPassed = true
        outside.giveLate(later.step, later)
      } else if (mayHaveGaps && !core.mayOvertake && deferred.length + ready.length > 0) {
        // A gap that async durability left: what may be repeated is, since the record goes on behind it.
        core.mayOvertake = true
        for (const go of deferred.splice(0)) go()
      } else core.diverge(missing(core, call))
    },
    unfinished() {},
  }

  const outside: OutsidePort = {
    turnAway(scope) {
      if (!core.isStuck && !isEnding(scope)) return undefined
      if (core.isLeaving) core.heldBack.add(scope)
      core.notify()
      return core.unwinding.refuse()
    },
    made(step) {
      if (!isOnceOnly(step.spec.work)) return
      const isOfEarlierRun = options.earlierWrites?.find(step) === 'unknown'
      step.isDoubtful = isOfEarlierRun || (step.scope.attempt > 1 && isInDoubt(step))
    },
    begin: beginNew,
    beginAgain(step, call) {
      step.recorded = undefined
      const last = lastOf(call)
      begin(step, numberOf(step), core.cause, last.end ? [] : [cut(step.stepId, last.attempt)])
    },
    takeOver(step, call) {
      const last = lastOf(call)
      if (!last.end) {
        step.open = true
        deferred.push(() => recover(step, last))
      } else if (last.end.eventType !== 'execution.step_stopped') {
        const over = last.end
        deferred.push(() => again(step, over))
      } else if (core.isReading) cursor?.held.push(step)
      else beginNew(step)
      if (!cursor?.turn) for (const go of deferred.splice(0)) go()
    },
    giveAgain: (step, outcome) =>
      giveFresh(step, outcome, (given) =>
        'output' in given ? step.resolve(copyEnd(core.ledger, step.spec, given)) : step.reject(given.error),
      ),
    giveLate(step, call) {
      const { end: over } = lastOf(call)
      if (!over || !isFinal(over)) return
      const give = (outcome: Outcome): void => {
        core.mayOvertake = true
        ready.push({ step, eventId: over.eventId, outcome, isDue: true, isShared: true })
      }
      const outcome = outcomeOf(over, step.stepId)
      if (isRedacted(outcome, step.spec.work)) giveFresh(step, outcome, give)
      else give(outcome)
    },
    // Not what is fetched again (P2).
    mayForetell(step, output) {
      const { work } = step.spec
      const outcome = { output }
      if (work.kind !== 'effect' || !isRedacted(outcome, work)) return true
      return !work.refresh && giveRedacted(core, step, outcome) !== undefined
    },
    stalled() {
      if (!core.mayOvertake || ready[0]?.isDue !== true) return false
      const next = ready.shift()
      if (next) deliver(next.step, next.outcome, next.eventId)
      return true
    },
    delivered() {},
  }

  return { bodies, outside }
}

import type { ClewEvent } from '@clew/ledger'
import type { Attempts } from './attempts.ts'
import type { MachineState } from './machine-state.ts'
import { digestOf } from './digest.ts'
import type { Ends } from './ends.ts'
import type { EventDraft } from './run-appender.ts'
import type { Machine } from './machine-types.ts'
import { nameCall } from './name-call.ts'
import { outcomeOf } from './payloads.ts'
import { type AttemptRecord, isFinal } from './record.ts'
import { recoveryOf } from './recovery.ts'
import { giveRedacted, isRedacted, refresh } from './refresh.ts'
import { isEnding, type Scope } from './scope.ts'
import {
  type CallSpec,
  type Completed,
  hasBody,
  isWrite,
  mayGiveAgain,
  type Outcome,
  type Step,
  type Work,
} from './step.ts'

interface GivenBefore {
  readonly outcome: Outcome
  /** Only of one that cannot be given as it was recorded. */
  readonly start?: ClewEvent | undefined
}

/** What the code asks for: found in the record, gone on with, or begun. */
export function createCall(
  core: MachineState,
  { end, endGiven }: Ends,
  { begin, perform, enter, wait, later }: Attempts,
): Machine['call'] {
  const { options, journal, reading, writes, tried, earlier, deferred, ready } = core
  const { runId, now } = options

  function call(scope: Scope, spec: CallSpec): Promise<Completed> {
    if (core.isStuck || isEnding(scope)) {
      if (core.isLeaving) core.heldBack.add(scope)
      core.notify()
      return new Promise(() => {})
    }
    const { stepId, ordinal } = nameCall(scope, spec, journal?.ledger, isRecorded)
    const { digest: given, cacheKey, refused } = digestOf(journal, scope, spec, stepId)
    const digest = reading && !refused ? reading.digestOf(stepId, given, spec) : given
    const before = scope.attempt > 1 && !refused ? givenBefore(stepId, digest, scope, spec.work) : undefined
    if (before && !before.start)
      return 'output' in before.outcome
        ? Promise.resolve(before.outcome)
        : Promise.reject(before.outcome.error)
    return new Promise((resolve, reject) => {
      const step: Step = {
        stepId,
        spec,
        ordinal,
        scope,
        digest,
        cacheKey,
        resolve,
        reject,
        refused,
        attempt: 0,
        superstep: 0,
        failures: 0,
        startId: '',
        startedAt: 0,
        beganAt: 0,
        open: false,
        pauses: [],
        dueAt: undefined,
        body: undefined,
        isDispatched: false,
        isDoubtful: scope.attempt > 1 && isWrite(spec.work) && isInDoubt(stepId, digest, scope.attempt),
        onOver: undefined,
        abort: undefined,
        signal: undefined,
        timer: undefined,
        usage: undefined,
        redactedInput: undefined,
      }
      if (before?.start) {
        step.startId = before.start.eventId
        return giveFresh(step, before.outcome, (outcome) =>
          'output' in outcome ? resolve(outcome) : reject(outcome.error),
        )
      }
      const recorded = reading?.attemptsOf(stepId)
      const next = (tried.get(stepId) ?? reading?.triedOf(stepId) ?? 0) + 1
      if (!reading || !recorded) return beginNew(step, next)
      reading.called.set(stepId, step)
      core.notify()
      const mine = recorded.filter((each) => each.parentAttempt === scope.attempt)
      const last = mine.at(-1)
      if (!last || last.end?.eventType === 'execution.step_stopped') return beginNew(step, next)
      const mismatch = reading.mismatch(step, last)
      if (!mismatch) return adopt(step, mine, last)
      if (mismatch !== 'rerun') return core.diverge(mismatch)
      begin(step, next, core.cause, last.end ? [] : [cut(stepId, last.attempt)])
    })
  }

  /** Undefined where the record has no step: then there is nothing to look for. */
  const isRecorded =
    reading && options.record && options.record.attempts.size + options.record.orphans.size > 0
      ? (stepId: string): boolean => reading.triedOf(stepId) > 0
      : undefined

  function beginNew(step: Step, attempt: number): void {
    if (!core.isReading) return begin(step, attempt, core.cause)
    core.unrecorded.push({ step, attempt, cause: core.cause })
    core.notify()
  }

  /** What an earlier attempt of this body had completed is given back at once: no event tells of it, none is needed. */
  function givenBefore(stepId: string, digest: string, scope: Scope, work: Work): GivenBefore | undefined {
    const live = earlier.get(stepId)
    if (live && live.parentAttempt < scope.attempt && live.digest === digest)
      return mayGiveAgain(work, live.outcome) ? { outcome: live.outcome } : undefined
    const kept = reading?.givenBefore(stepId, digest, scope.attempt)
    if (!kept) return undefined
    const outcome = outcomeOf(kept.end, stepId)
    if (!mayGiveAgain(work, outcome)) return undefined
    return isRedacted(outcome, work) ? { outcome, start: kept.start } : { outcome }
  }

  /** P2: what the record has only in part, when it is this call's turn in the code and not in the record. */
  function giveFresh(step: Step, recorded: Outcome, give: (outcome: Outcome) => void): void {
    core.refreshes.push(async () => {
      const outcome = await refresh(core, step, recorded)
      if (outcome && !isEnding(step.scope)) give(outcome)
    })
    core.notify()
  }

  const isInDoubt = (stepId: string, digest: string, parentAttempt: number): boolean =>
    core.doubtful.get(stepId) === digest || reading?.isInDoubt(stepId, digest, parentAttempt) === true

  const cut = (stepId: string, attempt: number): EventDraft =>
    writes.draft('execution.step_interrupted', [stepId, attempt], core.cause, { stepId, attempt })

  /** Takes over what the record has of a step; what was in flight waits until the record is used up. */
  function adopt(step: Step, attempts: readonly AttemptRecord[], last: AttemptRecord): void {
    const { spec } = step
    step.attempt = last.attempt
    step.superstep = (last.start.payload['superstep'] as number | undefined) ?? 0
    step.startId = last.start.eventId
    step.startedAt = reading?.isShared(last.start) ? now() : Date.parse(last.start.timestamp)
    step.beganAt = performance.now()
    step.failures = attempts.filter(({ end: each }) => each?.eventType === 'execution.step_failed').length
    step.scope.steps.add(step)
    const { end: over } = last
    if (!over) {
      step.open = true
      if (hasBody(spec.work) && !step.refused) enter(step, spec.work)
      else deferred.push(() => recover(step, last))
    } else if (!isFinal(over)) deferred.push(() => again(step, over))
    else if (reading?.isPassed(over)) {
      const { eventId } = over
      const give = (outcome: Outcome): void => {
        core.mayOvertake = true
        ready.push({ step, eventId, outcome, isDue: true, isShared: true })
      }
      const outcome = outcomeOf(over, step.stepId)
      if (isRedacted(outcome, spec.work)) giveFresh(step, outcome, give)
      else give(outcome)
    } else foretell(step, over)
    if (!reading || reading.isDone) for (const go of deferred.splice(0)) go()
  }

  /** D4: what streamed in before the end is given at its own places; not what is fetched again (P2). */
  function foretell(step: Step, over: ClewEvent): void {
    const { work } = step.spec
    if (work.kind !== 'effect' || !work.pieces || over.eventType !== 'execution.step_completed') return
    const outcome = { output: over.payload['output'] }
    if (isRedacted(outcome, work) && (work.refresh || !giveRedacted(core, step, outcome))) return
    core.pieces.add(work.pieces(outcome.output))
  }

  function again(step: Step, { eventId, timestamp, payload }: ClewEvent): void {
    if (isEnding(step.scope)) return
    const due = Date.parse(timestamp) + ((payload['retryInMs'] as number | undefined) ?? 0)
    later(step, Math.max(0, due - now()), () => begin(step, step.attempt + 1, eventId))
  }

  /** R10: an attempt that was in flight when its process died. */
  function recover(step: Step, last: AttemptRecord): void {
    if (isEnding(step.scope)) return
    if (step.refused) return end(step, { error: step.refused })
    const idempotencyKey = core.keyOf(step)
    const recovery = recoveryOf(step, last, reading?.answers ?? new Map(), { runId, idempotencyKey })
    switch (recovery.type) {
      case 'perform':
        return perform(step)
      case 'start again':
        return begin(step, step.attempt + 1, core.cause, [cut(step.stepId, step.attempt)])
      case 'ask':
        return wait(step, [recovery.pause])
      case 'end':
        return endGiven(step, recovery.outcome, { by: recovery.by })
    }
  }

  return call
}

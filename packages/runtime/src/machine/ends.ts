import { ClewError, type ClewEvent } from '@clew/ledger'
import { toStepError } from '../run/run.ts'
import { keepCached } from './cache.ts'
import { type MachineState, type Delivery, quiet } from './machine-state.ts'
import type { EventDraft } from './run-appender.ts'
import type { EndedStep } from './machine-types.ts'
import { completedPayload, type EndedHow, failedPayload, wholePayload } from './payloads.ts'
import { timeoutOf } from './perform.ts'
import { lastOf, type StepEvent } from './record.ts'
import { giveRedacted } from './refresh.ts'
import { missing } from './resume-policy.ts'
import { isClosed, type Scope } from './scope.ts'
import {
  type Completed,
  hasBody,
  isOnceOnly,
  isWrite,
  type Outcome,
  releaseWaiting,
  type Step,
  type Work,
} from './step.ts'
import type { HeldStart } from './writes.ts'

/** Steps that a body or a run leaves running when it ends, and child runs that must be stopped first. */
export interface UnfinishedWork {
  readonly steps: Step[]
  readonly children: Promise<unknown>[]
}

export interface EndOptions {
  readonly by?: string
  readonly cached?: boolean
  readonly restored?: boolean
  /** The signal that the step took. */
  readonly signal?: TakenSignal | undefined
}

export interface TakenSignal {
  readonly eventId: string
  readonly seq: number
  readonly name: string
}

export interface Ends {
  /** The last word of a step: recorded, then handed to the code. */
  end(step: Step, outcome: Outcome, how?: EndOptions): void
  /** The same with an outcome that comes from the record. */
  endGiven(step: Step, outcome: Outcome, how: EndOptions): void
  /** Closes the body of a step; child runs below it are stopped first, or a crash would forget them. */
  close(step: Step, outcome: Outcome, mayReturn: boolean, then: (left: UnfinishedWork) => void): void
  closeBelow(scope: Scope, left: UnfinishedWork): UnfinishedWork
  /** Tells the writes in flight below a scope that nothing waits for them any more, and returns them. */
  abortWrites(scope: Scope): readonly Step[]
  stopDrafts(left: UnfinishedWork): EventDraft[]
  /** Stops for what the record has in flight and the code has not asked for, when the run ends. */
  stopUncalled(): Promise<EventDraft[]>
  countChild(childRunId: string): Promise<void>
  report(step: Step, status: EndedStep['status'], outcome: Outcome | undefined, how?: EndOptions): void
}

/** A body that was cut off by its time had not come to what it asked for before. */
const isTimeout = (outcome: Outcome): boolean => 'error' in outcome && outcome.error.code === 'timeout'

/** Adds the seq of a whole state, which is known only after the commit. */
const withSeq = (outcome: Outcome, { ledger }: ClewEvent): Outcome =>
  'output' in outcome && outcome.fields?.checkpoint !== undefined
    ? { output: outcome.output, fields: outcome.fields, seq: ledger.seq }
    : outcome

export const tookMs = ({ beganAt }: Step): number => Math.round((performance.now() - beganAt) * 100) / 100

const unwanted = ({ stepId }: Step): ClewError =>
  new ClewError('stopped', `Nothing waits for ${stepId} any more`, 'End the work.', { stepId })

/** Sent and not over, asked about, or in flight in the record and not looked at since. */
function mayHaveHappened(step: Step, isWaiting: boolean): boolean {
  const { recorded, attempt, redactedInput, heldInBranch } = step
  const last = recorded && lastOf(recorded)
  const takenOver = last?.attempt === attempt ? last.start.payload : undefined
  const isHeld =
    redactedInput || heldInBranch || takenOver?.redactedInput !== undefined || takenOver?.heldInBranch
  return step.isDispatched || ((isWaiting || takenOver !== undefined) && !isHeld)
}

/** How steps come to their end, and what ends with them. */
export function createEnds(core: MachineState): Ends {
  const { options, journal, cursor, writes, waits, budget, earlier, children, closing, ready } = core
  const { durability, listener, now } = options

  /** P2: with an outcome that comes from the record. */
  function endGiven(step: Step, outcome: Outcome, how: EndOptions): void {
    const given = giveRedacted(core, step, outcome)
    if (given) end(step, given, how)
  }

  function end(step: Step, given: Outcome, how: EndOptions = {}): void {
    if (core.isOver || !step.open || step.body?.closed || isClosed(step.scope)) return
    const { spec, stepId, body } = step
    const missed = body && cursor?.nextIn(stepId, step.attempt)
    if (missed !== undefined && !isTimeout(given)) return core.diverge(missing(core, missed))
    let outcome = given
    const plain = 'output' in given ? given.output : undefined
    if ('output' in outcome && 'conclude' in spec.work && spec.work.conclude) {
      try {
        outcome = spec.work.conclude(outcome.output)
      } catch (error) {
        if (!(error instanceof ClewError)) throw error
        outcome = { error: toStepError(error, stepId) }
      }
    }
    clearTimeout(step.timer)
    step.timer = undefined
    close(step, outcome, step.scope.isRetried, (left) => recordEnd(step, outcome, how, left, plain))
  }

  /**
   * `mayReturn`: some body around may be entered again. Then a write in flight is neither cut off nor sent once more
   * under its key: its outcome is waited for and given to the next attempt (R10).
   */
  function close(
    step: Step,
    outcome: Outcome,
    mayReturn: boolean,
    then: (left: UnfinishedWork) => void,
  ): void {
    const { body } = step
    const pending = journal && body && mayReturn && 'error' in outcome ? writesIn(body, []) : []
    if (!body || pending.length === 0) return closeNow(step, outcome, then)
    body.isEnding = true
    if ('error' in outcome && isTimeout(outcome))
      for (const write of pending) write.abort?.abort(outcome.error)
    void afterWrites(step, pending, () => closeNow(step, outcome, then))
  }

  function writesIn(scope: Scope, found: Step[]): Step[] {
    for (const step of scope.hasSteps ? scope.steps : []) {
      const { work } = step.spec
      if (step.open && step.isDispatched && isWrite(work)) found.push(step)
      if (step.body) writesIn(step.body, found)
    }
    return found
  }

  function abortWrites(scope: Scope): readonly Step[] {
    const pending = writesIn(scope, [])
    for (const step of pending) step.abort?.abort(unwanted(step))
    return pending
  }

  async function afterWrites(step: Step, pending: readonly Step[], then: () => void): Promise<void> {
    core.working++
    await Promise.all(
      pending.map((write) => new Promise<void>((resolve) => (write.onOver ??= []).push(resolve))),
    )
    core.working--
    if (!core.isOver && step.open && !isClosed(step.scope)) then()
    core.notify()
  }

  /** Closes the body of a step; child runs below it are stopped before its end is written, or a crash would forget them. */
  function closeNow(step: Step, outcome: Outcome, then: (left: UnfinishedWork) => void): void {
    const left: UnfinishedWork = { steps: [], children: [] }
    const isWaiting = waits.delete(step)
    if (step.body) {
      core.statements.flush(step.body)
      closeBelow(step.body, left)
    }
    // Its time is over, but the child run is not.
    if (journal && step.spec.work.kind === 'child' && (isWaiting || children.has(step)))
      left.children.push(stopChildOf(step, isTimeout(outcome) ? timeoutOf(step)?.message : undefined))
    if (left.children.length === 0) return then(left)
    void afterChildren(step, left, then)
  }

  async function afterChildren(
    step: Step,
    left: UnfinishedWork,
    then: (left: UnfinishedWork) => void,
  ): Promise<void> {
    core.working++
    closing.set(step, left)
    // One that cannot be stopped must not be forgotten: nothing more is written here, and a resume does it again.
    await Promise.all(left.children).catch(writes.fail)
    closing.delete(step)
    core.working--
    if (writes.fatal === undefined && !core.isOver && step.open && !isClosed(step.scope)) then(left)
    core.notify()
  }

  function recordEnd(
    step: Step,
    outcome: Outcome,
    how: EndOptions,
    left: UnfinishedWork,
    given?: unknown,
  ): void {
    const { stepId, attempt, spec, scope } = step
    const { by = step.startId, cached = false, restored = false, signal } = how
    step.open = false
    scope.steps.delete(step)
    const status = 'output' in outcome ? 'completed' : 'failed'
    if (!journal) {
      report(step, status, outcome, how)
      keep(step, outcome)
      ready.push({ step, eventId: null, outcome, isDue: true })
      return core.notify()
    }
    const stops = stopDrafts(left)
    const durationMs = tookMs(step)
    const start = 'output' in outcome ? writes.take(step.startId) : undefined
    const event =
      'output' in outcome
        ? completed(step, outcome, { durationMs, cached, restored, signal }, by, start)
        : writes.draft(
            'execution.step_failed',
            [stepId, attempt],
            by,
            failedPayload(step, outcome.error, durationMs),
          )
    const events = [...stops, event]
    if ('output' in outcome && spec.cacheTtlMs !== undefined && !cached)
      events.push(keepCached(journal, options.agent, step, given, now() + spec.cacheTtlMs))
    const isEarly = durability === 'async' && mayRunAhead(spec.work, outcome)
    const delivery: Delivery = { step, eventId: event.eventId, outcome, isDue: false }
    ready.push(delivery)
    const deliver = (): void => {
      delivery.isDue = true
      keep(step, outcome)
      report(step, status, outcome, how)
    }
    writes.send(
      events,
      (stored) => {
        const own = stored[stops.length] as StepEvent
        budget.count(own)
        delivery.outcome = withSeq(outcome, own)
        releaseWaiting(step)
        // The body around may fail and be entered again before what runs ahead is handed over.
        if (isEarly) keep(step, outcome)
        else deliver()
      },
      {
        mayMiss: isEarly,
        // The value cannot be stored: the step fails with its path, and what stood with it is written then.
        onUnstorable(error) {
          ready.splice(ready.indexOf(delivery), 1)
          if (start) writes.hold(start)
          step.open = true
          scope.steps.add(step)
          recordEnd(step, { error: toStepError(error, stepId) }, {}, left)
        },
      },
    )
    if (isEarly) void runAhead()

    /** Not before the ledger has looked at the value: one that cannot be stored never reaches the code. */
    async function runAhead(): Promise<void> {
      core.working++
      await quiet()
      core.working--
      if (ready.includes(delivery)) deliver()
      core.notify()
    }
  }

  /** A start that was not written yet is merged into the end, under the id that events in between name as their cause. */
  function completed(
    step: Step,
    outcome: Completed,
    how: EndedHow,
    by: string,
    start: HeldStart | undefined,
  ): EventDraft {
    const type = 'execution.step_completed'
    if (start) return writes.retell(start, type, wholePayload(step, outcome, how))
    return writes.draft(type, [step.stepId, step.attempt], by, completedPayload(step, outcome, how))
  }

  /** Also when the body around is over by then: its next attempt asks again. */
  function keep({ stepId, scope, digest }: Step, outcome: Outcome): void {
    if (scope.isRetried && 'output' in outcome)
      earlier.set(stepId, { parentAttempt: scope.attempt, digest, outcome })
  }

  /** R10: only reads and computations may be used before their commit, and never the end of a superstep. */
  function mayRunAhead(work: Work, outcome: Outcome): boolean {
    if ('output' in outcome && outcome.fields?.checkpoint !== undefined) return false
    return work.kind === 'effect' ? work.safety === 'read' : hasBody(work)
  }

  function report(
    step: Step,
    status: EndedStep['status'],
    outcome: Outcome | undefined,
    { cached = false, restored = false }: EndOptions = {},
  ): void {
    const { stepId, spec, attempt } = step
    options.onStepEnd({
      name: spec.name,
      superstep: step.superstep,
      durationMs: tookMs(step),
      status,
      error: outcome && 'error' in outcome ? outcome.error : null,
      cached,
      restored,
      decision: (outcome && 'output' in outcome ? outcome.fields?.decision : null) ?? null,
    })
    listener.step?.({ stepId, name: spec.name, kind: spec.work.kind, attempt, status, ...outcome })
  }

  /** D3: what a body or a run leaves running when it ends is stopped with it. */
  function closeBelow(scope: Scope, left: UnfinishedWork): UnfinishedWork {
    scope.closed = true
    if (!scope.hasSteps) return left
    for (const step of scope.steps) {
      if (step.timer) clearTimer(step)
      if (step.body) closeBelow(step.body, left)
      const before = closing.get(step)
      if (before) {
        left.steps.push(...before.steps)
        left.children.push(...before.children)
      }
      if (!step.open) continue
      step.open = false
      const isWaiting = waits.delete(step)
      if (scope.isRetried && isOnceOnly(step.spec.work) && mayHaveHappened(step, isWaiting))
        core.doubtful.set(step.stepId, step.digest)
      core.leave(step)
      left.steps.push(step)
      if (step.spec.work.kind === 'child' && !before) left.children.push(stopChildOf(step))
      step.abort?.abort(unwanted(step))
    }
    scope.steps.clear()
    return left
  }

  /** Told to stop, a child may be on its way to a pause all the same: what it came to is looked at when it stands still. */
  async function stopChildOf(step: Step, reason?: string): Promise<void> {
    const childRunId = core.childIdOf(step)
    await Promise.allSettled([children.get(step)])
    if (!journal) return
    await options.stopChild?.(childRunId, reason)
    await countChild(childRunId)
  }

  /** A budget holds for what child runs use as well: it is counted when they are over. */
  async function countChild(childRunId: string): Promise<void> {
    if (budget.isLimited && options.usedBy) budget.add(await options.usedBy(childRunId))
  }

  function clearTimer(step: Step): void {
    clearTimeout(step.timer)
    step.timer = undefined
    // A step that is not open waits for its next attempt.
    if (!step.open) core.delayed--
  }

  const stopDrafts = ({ steps }: UnfinishedWork): EventDraft[] =>
    steps.map((step) => {
      const { stepId, attempt } = step
      // Before it is reported: nothing is kept of the text of a step that has ended.
      const streamed = core.partialOf(stepId, attempt)
      report(step, 'stopped', undefined)
      return writes.draft('execution.step_stopped', [stepId, attempt], core.cause, {
        stepId,
        attempt,
        reason: 'left behind',
        ...streamed,
      })
    })

  /**
   * Stops steps that were in flight at the end of the record and were not called again: a fork does not need them, or the run is
   * stopped before its code has come so far.
   */
  async function stopUncalled(): Promise<EventDraft[]> {
    const record = cursor?.record
    const open = (record?.calls ?? []).filter(
      (call) => !call.step && !lastOf(call).end && record?.find(call.parentAttempt, call.stepId) === call,
    )
    const stopping = open.map(async (call) => {
      const { start } = lastOf(call)
      const { childRunId } = start.payload
      // A child run that a fork shares with its source is the source's.
      if (typeof childRunId === 'string' && !record?.isShared(start)) await options.stopChild?.(childRunId)
    })
    await Promise.all(stopping)
    return open.map((call) => {
      const { stepId } = call
      const { attempt } = lastOf(call)
      const payload = { stepId, attempt, reason: 'not asked for', ...core.partialOf(stepId, attempt) }
      return writes.draft('execution.step_stopped', [stepId, attempt], core.cause, payload)
    })
  }

  return { end, endGiven, close, closeBelow, abortWrites, stopDrafts, stopUncalled, countChild, report }
}

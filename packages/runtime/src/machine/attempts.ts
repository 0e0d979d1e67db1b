import { ClewError, type PayloadOf, type SignalWait } from '@clew/ledger'
import { branchPause, mustBeAllowed, outcomeInBranch } from './branch.ts'
import { type StepError, toStepError } from '../run/run.ts'
import { findCached } from './cache.ts'
import type { MachineState } from './machine-state.ts'
import { type Ends, type UnfinishedWork, tookMs } from './ends.ts'
import type { EventDraft, RunAppender } from './run-appender.ts'
import { failedPayload, startedPayload } from './payloads.ts'
import { limitTime, recordable, settle, signalOf, timeoutOf } from './perform.ts'
import { warningOfInput } from './placeholders.ts'
import { outcomePause, pauseIdOf } from './recovery.ts'
import { copyInput } from './recorded-copy.ts'
import { mayUsePlaceholder, placeholderInInput, redactedInputPause } from './redacted-input.ts'
import { delayOf } from './retry.ts'
import type { MachineParts } from './ports.ts'
import { isClosed, isEnding } from './scope.ts'
import {
  hasBody,
  isOnceOnly,
  isWrite,
  type Outcome,
  releaseWaiting,
  type Step,
  type WaitingPause,
  type Work,
} from './step.ts'
import type { StepEvent } from './record.ts'

export interface Attempts {
  begin(step: Step, attempt: number, causationId: string | null, before?: readonly EventDraft[]): void
  perform(step: Step): void
  /** The step's end, or a failure that says when it is tried again, and then that. */
  conclude(step: Step, attempt: number, outcome: Outcome): void
  /** R3: each attempt has its own time. */
  limit(step: Step, onOver: (outcome: Outcome) => void): void
  wait(step: Step, pauses: readonly WaitingPause[], dueAt?: number): void
  /** Signals came for the run or for its child runs. */
  refresh(): Promise<void>
  later(step: Step, ms: number, go: () => void): void
}

/** How steps are tried: begun, performed, and tried again. */
export function createAttempts(
  core: MachineState,
  { end, endGiven, close, countChild, stopDrafts, report }: Ends,
  { enter }: Pick<MachineParts, 'enter'>,
): Attempts {
  const { options, journal, answers, writes, waits, budget, tried, children } = core
  const { runId, record, durability, listener, now, inbox } = options
  /** The newest signal for the child run that was known when it was taken up last. */
  const childSeen = new WeakMap<Step, number>()
  const { signal } = core.unwinding

  /** Without the wake of a cause: an attempt that follows from the one before it. */
  function begin(
    step: Step,
    attempt: number,
    causationId: string | null,
    before: readonly EventDraft[] = [],
  ): void {
    const { stepId, spec, scope, refused } = step
    const { work } = spec
    const over = budget.overStep()
    if (over) return core.stop(over)
    step.attempt = attempt
    step.open = true
    step.startedAt = now()
    step.beganAt = performance.now()
    step.isDispatched = false
    step.abort = undefined
    step.signal = undefined
    step.usage = undefined
    const place = refused ? undefined : placeholderInInput(step)
    step.redactedInput = place && isHeldBack(step) ? place : undefined
    if (place && !step.redactedInput) core.warn(warningOfInput(stepId, place))
    step.heldInBranch = journal !== undefined && mustBeAllowed(options.branch, step, answers, runId)
    scope.steps.add(step)
    if (scope.isRetried) tried.set(stepId, attempt)
    core.starts++
    step.superstep = spec.startFields?.superstep ?? scope.superstep ?? core.starts
    listener.step?.({ stepId, name: spec.name, kind: work.kind, attempt, status: 'running' })
    if (!journal) return refused ? end(step, { error: refused }) : perform(step)
    const mayHold = isHeld(step, before)
    const payload = mayHold ? { stepId, name: spec.name } : startedPayload(step, moreOf(step, work))
    const event = writes.draft('execution.step_started', [stepId, attempt], causationId, payload)
    step.startId = event.eventId
    const isReserved = work.kind === 'effect' && (work.safety !== 'read' || durability === 'sync') && !refused
    // A critical action needs all that led to it on record (R10): a gap ends the run here.
    if (isReserved && writes.errors.length > 0) return writes.fail(writes.errors[0])
    if (mayHold) writes.hold({ event, payload: () => startedPayload(step, undefined) })
    else
      writes.send([...before, event], () => isReserved && perform(step), {
        mayMiss: durability === 'async' && !isReserved,
      })
    if (refused) end(step, { error: refused })
    else if (!isReserved) perform(step)
  }

  /** A write with a placeholder in its input waits for an answer, unless its outcome is in doubt. */
  const isHeldBack = (step: Step): boolean =>
    isWrite(step.spec.work) && !step.isDoubtful && !mayUsePlaceholder(step, answers, runId)

  /**
   * The start of a node is written when it is not over by the time the code has come to rest, or calls something. Not
   * that of a function's step: its input is told there, and the body may change it.
   */
  const isHeld = ({ spec, refused }: Step, before: readonly EventDraft[]): boolean =>
    (spec.work.kind === 'node' || spec.work.kind === 'gate') &&
    spec.cacheTtlMs === undefined &&
    before.length === 0 &&
    !refused

  function moreOf(step: Step, work: Work): Partial<PayloadOf<'execution.step_started'>> | undefined {
    if (work.kind === 'child') return { childRunId: core.childIdOf(step) }
    const waitMs = work.kind === 'sleep' ? work.ms : work.kind === 'receive' ? work.timeoutMs : undefined
    if (waitMs !== undefined) return { dueAt: new Date(step.startedAt + waitMs).toISOString() }
    if (step.redactedInput) return { redactedInput: step.redactedInput.path }
    if (step.heldInBranch) return { heldInBranch: true }
    return undefined
  }

  function perform(step: Step): void {
    if (core.isOver || !step.open || isEnding(step.scope)) return
    const { work, cacheTtlMs } = step.spec
    if (cacheTtlMs !== undefined && journal) void lookUp(step, work, journal)
    else dispatch(step, work)
  }

  function dispatch(step: Step, work: Work): void {
    if (hasBody(work)) enter(step, work)
    else if (work.kind === 'effect') performEffect(step, work)
    else if (work.kind === 'child') void performChild(step, work)
    else if (work.kind === 'sleep') wait(step, [], dueAtOf(step) ?? step.startedAt + work.ms)
    else if (work.kind === 'interrupt') ask(step, work)
    else if (work.kind === 'receive') receive(step, work)
  }

  async function lookUp(step: Step, work: Work, { ledger }: RunAppender): Promise<void> {
    const { attempt, spec, cacheKey } = step
    core.working++
    try {
      const found = await findCached(ledger, options.agent, spec.name, cacheKey, now())
      if (core.isOver || step.attempt !== attempt || !step.open) return
      if (found) end(step, { output: found.output }, { cached: true })
      else dispatch(step, work)
    } catch (error) {
      writes.fail(error)
    } finally {
      core.working--
      core.notify()
    }
  }

  function ask(step: Step, { question }: Work & { kind: 'interrupt' }): void {
    const { stepId } = step
    if (!journal) return end(step, { error: toStepError(cannotPause(), stepId) })
    const dueAt = question.timeoutMs === undefined ? undefined : step.startedAt + question.timeoutMs
    wait(step, [{ pauseId: pauseIdOf(runId, step), stepId, question, dueAt }], dueAt)
  }

  /** The signal is handed out when nothing else is on its way to the code (signals.ts). */
  function receive(step: Step, { signal: name, timeoutMs }: Work & { kind: 'receive' }): void {
    if (!inbox) return end(step, { error: toStepError(cannotPause(), step.stepId) })
    const dueAt = timeoutMs === undefined ? undefined : (dueAtOf(step) ?? step.startedAt + timeoutMs)
    wait(step, [], dueAt, [{ name }])
    if (!inbox.isOpen) void refresh()
  }

  /** Reads signals that came, and takes up child runs that were sent one. */
  async function refresh(): Promise<void> {
    core.working++
    try {
      await inbox?.read()
    } catch (error) {
      writes.fail(error)
    }
    core.working--
    if (core.isOver) return
    for (const step of waits.steps) if (isChildSignalled(step) && waits.delete(step)) perform(step)
    core.notify()
  }

  function isChildSignalled(step: Step): boolean {
    if (step.spec.work.kind !== 'child' || step.awaits.length === 0) return false
    return (inbox?.newestFor(core.childIdOf(step)) ?? 0) > (childSeen.get(step) ?? 0)
  }

  function wait(
    step: Step,
    pauses: readonly WaitingPause[],
    dueAt?: number,
    awaits: readonly SignalWait[] = [],
  ): void {
    waits.add(step, pauses, dueAt, awaits)
    const { stepId, attempt, spec } = step
    if (pauses.length > 0 || awaits.length > 0)
      listener.step?.({ stepId, name: spec.name, kind: spec.work.kind, attempt, status: 'paused' })
    core.notify()
  }

  function performEffect(step: Step, { fn }: Work & { kind: 'effect' }): void {
    const { attempt, redactedInput, spec } = step
    const earlier = earlierOf(core, step) ?? outcomeInBranch(options.branch, step)
    if (earlier) return endGiven(step, earlier, { restored: true })
    if (step.heldInBranch) return wait(step, [branchPause(step, runId)])
    if (redactedInput)
      return journal
        ? wait(step, [redactedInputPause(step, runId, redactedInput)])
        : end(step, { error: toStepError(cannotPause(), step.stepId) })
    if (step.isDoubtful) {
      step.isDoubtful = false
      return wait(step, [outcomePause(step, runId, core.keyOf(step))])
    }
    step.isDispatched = true
    let isOverdue = false
    const over = (outcome: Outcome): void => {
      // After its time is over a failure may be that of the abort, and says nothing about what was sent.
      if (isOverdue && 'error' in outcome) return
      if (step.attempt === attempt) core.leave(step)
      conclude(step, attempt, outcome)
      core.notify()
    }
    /** R10: it may have happened, so it is neither failed nor repeated. Its own success, if it comes in time, ends the wait. */
    const timedOut = (): void => {
      if (!step.open || step.attempt !== attempt) return
      isOverdue = true
      // The body around has failed and waits for it no longer: the next attempt of that body asks.
      if (isEnding(step.scope)) return releaseWaiting(step)
      core.leave(step)
      wait(step, [outcomePause(step, runId, core.keyOf(step))])
    }
    limitTime(step, (error) => {
      if (journal && isOnceOnly(spec.work)) return timedOut()
      over({ error })
    })
    core.working++
    const effectCall = {
      attempt,
      idempotencyKey: core.keyOf(step),
      get signal() {
        return signalOf(step, signal)
      },
      usage: (used: Step['usage']) => void (step.usage = used),
    }
    settle(core, step, () => fn(copyInput(core.ledger, step.spec), effectCall), undefined, over)
  }

  async function performChild(step: Step, { open }: Work & { kind: 'child' }): Promise<void> {
    const { attempt, stepId } = step
    const childRunId = core.childIdOf(step)
    limitTime(step, (error) => conclude(step, attempt, { error }))
    childSeen.set(step, inbox?.newestFor(childRunId) ?? 0)
    core.working++
    try {
      const opened = open({
        runId: childRunId,
        parentRunId: runId,
        parentStepId: stepId,
        cause: step.startId,
        earlierRunId:
          attempt > 1
            ? core.childIdOf({ stepId, attempt: attempt - 1 })
            : options.earlierWrites?.childOf(stepId),
        signal: signalOf(step, signal),
        input: step.spec.input,
        timeout: timeoutOf(step),
        answers,
      })
      children.set(step, opened)
      const child = await opened.finally(() => children.delete(step))
      if (child.status === 'completed' || child.status === 'failed') await countChild(childRunId)
      if (core.isOver || !step.open || step.attempt !== attempt || core.closing.has(step)) return
      if (child.status === 'failed')
        conclude(step, attempt, { error: recordable(journal?.ledger, step.stepId, child.error) })
      else if (child.status === 'blocked') core.diverge({ childRunId, ...child.divergence, stepId })
      else if (child.status === 'left') waits.add(step, [], undefined)
      else if (child.status === 'paused') {
        wait(
          step,
          child.pauses.map((pause) => ({ ...pause, childRunId: pause.childRunId ?? childRunId })),
          child.dueAt,
          child.awaits.map(({ name }) => ({ name, childRunId })),
        )
        // One may have come since the child came to rest.
        if (child.awaits.length > 0) void refresh()
      } else if (child.restored) endGiven(step, { output: child.output }, { restored: true })
      else end(step, { output: child.output })
    } catch (error) {
      // A child that was stopped because no code awaits it any more is no error of this run.
      if (!core.isOver && step.open && !core.closing.has(step)) writes.fail(error)
    } finally {
      core.working--
      core.notify()
    }
  }

  /** Until when a recorded attempt sleeps. */
  function dueAtOf({ stepId, attempt, scope }: Step): number | undefined {
    const tries = record?.find(scope.attempt, stepId)?.attempts
    const dueAt = tries?.find((each) => each.attempt === attempt)?.start.payload.dueAt
    return dueAt === undefined ? undefined : Date.parse(dueAt)
  }

  /** The step's end, or a failure that says when it is tried again, and then that. */
  function conclude(step: Step, attempt: number, outcome: Outcome): void {
    if (core.isOver || !step.open || step.attempt !== attempt || step.body?.closed || isClosed(step.scope))
      return
    // It heeds its signal, or failed of what was stopped below it: it is stopped with the rest when the machine halts.
    if ('error' in outcome && core.isEnding) return
    const retry = isEnding(step.scope) ? undefined : step.spec.retry
    if (
      'output' in outcome ||
      !retry ||
      step.failures + 1 >= retry.tries ||
      retry.when?.(outcome.error) === false
    )
      return end(step, outcome)
    clearTimeout(step.timer)
    close(step, outcome, true, (left) =>
      fail(step, outcome.error, delayOf(retry, ++step.failures, lotOf(step)), left),
    )
  }

  /** A lot that a resume draws again. */
  const lotOf = ({ stepId, attempt }: Step): string => `${options.seed}\n${stepId}\n${attempt}`

  function fail(step: Step, error: StepError, retryInMs: number, left: UnfinishedWork): void {
    const { stepId, attempt, startId } = step
    step.open = false
    report(step, 'failed', { error })
    if (!journal) return later(step, retryInMs, () => begin(step, attempt + 1, null))
    const stops = stopDrafts(left)
    const payload = failedPayload(step, error, tookMs(step), retryInMs)
    const failed = writes.draft('execution.step_failed', [stepId, attempt], startId, payload)
    writes.send([...stops, failed], (stored) => {
      budget.count(stored[stops.length] as StepEvent)
      later(step, retryInMs, () => begin(step, attempt + 1, failed.eventId))
    })
  }

  function later(step: Step, ms: number, go: () => void): void {
    if (core.isStuck || isEnding(step.scope)) return
    core.delayed++
    const due = (): void => {
      step.timer = undefined
      core.delayed--
      if (!core.isStuck && !isEnding(step.scope)) go()
      core.notify()
    }
    if (ms === 0) queueMicrotask(due)
    else step.timer = setTimeout(due, ms)
  }

  return {
    begin,
    perform,
    conclude,
    limit: (step, over) => limitTime(step, (error) => over({ error })),
    wait,
    refresh,
    later,
  }
}

/** What an earlier attempt of this child run had written. */
export function earlierOf({ options }: Pick<MachineState, 'options'>, step: Step): Outcome | undefined {
  const found = isWrite(step.spec.work) ? options.earlierWrites?.find(step) : undefined
  return found === 'unknown' ? undefined : found
}

const cannotPause = (): ClewError =>
  new ClewError(
    'bad_option',
    'A run without a ledger cannot pause',
    'Start it on a ledger, or compile the graph with a checkpointer.',
  )

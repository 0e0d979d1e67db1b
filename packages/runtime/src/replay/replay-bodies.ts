import { ClewError } from '@clew/ledger'
import { toTaskEnd } from '../engine/graph-program.ts'
import { outcomeOf } from '../machine/payloads.ts'
import { signalOf } from '../machine/perform.ts'
import type { BodiesPort, MachineParts } from '../machine/ports.ts'
import type { AnswerEvent, RecordedAttempt, RecordedCall, StepEvent } from '../machine/record.ts'
import { isClosed, type Scope } from '../machine/scope.ts'
import { type ChildLink, hasBody, type Outcome, type Step, type Work } from '../machine/step.ts'
import { toStepError } from '../run/run.ts'
import { createStepComparer, errorIn, isTimeout, outcomeIn } from './compare-step.ts'
import { scopeFor } from '../machine/cursor.ts'
import { saidIn } from './compare-run.ts'
import { placeOf, type ReplayState } from './replay-state.ts'

export interface ReplayBodies extends BodiesPort {
  /** Runs the body, or replays the child run, of the attempt that is under way. */
  enter(step: Step): void
  /** The end of the step where the record does not have it. */
  ownEndOf(step: Step): Outcome | undefined
}

const NO_ANSWERS = new Map<string, AnswerEvent>()

/** Bodies run again, once for each recorded attempt, and must give what they gave (D2). */
export function createReplayBodies(
  state: ReplayState,
  { enter: enterBody }: Pick<MachineParts, 'enter'>,
): ReplayBodies {
  const { core, options } = state
  const comparer = createStepComparer(state)

  function enter(step: Step): void {
    const { work } = step.spec
    const tried = step.recorded?.attempts[step.at]
    step.attempt = tried?.attempt ?? 1
    step.startId = tried?.start.eventId ?? ''
    if (work.kind === 'child') {
      if (tried?.start.payload.childRunId !== undefined) void openChild(step, work, tried)
    } else if (hasBody(work)) {
      if (step.replayed) step.replayed.outcome = undefined
      enterBody(step, work)
    }
  }

  function concluded(step: Step, attempt: number, outcome: Outcome): void {
    const { body, replayed } = step
    if (core.isOver || !body || body.closed || !replayed) return
    close(body)
    if (step.attempt !== attempt || isClosed(step.scope)) return
    replayed.outcome = outcome
    comparer.body(step)
    core.notify()
  }

  /** Closes a body and aborts what it left running. */
  function close(body: Scope): void {
    body.closed = true
    for (const step of body.hasSteps ? body.steps : []) {
      step.abort?.abort(
        new ClewError('stopped', `Nothing waits for ${step.stepId} any more`, 'End the work.'),
      )
      if (step.body && !step.body.closed) close(step.body)
    }
  }

  async function openChild(
    step: Step,
    { open }: Extract<Work, { kind: 'child' }>,
    tried: RecordedAttempt,
  ): Promise<void> {
    const { stepId, spec, at, replayed } = step
    if (!replayed) return
    const link: ChildLink = {
      runId: tried.start.payload.childRunId as string,
      parentRunId: options.runId,
      parentStepId: stepId,
      cause: tried.start.eventId,
      signal: signalOf(step, core.unwinding.signal),
      input: spec.input,
      answers: NO_ANSWERS,
    }
    core.working++
    replayed.child = 'working'
    try {
      const child = await open(link)
      if (core.isOver || step.at !== at) return
      replayed.child = child.status === 'left' ? 'lost' : 'unfinished'
      if (child.status === 'completed') replayed.outcome = { output: child.output }
      else if (child.status === 'failed') replayed.outcome = { error: child.error }
    } finally {
      core.working--
      core.notify()
    }
  }

  function endOf(step: Step, tried: RecordedAttempt): Outcome | undefined {
    const { recorded, spec, stepId } = step
    const { work } = spec
    const end = tried.end as StepEvent
    // A fork that passed by its source's attempts, or effects whose earlier attempts failed.
    if (recorded && recorded.attempts[step.at] !== tried) step.at = recorded.attempts.indexOf(tried)
    if (end.ledger.erased) {
      state.diverge('redacted', { ...placeOf(recorded as RecordedCall), seq: end.ledger.seq }, null, null)
      return undefined
    }
    const outcome = recordedOrOwn(step, end)
    if (state.isLenient) return undefined
    if (outcome) options.onTurn(recorded?.name ?? stepId)
    return outcome

    function recordedOrOwn(of: Step, over: StepEvent): Outcome | undefined {
      if (!hasBody(work) && work.kind !== 'child') return outcomeOf(over, stepId)
      if (recorded?.isGiven) {
        const given = outcomeOf(over, stepId)
        const isCached =
          over.payload.cached === true && 'output' in given && (work.kind === 'node' || work.kind === 'gate')
        if (isCached && work.conclude) return { ...given, ...work.conclude(toTaskEnd(over.payload)) }
        return given
      }
      return compared(of, over)
    }
  }

  /** The own end of a step that ran again, compared with the recorded one. */
  function compared(step: Step, end: StepEvent): Outcome | undefined {
    const { stepId, spec } = step
    if (isTimeout(step, end)) {
      if (step.body) close(step.body)
      return outcomeOf(end, stepId)
    }
    const outcome = outcomeIn(step)
    if (!outcome) return unsaid(step, end)
    const own = concludedBy(step, outcome)
    if (spec.work.kind === 'child') comparer.child(step, own, end)
    else if ('error' in own && !('error' in outcome)) comparer.error(step, own.error, end)
    else if ('output' in own && end.eventType === 'execution.step_failed')
      comparer.differ('output', step, end, [{ error: errorIn(end) }, own.output])
    comparer.checkpoint(step, own, end)
    return 'output' in own && own.fields?.checkpoint !== undefined ? { ...own, seq: end.ledger.seq } : own
  }

  /** A child run that was stopped, or that the ledger does not have: what its parent was given is all there is. */
  function unsaid(step: Step, end: StepEvent): Outcome | undefined {
    const { spec, stepId, replayed } = step
    const child = replayed?.child
    if (child === 'lost' && 'conclude' in spec.work && spec.work.conclude) {
      const place = { ...placeOf(step.recorded as RecordedCall), seq: end.ledger.seq }
      state.diverge('redacted', place, step.recorded?.attempts[step.at]?.start.payload.childRunId, null)
      return undefined
    }
    const isGiven = child === 'lost' || (child === 'unfinished' && end.eventType === 'execution.step_failed')
    return isGiven ? outcomeOf(end, stepId) : undefined
  }

  /** Handed to the graph, which makes the next superstep of it. */
  function concludedBy(step: Step, outcome: Outcome): Outcome {
    const { work } = step.spec
    if (!('output' in outcome) || !('conclude' in work) || !work.conclude) return outcome
    try {
      const own = work.conclude(outcome.output)
      if (step.replayed) step.replayed.decision = own.fields.decision ?? null
      return own
    } catch (error) {
      if (!(error instanceof ClewError)) throw error
      return { error: toStepError(error, step.stepId) }
    }
  }

  /** The attempt under way has come to its end, or its time was over. */
  function isTried(step: Step): boolean {
    const end = step.recorded?.attempts[step.at]?.end
    return (
      outcomeIn(step) !== undefined || end?.eventType === 'execution.step_interrupted' || isTimeout(step, end)
    )
  }

  function enterAgain(step: Step, tried: RecordedAttempt): boolean {
    const { recorded, spec } = step
    const isOwn = hasBody(spec.work) || spec.work.kind === 'child'
    const isEntered = (recorded?.attempts.indexOf(tried) ?? 0) <= step.at
    if (!isOwn || isEntered || recorded?.isGiven || isClosed(step.scope)) return true
    if (!isTried(step)) return false
    if (step.body) close(step.body)
    step.at++
    if (step.replayed) step.replayed.outcome = undefined
    enter(step)
    return true
  }

  return {
    areRun: true,
    // One that begins and ends in the same event called nothing; what that event woke is for its end.
    causesCalls(step) {
      const tried = step.recorded?.attempts[step.at]
      return tried !== undefined && tried.start !== tried.end
    },
    attemptOf: ({ attempts }) => attempts[0] as RecordedAttempt,
    concluded,
    endOf,
    isPast: () => false,
    enterAgain,
    missed(call, isOwed) {
      if (state.isLenient) return
      const scope = isOwed ? scopeFor(core.root, call) : undefined
      const instead = isOwed ? state.strict().held.find((step) => step.scope === scope) : undefined
      state.part({ step: instead, expected: call })
    },
    unfinished(step, tried, isEnd) {
      const { recorded } = step
      if (state.isLenient || core.ended || !recorded) return
      if (isEnd) {
        if (outcomeIn(step)) return
        const { end } = tried
        const place = { ...placeOf(recorded), seq: end?.ledger.seq ?? null }
        return state.diverge('output', place, end && saidIn(end), undefined)
      }
      if (isTried(step)) return
      const before = recorded.attempts[step.at]?.end
      const place = { ...placeOf(recorded), seq: before?.ledger.seq ?? null }
      state.diverge('output', place, 'a failed attempt', null)
    },
    enter,
    ownEndOf(step) {
      const outcome = outcomeIn(step)
      return outcome && concludedBy(step, outcome)
    },
  }
}

import { ClewError, type ClewEvent } from '@clew/ledger'
import { toTaskEnd } from '../engine/graph-program.ts'
import { createRun } from '../machine/create-run.ts'
import { bindCall } from '../machine/current-run.ts'
import { outcomeOf } from '../machine/payloads.ts'
import { isPromise, recordable } from '../machine/perform.ts'
import { isClosed, openScope, type Scope } from '../machine/scope.ts'
import { type ChildLink, hasBody, type Outcome, type Work } from '../machine/step.ts'
import type { Caller } from '../machine/machine-types.ts'
import { type Run, toStepError } from '../run.ts'
import { createJudge, errorIn, isTimeout } from './judge-step.ts'
import type { RecordedAttempt, RecordedCall } from './recorded-run.ts'
import { placeOf, type ReplayCore } from './replay-core.ts'
import type { ReplayStep } from './replay-step.ts'

export interface Bodies {
  /** Runs the body, or replays the child run, of the attempt that is under way. */
  enter(step: ReplayStep): void
  /** The end of the step as the code gets it; undefined when it cannot be said yet, or is a divergence. */
  endOf(step: ReplayStep, tried: RecordedAttempt, end: ClewEvent): Outcome | undefined
  /** The same where the record does not say it. */
  ownEndOf(step: ReplayStep): Outcome | undefined
  runOf(scope: Scope, step?: ReplayStep): Run
}

const NO_ANSWERS = new Map<string, ClewEvent>()
type WorkWithBody = Extract<Work, { kind: 'compute' | 'node' | 'gate' }>

/** Bodies run again, once for each recorded attempt, and must give what they gave (D2). */
export function createBodies(core: ReplayCore, caller: () => Caller): Bodies {
  const { options, record } = core
  const { runId, threadId, seed, ledger } = options
  const judge = createJudge(core)
  const readings: [string, number][] = []
  const signalled = new Set<ReplayStep>()
  const lastMs = Date.parse(record.last.timestamp)

  function runOf(scope: Scope, step?: ReplayStep): Run {
    core.statements.enter(scope)
    return createRun({
      scope,
      runId,
      threadId,
      seed,
      signal: () => (step ? signalOf(step) : core.controller.signal),
      call: (...given) => caller().call(...given),
      state: core.statements.make,
      openChild: (...given) => caller().openChild(...given),
      // Beyond the record time stands still.
      now: () => lastMs,
      record,
      readings,
      listener: {},
      // Given back from the record, whatever they were.
      ledger,
      agent: '',
    })
  }

  function signalOf(step: ReplayStep): AbortSignal {
    step.abort ??= new AbortController()
    signalled.add(step)
    return AbortSignal.any([step.abort.signal, core.controller.signal])
  }

  function enter(step: ReplayStep): void {
    const { work } = step.spec
    const tried = step.recorded?.attempts[step.at]
    if (work.kind === 'child') {
      if (tried && typeof tried.start.payload['childRunId'] === 'string') void openChild(step, work, tried)
    } else if (hasBody(work)) runBody(step, work, tried)
  }

  function runBody(step: ReplayStep, { fn }: WorkWithBody, tried: RecordedAttempt | undefined): void {
    const { stepId, scope, spec, at } = step
    const body = openScope(stepId, scope, tried?.attempt ?? 1, false)
    step.body = body
    step.outcome = undefined
    const run = runOf(body, step)
    step.enteredAt = core.wakes
    const outer = core.cause
    // One that begins and ends in the same event called nothing; what that event woke is for its end.
    if (tried && tried.start !== tried.end) {
      core.cause = tried.start.eventId
      core.expect(core.cause)
    }
    const gave = (output: unknown): void => settled(step, body, at, { output: output ?? null })
    const failed = (thrown: unknown): void =>
      settled(step, body, at, { error: recordable(ledger, stepId, thrown) })
    try {
      const result: unknown = bindCall({ scope: body, run }, () => fn(spec.input, run))
      if (isPromise(result)) void result.then(gave, failed)
      else gave(result)
    } catch (error) {
      failed(error)
    }
    core.cause = outer
  }

  function settled(step: ReplayStep, body: Scope, at: number, outcome: Outcome): void {
    if (core.isOver || body.closed) return
    close(body)
    if (step.at !== at || isClosed(step.scope)) return
    step.outcome = outcome
    judge.body(step)
    core.tick()
  }

  function close(body: Scope): void {
    body.closed = true
    for (const step of signalled)
      if (isClosed(step.scope) || step.body?.closed === true) {
        signalled.delete(step)
        step.abort?.abort(
          new ClewError('stopped', `Nobody waits for ${step.stepId} any more`, 'End the work.'),
        )
      }
  }

  async function openChild(
    step: ReplayStep,
    { open }: Extract<Work, { kind: 'child' }>,
    tried: RecordedAttempt,
  ): Promise<void> {
    const { stepId, spec, at } = step
    const link: ChildLink = {
      runId: tried.start.payload['childRunId'] as string,
      parentRunId: runId,
      parentStepId: stepId,
      cause: tried.start.eventId,
      signal: core.controller.signal,
      input: spec.input,
      answers: NO_ANSWERS,
    }
    core.working++
    step.child = 'working'
    try {
      const child = await open(link)
      if (core.isOver || step.at !== at) return
      step.child = child.status === 'left' ? 'lost' : 'unfinished'
      if (child.status === 'completed') step.outcome = { output: child.output }
      else if (child.status === 'failed') step.outcome = { error: child.error }
    } finally {
      core.working--
      core.tick()
    }
  }

  function endOf(step: ReplayStep, tried: RecordedAttempt, end: ClewEvent): Outcome | undefined {
    const { recorded, spec, stepId } = step
    const { work } = spec
    if (!hasBody(work) && work.kind !== 'child') return outcomeOf(end, stepId)
    if (recorded?.isGiven) {
      const given = outcomeOf(end, stepId)
      const isCached =
        end.payload['cached'] === true && 'output' in given && (work.kind === 'node' || work.kind === 'gate')
      if (isCached && work.conclude) return { ...given, ...work.conclude(toTaskEnd(end.payload)) }
      return given
    }
    if (isTimeout(step, end)) {
      if (step.body) close(step.body)
      return outcomeOf(end, stepId)
    }
    const { outcome } = step
    if (!outcome) return unsaid(step, end)
    const own = concluded(step, outcome)
    if (work.kind === 'child') judge.child(step, own, end)
    else if ('error' in own && !('error' in outcome)) judge.error(step, own.error, end)
    else if ('output' in own && end.eventType === 'execution.step_failed')
      judge.differ('output', step, end, [{ error: errorIn(end) }, own.output])
    return 'output' in own && own.fields?.checkpoint !== undefined ? { ...own, seq: end.ledger.seq } : own
  }

  /** A child run that was stopped, or that the ledger does not have: what its parent was given is all there is. */
  function unsaid(step: ReplayStep, end: ClewEvent): Outcome | undefined {
    const { child, spec, stepId } = step
    if (child === 'lost' && 'conclude' in spec.work && spec.work.conclude) {
      const place = { ...placeOf(step.recorded as RecordedCall), seq: end.ledger.seq }
      core.diverge('redacted', place, step.recorded?.attempts[step.at]?.start.payload['childRunId'], null)
      return undefined
    }
    const isGiven = child === 'lost' || (child === 'unfinished' && end.eventType === 'execution.step_failed')
    return isGiven ? outcomeOf(end, stepId) : undefined
  }

  /** Handed to the graph, which makes the next superstep of it. */
  function concluded(step: ReplayStep, outcome: Outcome): Outcome {
    const { work } = step.spec
    if (!('output' in outcome) || !('conclude' in work) || !work.conclude) return outcome
    try {
      const own = work.conclude(outcome.output)
      step.decision = own.fields.decision ?? null
      return own
    } catch (error) {
      if (!(error instanceof ClewError)) throw error
      return { error: toStepError(error, step.stepId) }
    }
  }

  const ownEndOf = (step: ReplayStep): Outcome | undefined => step.outcome && concluded(step, step.outcome)

  return { enter, endOf, ownEndOf, runOf }
}

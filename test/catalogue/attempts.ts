import { type ClewEvent, deriveId, type EventInput } from '@clew/ledger'
import type { Agent } from './agent.ts'
import { draft, type Going, send } from './going.ts'
import { settle } from './outcome.ts'
import { hasBody, type Outcome, type StepError } from './record.ts'
import { isClosed, type Scope, type Step, type Work } from './step.ts'
import { idempotencyKeyOf, sha256, type World } from './world.ts'

export const pauseIdOf = (owner: string, { stepId, attempt }: Step): string =>
  deriveId(sha256, owner, 'pause', stepId, attempt)

const childIdOf = (runId: string, stepId: string, attempt: number): string =>
  deriveId(sha256, runId, 'child', stepId, attempt)

export function startAttempt(
  going: Going,
  step: Step,
  attempt: number,
  causationId: string,
  before: readonly EventInput[] = [],
): void {
  const { stepId, name, key, ordinal, scope, input, digest, work } = step
  const { kind } = work
  const event = draft(going, 'execution.step_started', [stepId, attempt], causationId, {
    stepId,
    parentStepId: scope.path || null,
    name,
    ...(key === undefined ? { ordinal } : { key }),
    attempt,
    kind,
    superstep: going.starts++,
    inputDigest: digest,
    input,
    ...(kind === 'effect' && { safety: work.safety }),
    ...(kind === 'child' && { childRunId: childIdOf(going.runId, stepId, attempt) }),
  })
  step.attempt = attempt
  step.startId = event.eventId
  step.open = true
  const handoff =
    kind === 'handoff'
      ? [
          draft(going, 'execution.handoff', [stepId, attempt], event.eventId, {
            from: scope.agent,
            to: name,
            reason: work.reason,
            stepId,
          }),
        ]
      : []
  void begin(going, step, [...before, event, ...handoff], before.length)
}

async function begin(going: Going, step: Step, events: readonly EventInput[], at: number): Promise<void> {
  const stored = await send(going, events)
  if (hasBody(step.work.kind)) going.ready.push(stored[at] as ClewEvent)
  else if (going.caughtUp) perform(going, step)
  else going.deferred.push(() => perform(going, step))
}

export function perform(going: Going, step: Step): void {
  if (!step.open || isClosed(step.scope)) return
  const { work } = step
  if (work.kind === 'effect') void performEffect(going, step, work)
  else if (work.kind === 'child') void performChild(going, step, work.agent)
  else {
    step.pauses = [{ pauseId: pauseIdOf(going.runId, step), question: step.input }]
    going.waiting.add(step)
  }
}

async function performEffect(
  going: Going,
  step: Step,
  { fn, tries }: Work & { kind: 'effect' },
): Promise<void> {
  const { stepId, digest, attempt, input } = step
  const idempotencyKey = idempotencyKeyOf(going.runId, stepId, digest)
  going.busy++
  const outcome = await settle(() => fn(input, { attempt, idempotencyKey }))
  going.busy--
  going.wake()
  concludeTry(going, step, outcome, tries)
}

/** The step's end, or a failure that says when it is tried again, and then that. */
export function concludeTry(
  going: Going,
  step: Step,
  outcome: Outcome,
  tries: number,
  before: EventInput[] = [],
): void {
  if ('output' in outcome || step.failures + 1 >= tries) end(going, step, outcome, { before })
  else void tryAgain(going, step, outcome.error, before)
}

async function tryAgain(going: Going, step: Step, error: StepError, before: EventInput[]): Promise<void> {
  if (!step.open || isClosed(step.scope)) return
  const { stepId, attempt, startId } = step
  const payload = { stepId, attempt, error: error.toJSON(), retryInMs: 0 }
  const failed = draft(going, 'execution.step_failed', [stepId, attempt], startId, payload)
  step.failures++
  step.open = false
  await send(going, [...before, failed])
  if (!isClosed(step.scope)) startAttempt(going, step, attempt + 1, failed.eventId)
}

async function performChild(going: Going, step: Step, child: Agent): Promise<void> {
  const { world, runId, seed, record } = going
  const { stepId, attempt, input } = step
  going.busy++
  const link = {
    runId: childIdOf(runId, stepId, attempt),
    seed: sha256(`${seed} child ${stepId}`),
    parentRunId: runId,
    parentStepId: stepId,
    cause: step.startId,
    answers: record.answers,
  }
  let result: Awaited<ReturnType<World['child']>>
  try {
    result = await world.child(child, input, link)
  } catch (error) {
    going.fatal ??= error as Error
    return
  } finally {
    going.busy--
    going.wake()
  }
  if (result.status === 'completed')
    end(going, step, { output: result.output }, { restored: result.restored })
  else if (result.status === 'failed') end(going, step, { error: result.error })
  else if (result.status === 'blocked') going.fatal ??= new Error(`The child run ${link.runId} is blocked`)
  else {
    step.pauses = result.pauses
    going.waiting.add(step)
  }
}

interface EndOptions {
  readonly cause?: string
  readonly restored?: boolean | undefined
  readonly before?: EventInput[]
}

export function end(
  going: Going,
  step: Step,
  outcome: Outcome,
  { cause = step.startId, restored, before = [] }: EndOptions = {},
): void {
  if (!step.open || isClosed(step.scope)) return
  const { stepId, attempt } = step
  step.open = false
  const event =
    'output' in outcome
      ? draft(going, 'execution.step_completed', [stepId, attempt], cause, {
          stepId,
          attempt,
          output: outcome.output,
          ...(restored && { restored }),
        })
      : draft(going, 'execution.step_failed', [stepId, attempt], cause, {
          stepId,
          attempt,
          error: outcome.error.toJSON(),
        })
  void conclude(going, step, [...before, event])
}

async function conclude(going: Going, step: Step, events: readonly EventInput[]): Promise<void> {
  const early = going.world.faults.has('used-before-recorded') && step.work.kind === 'effect'
  if (early) going.ready.push({ ...events.at(-1), ledger: { seq: 0 } } as ClewEvent)
  const stored = await send(going, events)
  const event = stored.at(-1) as ClewEvent
  if (!early) going.ready.push(event)
  if (event.eventType === 'execution.step_completed')
    going.completed.push({ stepId: step.stepId, digest: step.digest, end: event })
}

/** D3: what a body or a run leaves running when it ends is stopped with it. */
export function stopBelow(going: Going, scope: Scope): EventInput[] {
  scope.closed = true
  if (going.world.faults.has('losers-left-open')) return []
  const losers = [...going.steps.values()].filter((step) => step.open && isClosed(step.scope))
  return losers.map((step) => {
    step.open = false
    const { stepId, attempt } = step
    return draft(going, 'execution.step_stopped', [stepId, attempt], going.cause, {
      stepId,
      attempt,
      reason: 'left behind',
    })
  })
}

import { type ClewEvent, deriveId, formatStepId, inputDigest, type JsonValue } from '@clew/ledger'
import type { Run } from './agent.ts'
import { end, pauseIdOf, perform, startAttempt } from './attempts.ts'
import { diverge, draft, type Going, never } from './going.ts'
import { attemptOf, hasBody, isFollowed, StepError, stepIdOf } from './record.ts'
import { isClosed, type Scope, type Step, type Work } from './step.ts'
import { idempotencyKeyOf, sha256 } from './world.ts'

/** What the code of a scope is given. */
export function runOf(going: Going, scope: Scope): Run {
  const { world, seed, record, readings } = going
  const draw = (what: string): string => sha256(`${seed}\n${scope.path}\n${what}\n${scope.draws++}`)
  return {
    step: (name, input, fn, { tries = 1 } = {}) =>
      call(going, scope, name, input, { kind: 'compute', fn, tries }),
    effect: (name, input, fn, { key, safety = 'read', tries = 1 } = {}) =>
      call(going, scope, name, input, { kind: 'effect', fn, safety, tries }, key),
    interrupt: (question) => call(going, scope, 'interrupt', question, { kind: 'interrupt' }),
    child: (name, agent, input) => call(going, scope, name, input, { kind: 'child', agent }),
    handoff: (to, input, reason) =>
      call(going, scope, to.name, input, { kind: 'handoff', fn: to.fn, tries: 1, reason }),
    now() {
      const known = record.clock.get(scope.path)?.[scope.reads++]
      if (known && !world.faults.has('clock-read-again')) return known.ms
      const ms = world.clock()
      readings.push([scope.path, ms])
      return ms
    },
    random: () => Number.parseInt(draw('random').slice(0, 13), 16) / 2 ** 52,
    uuid: () => deriveId(sha256, seed, draw('uuid')),
  }
}

function call(
  going: Going,
  scope: Scope,
  name: string,
  input: JsonValue,
  work: Work,
  key?: string,
): Promise<JsonValue> {
  const { world, root, steps, completed, whole, record } = going
  if (isClosed(scope) || going.divergence) return never
  const counter = world.faults.has('global-ordinals') ? root.ordinals : scope.ordinals
  const ordinal = key === undefined ? (counter.get(name) ?? 0) : 0
  if (key === undefined) counter.set(name, ordinal + 1)
  const stepId = formatStepId({ parentStepId: scope.path || null, name, key, ordinal })
  if (key !== undefined && scope.keys.has(stepId))
    throw new Error(`The key ${key} names two calls of ${name}`)
  scope.keys.add(stepId)
  const digest = inputDigest(sha256, input)
  // What an earlier attempt of this body had completed is given back at once: no event tells of it, none is needed.
  const before = completed.find(
    (each) => each.stepId === stepId && each.digest === digest && each.end.ledger.seq < scope.since,
  )
  if (before) return Promise.resolve((before.end.payload['output'] ?? null) as JsonValue)
  const tried = Math.max(
    steps.get(stepId)?.attempt ?? 0,
    ...(whole.attempts.get(stepId) ?? []).map(({ start }) => attemptOf(start)),
  )
  return new Promise((resolve, reject) => {
    const asked = { stepId, name, key, ordinal, scope, input, digest, work, resolve, reject }
    const step: Step = {
      ...asked,
      attempt: 0,
      failures: 0,
      startId: '',
      open: false,
      body: undefined,
      result: undefined,
      pauses: [],
    }
    steps.set(stepId, step)
    const recorded = record.calls[going.called]
    if (recorded) {
      going.called++
      if (compareCall(going, step, recorded)) adopt(going, step, recorded)
    } else if (!going.replay) startAttempt(going, step, tried + 1, going.cause)
    else if (record.end) diverge(going, 'extra', stepId, null, stepId)
  })
}

/** D2: the n-th call of the code is the n-th call of the record, with the same input and for the same reason. */
function compareCall(going: Going, { stepId, work, digest }: Step, recorded: ClewEvent): boolean {
  const { record, cause, world } = going
  const { payload } = recorded
  const expected = stepIdOf(recorded)
  if (expected !== stepId)
    diverge(going, record.attempts.has(stepId) ? 'order' : 'extra', stepId, expected, stepId)
  else if (payload['kind'] !== work.kind) diverge(going, 'kind', stepId, payload['kind'], work.kind)
  else if (payload['inputDigest'] !== digest && !world.faults.has('digest-ignored'))
    diverge(going, 'input', stepId, payload['inputDigest'], digest)
  else if (recorded.causationId !== cause && !world.faults.has('cause-ignored'))
    diverge(going, 'order', stepId, recorded.causationId, cause)
  return going.divergence === undefined
}

/** Takes over what the record has of a step; what was in flight waits until the record is used up. */
function adopt(going: Going, step: Step, recorded: ClewEvent): void {
  const all = going.whole.attempts.get(step.stepId) ?? []
  const attempts = all.filter(({ start }) => start.ledger.seq >= recorded.ledger.seq)
  const last = attempts.at(-1)
  if (!last || going.replay) return
  step.attempt = attemptOf(last.start)
  step.startId = last.start.eventId
  step.failures = attempts.filter((each) => each.end?.eventType === 'execution.step_failed').length
  step.open = last.end === undefined
  if (last.end ? isFollowed(last.end) : !hasBody(step.work.kind))
    going.deferred.push(() => recover(going, step, last.start, last.end))
}

function recover(going: Going, step: Step, start: ClewEvent, ended: ClewEvent | undefined): void {
  if (isClosed(step.scope)) return
  const { runId, record, world } = going
  const { attempt, work } = step
  const foreign = start.correlationId !== runId
  if (world.faults.has('attempts-forgotten') && work.kind === 'effect') {
    step.failures = 0
    startAttempt(going, step, 1, start.causationId as string)
  } else if (ended) startAttempt(going, step, attempt + 1, ended.eventId)
  else if (work.kind === 'effect' && work.safety !== 'read') askOutcome(going, step)
  else if (work.kind === 'effect' || (work.kind === 'child' && foreign)) startAgain(going, step)
  else if (work.kind === 'interrupt') {
    // A fork may have been answered before it parted, under its source's pause, or since then.
    const answer = [start.correlationId, runId]
      .map((owner) => record.answers.get(pauseIdOf(owner, step)))
      .find(Boolean)
    if (answer) end(going, step, { output: answer.payload['answer'] as JsonValue }, { cause: answer.eventId })
    else perform(going, step)
  } else perform(going, step)
}

function startAgain(going: Going, step: Step): void {
  const { stepId, attempt } = step
  const cut = draft(going, 'execution.step_interrupted', [stepId, attempt], going.record.last.eventId, {
    stepId,
    attempt,
  })
  startAttempt(going, step, attempt + 1, cut.eventId, [cut])
}

/** R10: nobody knows whether it happened, so somebody has to say. */
function askOutcome(going: Going, step: Step): void {
  const { stepId, attempt, input, digest } = step
  const pauseId = deriveId(sha256, going.runId, 'unknown', stepId, attempt)
  const answer = going.record.answers.get(pauseId)
  if (!answer) {
    const question = {
      unknown: 'outcome',
      stepId,
      attempt,
      idempotencyKey: idempotencyKeyOf(going.runId, stepId, digest),
      input,
      choices: ['done', 'retry', 'abort'],
    }
    step.pauses = [{ pauseId, question }]
    going.waiting.add(step)
    return
  }
  const cause = answer.eventId
  const { choice, output = null } = answer.payload['answer'] as { choice: string; output?: JsonValue }
  if (choice === 'retry') startAgain(going, step)
  else if (choice === 'done') end(going, step, { output }, { cause })
  else end(going, step, { error: new StepError('Error', 'aborted', 'its outcome is not known') }, { cause })
}

import { deriveId, type Pause } from '@clew/ledger'
import { StepError } from '../run/run.ts'
import { sha256 } from './run-appender.ts'
import { recoverHeld } from './branch.ts'
import {
  abortedInput,
  placeholderInInput,
  redactedInputAnswer,
  redactedInputPause,
} from './redacted-input.ts'
import type { AnswerEvent, RecordedAttempt } from './record.ts'
import { isOnceOnly, type Outcome, type Step } from './step.ts'

/** Recovery of an attempt that was in flight at the end of the record (R10). */
export type Recovery =
  /** The attempt has changed nothing outside, or can be continued. */
  | { readonly type: 'perform' }
  /** The attempt is recorded as interrupted, and the next one starts. */
  | { readonly type: 'start again' }
  /** The same where somebody said that nothing came of it. */
  | { readonly type: 'retry' }
  /** The outcome is unknown, so a user is asked. */
  | { readonly type: 'ask'; readonly pause: Pause }
  | { readonly type: 'end'; readonly outcome: Outcome; readonly by: string }

export const pauseIdOf = (runId: string, { stepId, attempt }: Step): string =>
  deriveId(sha256, runId, 'pause', stepId, attempt)

export function recoveryOf(
  step: Step,
  { start }: RecordedAttempt,
  answers: ReadonlyMap<string, AnswerEvent>,
  { runId, idempotencyKey }: { runId: string; idempotencyKey: string },
): Recovery {
  const { work } = step.spec
  switch (work.kind) {
    case 'effect':
      // What was held in the source before the branch parted is asked about again: nobody has answered for this branch.
      if (start.payload.heldInBranch === true)
        return start.correlationId === runId ? recoverHeld(step, answers, runId) : { type: 'start again' }
      if (start.payload.redactedInput !== undefined)
        return heldBack(step, answers, [start.correlationId, runId])
      return !isOnceOnly(work)
        ? { type: 'start again' }
        : unknownOutcome(step, answers, runId, idempotencyKey)
    case 'child':
      // A child run has one parent: a fork makes its own.
      return start.correlationId === runId ? { type: 'perform' } : { type: 'start again' }
    case 'interrupt': {
      // A fork may have been answered before it parted, under its source's pause, or since then.
      const answer = [start.correlationId, runId]
        .map((owner) => answers.get(pauseIdOf(owner, step)))
        .find((each) => each !== undefined)
      return answer ? answered(step, answer) : { type: 'perform' }
    }
    default:
      return { type: 'perform' }
  }
}

/** A write that was held back for a placeholder in its input has touched nothing. */
function heldBack(
  step: Step,
  answers: ReadonlyMap<string, AnswerEvent>,
  owners: readonly [string, string],
): Recovery {
  const answer = redactedInputAnswer(step, answers, owners)
  if (answer?.payload.answer === 'abort')
    return { type: 'end', outcome: { error: abortedInput(step.stepId) }, by: answer.eventId }
  const place = answer ? undefined : placeholderInInput(step)
  return place ? { type: 'ask', pause: redactedInputPause(step, owners[1], place) } : { type: 'start again' }
}

function answered({ stepId }: Step, answer: AnswerEvent): Recovery {
  const { answer: given, denied } = answer.payload
  const outcome: Outcome =
    denied === true
      ? { error: new StepError({ code: 'denied', message: 'no answer came in time' }, stepId) }
      : { output: given ?? null }
  return { type: 'end', outcome, by: answer.eventId }
}

/** R10: the question about a write whose outcome is unknown. */
export function outcomePause(step: Step, runId: string, idempotencyKey: string): Pause {
  const { stepId, attempt } = step
  const question = {
    question: `${step.spec.name} was under way when its process died or its time was over. What became of it?`,
    unknown: 'outcome',
    stepId,
    attempt,
    idempotencyKey,
    options: ['done', 'retry', 'abort'],
  }
  return { pauseId: deriveId(sha256, runId, 'outcome', stepId, attempt), stepId, question }
}

function unknownOutcome(
  step: Step,
  answers: ReadonlyMap<string, AnswerEvent>,
  runId: string,
  idempotencyKey: string,
): Recovery {
  const { stepId } = step
  const pause = outcomePause(step, runId, idempotencyKey)
  const answer = answers.get(pause.pauseId)
  if (!answer) return { type: 'ask', pause }
  const given = answer.payload.answer as string | { choice: string; output?: unknown }
  const { choice, output } = typeof given === 'string' ? { choice: given, output: null } : given
  if (choice === 'retry') return { type: 'retry' }
  const outcome: Outcome =
    choice === 'done'
      ? { output: output ?? null }
      : { error: new StepError({ code: 'aborted', message: 'its outcome is not known' }, stepId) }
  return { type: 'end', outcome, by: answer.eventId }
}

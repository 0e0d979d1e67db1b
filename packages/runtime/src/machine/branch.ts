import { deriveId, type Pause } from '@clew/ledger'
import { StepError } from '../run/run.ts'
import type { AnswerEvent } from './record.ts'
import { sha256 } from './run-appender.ts'
import type { Outcome, Step } from './step.ts'

/** What the source of a branch has, as far as the branch needs it. */
export interface BranchSource {
  /** Recorded result of an effect with this name and input. */
  find(
    step: Pick<Step, 'stepId' | 'digest'> & { readonly spec: { readonly name: string } },
  ): Outcome | undefined
  /** Effects of this name reported the usage of a model. */
  isModel(name: string): boolean
}

/** Answers to the question whether a branch may reach outside. */
const OPTIONS = ['perform', 'abort'] as const

/**
 * R7: models and effects declared `read` go live in a branch. Every other effect is given its recorded result, if name and
 * input are those of the source; else a person is asked.
 */
export function outcomeInBranch(branch: BranchSource | undefined, step: Step): Outcome | undefined {
  return branch && reachesOutside(branch, step) ? branch.find(step) : undefined
}

/** The step has to be allowed, and was not yet. */
export function mustBeAllowed(
  branch: BranchSource | undefined,
  step: Step,
  answers: ReadonlyMap<string, AnswerEvent>,
  runId: string,
): boolean {
  if (!branch || !reachesOutside(branch, step) || branch.find(step)) return false
  // Somebody was asked about this very input already: its answer is found by the digest of the question.
  if (step.spec.work.kind === 'effect' && step.spec.work.isApproved === true) return false
  for (let attempt = 1; attempt < step.attempt; attempt++)
    if (answerFor(step, answers, runId, attempt)?.payload.answer === 'perform') return false
  return true
}

function reachesOutside(branch: BranchSource, { spec }: Step): boolean {
  const { work, name, input } = spec
  if (work.kind !== 'effect' || work.declared === 'read') return false
  return !branch.isModel(name) && !isModelRequest(input)
}

const ASKED = ['messages', 'input', 'prompt', 'contents'] as const

/** A request in the form of the providers: a model, and what it is asked. */
export function isModelRequest(input: unknown): boolean {
  if (typeof input !== 'object' || input === null) return false
  if ('model' in input && typeof input.model === 'string' && ASKED.some((key) => key in input)) return true
  return 'body' in input && isModelRequest(input.body)
}

/** Also names the input, so that an answer counts for this one alone. */
const pauseIdOf = (runId: string, { stepId, digest }: Step, attempt: number): string =>
  deriveId(sha256, runId, 'branch', stepId, attempt, digest)

const answerFor = (
  step: Step,
  answers: ReadonlyMap<string, AnswerEvent>,
  runId: string,
  attempt = step.attempt,
): AnswerEvent | undefined => answers.get(pauseIdOf(runId, step, attempt))

export function branchPause(step: Step, runId: string): Pause {
  const { stepId, attempt, spec } = step
  const { work, name } = spec
  const question = {
    question: `This branch would do ${name} for real. Answer "perform" to do it, or "abort" to fail the step.`,
    effect: name,
    ...(work.kind === 'effect' && { safety: work.declared ?? 'undeclared' }),
    input: spec.input,
    stepId,
    attempt,
    options: OPTIONS,
  }
  return { pauseId: pauseIdOf(runId, step, attempt), stepId, question }
}

/** How a held step goes on when its run is resumed. */
export function recoverHeld(
  step: Step,
  answers: ReadonlyMap<string, AnswerEvent>,
  runId: string,
):
  | { readonly type: 'ask'; readonly pause: Pause }
  | { readonly type: 'start again' }
  | { readonly type: 'end'; readonly outcome: Outcome; readonly by: string } {
  const answer = answerFor(step, answers, runId)
  if (!answer) return { type: 'ask', pause: branchPause(step, runId) }
  if (answer.payload.answer === 'perform') return { type: 'start again' }
  const error = new StepError(
    { code: 'aborted', message: 'it was not performed: the branch may not do it' },
    step.stepId,
  )
  return { type: 'end', outcome: { error }, by: answer.eventId }
}

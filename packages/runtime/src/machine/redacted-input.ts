import { deriveId, findPlaceholderPlaces, type Pause, type PlaceholderPlace } from '@clew/ledger'
import { StepError } from '../run/run.ts'
import { sha256 } from './run-appender.ts'
import type { Step } from './step.ts'
import type { AnswerEvent } from './record.ts'

/** Answers to the question whether a write is performed with a placeholder in its input. */
const OPTIONS = ['secrets', 'perform', 'abort'] as const

type Answers = ReadonlyMap<string, AnswerEvent>

/** The first placeholder in what an effect would be performed with. */
export const placeholderInInput = ({ spec: { work, input } }: Step): PlaceholderPlace | undefined =>
  work.kind === 'effect' ? findPlaceholderPlaces(work.worksWith ?? input)[0] : undefined

/** Also names the input, so that an answer counts for this one alone. */
const pauseIdOf = (runId: string, { stepId, digest }: Step, attempt: number): string =>
  deriveId(sha256, runId, 'redacted input', stepId, attempt, digest)

/** R10: a write with a placeholder in its input waits for an answer: it could destroy its target. */
export function redactedInputPause(step: Step, runId: string, { path, kind }: PlaceholderPlace): Pause {
  const { stepId, attempt, spec } = step
  const question = {
    question: `The input of ${spec.name} has the placeholder of a redacted secret (${kind}) at ${path}. Resume with the secret in { secrets } to perform it with the original, answer "perform" to perform it with the placeholder, or "abort" to fail the step.`,
    redactedInput: path,
    kind,
    stepId,
    attempt,
    options: OPTIONS,
  }
  return { pauseId: pauseIdOf(runId, step, attempt), stepId, question }
}

/** Answer to the question of an attempt; a fork may have been answered in its source, or since then. */
export function redactedInputAnswer(
  step: Step,
  answers: Answers,
  owners: readonly string[],
  attempt = step.attempt,
): AnswerEvent | undefined {
  for (const owner of owners) {
    const answer = answers.get(pauseIdOf(owner, step, attempt))
    if (answer) return answer
  }
  return undefined
}

/** Somebody said for an earlier attempt with this input that it may be performed with the placeholder. */
export function mayUsePlaceholder(step: Step, answers: Answers, runId: string): boolean {
  for (let attempt = 1; attempt < step.attempt; attempt++)
    if (redactedInputAnswer(step, answers, [runId], attempt)?.payload.answer === 'perform') return true
  return false
}

/** Answers that go with secrets: questions that ask for them are answered with `secrets`. */
export const answersWithSecrets = (pauses: readonly Pause[]): Record<string, unknown> =>
  Object.fromEntries(
    pauses.flatMap(({ pauseId, question }) =>
      typeof question === 'object' && question !== null && 'redactedInput' in question
        ? [[pauseId, 'secrets' satisfies (typeof OPTIONS)[number]]]
        : [],
    ),
  )

export const abortedInput = (stepId: string): StepError =>
  new StepError({ code: 'aborted', message: 'it was not performed: its input has a redacted secret' }, stepId)

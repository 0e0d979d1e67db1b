import { ClewError, type ClewEvent, isOwn, kindOfStep } from '@clew/ledger'
import type { EventDraft, RunAppender } from '../machine/run-appender.ts'
import {
  attemptOf,
  isFinal,
  isStepEvent,
  pauseIdIn,
  type QuestionEvent,
  type StepEvent,
  stepIdOf,
} from '../machine/record.ts'
import { checkAnswer } from '../pause/answers.ts'
import { answerDraft } from '../pause/settle-pauses.ts'

/** One recorded value that a fork has otherwise: it parts from its source where the code was given that value. */
export type Replacement =
  /** The result of a step: its id, or a name, which means its first step. */
  | { readonly step: string; readonly output: unknown }
  /** The answer to a question. */
  | { readonly step: string; readonly answer: unknown }
  | { readonly pauseId: string; readonly answer: unknown }
  /** What a step is performed with, in place of what the code asks for: the request of a model (D4), or any other input. */
  | { readonly step: string; readonly input: unknown }

/** Where the fork parts, and what it records there. */
export interface ResolvedReplacement {
  /** Events that source and fork share. */
  readonly seq: number
  /** For `system.workflow_forked`. */
  readonly replaced: {
    readonly what: 'result' | 'answer' | 'request'
    readonly stepId: string
    readonly pauseId?: string
    readonly input?: unknown
  }
  readonly drafts: (journal: RunAppender, forked: EventDraft) => readonly EventDraft[]
}

/** `events` are those of the whole source. */
export function resolveReplacement(
  runId: string,
  events: readonly ClewEvent[],
  replacement: Replacement,
): ResolvedReplacement {
  if ('answer' in replacement) return resolveAnswer(runId, events, replacement)
  const { step } = replacement
  const first = events.filter(isStart).find((event) => isOf(event, step))
  if (!first) throw nothingThere(runId, `step ${step}`, 'See `clew steps` for those it has.')
  const stepId = stepIdOf(first)
  if ('input' in replacement) {
    const { input } = replacement
    return { seq: first.ledger.seq - 1, replaced: { what: 'request', stepId, input }, drafts: () => [] }
  }
  if ('node' === kindOfStep(first.payload) || 'gate' === kindOfStep(first.payload))
    throw new ClewError(
      'bad_option',
      `${step} is a node of the graph: its result is merged into the state`,
      'Fork with { at: { superstep }, update, asNode } to replace what it wrote; nothing was written.',
      { runId, step },
    )
  const end = events.filter(isStepEvent).findLast((event) => stepIdOf(event) === stepId && isFinal(event))
  if (!end)
    throw nothingThere(
      runId,
      `result of step ${stepId}`,
      'The step has not ended: there is nothing to replace.',
    )
  const attempt = attemptOf(end)
  return {
    seq: end.ledger.seq - 1,
    replaced: { what: 'result', stepId },
    drafts: (journal, forked) => [
      journal.draft('execution.step_completed', [stepId, attempt], forked.eventId, {
        stepId,
        attempt,
        output: replacement.output ?? null,
      }),
    ],
  }
}

function resolveAnswer(
  runId: string,
  events: readonly ClewEvent[],
  replacement: Extract<Replacement, { answer: unknown }>,
): ResolvedReplacement {
  const what = 'step' in replacement ? `question of step ${replacement.step}` : `pause ${replacement.pauseId}`
  const question = events
    .filter((event) => isOwn(event, 'ui.input_requested'))
    .find((event) =>
      'step' in replacement
        ? isOf(event, replacement.step) || isOf(startOf(events, event), replacement.step)
        : event.payload.pauseId === replacement.pauseId,
    )
  if (!question) throw nothingThere(runId, what, 'See `clew events` for what was asked.')
  const { childRunId } = question.payload
  const [pauseId, stepId] = [pauseIdIn(question), question.payload.stepId ?? '']
  if (typeof childRunId === 'string')
    throw new ClewError(
      'bad_option',
      `The question was asked by the child run ${childRunId}, and a fork has child runs of its own`,
      'Fork the child run, or replace the result of the step that began it; nothing was written.',
      { runId, childRunId, pauseId },
    )
  const answered = events.find((event) => isOwn(event, 'ui.input_received') && pauseIdIn(event) === pauseId)
  if (!answered)
    throw nothingThere(
      runId,
      `answer to pause ${pauseId}`,
      'The question is open: resume the run with an answer.',
    )
  const { answer } = replacement
  checkAnswer(pauseId, question.payload, answer)
  return {
    seq: answered.ledger.seq - 1,
    replaced: { what: 'answer', stepId, pauseId },
    drafts: (journal) => [answerDraft(journal, question, { answer })],
  }
}

const isOf = (event: ClewEvent | undefined, step: string): boolean =>
  event !== undefined && (event.payload['stepId'] === step || event.payload['name'] === step)

const isStart = (event: ClewEvent): event is StepEvent => isOwn(event, 'execution.step_started')

const startOf = (events: readonly ClewEvent[], { payload }: QuestionEvent): StepEvent | undefined =>
  events.filter(isStart).find((event) => stepIdOf(event) === payload.stepId)

const nothingThere = (runId: string, what: string, hint: string): ClewError =>
  new ClewError('not_found', `Run ${runId} has no ${what}`, `${hint} Nothing was written.`, { runId })

/** A replacement says itself where the fork parts, and nothing else differs. */
export function assertAlone(runId: string, others: Readonly<Record<string, unknown>>): void {
  const also = Object.keys(others).filter((name) => others[name] !== undefined)
  if (also.length > 0)
    throw new ClewError(
      'bad_option',
      `A fork that replaces a value cannot have ${also.join(', ')} as well`,
      'Fork with one of them, and fork that run again with the other; nothing was written.',
      { runId, option: also[0] },
    )
}

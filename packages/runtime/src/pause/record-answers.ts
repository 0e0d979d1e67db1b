import { ClewError, isOwn, isTerminal, type Ledger, type RunSummary } from '@clew/ledger'
import { assertInTime, checkAnswer, pickPause } from './answers.ts'
import type { ResumeOptions } from '../run/run-options.ts'
import { answerDraft, assertSameAnswer, notOpen } from './settle-pauses.ts'
import { openRunAppender } from '../machine/run-appender.ts'
import { type AnswerEvent, pauseIdIn, type QuestionEvent } from '../machine/record.ts'

export type AnswerOptions = Pick<ResumeOptions, 'answer' | 'answers' | 'pauseId' | 'by'>

/** Others write to a run that waits only now and then: who loses this often is not alone by chance. */
const MAX_TRIES = 8

/**
 * Answers open questions of a run without going on with it: whoever has its agent takes it up then. Needs no lease; of two
 * answers to one question the first counts, and the second is refused (R6).
 */
export async function recordAnswers(
  ledger: Ledger,
  runId: string,
  options: AnswerOptions,
): Promise<RunSummary> {
  const { draft } = openRunAppender({ ledger, runId, epoch: 0, onStale: () => {} })
  for (let tries = 1; ; tries++) {
    const run = await readWaiting(ledger, runId)
    const given = new Map<string, unknown>(Object.entries(options.answers ?? {}))
    if (options.answer !== undefined)
      given.set(options.pauseId ?? pickPause(run, undefined).pauseId, options.answer)
    const { questions, answered } = await readPauses(ledger, runId)
    const drafts = [...given].flatMap(([pauseId, answer]) => {
      const question = questions.get(pauseId)
      if (!question) throw notOpen(runId, pauseId)
      checkAnswer(pauseId, question.payload, answer)
      if (run.pauses.some((pause) => pause.pauseId === pauseId)) {
        assertInTime(question, pauseId)
        return [answerDraft({ draft }, question, { answer, by: options.by })]
      }
      // The same answer again is free.
      assertSameAnswer({ runId, ledger }, question, answered.get(pauseId), answer)
      return []
    })
    try {
      // Appends only if the run is unchanged since it was read; otherwise reads and checks again.
      await ledger.append(drafts, { keepStepIds: true, expectedSeq: (run.forkedFrom?.seq ?? 0) + run.events })
      return (await ledger.getRun(runId)) ?? run
    } catch (error) {
      if (!(error instanceof ClewError) || error.code !== 'wrong_seq' || tries === MAX_TRIES) throw error
    }
  }
}

async function readWaiting(ledger: Ledger, runId: string): Promise<RunSummary> {
  const run = await ledger.getRun(runId)
  if (!run)
    throw new ClewError('not_found', `There is no run ${runId}`, 'See `clew runs` for those there are.', {
      runId,
    })
  if (isTerminal(run.status))
    throw new ClewError(
      'not_resumable',
      `Run ${runId} is ${run.status} and has no open question`,
      'Fork it to go on from one of its steps. Nothing was changed.',
      { runId, status: run.status },
    )
  return run
}

async function readPauses(
  ledger: Ledger,
  runId: string,
): Promise<{ questions: Map<string, QuestionEvent>; answered: Map<string, AnswerEvent> }> {
  const questions = new Map<string, QuestionEvent>()
  const answered = new Map<string, AnswerEvent>()
  for await (const event of ledger.read(runId, { types: ['ui.input_requested', 'ui.input_received'] })) {
    if (isOwn(event, 'ui.input_requested')) questions.set(pauseIdIn(event), event)
    else if (isOwn(event, 'ui.input_received')) answered.set(pauseIdIn(event), event)
  }
  return { questions, answered }
}

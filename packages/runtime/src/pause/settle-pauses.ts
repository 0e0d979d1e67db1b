import {
  ClewError,
  type ClewEvent,
  fitsRecorded,
  isOwn,
  type JsonValue,
  type Pause,
  type RunSummary,
} from '@clew/ledger'
import { assertInTime, checkAnswer, pickPause } from './answers.ts'
import type { EventDraft, RunAppender } from '../machine/run-appender.ts'
import type { ResumeOptions } from '../run/run-options.ts'
import { type AnswerEvent, pauseIdIn, type QuestionEvent } from '../machine/record.ts'

export interface Settled {
  readonly drafts: readonly EventDraft[]
  /** The answers as they were given, by pause. */
  readonly given: ReadonlyMap<string, unknown>
}

/** The answers that this resume brings, as events; refused before any write (R6). `areInTime`: its parent has them on record. */
export async function settlePauses(
  run: RunSummary,
  events: readonly ClewEvent[],
  options: ResumeOptions,
  journal: RunAppender,
  { areInTime = false }: { readonly areInTime?: boolean | undefined } = {},
): Promise<Settled> {
  const { runId, pauses } = run
  const { by } = options
  const questions = byPause(events.filter((event) => isOwn(event, 'ui.input_requested')))
  const answered = byPause(events.filter((event) => isOwn(event, 'ui.input_received')))
  const given = new Map<string, unknown>(Object.entries(options.answers ?? {}))
  if (options.answer !== undefined) given.set(pauseFor(run, events, options.pauseId), options.answer)
  const drafts: EventDraft[] = []
  for (const [pauseId, answer] of given) {
    const question = questions.get(pauseId)
    if (!question) throw notOpen(runId, pauseId)
    checkAnswer(pauseId, question.payload, answer)
    if (pauses.some((pause) => pause.pauseId === pauseId)) {
      if (!areInTime) assertInTime(question, pauseId)
      drafts.push(answerDraft(journal, question, { answer, by }))
    } else assertSameAnswer(journal, question, answered.get(pauseId), answer)
  }
  const left = pauses.filter(({ pauseId }) => !given.has(pauseId))
  for (const { pauseId } of left) {
    const question = questions.get(pauseId)
    const settled = question && ((await answerOfChild(journal, question)) ?? lateAnswer(question))
    if (question && settled) drafts.push(answerDraft(journal, question, settled))
  }
  const waitsForNoAnswer = pauses.length === 0 && (run.awaits ?? run.held) !== undefined
  if (run.status === 'paused' && drafts.length === 0 && !isDue(run) && !waitsForNoAnswer) {
    if (!isGatePause(pauses)) throw unanswered(runId, left[0]?.pauseId)
    for (const { pauseId } of left) {
      const question = questions.get(pauseId)
      if (question) drafts.push(answerDraft(journal, question, { answer: null, by }))
    }
  }
  return { drafts, given }
}

const byPause = <E extends QuestionEvent | AnswerEvent>(events: readonly E[]): Map<string, E> =>
  new Map(events.map((event) => [pauseIdIn(event), event]))

/** The pause that is named, the only open one, or the one that was answered since the run came to rest. */
function pauseFor(run: RunSummary, events: readonly ClewEvent[], pauseId: string | undefined): string {
  if (pauseId !== undefined) return pauseId
  if (run.pauses.length > 0) return pickPause(run, undefined).pauseId
  const restedAt = events.findLastIndex(({ eventType }) => eventType === 'system.workflow_paused')
  const since = events.slice(restedAt + 1).filter((event) => isOwn(event, 'ui.input_received'))
  const [only] = since
  return restedAt >= 0 && only && since.length === 1 ? pauseIdIn(only) : pickPause(run, undefined).pauseId
}

/** The same answer again is free, another one is a conflict. */
export function assertSameAnswer(
  { runId, ledger }: Pick<RunAppender, 'runId' | 'ledger'>,
  question: QuestionEvent,
  recorded: AnswerEvent | undefined,
  answer: unknown,
): void {
  const pauseId = pauseIdIn(question)
  if (!recorded) throw notOpen(runId, pauseId)
  const was = recorded.payload.answer ?? null
  if (ledger.digest(was) === ledger.digest(answer ?? null)) return
  const { value } = ledger.redactor.value((answer ?? null) as JsonValue)
  if (!fitsRecorded(was, value, { bySecret: true })) throw otherAnswer(runId, pauseId)
}

/** A child that was answered itself has its answer there. */
async function answerOfChild(
  { ledger }: RunAppender,
  question: QuestionEvent,
): Promise<AnswerFields | undefined> {
  const { childRunId } = question.payload
  const pauseId = pauseIdIn(question)
  if (typeof childRunId !== 'string') return undefined
  for await (const event of ledger.read(childRunId, { types: ['ui.input_received'], restored: true }))
    if (isOwn(event, 'ui.input_received') && pauseIdIn(event) === pauseId) {
      const { answer, by, denied } = event.payload
      return {
        ...(answer !== undefined && { answer }),
        ...(by !== undefined && { by }),
        ...(denied === true && { denied }),
      }
    }
  return undefined
}

/** Answer of a pause whose time is over: its default, or no. */
export function lateAnswer({ payload }: ClewEvent): AnswerFields | undefined {
  const { dueAt, default: otherwise } = payload
  if (typeof dueAt !== 'string' || Date.parse(dueAt) > Date.now()) return undefined
  return { by: 'timeout', ...(otherwise === undefined ? { denied: true } : { answer: otherwise }) }
}

/** True if a paused run has work to do: its sleep is over, or one of several questions was answered. */
export const isDue = ({ dueAt }: Pick<RunSummary, 'dueAt'>): boolean =>
  dueAt !== null && Date.parse(dueAt) <= Date.now()

/** `interruptBefore` and `interruptAfter` ask for nothing but to go on. */
const isGatePause = (pauses: readonly Pause[]): boolean =>
  pauses.length > 0 &&
  pauses.every(({ question }) => typeof question === 'object' && question !== null && 'interrupt' in question)

export interface AnswerFields {
  readonly answer?: unknown
  readonly by?: string | undefined
  readonly denied?: boolean
}

export function answerDraft(
  journal: Pick<RunAppender, 'draft'>,
  question: QuestionEvent,
  fields: AnswerFields,
): EventDraft {
  const { stepId, attempt } = question.payload
  const pauseId = pauseIdIn(question)
  const event = journal.draft('ui.input_received', [pauseId], question.eventId, {
    pauseId,
    ...(stepId !== undefined && { stepId }),
    ...(attempt !== undefined && { attempt }),
    ...fields,
  })
  return { ...event, source: { origin: 'ui', runtime: 'clew' } }
}

export const notOpen = (runId: string, pauseId: string): ClewError =>
  new ClewError(
    'not_resumable',
    `The pause ${pauseId} of run ${runId} is not open`,
    'It was answered, or ended with the step that asked; see `clew show` for open questions. Nothing was changed.',
    { runId, pauseId },
  )

const otherAnswer = (runId: string, pauseId: string): ClewError =>
  new ClewError(
    'conflict',
    `Pause ${pauseId} of run ${runId} already has a different answer`,
    'Resume the run to go on with the answer it has, or fork it before the question. Nothing was changed.',
    { runId, pauseId },
  )

const unanswered = (runId: string, pauseId: string | undefined): ClewError =>
  new ClewError(
    'not_resumable',
    `Run ${runId} waits for an answer`,
    `Resume it with an answer to pause ${pauseId ?? ''}; nothing was changed.`,
    { runId, pauseId },
  )

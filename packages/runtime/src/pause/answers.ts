import { isObject, schemaFault } from '../options/schema-fault.ts'
import {
  ClewError,
  type ClewEvent,
  type Ledger,
  type Pause,
  type Payload,
  type RunSummary,
} from '@clew/ledger'

/** The pause an answer is for: the one that is named, or the only one. */
export function pickPause(run: RunSummary, pauseId: string | undefined): Pause {
  const { runId, pauses } = run
  const refuse = (message: string, hint: string): never => {
    throw new ClewError('not_resumable', message, `${hint} Nothing was changed.`, { runId, pauseId })
  }
  if (pauses.length === 0) refuse(`Run ${runId} has no open question`, 'Resume it without an answer.')
  if (pauseId === undefined && pauses.length > 1)
    refuse(
      `Run ${runId} has ${pauses.length} open questions`,
      `Say which one is answered with pauseId: ${pauses.map((pause) => pause.pauseId).join(', ')}.`,
    )
  const found = pauseId === undefined ? pauses[0] : pauses.find((pause) => pause.pauseId === pauseId)
  return (
    found ??
    refuse(
      `The pause ${pauseId} of run ${runId} is not open`,
      `Open are ${pauses.map((pause) => pause.pauseId).join(', ')}.`,
    )
  )
}

/**
 * Refuses an answer whose time is over, when it is given: then only the default counts. One that was recorded in time
 * counts whenever it is read.
 */
export function assertInTime({ correlationId: runId, payload }: ClewEvent, pauseId: string): void {
  const { dueAt } = payload
  if (typeof dueAt !== 'string' || Date.parse(dueAt) > Date.now()) return
  throw new ClewError(
    'too_late',
    `The time for an answer to pause ${pauseId} of run ${runId} was over at ${dueAt}`,
    'Resume the run without an answer: its default counts. Nothing was changed.',
    { runId, pauseId, dueAt },
  )
}

/** Refuses an answer that is none of the options, or not of the shape that was asked for. */
export function checkAnswer(pauseId: string, { options, schema, question }: Payload, answer: unknown): void {
  const isOutcome = typeof question === 'object' && question !== null && 'unknown' in question
  const choice: unknown = isOutcome && isObject(answer) ? answer['choice'] : answer
  if (Array.isArray(options) && !options.some((option) => JSON.stringify(option) === JSON.stringify(choice)))
    throw wrong(pauseId, `it is none of ${options.map((option) => JSON.stringify(option)).join(', ')}`)
  const fault = isObject(schema) ? schemaFault(schema, answer, 'answer') : undefined
  if (fault !== undefined) throw wrong(pauseId, fault)
}

/** Until when questions of a run can be answered, by pause. */
export async function readDueTimes(ledger: Ledger, runId: string): Promise<Map<string, string>> {
  const times = new Map<string, string>()
  for await (const { payload } of ledger.read(runId, { types: ['ui.input_requested'] })) {
    const { pauseId, dueAt } = payload
    if (typeof pauseId === 'string' && typeof dueAt === 'string') times.set(pauseId, dueAt)
  }
  return times
}

const wrong = (pauseId: string, why: string): ClewError =>
  new ClewError(
    'bad_answer',
    `The answer to pause ${pauseId} does not fit: ${why}`,
    'Answer again; the pause is still open and nothing was changed.',
    { pauseId },
  )

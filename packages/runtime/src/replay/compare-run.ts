import type { ClewEvent } from '@clew/ledger'
import type { Outcome } from '../machine/step.ts'
import type { RecordedCall } from '../machine/record.ts'
import { reasonOf, type ReplayState, RUN } from './replay-state.ts'

export const saidIn = ({ payload: { error, output = null } }: ClewEvent): unknown =>
  error === undefined ? output : { error }

/** The code has come to its end: with what, and with what left over. */
export function compareRun(state: ReplayState, outcome: Outcome): void {
  const missed = firstUnmade(state)
  const { end } = state.record
  // The error says more than the missing calls.
  if (end && !(missed && 'output' in outcome)) compareEnd(state, outcome, end)
  if (missed) state.part({ step: undefined, expected: missed })
}

function compareEnd(state: ReplayState, outcome: Outcome, end: ClewEvent): void {
  const { eventType, causationId, ledger } = end
  const expected = saidIn(end)
  const now = 'output' in outcome ? outcome.output : { error: outcome.error.toJSON() }
  // A graph's output is its state, which was compared with its supersteps.
  const isGraphEnd = eventType === 'system.workflow_completed' && 'output' in outcome
  const { comparison } = state.options
  const isSame =
    isGraphEnd ||
    isUnstorableEnd(state, outcome, end) ||
    comparison.compare(expected, now, { part: 'output', step: null }) !== 'different'
  const place = { ...RUN, seq: ledger.seq }
  if (!isSame) return state.diverge('output', place, expected, now)
  const { cause } = state.core
  if (!state.strict().isWoken || causationId === null || causationId === cause) return
  if (isKnownCause(state, causationId))
    state.diverge('order', place, reasonOf(state, causationId), reasonOf(state, cause))
}

/** True if the recorded run failed because its output could not be stored. */
function isUnstorableEnd({ options }: ReplayState, outcome: Outcome, end: ClewEvent): boolean {
  if (!('output' in outcome) || end.eventType !== 'system.workflow_failed') return false
  try {
    options.ledger.digest(outcome.output)
    return false
  } catch {
    return true
  }
}

/** In a graph that was taken up, the run's beginning stands for whatever had woken it. */
const isKnownCause = ({ record, options }: ReplayState, eventId: string): boolean =>
  (eventId === record.started.eventId && !options.isGraph) || record.isOwnEnd(eventId)

function firstUnmade(state: ReplayState): RecordedCall | undefined {
  if (!state.options.isGraph) return state.strict().nextIn('', 1)
  const scope = state.record.scopeOf('', 1)
  return scope?.calls.find((each) => !each.step && !each.isShared && !isLeft(each))
}

/** A step that was stopped because the code did not call it. */
const isLeft = ({ attempts }: RecordedCall): boolean =>
  attempts.at(-1)?.end?.payload.reason === 'not asked for'

import type { ClewEvent } from '@clew/ledger'
import type { Outcome } from '../machine/step.ts'
import type { RecordedCall } from './recorded-run.ts'
import { reasonOf, type ReplayCore } from './replay-core.ts'

/** Where a divergence of the run itself is found. */
export const RUN = { step: null, stepId: null } as const

export const saidIn = ({ payload }: ClewEvent): unknown =>
  payload['error'] === undefined ? (payload['output'] ?? null) : { error: payload['error'] }

/** The code has come to its end: with what, and with what left over. */
export function judgeRun(core: ReplayCore, outcome: Outcome): void {
  core.statements.end()
  if (core.isLenient) return
  const missed = firstUnmade(core)
  const { end } = core.record
  // What it failed with says more than what it did not come to.
  if (end && !(missed && 'output' in outcome)) compareEnd(core, outcome, end)
  if (missed) core.part({ step: undefined, expected: missed, found: undefined })
}

function compareEnd(core: ReplayCore, outcome: Outcome, end: ClewEvent): void {
  const { eventType, causationId, ledger } = end
  const expected = saidIn(end)
  const now = 'output' in outcome ? outcome.output : { error: outcome.error.toJSON() }
  // A graph's output is its state, which its supersteps told.
  const isGraphEnd = eventType === 'system.workflow_completed' && 'output' in outcome
  const { comparison } = core.options
  const isSame =
    isGraphEnd ||
    isUnstorableEnd(core, outcome, end) ||
    comparison.compare(expected, now, { part: 'output', step: null }) !== 'different'
  const place = { ...RUN, seq: ledger.seq }
  if (!isSame) return core.diverge('output', place, expected, now)
  if (!core.isWoken || causationId === null || causationId === core.cause) return
  if (isKnownCause(core, causationId))
    core.diverge('order', place, reasonOf(core, causationId), reasonOf(core, core.cause))
}

/** What the run gave could not be stored. */
function isUnstorableEnd({ options }: ReplayCore, outcome: Outcome, end: ClewEvent): boolean {
  if (!('output' in outcome) || end.eventType !== 'system.workflow_failed') return false
  try {
    options.ledger.digest(outcome.output)
    return false
  } catch {
    return true
  }
}

/** In a graph that was taken up, the run's beginning stands for whatever had woken it. */
const isKnownCause = ({ record, options }: ReplayCore, eventId: string): boolean =>
  (eventId === record.started.eventId && !options.isGraph) ||
  (!record.isShared(eventId) && record.seqs.has(eventId))

function firstUnmade(core: ReplayCore): RecordedCall | undefined {
  const scope = core.scopeOf(core.root)
  if (!core.options.isGraph) return core.nextIn(scope)
  return scope?.calls.find((each) => !each.step && !each.isShared && !isLeft(each))
}

/** A step that was stopped because nobody asked for it. */
const isLeft = ({ attempts }: RecordedCall): boolean =>
  attempts.at(-1)?.end?.payload['reason'] === 'not asked for'

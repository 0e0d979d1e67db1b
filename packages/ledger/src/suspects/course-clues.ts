import { textOf } from '../fold/fields.ts'
import type { Case } from './case.ts'
import type { Clue } from './suspicion.ts'
import { isTelling, scalarsOf } from './scalars.ts'
import { isStop, namesIn } from './value-clues.ts'

const DAY_MS = 86_400_000
const MIN_STORM = 3

/** What happened to the run, not what it was given: failures, stops, questions nobody answered, lives that ended. */
export function courseClues(found: Case): Clue[] {
  return [
    ...failureClues(found),
    ...stopClues(found),
    ...unansweredClues(found),
    ...interruptedClues(found),
    ...choiceClues(found),
  ]
}

/** The step that failed; tried many times in vain, its first failure. Own code fails of what it was given, mostly. */
function failureClues({ failed, events, run, end, isBad }: Case): Clue[] {
  if (!isBad) return []
  if (!failed) {
    if (run.status !== 'failed' || !end) return []
    return [{ event: end.event, kind: 'failed', weight: 0.36, why: 'the code of the run itself threw' }]
  }
  const failures = events.filter(
    ({ eventType, payload }) => eventType === 'execution.step_failed' && payload['stepId'] === failed.stepId,
  )
  const [first] = failures
  if (!first) return []
  const isStorm = failures.length >= MIN_STORM
  const isOutside = failed.kind !== 'step'
  return [
    {
      event: first,
      kind: isStorm ? 'retries' : 'failed',
      weight: isStorm ? 0.85 : isOutside ? 0.5 : 0.36,
      why: isStorm
        ? `${failed.stepId} failed ${failures.length} times from here on`
        : `${failed.stepId} failed here first`,
    },
  ]
}

function stopClues({ events, run }: Case): Clue[] {
  if (run.status !== 'stopped') return []
  const event = events.find(isStop)
  if (!event) return []
  const { reason, by } = event.payload
  const why = [typeof by === 'string' ? `by ${by}` : '', typeof reason === 'string' ? `: ${reason}` : '']
  return [{ event, kind: 'stopped', weight: 0.8, why: `it was stopped here ${why.join('')}`.slice(0, 200) }]
}

/** A question is forgotten when its time is over, or when it has been open for a day. */
function unansweredClues({ events, run, nowMs }: Case): Clue[] {
  if (run.status !== 'paused' && run.status !== 'pending') return []
  const answered = new Set(
    events
      .filter(({ eventType }) => eventType === 'ui.input_received')
      .map(({ payload }) => payload['pauseId']),
  )
  const asked = events.find(
    ({ eventType, payload, eventId }) =>
      eventType === 'ui.input_requested' && !answered.has(payload['pauseId'] ?? eventId),
  )
  if (!asked) return []
  const { dueAt } = asked.payload
  const openMs = nowMs - Date.parse(asked.timestamp)
  const isOver = typeof dueAt === 'string' && Date.parse(dueAt) < nowMs
  if (!isOver && openMs < DAY_MS) return []
  const hours = Math.round(openMs / 3_600_000)
  return [
    {
      event: asked,
      kind: 'unanswered',
      weight: 1,
      why: `nobody has answered this question for ${hours} h${isOver ? ', and its time is over' : ''}`,
    },
  ]
}

/** The process that worked on the run died, or lost its lease: what was in flight has no outcome. */
function interruptedClues({ events, isBad, run }: Case): Clue[] {
  if (!isBad && run.status !== 'running') return []
  const event = events.find(
    ({ eventType }) =>
      eventType === 'system.workflow_interrupted' || eventType === 'execution.step_interrupted',
  )
  if (!event || !isBad) return []
  const { reason } = event.payload
  return [
    {
      event,
      kind: 'interrupted',
      weight: 0.6,
      why: `its owner was lost here${typeof reason === 'string' ? ` (${reason.slice(0, 100)})` : ''}, and steps in flight were done again or left`,
    },
  ]
}

/** Choices are only suspects: that another one would have been better, only another run can show. */
function choiceClues({ events, isBad, end }: Case): Clue[] {
  if (!isBad || !end) return []
  const given = new Set(scalarsOf(end.value).map(({ value }) => value))
  const named = namesIn(end.error)
  const weigh = (value: unknown): number =>
    0.3 +
    scalarsOf(value).reduce(
      (most, each) =>
        Math.max(
          most,
          named.has(String(each.value)) ? 0.35 : given.has(each.value) && isTelling(each.value) ? 0.15 : 0,
        ),
      0,
    )
  return events
    .filter(
      ({ eventType, ledger }) =>
        ledger.seq < end.event.ledger.seq &&
        (eventType === 'execution.handoff' || eventType === 'execution.decision'),
    )
    .map((event) => ({
      event,
      kind: event.eventType === 'execution.handoff' ? ('hand-off' as const) : ('decision' as const),
      weight: weigh(event.payload['to'] ?? event.payload['choice']),
      why:
        event.eventType === 'execution.handoff'
          ? `it was handed to ${textOf(event.payload['to']) ?? 'another agent'} before it went wrong`
          : `it decided ${(JSON.stringify(event.payload['choice']) ?? '').slice(0, 80)} before it went wrong`,
    }))
}

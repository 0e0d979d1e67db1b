import { ClewError, type ClewEvent, isOwn } from '@clew/ledger'
import type { ForkPoint } from '../engine/cut.ts'
import { isFinal, isStepEvent, parentOf, type StepEvent, stepIdOf } from '../machine/record.ts'
import { assertNotErased } from './not-erased.ts'

export interface ResolvedForkPoint {
  /** Number of events that source and fork share. */
  readonly seq: number
  readonly atStepId: string | null
}

/** Events appended together with the next one: a fork never separates them. Nor does it include the end of the run. */
const LED_BY_NEXT: ReadonlySet<string> = new Set([
  'execution.step_stopped',
  'execution.completed',
  'ui.input_requested',
  'system.workflow_completed',
  'system.workflow_failed',
  'system.workflow_stopped',
])

export function cutRun(
  runId: string,
  events: readonly ClewEvent[],
  at: ForkPoint | undefined,
): ResolvedForkPoint {
  const cut = findCut(runId, events, at)
  assertNotErased(runId, events, cut.seq)
  return cut
}

function findCut(runId: string, events: readonly ClewEvent[], at: ForkPoint | undefined): ResolvedForkPoint {
  if (at === undefined) return { seq: backFrom(events, events.length), atStepId: null }
  if ('seq' in at) {
    const { seq } = at
    if (!Number.isInteger(seq) || seq < 1 || seq > events.length)
      throw new ClewError(
        'bad_option',
        `Run ${runId} has no event ${seq}`,
        `Fork at a seq from 1 to ${events.length}; nothing was written.`,
        { runId, seq },
      )
    return { seq: backFrom(events, seq), atStepId: null }
  }
  if ('checkpointId' in at) {
    const end = events.find((event) => event.eventId === at.checkpointId && isEnd(event))
    if (end) return { seq: end.ledger.seq, atStepId: null }
  }
  const start = 'checkpointId' in at ? undefined : events.find((event) => isAt(event, at))
  if (start) return cutBefore(events, start)
  // Nothing came after that superstep.
  if ('superstep' in at && at.superstep >= 0) return { seq: backFrom(events, events.length), atStepId: null }
  // If an event is erased, the step may have been in it: that is another error.
  assertNotErased(runId, events)
  throw new ClewError(
    'not_found',
    `Run ${runId} has no ${nameOf(at)}`,
    'See `clew steps` for those it has; nothing was written.',
    { runId, ...at },
  )
}

/** A function's checkpoint is the end of a step. */
const isEnd = ({ eventType }: ClewEvent): boolean => eventType === 'execution.step_completed'

function nameOf(at: { step: string } | { superstep: number } | { checkpointId: string }): string {
  if ('step' in at) return `step ${at.step}`
  return 'superstep' in at ? `superstep ${at.superstep}` : `checkpoint ${at.checkpointId}`
}

function isAt(event: ClewEvent, at: { step: string } | { superstep: number }): event is StepEvent {
  if (!isOwn(event, 'execution.step_started')) return false
  const { stepId, name, superstep } = event.payload
  if ('step' in at) return stepId === at.step || name === at.step
  return superstep !== undefined && superstep > at.superstep
}

const cutBefore = (events: readonly ClewEvent[], start: StepEvent): ResolvedForkPoint => ({
  seq: backFrom(events, start.ledger.seq - 1),
  atStepId: stepIdOf(start),
})

/** Scores and tags may stand between those events and after them: a fork that parts from an end leaves them behind, too. */
const NOTES: ReadonlySet<string> = new Set(['system.scored', 'system.tagged'])

function backFrom(events: readonly ClewEvent[], seq: number): number {
  const typeAt = (at: number): string => events[at - 1]?.eventType ?? ''
  for (let last = seq; ; ) {
    let at = last
    while (NOTES.has(typeAt(at))) at--
    if (at <= 1 || !LED_BY_NEXT.has(typeAt(at))) return last
    last = at - 1
  }
}

/** Before the step that a run failed of: the innermost one, since what its bodies had completed is given back. */
export function cutBeforeFailure(runId: string, events: readonly ClewEvent[]): ResolvedForkPoint {
  const ends = new Map<string, ClewEvent>()
  const starts = new Map<string, StepEvent[]>()
  for (const event of events) {
    if (!isStepEvent(event)) continue
    const stepId = stepIdOf(event)
    if (event.eventType === 'execution.step_started')
      starts.set(stepId, [...(starts.get(stepId) ?? []), event])
    else if (event.eventType === 'execution.step_failed' && isFinal(event)) ends.set(stepId, event)
    else if (event.eventType === 'execution.step_completed') ends.delete(stepId)
  }
  const failed = [...ends.keys()].filter((stepId) => starts.has(stepId))
  const childOf = (parent: string | null): string | undefined =>
    failed.findLast((stepId) => parentOf(starts.get(stepId)?.[0] as StepEvent) === parent)
  const cause = events.findLast(({ eventType }) => eventType === 'system.workflow_failed')?.causationId
  let found = failed.find((stepId) => ends.get(stepId)?.eventId === cause) ?? childOf(null)
  for (let inner = found; inner !== undefined; inner = childOf(inner)) found = inner
  if (found === undefined) return cutRun(runId, events, undefined)
  // The first attempt of the series that ended so: earlier ones belong to earlier attempts of the body around.
  const tries = starts.get(found) as StepEvent[]
  const first = tries.findLast((start, n) => n === 0 || !isRetry(start, events)) as StepEvent
  return cutBefore(events, first)
}

/** A start that follows from the end of the attempt before it, not from a call. */
function isRetry({ causationId, payload }: StepEvent, events: readonly ClewEvent[]): boolean {
  const cause = events.find(({ eventId }) => eventId === causationId)
  return cause !== undefined && isStepEvent(cause) && stepIdOf(cause) === payload.stepId
}

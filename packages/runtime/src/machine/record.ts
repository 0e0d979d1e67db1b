import { beginsStep, type ClewEvent } from '@clew/ledger'
import { addStatement, type StatementIndex } from './statements.ts'

/** One try of a step, as the record has it; without an end it was in flight where the record stops. */
export interface AttemptRecord {
  readonly start: ClewEvent
  readonly attempt: number
  /** The attempt of the parent within which it was made. */
  readonly parentAttempt: number
  end: ClewEvent | undefined
}

/** What the step machine needs of a run's events, gathered in one pass. */
export interface RunRecord {
  readonly started: ClewEvent
  readonly attempts: ReadonlyMap<string, readonly AttemptRecord[]>
  /** Last words of steps that the code has still to be given, in the order in which it was given them. */
  readonly wakes: readonly ClewEvent[]
  /** Last attempts of steps whose end stands without its start, which the store refused: they are not used again. */
  readonly orphans: ReadonlyMap<string, number>
  readonly clock: ReadonlyMap<string, readonly number[]>
  readonly questions: ReadonlyMap<string, ClewEvent>
  readonly answers: ReadonlyMap<string, ClewEvent>
  /** What the code said of itself (R13). */
  readonly statements: ReadonlyMap<string, readonly ClewEvent[]>
  readonly last: ClewEvent
  /** Attempts that were begun: what the numbering goes on from. */
  readonly starts: number
  /** The event by which the run was forked, when it is a fork; what lies before it belongs to its source as well. */
  readonly forked: ClewEvent | undefined
  /** Seq of the event up to which the code may differ, since somebody said so; 0 where nobody did. */
  readonly acceptedSeq: number
}

/** Readings belong to the attempt whose code took them: the next attempt looks at the clock again. */
export const clockKey = (path: string, attempt: number): string => `${attempt} ${path}`

export const stepIdOf = (event: ClewEvent): string => event.payload['stepId'] as string
export const attemptOf = (event: ClewEvent): number => (event.payload['attempt'] as number | undefined) ?? 1
export const parentOf = (event: ClewEvent): string | null =>
  (event.payload['parentStepId'] as string | null | undefined) ?? null

export const ENDS: ReadonlySet<string> = new Set([
  'execution.step_completed',
  'execution.step_failed',
  'execution.step_stopped',
  'execution.step_interrupted',
])

/** An attempt that was cut, or failed and says when it is tried again, is not the step's last word. */
const isFollowed = ({ eventType, payload }: ClewEvent): boolean =>
  eventType === 'execution.step_interrupted' || payload['retryInMs'] !== undefined

/** The step's last word, which the code gets to see: neither cut nor followed by another attempt, nor left behind. */
export const isFinal = (end: ClewEvent): boolean =>
  (end.eventType === 'execution.step_completed' || end.eventType === 'execution.step_failed') &&
  !isFollowed(end)

/** `events` are in order and begin with the run's first one; a graph leaves out what lies before its last checkpoint. */
export function indexRecord(events: readonly ClewEvent[]): RunRecord {
  const attempts = new Map<string, AttemptRecord[]>()
  const ends: ClewEvent[] = []
  const orphans = new Map<string, number>()
  const clock = new Map<string, number[]>()
  const questions = new Map<string, ClewEvent>()
  const answers = new Map<string, ClewEvent>()
  const statements: StatementIndex = new Map()
  let starts = 0
  let forked: ClewEvent | undefined
  let acceptedSeq = 0
  for (const event of events) {
    const { eventType, payload } = event
    for (const [path, ms] of (payload['clock'] ?? []) as [string, number][])
      push(clock, clockKey(path, attempts.get(path)?.at(-1)?.attempt ?? 1), ms)
    if (eventType === 'execution.step_completed' && payload['checkpoint'] !== undefined) {
      // The superstep is over: all that was done in it is in the state.
      attempts.clear()
      ends.length = 0
      starts++
      continue
    }
    const known = attempts.get(stepIdOf(event))?.find((each) => each.attempt === attemptOf(event))
    if (beginsStep(event, known !== undefined)) {
      starts++
      const parent = parentOf(event)
      const parentAttempt = parent === null ? 1 : (attempts.get(parent)?.at(-1)?.attempt ?? 1)
      push(attempts, stepIdOf(event), {
        start: event,
        attempt: attemptOf(event),
        parentAttempt,
        end: eventType === 'execution.step_started' ? undefined : event,
      })
      if (isFinal(event)) ends.push(event)
    } else if (ENDS.has(eventType)) {
      if (known) known.end = event
      else orphans.set(stepIdOf(event), attemptOf(event))
      if (known && isFinal(event)) ends.push(event)
    } else if (eventType === 'ui.input_requested') questions.set(payload['pauseId'] as string, event)
    else if (eventType === 'ui.input_received') answers.set(payload['pauseId'] as string, event)
    else if (eventType === 'system.workflow_forked') forked = event
    else if (eventType === 'system.divergence_accepted') acceptedSeq = event.ledger.seq
    else addStatement(statements, event, attempts.get(stepIdOf(event))?.at(-1)?.attempt ?? 1)
  }
  const [started, last] = [events[0] as ClewEvent, events.at(-1) as ClewEvent]
  const wakes = ends.filter((end) => !isPast(attempts, end))
  return {
    started,
    attempts,
    wakes,
    orphans,
    clock,
    questions,
    answers,
    statements,
    last,
    starts,
    forked,
    acceptedSeq,
  }
}

/**
 * R2: what lies inside a step that is given back counts as consumed, and so does what a body did in the attempts
 * before its last one: those results are found by their id when the body asks again.
 */
function isPast(attempts: ReadonlyMap<string, readonly AttemptRecord[]>, end: ClewEvent): boolean {
  let inside = attempts.get(stepIdOf(end))?.find((each) => each.attempt === attemptOf(end))
  while (inside) {
    const parentId = parentOf(inside.start)
    if (parentId === null) return false
    const parent = attempts.get(parentId)?.at(-1)
    if (!parent) return false
    if (parent.end || parent.attempt !== inside.parentAttempt) return true
    inside = parent
  }
  return false
}

function push<Key, Item>(lists: Map<Key, Item[]>, key: Key, item: Item): void {
  const list = lists.get(key)
  if (list) list.push(item)
  else lists.set(key, [item])
}

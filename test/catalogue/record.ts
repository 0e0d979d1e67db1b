import type { ClewEvent, JsonValue } from '@clew/ledger'

/** One try of a step, as the record has it; without an end it was in flight when the record stops. */
export interface Attempt {
  readonly start: ClewEvent
  end: ClewEvent | undefined
}

/** What the step machine needs of a run's events, gathered in one pass. */
export interface RunRecord {
  readonly started: ClewEvent
  readonly attempts: ReadonlyMap<string, Attempt[]>
  /** Starts that the code asked for, in the order in which it made the calls; not those of a retry. */
  readonly calls: readonly ClewEvent[]
  /** What woke the code, in recorded order: a body that began, a step that ended; and a body that is tried again. */
  readonly wakes: readonly ClewEvent[]
  readonly clock: ReadonlyMap<string, readonly { readonly ms: number; readonly seq: number }[]>
  readonly questions: ReadonlyMap<string, ClewEvent>
  readonly answers: ReadonlyMap<string, ClewEvent>
  /** What the code came to, if it came to an end. */
  readonly end: ClewEvent | undefined
  readonly last: ClewEvent
}

export async function collect(events: AsyncIterable<ClewEvent>): Promise<ClewEvent[]> {
  const all: ClewEvent[] = []
  for await (const event of events) all.push(event)
  return all
}

export const stepIdOf = (event: ClewEvent): string => event.payload['stepId'] as string
export const attemptOf = (event: ClewEvent): number => event.payload['attempt'] as number
export const hasBody = (kind: unknown): boolean => kind === 'compute' || kind === 'handoff'

const ENDS = new Set([
  'execution.step_completed',
  'execution.step_failed',
  'execution.step_stopped',
  'execution.step_interrupted',
])

/** An attempt that was cut, or failed and says when it is tried again, is not the step's last word. */
export const isFollowed = ({ eventType, payload }: ClewEvent): boolean =>
  eventType === 'execution.step_interrupted' || payload['retryInMs'] !== undefined
const isFinal = (end: ClewEvent): boolean => /_(?:completed|failed)$/.test(end.eventType) && !isFollowed(end)

export function indexRecord(events: readonly ClewEvent[]): RunRecord {
  const attempts = new Map<string, Attempt[]>()
  const calls: ClewEvent[] = []
  const wakes: ClewEvent[] = []
  const clock = new Map<string, { ms: number; seq: number }[]>()
  const questions = new Map<string, ClewEvent>()
  const answers = new Map<string, ClewEvent>()
  let end: ClewEvent | undefined
  for (const event of events) {
    const { eventType, payload } = event
    for (const [path, ms] of (payload['clock'] ?? []) as [string, number][])
      clock.set(path, [...(clock.get(path) ?? []), { ms, seq: event.ledger.seq }])
    if (eventType === 'execution.step_started') {
      const known = attempts.get(stepIdOf(event)) ?? []
      // A retry is caused by the end of the attempt before it, a call by what had woken the code.
      if (event.causationId !== known.at(-1)?.end?.eventId) calls.push(event)
      attempts.set(stepIdOf(event), [...known, { start: event, end: undefined }])
      if (hasBody(payload['kind'])) wakes.push(event)
    } else if (ENDS.has(eventType)) {
      const attempt = attempts
        .get(stepIdOf(event))
        ?.find(({ start }) => attemptOf(start) === attemptOf(event))
      if (attempt) attempt.end = event
      const retried = isFollowed(event) && hasBody(attempt?.start.payload['kind'])
      if (isFinal(event) || retried) wakes.push(event)
    } else if (eventType === 'ui.input_requested') questions.set(payload['pauseId'] as string, event)
    else if (eventType === 'ui.input_received') answers.set(payload['pauseId'] as string, event)
    else if (eventType === 'execution.completed' || eventType === 'system.workflow_failed') end = event
  }
  const [started, last] = [events[0], events.at(-1)]
  if (!started || !last) throw new Error('a record has at least one event')
  return { started, attempts, calls, wakes, clock, questions, answers, end, last }
}

/**
 * What a resume still has to go through. R2: what lies inside a step that is given back counts as consumed, and so
 * does what a body did in the attempts before its last one.
 */
export function withoutPast(record: RunRecord): RunRecord {
  const parents = new Map(
    record.calls.map((call) => [stepIdOf(call), call.payload['parentStepId'] as string | null]),
  )
  const pastOf = (stepId: string): number => {
    const last = record.attempts.get(stepId)?.at(-1)
    if (!last) return 0
    if (!last.end) return last.start.ledger.seq
    return isFinal(last.end) ? Number.POSITIVE_INFINITY : last.end.ledger.seq
  }
  const isPast = ({ ledger }: ClewEvent, within: string | null): boolean => {
    for (let at = within; at !== null; at = parents.get(at) ?? null) if (ledger.seq < pastOf(at)) return true
    return false
  }
  const parentOf = (event: ClewEvent): string | null => parents.get(stepIdOf(event)) ?? null
  return {
    ...record,
    calls: record.calls.filter((call) => !isPast(call, parentOf(call))),
    // A body begins once more only if its last attempt is open; that it was tried again wakes nobody.
    wakes: record.wakes.filter((event) => {
      const begins = event.eventType === 'execution.step_started'
      return !isFollowed(event) && !isPast(event, begins ? stepIdOf(event) : parentOf(event))
    }),
  }
}

/** How a step or a run came out, live and from the record alike. */
export type Outcome = { readonly output: JsonValue } | { readonly error: StepError }

export function outcomeOf({ payload }: ClewEvent): Outcome {
  if (payload['error'] === undefined) return { output: (payload['output'] ?? null) as JsonValue }
  const { name, code, message } = payload['error'] as Record<'name' | 'code' | 'message', string>
  return { error: new StepError(name, code, message) }
}

/** The only error the code ever sees from a step: made from what is recorded, so the same on every way. */
export class StepError extends Error {
  override readonly name: string
  readonly code: string
  constructor(name: string, code: string, message: string) {
    super(message)
    this.name = name
    this.code = code
  }
  static from(error: unknown): StepError {
    if (error instanceof StepError) return error
    return error instanceof Error
      ? new StepError(error.name, 'thrown', error.message)
      : new StepError('Error', 'thrown', String(error))
  }
  toJSON(): { name: string; code: string; message: string } {
    return { name: this.name, code: this.code, message: this.message }
  }
}

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
  /** First starts in the order in which the code made the calls. */
  readonly calls: readonly ClewEvent[]
  /** What woke the code, in recorded order: a body that began, a step that ended for good. */
  readonly wakes: readonly ClewEvent[]
  readonly clock: ReadonlyMap<string, number[]>
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
  const clock = new Map<string, number[]>()
  const questions = new Map<string, ClewEvent>()
  const answers = new Map<string, ClewEvent>()
  let end: ClewEvent | undefined
  for (const event of events) {
    const { eventType, payload } = event
    for (const [path, ms] of (payload['clock'] ?? []) as [string, number][])
      clock.set(path, [...(clock.get(path) ?? []), ms])
    if (eventType === 'execution.step_started') {
      const known = attempts.get(stepIdOf(event))
      if (known) known.push({ start: event, end: undefined })
      else {
        attempts.set(stepIdOf(event), [{ start: event, end: undefined }])
        calls.push(event)
      }
      if (hasBody(payload['kind'])) wakes.push(event)
    } else if (ENDS.has(eventType)) {
      const attempt = attempts
        .get(stepIdOf(event))
        ?.find(({ start }) => attemptOf(start) === attemptOf(event))
      if (attempt) attempt.end = event
      if (isFinal(event)) wakes.push(event)
    } else if (eventType === 'ui.input_requested') questions.set(payload['pauseId'] as string, event)
    else if (eventType === 'ui.input_received') answers.set(payload['pauseId'] as string, event)
    else if (eventType === 'execution.completed' || eventType === 'system.workflow_failed') end = event
  }
  const [started, last] = [events[0], events.at(-1)]
  if (!started || !last) throw new Error('a record has at least one event')
  return { started, attempts, calls, wakes, clock, questions, answers, end, last }
}

/** R2: what lies inside a step that is given back counts as consumed. */
export function withoutGivenBack(record: RunRecord): RunRecord {
  const given = (stepId: string): boolean =>
    record.attempts.get(stepId)?.some(({ end }) => end && isFinal(end)) ?? false
  const inside = new Map<string, boolean>()
  for (const call of record.calls) {
    const parent = call.payload['parentStepId'] as string | null
    inside.set(stepIdOf(call), parent !== null && (given(parent) || (inside.get(parent) ?? false)))
  }
  const kept = (event: ClewEvent): boolean => !inside.get(stepIdOf(event))
  const wakes = record.wakes.filter(
    (event) => kept(event) && !(event.eventType === 'execution.step_started' && given(stepIdOf(event))),
  )
  return { ...record, calls: record.calls.filter(kept), wakes }
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

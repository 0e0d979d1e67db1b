import type { ClewEvent } from '../event/envelope.ts'
import { isoMs } from '../event/iso-text.ts'
import { numberOf, textOf } from './fields.ts'

interface TypedPayload {
  readonly eventType: string
  readonly payload: object
}

/**
 * Whether an event begins an attempt of a step. A start does; so does a completion with the step's `name` if nothing
 * has begun the attempt before it (`isKnown`): then it is start and end in one, as of a node that ends in the very
 * turn in which it was called.
 */
export function beginsStep({ eventType, payload }: TypedPayload, isKnown = false): boolean {
  if (eventType === 'execution.step_started') return true
  if (eventType !== 'execution.step_completed' || isKnown) return false
  const { name }: { readonly name?: unknown } = payload
  return typeof name === 'string'
}

/** Kind of the step that begins. A step that also ends a superstep is a node even if the event does not say so. */
export const kindOfStep = (payload: {
  readonly kind?: unknown
  readonly checkpoint?: unknown
}): string | null => textOf(payload.kind) ?? (payload.checkpoint === undefined ? null : 'node')

/** When the attempt began, for an event that begins one. */
export function beganMs(
  { eventType, payload, timestamp }: TypedPayload & Pick<ClewEvent, 'timestamp'>,
  at = isoMs(timestamp),
): number {
  if (eventType === 'execution.step_started') return at
  const { durationMs }: { readonly durationMs?: unknown } = payload
  return Math.round(at - numberOf(durationMs, 0))
}

/** Returns a predicate to call with each event of a run from its first on: true if it begins an attempt of a step. */
export function createBeginnings(): (event: Pick<ClewEvent, 'eventType' | 'payload'>) => boolean {
  const begun = new Set<string>()
  return (event) => {
    if (!beginsStep(event)) return false
    const { stepId, attempt } = event.payload
    const key = `${numberOf(attempt, 1)} ${textOf(stepId)}`
    const begins = beginsStep(event, begun.has(key))
    begun.add(key)
    return begins
  }
}

import type { Codecs } from '../event/codecs.ts'
import { checkInput, type EventInput } from '../event/envelope.ts'
import type { WireEnvelope } from '../event/wire.ts'
import { atItem } from './at-item.ts'

interface WireInputParts {
  readonly codecs: Codecs
  readonly newId: () => string
  readonly now: () => number
  readonly currentCause: () => string | undefined
}

/**
 * Events for another process to append, checked as `append` checks them. Nothing is left to be chosen there, so that sending
 * them again is a retry (L4).
 */
export function toWireInputs(
  events: readonly EventInput[],
  { codecs, newId, now, currentCause }: WireInputParts,
): WireEnvelope[] {
  return events.map((event, item) =>
    atItem(events.length, item, () => {
      const checked = checkInput(event)
      return {
        event_id: checked.eventId ?? newId(),
        event_type: checked.eventType,
        timestamp: checked.timestamp ?? new Date(now()).toISOString(),
        source: checked.source,
        correlation_id: checked.correlationId,
        causation_id: checked.causationId === undefined ? (currentCause() ?? null) : checked.causationId,
        payload: codecs.encode(checked.payload),
      }
    }),
  )
}

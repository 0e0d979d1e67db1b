import { SCHEMA_VERSION } from '../hash/chain.ts'
import type { ClewEvent } from './envelope.ts'
import { ClewError } from '../errors.ts'

/** Turns an event of schema version n into one of n + 1. Applied on reading; the record itself never changes. */
export type Upcast = (event: ClewEvent) => ClewEvent

/**
 * `UPCASTS[n]` leads from version n to n + 1: at least as many as `SCHEMA_VERSION` says, or older records
 * cannot be read.
 */
export const UPCASTS: readonly Upcast[] = [
  // Version 1 is version 0, no longer free to change.
  (event) => event,
]

export function upcastEvent(
  event: ClewEvent,
  upcasts: readonly Upcast[] = UPCASTS,
  current = SCHEMA_VERSION,
): ClewEvent {
  let { schemaVersion } = event.ledger
  if (schemaVersion > current)
    throw new ClewError(
      'newer_store',
      `Event ${event.ledger.seq} of run ${event.correlationId} has schema version ${schemaVersion}; this Clew knows up to ${current}`,
      'Update Clew to read it.',
      { runId: event.correlationId, seq: event.ledger.seq, schemaVersion },
    )
  let upcasted = event
  while (schemaVersion < current) upcasted = (upcasts[schemaVersion++] as Upcast)(upcasted)
  return upcasted
}

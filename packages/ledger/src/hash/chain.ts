import type { Ports } from '../ports.ts'

/**
 * Version of everything that is frozen in a record: event catalogue, step identity, hash format. 0 may still
 * change without migration; from 1 on, histories load and replay for ever.
 */
export const SCHEMA_VERSION = 1

/** Previous hash of the first event of a run. */
export const GENESIS = '0'.repeat(64)

/** Salted, so that an erased payload cannot be guessed from its hash (L6). */
export const payloadHash = (sha256: Ports['sha256'], salt: string, root: string): string =>
  sha256(salt + root)

/** The envelope, and the payload by its hash. */
export interface ChainedEvent {
  readonly eventId: string
  readonly eventType: string
  readonly timestamp: string
  readonly origin: string
  readonly runtime: string
  readonly correlationId: string
  readonly causationId: string | null
  readonly payloadHash: string
}

export interface ChainedPlace {
  readonly seq: number
  readonly recordedAt: string
  readonly schemaVersion: number
}

/**
 * The hash of an event: its place, its payload and its envelope, chained to the hash before it in its run. One
 * field per line is unambiguous, for no field of an envelope may hold a control character.
 */
export function chainHash(
  sha256: Ports['sha256'],
  previous: string,
  event: ChainedEvent,
  { seq, recordedAt, schemaVersion }: ChainedPlace,
): string {
  return sha256(
    `${previous}\n${seq}\n${recordedAt}\n${schemaVersion}\n${event.payloadHash}\n${event.eventId}\n${event.eventType}\n${event.timestamp}\n${event.origin}\n${event.runtime}\n${event.correlationId}\n${event.causationId ?? ''}`,
  )
}

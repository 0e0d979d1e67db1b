import { type ClewEvent, toWire } from '@clew/ledger'

/** An event as it stands on the wire (E1), made once for all who get it. */
export interface Line {
  readonly runId: string
  readonly seq: number
  readonly position: number
  readonly eventType: string
  readonly text: string
}

export const lineOf = (event: ClewEvent): Line => ({
  runId: event.correlationId,
  seq: event.ledger.seq,
  position: event.ledger.position,
  eventType: event.eventType,
  text: JSON.stringify(toWire(event)),
})

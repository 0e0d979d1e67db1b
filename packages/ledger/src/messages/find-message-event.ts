import type { ClewEvent } from '../event/envelope.ts'
import { deriveId } from '../event/ids.ts'
import type { Ledger } from '../ledger.ts'
import { systemRunId } from '../event/system-run.ts'

type MessageLedger = Pick<Ledger, 'getEvent' | 'digest' | 'keyedDigest'>

/** The run that holds a stream. */
export const streamRunId = (streamId: string): string => systemRunId('stream', streamId)

/** The same for the same message, so that posting it again is free (L4). */
export const messageEventId = (
  ledger: Pick<Ledger, 'keyedDigest'>,
  streamId: string,
  messageId: string,
): string => deriveId((text) => ledger.keyedDigest(text), streamRunId(streamId), 'message', messageId)

/**
 * The event of a message in a stream. Also one that an earlier version of Clew wrote, which made its id without the key; a
 * message without an id of its own is known by that of its event.
 */
export async function findMessageEvent(
  ledger: MessageLedger,
  streamId: string,
  messageId: string,
): Promise<ClewEvent | null> {
  const run = streamRunId(streamId)
  const earlier = deriveId((text) => ledger.digest(text), run, 'message', messageId)
  for (const eventId of [messageEventId(ledger, streamId, messageId), earlier, messageId]) {
    const found = await ledger.getEvent(eventId)
    if (found?.correlationId === run) return found
  }
  return null
}

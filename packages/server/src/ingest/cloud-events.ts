import { fromCloudEvents } from '@clew/adapters/cloudevents'
import { ClewError, type EventInput } from '@clew/ledger'
import type { Call } from '../route.ts'
import { type ItemResult, placeOf } from './append-wire.ts'
import { assertOwnRun } from './own-runs.ts'

export const isCloudEvent = (call: Call, type: string): boolean =>
  type.startsWith('application/cloudevents') || call.request.headers.has('ce-specversion')

/** One CloudEvent, as a document or with its attributes in headers, or a batch: all of it is written, or nothing (E4). */
export async function appendCloudEvents(call: Call): Promise<ItemResult[]> {
  const { headers } = call.request
  const bytes = await call.bytes()
  const items: EventInput[] = headers.has('ce-specversion')
    ? [single(fromCloudEvents(bytes, Object.fromEntries(headers)))]
    : readItems(bytes)
  const distinct = new Map<string, EventInput>()
  for (const event of items) {
    assertOwnRun(call.principal, event.correlationId)
    // The same twice in one batch is a conflict for the ledger, and one event for its sender.
    distinct.set(keyOf(event), event)
  }
  const written = await call.ledger.append([...distinct.values()])
  const places = new Map(
    [...distinct.keys()].map((key, at) => [key, placeOf(written[at] as (typeof written)[number])]),
  )
  return items.map((event) => places.get(keyOf(event)) as ItemResult)
}

const keyOf = ({ correlationId, eventId }: EventInput): string => `${correlationId} ${eventId}`

function readItems(bytes: Uint8Array): EventInput[] {
  let parsed: unknown
  try {
    parsed = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw new ClewError(
      'bad_payload',
      'The body is not JSON',
      'Send CloudEvents in JSON; nothing was written.',
      {},
    )
  }
  if (!Array.isArray(parsed)) return [single(fromCloudEvents(parsed as object))]
  return parsed.map((item: object, at) => single(fromCloudEvents([item]), at))
}

function single({ events, problems }: ReturnType<typeof fromCloudEvents>, item?: number): EventInput {
  const [event] = events
  if (event) return event
  const where = item === undefined ? 'The CloudEvent' : `Item ${item} of the batch`
  const [problem] = problems
  throw new ClewError(
    'bad_envelope',
    `${where} cannot be taken: ${problem?.reason.replace(/\. .*$/, '') ?? 'it is empty'}`,
    `${problem?.hint ?? 'Correct it and send all of it again.'} Nothing was written.`,
    item === undefined ? {} : { item },
  )
}

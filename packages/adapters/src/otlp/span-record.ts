import type { JsonObject, JsonValue } from '@clew/ledger'
import { MESSAGE_EVENT } from './conversation.ts'
import { type SpanAttributes, toJsonObject } from './span-attributes.ts'
import type { OtlpSpan } from './structure.ts'

export const KINDS = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer']
export const STATUSES = ['unset', 'ok', 'error']
const FAILED = 2

/** Record of a span next to the event made of it, without loss: times in nanoseconds, all other attributes. */
export function toSpanRecord(
  span: OtlpSpan,
  facts: SpanAttributes,
  { name, source, withoutMessages }: { name: string; source: string; withoutMessages: boolean },
): JsonObject {
  const record: JsonObject = {
    ...(span.name !== name && { name: span.name }),
    kind: KINDS[span.kind] ?? span.kind,
    startTimeUnixNano: String(span.startTimeUnixNano),
    endTimeUnixNano: String(span.endTimeUnixNano),
    source,
  }
  const attributes = facts.rest()
  for (const _ in attributes) {
    record['attributes'] = attributes
    break
  }
  const events = withoutMessages
    ? span.events.filter((event) => !MESSAGE_EVENT.test(event.name))
    : span.events
  if (events.length > 0)
    record['events'] = events.map((event) => ({
      name: event.name,
      timeUnixNano: String(event.timeUnixNano),
      attributes: toJsonObject(event.attributes),
      ...counted('droppedAttributesCount', event.droppedAttributesCount),
    }))
  if (span.links.length > 0)
    record['links'] = span.links.map((link) => ({
      traceId: link.traceId,
      spanId: link.spanId,
      ...said('traceState', link.traceState),
      ...counted('flags', link.flags),
      attributes: toJsonObject(link.attributes),
      ...counted('droppedAttributesCount', link.droppedAttributesCount),
    }))
  const { status } = span
  if (status.code !== 0 || status.message !== '')
    record['status'] = { code: STATUSES[status.code] ?? status.code, ...said('message', status.message) }
  if (span.traceState !== '') record['traceState'] = span.traceState
  if (span.flags !== 0) record['flags'] = span.flags
  if (span.droppedAttributesCount !== 0) record['droppedAttributesCount'] = span.droppedAttributesCount
  if (span.droppedEventsCount !== 0) record['droppedEventsCount'] = span.droppedEventsCount
  if (span.droppedLinksCount !== 0) record['droppedLinksCount'] = span.droppedLinksCount
  return record
}

const said = (key: string, text: string): JsonObject => (text === '' ? {} : { [key]: text })
const counted = (key: string, count: number): JsonObject => (count === 0 ? {} : { [key]: count })

/** How a span failed; undefined when it did not. */
export function readFailure(span: OtlpSpan, facts: SpanAttributes): JsonObject | undefined {
  const isFailed = span.status.code === FAILED || facts.text('langfuse.observation.level') === 'ERROR'
  if (!isFailed) return undefined
  const thrown = span.events.findLast((event) => event.name === 'exception')?.attributes ?? {}
  const text = (value: unknown): JsonValue | undefined =>
    typeof value === 'string' && value !== '' ? value : undefined
  const name = text(thrown['exception.type']) ?? facts.text('error.type')
  const message =
    text(span.status.message) ??
    text(thrown['exception.message']) ??
    facts.text('langfuse.observation.status_message', 'error.message', 'error') ??
    name ??
    'the span ended with an error'
  return { ...(name !== undefined && { name }), message }
}

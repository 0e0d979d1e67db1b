import type { JsonObject, JsonValue } from '@clew/ledger'
import { isObject, plainText } from '../foreign.ts'
import { KINDS, STATUSES } from './span-record.ts'
import {
  type OtlpAttributes,
  type OtlpLink,
  type OtlpSpan,
  type OtlpSpanEvent,
  type OtlpValue,
  putAttribute,
} from './structure.ts'

/** Converts the record of `toSpanRecord` back to parts of a span; undefined for a step that was not a span. */
export function readSpanRecord(kept: unknown): Partial<OtlpSpan> | undefined {
  if (!isObject(kept)) return undefined
  const { name, status } = kept
  const known = plainText(name)
  return {
    ...(known !== undefined && { name: known }),
    kind: readWord(KINDS, kept['kind']),
    startTimeUnixNano: readNano(kept['startTimeUnixNano']),
    endTimeUnixNano: readNano(kept['endTimeUnixNano']),
    traceState: plainText(kept['traceState']) ?? '',
    flags: readCount(kept['flags']),
    attributes: readAttributes(kept['attributes']),
    droppedAttributesCount: readCount(kept['droppedAttributesCount']),
    events: readObjects(kept['events']).map(readEvent),
    droppedEventsCount: readCount(kept['droppedEventsCount']),
    links: readObjects(kept['links']).map(readLink),
    droppedLinksCount: readCount(kept['droppedLinksCount']),
    status: isObject(status)
      ? { code: readWord(STATUSES, status['code']), message: plainText(status['message']) ?? '' }
      : { code: 0, message: '' },
  }
}

const readEvent = (event: JsonObject): OtlpSpanEvent => ({
  name: plainText(event['name']) ?? '',
  timeUnixNano: readNano(event['timeUnixNano']),
  attributes: readAttributes(event['attributes']),
  droppedAttributesCount: readCount(event['droppedAttributesCount']),
})

const readLink = (link: JsonObject): OtlpLink => ({
  traceId: plainText(link['traceId']) ?? '',
  spanId: plainText(link['spanId']) ?? '',
  traceState: plainText(link['traceState']) ?? '',
  flags: readCount(link['flags']),
  attributes: readAttributes(link['attributes']),
  droppedAttributesCount: readCount(link['droppedAttributesCount']),
})

const readObjects = (value: JsonValue | undefined): JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : []

const readCount = (value: unknown): number => (typeof value === 'number' ? value : 0)

/** Words stand for the numbers that are known; others were kept as they came. */
const readWord = (words: readonly string[], value: unknown): number =>
  typeof value === 'number' ? value : Math.max(0, words.indexOf(String(value)))

const readNano = (value: unknown): bigint =>
  typeof value === 'string' && /^\d{1,20}$/.test(value) ? BigInt(value) : 0n

function readAttributes(value: JsonValue | undefined): OtlpAttributes {
  const read: Record<string, OtlpValue> = {}
  if (isObject(value)) for (const [key, each] of Object.entries(value)) putAttribute(read, key, each)
  return read
}

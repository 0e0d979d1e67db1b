import { Buffer } from 'node:buffer'
import type { JsonObject, JsonValue } from '@clew/ledger'
import { isInt, isList } from './encode-protobuf.ts'
import type { OtlpAttributes, OtlpTraces, OtlpValue } from './structure.ts'

/** The body of an export of traces as OTLP/JSON: ids in hex, 64-bit numbers as text. */
export function encodeTracesJson({ resourceSpans }: OtlpTraces): JsonObject {
  return {
    resourceSpans: resourceSpans.map(({ resource, scopeSpans, schemaUrl }) => ({
      resource: {
        attributes: toKeyValues(resource.attributes),
        ...counted('droppedAttributesCount', resource.droppedAttributesCount),
      },
      scopeSpans: scopeSpans.map(({ scope, spans, schemaUrl: own }) => ({
        scope: {
          name: scope.name,
          ...said('version', scope.version),
          ...(Object.keys(scope.attributes).length > 0 && { attributes: toKeyValues(scope.attributes) }),
          ...counted('droppedAttributesCount', scope.droppedAttributesCount),
        },
        spans: spans.map(toSpan),
        ...said('schemaUrl', own),
      })),
      ...said('schemaUrl', schemaUrl),
    })),
  }
}

const said = (key: string, text: string): JsonObject => (text === '' ? {} : { [key]: text })
const counted = (key: string, count: number): JsonObject => (count === 0 ? {} : { [key]: count })

function toSpan(
  span: OtlpTraces['resourceSpans'][number]['scopeSpans'][number]['spans'][number],
): JsonObject {
  const { status } = span
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    ...said('traceState', span.traceState),
    ...said('parentSpanId', span.parentSpanId),
    ...counted('flags', span.flags),
    name: span.name,
    kind: span.kind,
    startTimeUnixNano: String(span.startTimeUnixNano),
    endTimeUnixNano: String(span.endTimeUnixNano),
    attributes: toKeyValues(span.attributes),
    ...counted('droppedAttributesCount', span.droppedAttributesCount),
    ...(span.events.length > 0 && {
      events: span.events.map((event) => ({
        timeUnixNano: String(event.timeUnixNano),
        name: event.name,
        attributes: toKeyValues(event.attributes),
        ...counted('droppedAttributesCount', event.droppedAttributesCount),
      })),
    }),
    ...counted('droppedEventsCount', span.droppedEventsCount),
    ...(span.links.length > 0 && {
      links: span.links.map((link) => ({
        traceId: link.traceId,
        spanId: link.spanId,
        ...said('traceState', link.traceState),
        ...counted('flags', link.flags),
        attributes: toKeyValues(link.attributes),
        ...counted('droppedAttributesCount', link.droppedAttributesCount),
      })),
    }),
    ...counted('droppedLinksCount', span.droppedLinksCount),
    status: { ...counted('code', status.code), ...said('message', status.message) },
  }
}

const toKeyValues = (attributes: OtlpAttributes): JsonValue[] =>
  Object.entries(attributes).map(([key, value]) => ({ key, value: toAnyValue(value) }))

function toAnyValue(value: OtlpValue): JsonObject {
  if (value === null) return {}
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  if (typeof value === 'bigint') return { intValue: String(value) }
  if (typeof value === 'number')
    return isInt(value) ? { intValue: String(value) } : { doubleValue: toDouble(value) }
  if (value instanceof Uint8Array) return { bytesValue: Buffer.from(value).toString('base64') }
  if (isList(value)) return { arrayValue: { values: value.map(toAnyValue) } }
  return { kvlistValue: { values: toKeyValues(value) } }
}

/** JSON has neither; OTLP writes their names. Nor does its text keep the sign of zero. */
const toDouble = (value: number): number | string =>
  Number.isFinite(value) && !Object.is(value, -0) ? value : Object.is(value, -0) ? '-0' : String(value)

import {
  brokenLogRecord,
  brokenSpan,
  NO_RESOURCE,
  NO_SCOPE,
  NO_STATUS,
  type OtlpLink,
  type OtlpLogRecord,
  type OtlpLogs,
  type OtlpResource,
  type OtlpScope,
  type OtlpSpan,
  type OtlpSpanEvent,
  type OtlpStatus,
  type OtlpTraces,
  type OtlpValue,
} from './structure.ts'
import { readAttribute, readList, readValue } from './read-value.ts'
import {
  createWireReader,
  fields,
  MAX_ITEM_BYTES,
  PARTS_OF_ITEM,
  readFixed32,
  readFixed64,
  readHex,
  readMessageEnd,
  readText,
  readUint32,
  skipField,
  type WireReader,
} from './wire-reader.ts'

const TWO = fields(1, 2)
const THREE = fields(1, 2, 3)
const SPAN = fields(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)
const EVENT = fields(1, 2, 3, 4)
const LINK = fields(1, 2, 3, 4, 5, 6)
// 1 is a deprecated status, 4 of a record a deprecated name.
const STATUS = fields(2, 3)
const RECORD = fields(1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12)

export function decodeTracesProtobuf(body: Uint8Array): OtlpTraces {
  const reader = createWireReader(body)
  const read = (end: number) =>
    readGroup(reader, end, 'ResourceSpans', readResource, NO_RESOURCE, (inner) =>
      readGroup(reader, inner, 'ScopeSpans', readScope, NO_SCOPE, (last) =>
        readItem(reader, last, 'span', readSpan, brokenSpan),
      ),
    )
  const resourceSpans = readList(reader, body.length, 'ExportTraceServiceRequest', read).map(
    ({ head, items, schemaUrl }) => ({
      resource: head,
      scopeSpans: items.map((group) => ({
        scope: group.head,
        spans: group.items,
        schemaUrl: group.schemaUrl,
      })),
      schemaUrl,
    }),
  )
  return { resourceSpans }
}

export function decodeLogsProtobuf(body: Uint8Array): OtlpLogs {
  const reader = createWireReader(body)
  const read = (end: number) =>
    readGroup(reader, end, 'ResourceLogs', readResource, NO_RESOURCE, (inner) =>
      readGroup(reader, inner, 'ScopeLogs', readScope, NO_SCOPE, (last) =>
        readItem(reader, last, 'log record', readLogRecord, brokenLogRecord),
      ),
    )
  const resourceLogs = readList(reader, body.length, 'ExportLogsServiceRequest', read).map(
    ({ head, items, schemaUrl }) => ({
      resource: head,
      scopeLogs: items.map((group) => ({
        scope: group.head,
        logRecords: group.items,
        schemaUrl: group.schemaUrl,
      })),
      schemaUrl,
    }),
  )
  return { resourceLogs }
}

interface Group<Head, Item> {
  readonly head: Head
  readonly items: Item[]
  readonly schemaUrl: string
}

/** A resource or scope in field 1, what it made in field 2, the address of its schema in field 3. */
function readGroup<Head, Item>(
  reader: WireReader,
  end: number,
  message: string,
  readHead: (reader: WireReader, end: number) => Head,
  none: Head,
  read: (end: number) => Item,
): Group<Head, Item> {
  const items: Item[] = []
  let head = none
  let schemaUrl = ''
  while (reader.at < end) {
    const tag = readUint32(reader, end)
    if (tag === 0x0a) head = readHead(reader, readMessageEnd(reader, end))
    else if (tag === 0x12) items.push(read(readMessageEnd(reader, end, PARTS_OF_ITEM)))
    else if (tag === 0x1a) schemaUrl = readText(reader, end)
    else skipField(reader, end, tag, THREE, message)
  }
  return { head, items, schemaUrl }
}

function readItem<T>(
  reader: WireReader,
  end: number,
  what: string,
  read: (reader: WireReader, end: number) => T,
  replace: (problem: string) => T,
): T {
  const size = end - reader.at
  if (size <= MAX_ITEM_BYTES) return read(reader, end)
  reader.at = end
  return replace(`the ${what} has ${size} bytes, more than ${MAX_ITEM_BYTES}`)
}

function readResource(reader: WireReader, end: number): OtlpResource {
  const attributes: Record<string, OtlpValue> = {}
  let droppedAttributesCount = 0
  while (reader.at < end) {
    const tag = readUint32(reader, end)
    if (tag === 0x0a) readAttribute(reader, readMessageEnd(reader, end), attributes)
    else if (tag === 0x10) droppedAttributesCount = readUint32(reader, end)
    else skipField(reader, end, tag, TWO, 'Resource')
  }
  return { attributes, droppedAttributesCount }
}

function readScope(reader: WireReader, end: number): OtlpScope {
  const attributes: Record<string, OtlpValue> = {}
  let [name, version, droppedAttributesCount] = ['', '', 0]
  while (reader.at < end) {
    const tag = readUint32(reader, end)
    if (tag === 0x0a) name = readText(reader, end)
    else if (tag === 0x12) version = readText(reader, end)
    else if (tag === 0x1a) readAttribute(reader, readMessageEnd(reader, end), attributes)
    else if (tag === 0x20) droppedAttributesCount = readUint32(reader, end)
    else skipField(reader, end, tag, EVENT, 'InstrumentationScope')
  }
  return { name, version, attributes, droppedAttributesCount }
}

function readSpan(reader: WireReader, end: number): OtlpSpan {
  const attributes: Record<string, OtlpValue> = {}
  const events: OtlpSpanEvent[] = []
  const links: OtlpLink[] = []
  let [traceId, spanId, parentSpanId, traceState, name] = ['', '', '', '', '']
  let [kind, flags, droppedAttributesCount, droppedEventsCount, droppedLinksCount] = [0, 0, 0, 0, 0]
  let startTimeUnixNano = 0n
  let endTimeUnixNano = 0n
  let status = NO_STATUS
  while (reader.at < end) {
    const tag = readUint32(reader, end)
    if (tag === 0x4a) readAttribute(reader, readMessageEnd(reader, end), attributes)
    else if (tag === 0x0a) traceId = readHex(reader, end)
    else if (tag === 0x12) spanId = readHex(reader, end)
    else if (tag === 0x1a) traceState = readText(reader, end)
    else if (tag === 0x22) parentSpanId = readHex(reader, end)
    else if (tag === 0x2a) name = readText(reader, end)
    else if (tag === 0x30) kind = readUint32(reader, end)
    else if (tag === 0x39) startTimeUnixNano = readFixed64(reader, end)
    else if (tag === 0x41) endTimeUnixNano = readFixed64(reader, end)
    else if (tag === 0x50) droppedAttributesCount = readUint32(reader, end)
    else if (tag === 0x5a) events.push(readSpanEvent(reader, readMessageEnd(reader, end, PARTS_OF_ITEM)))
    else if (tag === 0x60) droppedEventsCount = readUint32(reader, end)
    else if (tag === 0x6a) links.push(readLink(reader, readMessageEnd(reader, end, PARTS_OF_ITEM)))
    else if (tag === 0x70) droppedLinksCount = readUint32(reader, end)
    else if (tag === 0x7a) status = readStatus(reader, readMessageEnd(reader, end))
    else if (tag === 0x85) flags = readFixed32(reader, end)
    else skipField(reader, end, tag, SPAN, 'Span')
  }
  return {
    traceId,
    spanId,
    traceState,
    parentSpanId,
    flags,
    name,
    kind,
    startTimeUnixNano,
    endTimeUnixNano,
    attributes,
    droppedAttributesCount,
    events,
    droppedEventsCount,
    links,
    droppedLinksCount,
    status,
  }
}

function readSpanEvent(reader: WireReader, end: number): OtlpSpanEvent {
  const attributes: Record<string, OtlpValue> = {}
  let timeUnixNano = 0n
  let name = ''
  let droppedAttributesCount = 0
  while (reader.at < end) {
    const tag = readUint32(reader, end)
    if (tag === 0x09) timeUnixNano = readFixed64(reader, end)
    else if (tag === 0x12) name = readText(reader, end)
    else if (tag === 0x1a) readAttribute(reader, readMessageEnd(reader, end), attributes)
    else if (tag === 0x20) droppedAttributesCount = readUint32(reader, end)
    else skipField(reader, end, tag, EVENT, 'Span.Event')
  }
  return { timeUnixNano, name, attributes, droppedAttributesCount }
}

function readLink(reader: WireReader, end: number): OtlpLink {
  const attributes: Record<string, OtlpValue> = {}
  let [traceId, spanId, traceState] = ['', '', '']
  let [flags, droppedAttributesCount] = [0, 0]
  while (reader.at < end) {
    const tag = readUint32(reader, end)
    if (tag === 0x0a) traceId = readHex(reader, end)
    else if (tag === 0x12) spanId = readHex(reader, end)
    else if (tag === 0x1a) traceState = readText(reader, end)
    else if (tag === 0x22) readAttribute(reader, readMessageEnd(reader, end), attributes)
    else if (tag === 0x28) droppedAttributesCount = readUint32(reader, end)
    else if (tag === 0x35) flags = readFixed32(reader, end)
    else skipField(reader, end, tag, LINK, 'Span.Link')
  }
  return { traceId, spanId, traceState, flags, attributes, droppedAttributesCount }
}

function readStatus(reader: WireReader, end: number): OtlpStatus {
  let code = 0
  let message = ''
  while (reader.at < end) {
    const tag = readUint32(reader, end)
    if (tag === 0x12) message = readText(reader, end)
    else if (tag === 0x18) code = readUint32(reader, end)
    else skipField(reader, end, tag, STATUS, 'Status')
  }
  return { code, message }
}

function readLogRecord(reader: WireReader, end: number): OtlpLogRecord {
  const attributes: Record<string, OtlpValue> = {}
  let [severityText, eventName, traceId, spanId] = ['', '', '', '']
  let [severityNumber, droppedAttributesCount, flags] = [0, 0, 0]
  let timeUnixNano = 0n
  let observedTimeUnixNano = 0n
  let body: OtlpValue = null
  while (reader.at < end) {
    const tag = readUint32(reader, end)
    if (tag === 0x32) readAttribute(reader, readMessageEnd(reader, end), attributes)
    else if (tag === 0x09) timeUnixNano = readFixed64(reader, end)
    else if (tag === 0x10) severityNumber = readUint32(reader, end)
    else if (tag === 0x1a) severityText = readText(reader, end)
    else if (tag === 0x2a) body = readValue(reader, readMessageEnd(reader, end), 0)
    else if (tag === 0x38) droppedAttributesCount = readUint32(reader, end)
    else if (tag === 0x45) flags = readFixed32(reader, end)
    else if (tag === 0x4a) traceId = readHex(reader, end)
    else if (tag === 0x52) spanId = readHex(reader, end)
    else if (tag === 0x59) observedTimeUnixNano = readFixed64(reader, end)
    else if (tag === 0x62) eventName = readText(reader, end)
    else skipField(reader, end, tag, RECORD, 'LogRecord')
  }
  return {
    timeUnixNano,
    observedTimeUnixNano,
    severityNumber,
    severityText,
    eventName,
    body,
    attributes,
    droppedAttributesCount,
    flags,
    traceId,
    spanId,
  }
}

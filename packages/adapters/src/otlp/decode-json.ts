import { Buffer } from 'node:buffer'
import { ClewError, type JsonObject } from '@clew/ledger'
import { isObject, refuse } from '../foreign.ts'
import { MAX_DEPTH } from './read-value.ts'
import {
  brokenLogRecord,
  brokenSpan,
  NO_RESOURCE,
  NO_SCOPE,
  NO_STATUS,
  type OtlpAttributes,
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
  putAttribute,
} from './structure.ts'
import { MAX_ITEM_BYTES, MAX_PARTS, PARTS_OF_ITEM, toExact } from './wire-reader.ts'

/** OTLP/JSON that was parsed: enums as numbers or names, 64-bit numbers as text or numbers. */
export function readTracesJson(body: unknown): OtlpTraces {
  const root = object(body, '(the body)')
  if (root['resourceSpans'] === undefined && root['resourceLogs'] !== undefined) misrouted('logs', 'traces')
  return {
    resourceSpans: list(root, 'resourceSpans', '', (group, at) => ({
      resource: readResource(group['resource'], `${at}.resource`),
      scopeSpans: list(group, 'scopeSpans', at, (inner, place) => ({
        scope: readScope(inner['scope'], `${place}.scope`),
        spans: items(inner, 'spans', place, readSpan, brokenSpan),
        schemaUrl: text(inner, 'schemaUrl', place),
      })),
      schemaUrl: text(group, 'schemaUrl', at),
    })),
  }
}

export function readLogsJson(body: unknown): OtlpLogs {
  const root = object(body, '(the body)')
  if (root['resourceLogs'] === undefined && root['resourceSpans'] !== undefined) misrouted('traces', 'logs')
  return {
    resourceLogs: list(root, 'resourceLogs', '', (group, at) => ({
      resource: readResource(group['resource'], `${at}.resource`),
      scopeLogs: list(group, 'scopeLogs', at, (inner, place) => ({
        scope: readScope(inner['scope'], `${place}.scope`),
        logRecords: items(inner, 'logRecords', place, readLogRecord, brokenLogRecord),
        schemaUrl: text(inner, 'schemaUrl', place),
      })),
      schemaUrl: text(group, 'schemaUrl', at),
    })),
  }
}

function misrouted(found: string, expected: string): never {
  throw new ClewError(
    'broken_import',
    `The OTLP body holds ${found} and not ${expected}`,
    `Send ${found} to /v1/${found}; nothing of this body was taken.`,
    { field: found === 'logs' ? 'resourceLogs' : 'resourceSpans' },
  )
}

const NOTHING_TAKEN = 'Correct it and send it again; nothing of this body was taken.'

const object = (value: unknown, field: string): JsonObject =>
  isObject(value) ? value : refuse(field, value, 'an object', NOTHING_TAKEN)

const below = (place: string, field: string): string => (place === '' ? field : `${place}.${field}`)

function list<T>(
  source: JsonObject,
  field: string,
  place: string,
  read: (item: JsonObject, at: string) => T,
): T[] {
  const found = source[field] ?? []
  const at = below(place, field)
  if (!Array.isArray(found)) return refuse(at, found, 'a list', NOTHING_TAKEN)
  assertCount(found, at)
  return found.map((item, nth) => read(object(item, `${at}[${nth}]`), `${at}[${nth}]`))
}

/** Spans or log records. A broken or too large one is replaced by its problem, and the others are read. */
function items<T>(
  source: JsonObject,
  field: string,
  place: string,
  read: (item: JsonObject, at: string) => T,
  replace: (problem: string) => T,
): T[] {
  const found = source[field] ?? []
  const at = below(place, field)
  if (!Array.isArray(found)) return refuse(at, found, 'a list', NOTHING_TAKEN)
  assertCount(found, at)
  return found.map((item: unknown, nth) => {
    if (isLarger(item, MAX_ITEM_BYTES))
      return replace(`${at}[${nth}] has more than ${MAX_ITEM_BYTES} characters`)
    try {
      return read(object(item, `${at}[${nth}]`), `${at}[${nth}]`)
    } catch (error) {
      if (!(error instanceof ClewError)) throw error
      const [what = error.message] = error.message.split('. ')
      return replace(what)
    }
  })
}

/** As many items as protobuf may have. An empty one takes three characters here, and an error with its reason in memory. */
const MAX_ITEMS = MAX_PARTS / PARTS_OF_ITEM

function assertCount(found: readonly unknown[], at: string): void {
  if (found.length <= MAX_ITEMS) return
  throw new ClewError(
    'too_large',
    `The OTLP body has ${found.length} items at ${at}, more than ${MAX_ITEMS}`,
    'Let the exporter send smaller batches; nothing of this one was taken.',
    { field: at, most: MAX_ITEMS },
  )
}

/** True if the JSON of a parsed value has more than so many characters, escapes not counted; reads no further than that. */
function isLarger(root: unknown, chars: number): boolean {
  const left: unknown[] = [root]
  let size = 0
  while (left.length > 0 && size <= chars) {
    const value = left.pop()
    if (typeof value === 'string') size += value.length + 2
    else if (Array.isArray(value)) for (const each of value) left.push(each)
    else if (typeof value === 'object' && value !== null)
      for (const [key, each] of Object.entries(value)) {
        size += key.length + 4
        left.push(each)
      }
    else size += 4
  }
  return size > chars
}

function text(source: JsonObject, field: string, place: string): string {
  const value = source[field] ?? ''
  return typeof value === 'string' ? value : refuse(below(place, field), value, 'text', NOTHING_TAKEN)
}

function id(source: JsonObject, field: string, place: string): string {
  const value = text(source, field, place)
  if (!/^[0-9a-fA-F]*$/.test(value)) refuse(below(place, field), value, 'hex digits', NOTHING_TAKEN)
  return value.toLowerCase()
}

function count(source: JsonObject, field: string, place: string): number {
  const value = source[field] ?? 0
  const number = typeof value === 'string' ? Number(value) : value
  if (typeof number === 'number' && Number.isInteger(number) && number >= 0 && number <= 0xffff_ffff)
    return number
  return refuse(below(place, field), value, 'a whole number from 0 on', NOTHING_TAKEN)
}

const LAST_NANO = 2n ** 64n - 1n

function nano(source: JsonObject, field: string, place: string): bigint {
  const value = source[field] ?? 0
  if (typeof value === 'string' && /^\d{1,20}$/.test(value) && BigInt(value) <= LAST_NANO)
    return BigInt(value)
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 2 ** 64)
    return BigInt(value)
  return refuse(below(place, field), value, 'nanoseconds since 1970 as a whole number', NOTHING_TAKEN)
}

const SPAN_KINDS = ['UNSPECIFIED', 'INTERNAL', 'SERVER', 'CLIENT', 'PRODUCER', 'CONSUMER']
const STATUS_CODES = ['UNSET', 'OK', 'ERROR']
const SEVERITIES = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL']

/** An enum by its number or by its name, with or without the prefix. */
function choice(
  source: JsonObject,
  field: string,
  place: string,
  names: readonly string[],
  prefix: string,
): number {
  const value = source[field]
  if (typeof value !== 'string' || /^\d+$/.test(value)) return count(source, field, place)
  const found = names.indexOf(value.replace(prefix, ''))
  return found >= 0 ? found : refuse(below(place, field), value, `one of ${names.join(', ')}`, NOTHING_TAKEN)
}

function severity(source: JsonObject, place: string): number {
  const value = source['severityNumber']
  const named = typeof value === 'string' ? /^(?:SEVERITY_NUMBER_)?([A-Z]+)([234]?)$/.exec(value) : null
  const at = named ? SEVERITIES.indexOf(named[1] ?? '') : -1
  if (at >= 0) return at * 4 + Number(named?.[2] || 1)
  return named?.[1] === 'UNSPECIFIED' ? 0 : count(source, 'severityNumber', place)
}

function readResource(value: unknown, place: string): OtlpResource {
  if (value === undefined || value === null) return NO_RESOURCE
  const found = object(value, place)
  return {
    attributes: readAttributes(found['attributes'], `${place}.attributes`, 0),
    droppedAttributesCount: count(found, 'droppedAttributesCount', place),
  }
}

function readScope(value: unknown, place: string): OtlpScope {
  if (value === undefined || value === null) return NO_SCOPE
  const found = object(value, place)
  return {
    name: text(found, 'name', place),
    version: text(found, 'version', place),
    ...readResource(found, place),
  }
}

function readSpan(span: JsonObject, place: string): OtlpSpan {
  return {
    traceId: id(span, 'traceId', place),
    spanId: id(span, 'spanId', place),
    traceState: text(span, 'traceState', place),
    parentSpanId: id(span, 'parentSpanId', place),
    flags: count(span, 'flags', place),
    name: text(span, 'name', place),
    kind: choice(span, 'kind', place, SPAN_KINDS, 'SPAN_KIND_'),
    startTimeUnixNano: nano(span, 'startTimeUnixNano', place),
    endTimeUnixNano: nano(span, 'endTimeUnixNano', place),
    attributes: readAttributes(span['attributes'], `${place}.attributes`, 0),
    droppedAttributesCount: count(span, 'droppedAttributesCount', place),
    events: list(span, 'events', place, readSpanEvent),
    droppedEventsCount: count(span, 'droppedEventsCount', place),
    links: list(span, 'links', place, readLink),
    droppedLinksCount: count(span, 'droppedLinksCount', place),
    status: readStatus(span['status'], `${place}.status`),
  }
}

const readSpanEvent = (event: JsonObject, place: string): OtlpSpanEvent => ({
  timeUnixNano: nano(event, 'timeUnixNano', place),
  name: text(event, 'name', place),
  ...readResource(event, place),
})

const readLink = (link: JsonObject, place: string): OtlpLink => ({
  traceId: id(link, 'traceId', place),
  spanId: id(link, 'spanId', place),
  traceState: text(link, 'traceState', place),
  flags: count(link, 'flags', place),
  ...readResource(link, place),
})

function readStatus(value: unknown, place: string): OtlpStatus {
  if (value === undefined || value === null) return NO_STATUS
  const status = object(value, place)
  return {
    code: choice(status, 'code', place, STATUS_CODES, 'STATUS_CODE_'),
    message: text(status, 'message', place),
  }
}

const readLogRecord = (record: JsonObject, place: string): OtlpLogRecord => ({
  timeUnixNano: nano(record, 'timeUnixNano', place),
  observedTimeUnixNano: nano(record, 'observedTimeUnixNano', place),
  severityNumber: severity(record, place),
  severityText: text(record, 'severityText', place),
  eventName: text(record, 'eventName', place),
  body: readValue(record['body'], `${place}.body`, 0),
  attributes: readAttributes(record['attributes'], `${place}.attributes`, 0),
  droppedAttributesCount: count(record, 'droppedAttributesCount', place),
  flags: count(record, 'flags', place),
  traceId: id(record, 'traceId', place),
  spanId: id(record, 'spanId', place),
})

/** A list of keys and values; some senders write a plain object. */
function readAttributes(value: unknown, place: string, depth: number): OtlpAttributes {
  const attributes: Record<string, OtlpValue> = {}
  if (value === undefined || value === null) return attributes
  if (isObject(value)) {
    for (const [key, item] of Object.entries(value))
      putAttribute(attributes, key, readPlain(item, place, depth))
    return attributes
  }
  if (!Array.isArray(value)) return refuse(place, value, 'a list of keys and values', NOTHING_TAKEN)
  for (const [nth, item] of value.entries()) {
    const pair = object(item, `${place}[${nth}]`)
    const key = text(pair, 'key', `${place}[${nth}]`)
    putAttribute(attributes, key, readValue(pair['value'], `${place}[${nth}].value`, depth))
  }
  return attributes
}

function readPlain(value: unknown, place: string, depth: number): OtlpValue {
  if (isObject(value) && VALUES.some((name) => Object.hasOwn(value, name)))
    return readValue(value, place, depth)
  if (depth > MAX_DEPTH) return tooDeep(place)
  if (Array.isArray(value)) return value.map((item) => readPlain(item, place, depth + 1))
  if (isObject(value)) return readAttributes(value, place, depth + 1)
  return value as OtlpValue
}

const VALUES = [
  'stringValue',
  'boolValue',
  'intValue',
  'doubleValue',
  'arrayValue',
  'kvlistValue',
  'bytesValue',
]

const tooDeep = (place: string): never => refuse(place, {}, `at most ${MAX_DEPTH} levels deep`, NOTHING_TAKEN)

function readValue(value: unknown, place: string, depth: number): OtlpValue {
  if (value === undefined || value === null) return null
  if (depth > MAX_DEPTH) return tooDeep(place)
  const found = object(value, place)
  if (found['stringValue'] !== undefined) return text(found, 'stringValue', place)
  if (found['boolValue'] !== undefined) return found['boolValue'] === true
  if (found['intValue'] !== undefined) return readInt(found['intValue'], `${place}.intValue`)
  if (found['doubleValue'] !== undefined) return readDouble(found['doubleValue'], `${place}.doubleValue`)
  if (found['bytesValue'] !== undefined)
    return new Uint8Array(Buffer.from(text(found, 'bytesValue', place), 'base64'))
  const { arrayValue, kvlistValue } = found
  if (arrayValue !== undefined) {
    const { values = [] } = object(arrayValue, `${place}.arrayValue`)
    if (!Array.isArray(values)) return refuse(`${place}.arrayValue.values`, values, 'a list', NOTHING_TAKEN)
    return values.map((item, nth) => readValue(item, `${place}.arrayValue.values[${nth}]`, depth + 1))
  }
  if (kvlistValue === undefined) return null
  const { values } = object(kvlistValue, `${place}.kvlistValue`)
  return readAttributes(values, `${place}.kvlistValue.values`, depth + 1)
}

function readInt(value: unknown, place: string): OtlpValue {
  if (typeof value === 'number' && Number.isInteger(value)) return value
  if (typeof value === 'string' && /^-?\d{1,19}$/.test(value)) return toExact(BigInt(value))
  return refuse(place, value, 'a whole number', NOTHING_TAKEN)
}

function readDouble(value: unknown, place: string): number {
  if (typeof value === 'number') return value
  if (value === 'NaN') return Number.NaN
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : Number.NaN
  return Number.isNaN(number) ? refuse(place, value, 'a number', NOTHING_TAKEN) : number
}

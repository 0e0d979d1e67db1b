import { Buffer } from 'node:buffer'
import { hash } from 'node:crypto'
import {
  ClewError,
  deriveId,
  type EventInput,
  fromCloudEvent,
  isUuid,
  type JsonObject,
  type JsonValue,
} from '@clew/ledger'
import { isId, isObject, plainText } from '../foreign.ts'

/** Headers of an HTTP request; only `content-type` and `ce-…` are read. */
export interface CloudEventHeaders {
  readonly [name: string]: string | readonly string[] | undefined
}

export interface CloudEventProblem {
  readonly index: number
  readonly reason: string
  /** Advice to the sender. */
  readonly hint: string
}

export interface FromCloudEventsResult {
  readonly events: readonly EventInput[]
  readonly received: number
  /** Items that could not be read; all others are in `events`. */
  readonly problems: readonly CloudEventProblem[]
}

type Body = Uint8Array | string | object

/**
 * CloudEvents 1.0 in JSON: one event, a batch of them, or (binary mode) an event whose attributes are headers and whose
 * data is the body. What Clew wrote is restored; an event from elsewhere is kept whole, and is the same in both modes.
 */
export function fromCloudEvents(body: Body, headers: CloudEventHeaders = {}): FromCloudEventsResult {
  const names = lowerCase(headers)
  const found = names.has('ce-specversion') ? [fromBinary(body, names)] : readDocument(body)
  const events: EventInput[] = []
  const problems: CloudEventProblem[] = []
  const ids = new Set<string>()
  for (const [index, item] of found.entries()) {
    try {
      const event = toEvent(item)
      const id = `${event.eventId} ${event.correlationId}`
      // The ledger refuses one id twice in a batch; for its sender that is one event.
      if (!ids.has(id)) events.push(event)
      ids.add(id)
    } catch (error) {
      if (!(error instanceof ClewError)) throw error
      problems.push({ index, reason: error.message, hint: error.hint })
    }
  }
  return { events, received: found.length, problems }
}

function lowerCase(headers: CloudEventHeaders): Map<string, string> {
  const names = new Map<string, string>()
  for (const [name, value] of Object.entries(headers)) {
    const text = typeof value === 'string' ? value : value?.[0]
    if (text !== undefined) names.set(name.toLowerCase(), text)
  }
  return names
}

const textOf = (body: Uint8Array | string): string =>
  typeof body === 'string' ? body : Buffer.from(body.buffer, body.byteOffset, body.length).toString('utf8')

function readDocument(body: Body): JsonValue[] {
  const value = typeof body === 'string' || body instanceof Uint8Array ? parse(textOf(body)) : body
  return Array.isArray(value) ? (value as JsonValue[]) : [value as JsonValue]
}

function parse(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    throw new ClewError(
      'broken_import',
      'The body is no JSON',
      'Send one CloudEvent as JSON, a list of them, or its attributes as ce- headers; nothing was taken.',
      { size: text.length },
    )
  }
}

/** Attributes are headers, percent-encoded where they are not plain ASCII; the content type is that of the data. */
function fromBinary(body: Body, headers: ReadonlyMap<string, string>): JsonValue {
  const event: JsonObject = {}
  for (const [name, value] of headers) if (name.startsWith('ce-')) event[name.slice(3)] = decode(value)
  const type = headers.get('content-type')
  if (type !== undefined) event['datacontenttype'] = type
  if (typeof body !== 'string' && !(body instanceof Uint8Array)) return { ...event, data: body as JsonValue }
  if (body.length === 0) return event
  if (type === undefined || /[/+]json\b/.test(type)) return { ...event, data: parse(textOf(body)) }
  if (type.startsWith('text/') || typeof body === 'string') return { ...event, data: textOf(body) }
  return { ...event, data_base64: Buffer.from(body).toString('base64') }
}

function decode(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}

const OWN_TYPE = /^(?:execution|system|ui|integration)(?:\.[A-Za-z0-9_-]+)+$/

function toEvent(item: JsonValue): EventInput {
  if (!isObject(item) || item['specversion'] !== '1.0') return refuse('specversion', '"1.0"')
  const { data, causationid: cause = null } = item
  const id = plainText(item['id']) ?? refuse('id', 'text')
  const source = plainText(item['source']) ?? refuse('source', 'text')
  const type = plainText(item['type']) ?? refuse('type', 'text')
  const run = plainText(item['correlationid']) ?? plainText(item['subject']) ?? traceOf(item['traceparent'])
  if (run === undefined) throw withoutRun()
  if (!isId(run)) return refuse('correlationid', 'up to 512 characters without control characters')
  const isOwn =
    OWN_TYPE.test(type) &&
    isUuid(id) &&
    (cause === null || (typeof cause === 'string' && isUuid(cause))) &&
    (data === undefined || isObject(data)) &&
    item['data_base64'] === undefined &&
    isId(source, 200) &&
    isTime(item['time'])
  if (!isOwn) return toForeign(item, { id, source, type, run })
  const wire = fromCloudEvent(item)
  return {
    eventId: wire.event_id,
    eventType: wire.event_type,
    timestamp: wire.timestamp,
    source: wire.source,
    correlationId: wire.correlation_id,
    causationId: wire.causation_id,
    payload: wire.payload as NonNullable<EventInput['payload']>,
  }
}

const sha256 = (text: string): string => hash('sha256', text)
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/
const isTime = (time: JsonValue | undefined): time is string =>
  typeof time === 'string' && TIME.test(time) && !Number.isNaN(Date.parse(time))

interface Names {
  readonly id: string
  readonly source: string
  readonly type: string
  readonly run: string
}

/** An event from elsewhere, kept whole. Source and id together identify a CloudEvent. */
function toForeign(item: JsonObject, { id, source, type, run }: Names): EventInput {
  const { data, ...given } = item
  const attributes = toAttributes(given)
  const { time, causationid: cause } = attributes
  return {
    eventId: deriveId(sha256, run, 'cloudevents', source, id),
    eventType: 'integration.cloud_event',
    ...(isTime(time) && { timestamp: time }),
    source: { origin: 'integration', runtime: 'cloudevents' },
    correlationId: run,
    causationId: typeof cause === 'string' && isUuid(cause) ? cause : null,
    payload: { name: type, cloudEvent: attributes, ...(data !== undefined && { data }) },
  }
}

/**
 * Attributes as they are in headers: text, and in the order of their names, since headers have no other. JSON is the content type of an event that names none (CloudEvents, JSON format
 * 3.1.1), and headers always name one.
 */
function toAttributes(given: JsonObject): JsonObject {
  const attributes: JsonObject = {}
  for (const [name, value] of Object.entries(given).toSorted(byName))
    if (name !== 'datacontenttype' || typeof value !== 'string' || !IS_JSON.test(value))
      Object.defineProperty(attributes, name, { ...PROPERTY, value: toText(value) })
  return attributes
}

const byName = ([a]: [string, unknown], [b]: [string, unknown]): number => (a < b ? -1 : 1)

const IS_JSON = /^application\/json\s*(?:;|$)/i
/** Assigns also a name like `__proto__`. */
const PROPERTY = { writable: true, enumerable: true, configurable: true }
const toText = (value: JsonValue): JsonValue =>
  typeof value === 'number' || typeof value === 'boolean' ? String(value) : value

const withoutRun = (): ClewError =>
  new ClewError(
    'bad_envelope',
    'The CloudEvent names no run',
    'Give the id of the run as the extension attribute correlationid (header ce-correlationid), as subject, or by traceparent, whose trace id is the run.',
    { field: 'correlationid' },
  )

const traceOf = (traceparent: JsonValue | undefined): string | undefined =>
  typeof traceparent === 'string' ? /^[0-9a-f]{2}-([0-9a-f]{32})-/.exec(traceparent)?.[1] : undefined

function refuse(field: string, expected: string): never {
  throw new ClewError(
    'bad_envelope',
    `The CloudEvent field ${field} is not usable`,
    `It must be ${expected}; correct it and send the event again.`,
    { field, expected },
  )
}

import { ClewError } from '../errors.ts'
import { isUuid } from './ids.ts'
import { isObject } from '../json.ts'

export const ORIGINS = ['agent', 'system', 'ui', 'integration'] as const
export type Origin = (typeof ORIGINS)[number]

export interface Source {
  readonly origin: Origin
  /** `clew | ag2 | langgraph | ai-sdk | custom | none`, or any other name. */
  readonly runtime: string
}

export type Payload = { [key: string]: unknown }

/** Event as a producer passes it; every omitted field has a default. */
export interface EventInput {
  readonly eventType: string
  readonly correlationId: string
  readonly eventId?: string | undefined
  readonly timestamp?: string | Date | undefined
  readonly source?: Source | undefined
  /** Left out, it is the event in whose async context the call happens; `null` says: no cause. */
  readonly causationId?: string | null | undefined
  readonly payload?: Payload | undefined
}

export interface Envelope<Type extends string = string, Body extends object = Payload> {
  readonly eventId: string
  readonly eventType: Type
  readonly timestamp: string
  readonly source: Source
  readonly correlationId: string
  readonly causationId: string | null
  readonly payload: Body
}

/** Fields that the ledger adds at commit (E2). */
export interface LedgerFields {
  readonly workspace: string
  readonly seq: number
  readonly position: number
  readonly recordedAt: string
  readonly hash: string
  readonly schemaVersion: number
  /** The payload was erased (P5), or pruned with its state; the chain still proves that the event stood here. */
  readonly erased?: true
  /** The state at its checkpoint is no longer kept (R10). */
  readonly pruned?: true
}

/**
 * An event as it is read back: immutable; parts it shares with other events are frozen. `asOwn` gives an own type its
 * typed payload.
 */
export interface ClewEvent<Type extends string = string, Body extends object = Payload>
  extends Envelope<Type, Body> {
  readonly ledger: LedgerFields
}

const DEFAULT_SOURCE: Source = { origin: 'system', runtime: 'custom' }

const TYPE = /^(?:execution|system|ui|integration)(?:\.[A-Za-z0-9_-]+)+$/
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/
// oxlint-disable-next-line no-control-regex -- ids with characters that steer a terminal or turn text round
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/

export const MAX_RUN_ID_CHARS = 512

/** Whether a text can be the id of a run. */
export const isRunId = (text: string): boolean =>
  text !== '' && text.length <= MAX_RUN_ID_CHARS && !CONTROL.test(text) && text.isWellFormed()

function refuse(field: string, found: unknown, expected: string): never {
  const what = describe(field, found)
  throw new ClewError(
    'bad_envelope',
    `The envelope field ${field} is ${what}`,
    `It must be ${expected}; correct it and send the event again, nothing was written.`,
    { field, found: what, expected },
  )
}

/** Says what was found; repeats the text itself only of fields that hold names, never secrets (P3). */
function describe(field: string, value: unknown): string {
  if (value === undefined) return 'missing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'number' || typeof value === 'boolean') return `the ${typeof value} ${value}`
  if (typeof value !== 'string') return `a value of type ${typeof value}`
  if (value === '') return 'an empty string'
  if (/type$|origin$/i.test(field) && /^[\w.-]{1,40}$/.test(value)) return `"${value}"`
  return `a string of ${value.length} characters`
}

function checkId(field: string, value: unknown, most: number): string {
  if (typeof value !== 'string' || value === '' || value.length > most)
    refuse(field, value, `a string of 1 to ${most} characters`)
  if (CONTROL.test(value) || !value.isWellFormed())
    refuse(field, value, 'text without control characters or broken surrogates')
  return value
}

// Most events are of the run of the one before, caused by it and from the same source: what was looked at is not looked at again.
let lastRunId: string | undefined
let lastEventId: string | undefined
let lastSource: { readonly given: unknown; readonly checked: Source } | undefined

const isEventId = (value: unknown): value is string =>
  typeof value === 'string' && (value === lastEventId || isUuid(value))

function checkRunId(field: string, value: unknown): string {
  if (value === undefined || value !== lastRunId) lastRunId = checkId(field, value, MAX_RUN_ID_CHARS)
  return lastRunId
}

/** E4: refuses a bad envelope by field, found and expected. Spelling of the fields is the caller's. */
export interface CheckedEnvelope {
  eventId: string | undefined
  eventType: string
  timestamp: string | undefined
  source: Source
  correlationId: string
  causationId: string | null | undefined
  payload: Payload
  /** The payload arrived as JSON, in which rich values are tagged already. */
  isJson: boolean
}

const CAMEL = {
  eventId: 'eventId',
  eventType: 'eventType',
  timestamp: 'timestamp',
  source: 'source',
  correlationId: 'correlationId',
  causationId: 'causationId',
  payload: 'payload',
  ledger: 'ledger',
} as const
type Spelling = Record<keyof typeof CAMEL, string>
const SNAKE: Spelling = {
  ...CAMEL,
  eventId: 'event_id',
  eventType: 'event_type',
  correlationId: 'correlation_id',
  causationId: 'causation_id',
}
const CAMEL_FIELDS: ReadonlySet<string> = new Set(Object.values(CAMEL))
const SNAKE_FIELDS: ReadonlySet<string> = new Set(Object.values(SNAKE))

export const checkInput = (input: unknown): CheckedEnvelope => check(input, CAMEL, CAMEL_FIELDS, false)
/** The same for the JSON of E1. */
export const checkWire = (input: unknown): CheckedEnvelope => check(input, SNAKE, SNAKE_FIELDS, true)

function rightSpelling(key: string, names: Spelling): string {
  const other = Object.entries(names === CAMEL ? SNAKE : CAMEL).find(([, name]) => name === key)
  return other
    ? `spelled ${names[other[0] as keyof Spelling]} here`
    : 'absent: put framework detail inside payload'
}

function check(
  input: unknown,
  names: Spelling,
  fields: ReadonlySet<string>,
  isJson: boolean,
): CheckedEnvelope {
  if (!isObject(input)) refuse('event', input, 'an object with the fields of the envelope')
  for (const key in input)
    if (!fields.has(key)) refuse(key.slice(0, 60), input[key], rightSpelling(key, names))

  const eventType = input[names.eventType]
  if (typeof eventType !== 'string' || eventType.length > 200 || !TYPE.test(eventType))
    refuse(names.eventType, eventType, 'a dotted name under execution., system., ui. or integration.')
  const eventId = input[names.eventId]
  if (eventId !== undefined && !isEventId(eventId)) refuse(names.eventId, eventId, 'a UUID')
  const causationId = input[names.causationId]
  if (causationId !== undefined && causationId !== null && !isEventId(causationId))
    refuse(names.causationId, causationId, 'the UUID of the causing event, or null')
  lastEventId = eventId
  const payload = input[names.payload] ?? {}
  if (!isObject(payload)) refuse(names.payload, payload, 'an object')
  return {
    eventId,
    eventType,
    timestamp: checkTimestamp(names.timestamp, input[names.timestamp]),
    source: checkSource(names.source, input[names.source]),
    correlationId: checkRunId(names.correlationId, input[names.correlationId]),
    causationId,
    payload,
    isJson,
  }
}

function checkTimestamp(field: string, value: unknown): string | undefined {
  if (value === undefined) return undefined
  if (value instanceof Date && !Number.isNaN(value.getTime())) return value.toISOString()
  if (typeof value !== 'string' || !TIMESTAMP.test(value) || Number.isNaN(Date.parse(value)))
    refuse(field, value, 'an RFC 3339 time such as 2026-11-15T07:17:00.123Z')
  return value
}

function checkSource(field: string, value: unknown): Source {
  if (value === undefined) return DEFAULT_SOURCE
  if (value === lastSource?.given) return lastSource.checked
  if (!isObject(value)) refuse(field, value, 'an object { origin, runtime }')
  const { origin, runtime } = value
  for (const key in value)
    if (key !== 'origin' && key !== 'runtime')
      refuse(`${field}.${key.slice(0, 60)}`, value[key], 'absent: source has origin and runtime')
  if (!ORIGINS.includes(origin as Origin)) refuse(`${field}.origin`, origin, `one of ${ORIGINS.join(', ')}`)
  const checked = { origin: origin as Origin, runtime: checkId(`${field}.runtime`, runtime, 200) }
  if (Object.isFrozen(value)) lastSource = { given: value, checked }
  return checked
}

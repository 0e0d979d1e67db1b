import { ADMINISTRATION_EVENTS } from './administration-events.ts'
import { EXECUTION_EVENTS } from './execution-events.ts'
import { INTEGRATION_EVENTS } from './integration-events.ts'
import type { Primitive } from './primitive.ts'
import { RUN_EVENTS } from './run-events.ts'
import { UI_EVENTS } from './ui-events.ts'
import type { ClewEvent, EventInput, Payload } from '../event/envelope.ts'
import { ClewError } from '../errors.ts'
import { formatPath } from '../json.ts'
import type { JsonSchema, TypeOf } from './schema.ts'

/** All own event types (E3), by family. */
const TYPES = {
  ...EXECUTION_EVENTS,
  ...RUN_EVENTS,
  ...ADMINISTRATION_EVENTS,
  ...UI_EVENTS,
  ...INTEGRATION_EVENTS,
}

export type OwnEventType = keyof typeof TYPES
export type { StateOperation } from './checkpoint-schema.ts'
/** Payload of an own type as it is recorded: known fields with their types, and any further field (E3). */
export type PayloadOf<T extends OwnEventType> = TypeOf<(typeof TYPES)[T][1]>

/** Fields that the schema names, without the index signature: reading a misspelt field does not compile. */
type KnownFields<T> = { [K in keyof T as string extends K ? never : K]: T[K] }

type OwnEvents = { readonly [T in OwnEventType]: ClewEvent<T, KnownFields<PayloadOf<T>>> }
/** An event of an own type whose payload is there; a switch over `eventType` knows its fields. */
export type OwnEvent<T extends OwnEventType = OwnEventType> = OwnEvents[T]

/** A payload, or what is left of an erased one: no field. */
type Erasable<T> = T | { readonly [K in keyof T]?: undefined }
type ErasableEvents = { readonly [T in OwnEventType]: ClewEvent<T, Erasable<KnownFields<PayloadOf<T>>>> }
/** An event of an own type whose payload may have been erased: every field may be missing. */
export type ErasableEvent<T extends OwnEventType = OwnEventType> = ErasableEvents[T]

type KeyOf<P> = P extends unknown ? keyof P : never
type FieldOf<P, K> = P extends unknown ? (K extends keyof P ? P[K] : never) : never
/** Known fields of several own types. Each may be missing: not every type has it, and the payload may be erased. */
export type FieldsOf<T extends OwnEventType> = {
  readonly [K in KeyOf<KnownFields<PayloadOf<T>>>]?: FieldOf<KnownFields<PayloadOf<T>>, K> | undefined
}
/** An event of one of several own types, for code that reads their fields without a switch. */
export type EventOf<T extends OwnEventType> = ClewEvent<T, FieldsOf<T>>

export const OWN_EVENT_TYPES = Object.keys(TYPES) as OwnEventType[]
const OWN: ReadonlySet<string> = new Set(OWN_EVENT_TYPES)

export const isOwnEventType = (type: string): type is OwnEventType => OWN.has(type)

/** The event with the type of its payload, which was checked on append; undefined for foreign types and erased payloads. */
export const asOwn = (event: ClewEvent): OwnEvent | undefined =>
  OWN.has(event.eventType) && event.ledger.erased !== true ? (event as OwnEvent) : undefined

/** The same for folds in which an erased event still counts by its type. */
export const asErasable = (event: ClewEvent): ErasableEvent | undefined =>
  OWN.has(event.eventType) ? (event as ErasableEvent) : undefined

/** Whether an event has one of these own types, so that its fields are known; its payload may have been erased. */
export const isOwn = <T extends OwnEventType>(
  event: ClewEvent,
  ...types: readonly T[]
): event is EventOf<T> => (types as readonly string[]).includes(event.eventType)

declare const FOREIGN: unique symbol
/** Name of an event type that is not in the catalogue, made with `foreignType`. */
export type ForeignType = `${'execution' | 'system' | 'ui' | 'integration'}.${string}` & {
  readonly [FOREIGN]: true
}

/** Marks a name outside the catalogue as intended, not misspelt: `record` takes own types and these. */
export const foreignType = <const Name extends `${'execution' | 'system' | 'ui' | 'integration'}.${string}`>(
  name: Name extends OwnEventType ? never : Name,
): ForeignType => name as unknown as ForeignType

/** Input of `record`: the payload has the fields of the event type. */
export type RecordInput<T extends OwnEventType | ForeignType = OwnEventType | ForeignType> = Omit<
  EventInput,
  'eventType' | 'payload'
> & { readonly eventType: T } & PayloadField<T extends OwnEventType ? PayloadOf<T> : Payload>

type PayloadField<Body> =
  Partial<Body> extends Body ? { readonly payload?: Body | undefined } : { readonly payload: Body }

/** Every event type has exactly one primitive: its own, or that of its prefix. */
export function primitiveOf(type: string): Primitive {
  if (isOwnEventType(type)) return TYPES[type][0]
  if (type.startsWith('execution.')) return 'execution.state_change'
  if (type.startsWith('ui.')) return 'ui.interaction'
  if (type.startsWith('integration.')) return 'integration.call'
  return 'system.workflow_event'
}

/** JSON Schema of each own payload, for documentation and for other languages. */
export function payloadSchemas(): Record<OwnEventType, JsonSchema> {
  const entries = OWN_EVENT_TYPES.map((type) => [type, TYPES[type][1].json])
  return Object.fromEntries(entries) as Record<OwnEventType, JsonSchema>
}

/** Refuses a payload of an own type whose known fields have wrong types: folds rely on them. */
export function assertPayload(type: string, payload: unknown): void {
  if (!isOwnEventType(type)) return
  const fault = TYPES[type][1].check(payload)
  if (!fault) return
  const field = formatPath(fault.path).replace('$', 'payload')
  throw new ClewError(
    'bad_payload',
    `The field ${field} of ${type} is not ${fault.expected}`,
    'Correct it, or use an event type of your own; nothing was written.',
    { field, eventType: type, expected: fault.expected },
  )
}

const LEASED = /^(?:execution\.|system\.(?:workflow_|state_transitioned|task_))/
const UNLEASED: ReadonlySet<string> = new Set([
  'system.workflow_submitted',
  'system.workflow_interrupted',
  'system.workflow_superseded',
  'system.workflow_forked',
])

/** R9: execution and life-cycle events of a leased run need the lease's epoch; answers and administration do not. */
export const needsEpoch = (type: string): boolean => LEASED.test(type) && !UNLEASED.has(type)

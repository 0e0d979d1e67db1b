import { ADMINISTRATION_EVENTS } from './catalogue/administration-events.ts'
import { EXECUTION_EVENTS } from './catalogue/execution-events.ts'
import { INTEGRATION_EVENTS } from './catalogue/integration-events.ts'
import type { Primitive } from './catalogue/primitive.ts'
import { RUN_EVENTS } from './catalogue/run-events.ts'
import { UI_EVENTS } from './catalogue/ui-events.ts'
import { ClewError } from './errors.ts'
import { formatPath } from './json.ts'
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
export type PayloadOf<T extends OwnEventType> = TypeOf<(typeof TYPES)[T][1]>

export const OWN_EVENT_TYPES = Object.keys(TYPES) as OwnEventType[]

export const isOwnEventType = (type: string): type is OwnEventType => Object.hasOwn(TYPES, type)

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
  'system.workflow_interrupted',
  'system.workflow_superseded',
  'system.workflow_forked',
])

/** R9: execution and life-cycle events of a leased run need the lease's epoch; answers and administration do not. */
export const needsEpoch = (type: string): boolean => LEASED.test(type) && !UNLEASED.has(type)

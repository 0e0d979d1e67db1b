import type { JsonObject, JsonValue, Payload } from '@clew/ledger'
import { isObject, plainText, refuse } from '../foreign.ts'
import { type AgUiEvent, KEPT, KEPT_OTHER } from './ag-ui-event.ts'
import type { MapperState } from './mapper-state.ts'

/** An event as it came, and what is known by then. */
export interface Native {
  readonly scene: MapperState
  readonly event: AgUiEvent
}

const BASE: ReadonlySet<string> = new Set(['type', 'timestamp'])

/** Fields that no mapping has used, in an object of their own: under their names they might mean something else here. */
export function others(found: JsonObject, ...taken: readonly string[]): { agUi?: JsonObject } {
  const left: JsonObject = {}
  for (const [key, value] of Object.entries(found))
    if (!BASE.has(key) && !taken.includes(key))
      Object.defineProperty(left, key, { value, writable: true, enumerable: true, configurable: true })
  return Object.keys(left).length > 0 ? { agUi: left } : {}
}

export const needText = (event: AgUiEvent, field: string): string =>
  plainText(event[field]) ?? refuse(field, event[field], 'text')

/** Step of an event: that of the named subagent, else the innermost open step. */
export function placeOf({ scene, event }: Native): Payload {
  const subagent = plainText(event['subagentRunId'])
  const step = (subagent === undefined ? undefined : scene.subagents.get(subagent)) ?? scene.steps.at(-1)
  return step ? { stepId: step.stepId } : {}
}

export const listOf = (value: JsonValue | undefined): JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : []

/** Kept whole; `toAgUi` gives it back as it came. */
export function keep(native: Native): void {
  const { scene, event } = native
  const { type } = event
  const kept = Object.hasOwn(KEPT, type) ? (KEPT[type] as string) : KEPT_OTHER
  scene.add({
    type: kept,
    key: ['kept', type, scene.nth(`kept ${type}`)],
    origin: kept.startsWith('ui.') ? 'ui' : 'agent',
    payload: { ...placeOf(native), event },
  })
}

import type { JsonValue } from '@clew/ledger'
import { isObject } from '../foreign.ts'
import { applyPatch, parsePointer } from './json-patch.ts'
import type { Native } from './native.ts'

/** A state of named parts as the operations that give it; false when it has no names. */
export function setState(native: Native): boolean {
  const { scene, event } = native
  const snapshot = event['snapshot']
  if (!isObject(snapshot)) return false
  const before = isObject(scene.state) ? Object.keys(scene.state) : []
  const operations: JsonValue[] = before
    .filter((channel) => !Object.hasOwn(snapshot, channel))
    .map((channel) => ({ op: 'remove', channel }))
  for (const [channel, value] of Object.entries(snapshot)) operations.push({ op: 'set', channel, value })
  scene.state = snapshot
  tell(native, operations, { snapshot: true })
  return true
}

/** A patch of the state as operations on its named parts. One that does not fit is refused. */
export function changeState(native: Native): boolean {
  const { scene, event } = native
  const { delta } = event
  if (!Array.isArray(delta)) return false
  const before = scene.state ?? {}
  const after = applyPatch(before, delta)
  if (!isObject(before) || !isObject(after)) return false
  const operations: JsonValue[] = []
  for (const channel of touched(delta, Object.keys({ ...before, ...after }))) {
    const items = appended(delta, channel)
    if (items && Array.isArray(before[channel])) operations.push({ op: 'append', channel, items })
    else if (Object.hasOwn(after, channel))
      operations.push({ op: 'set', channel, value: after[channel] as JsonValue })
    else operations.push({ op: 'remove', channel })
  }
  scene.state = after
  tell(native, operations, { delta })
  return true
}

function tell({ scene }: Native, operations: JsonValue[], more: object): void {
  const nth = scene.nth('state')
  scene.add({
    type: 'system.state_transitioned',
    key: ['state', nth],
    origin: 'agent',
    payload: { superstep: nth + 1, operations, ...more },
  })
}

/** The parts that a patch speaks of; all of them when it speaks of the whole. */
function touched(delta: readonly JsonValue[], all: readonly string[]): Set<string> {
  const channels = new Set<string>()
  for (const operation of delta) {
    if (!isObject(operation) || operation['op'] === 'test') continue
    const moved = operation['op'] === 'move' ? [operation['path'], operation['from']] : [operation['path']]
    for (const path of moved) {
      const [channel] = parsePointer(path, 'delta')
      if (channel === undefined) return new Set(all)
      channels.add(channel)
    }
  }
  return channels
}

/** Items that a delta appends to one channel; undefined if it changes the channel in any other way. */
function appended(delta: readonly JsonValue[], channel: string): JsonValue[] | undefined {
  const items: JsonValue[] = []
  for (const operation of delta) {
    if (!isObject(operation)) return undefined
    const [name, at, ...further] = parsePointer(operation['path'], 'delta')
    const isOther = name !== channel && operation['op'] !== 'move'
    if (isOther) continue
    if (operation['op'] !== 'add' || at !== '-' || further.length > 0) return undefined
    items.push(operation['value'] ?? null)
  }
  return items.length > 0 ? items : undefined
}

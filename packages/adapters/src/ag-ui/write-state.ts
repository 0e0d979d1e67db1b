import {
  asErasable,
  checkpointOf,
  type ClewEvent,
  createStateBuilder,
  type JsonValue,
  type StateOperation,
} from '@clew/ledger'
import { isObject } from '../foreign.ts'

type Tell = (type: string, fields: { [key: string]: JsonValue }) => void

/** The state of a run as a snapshot and patches (RFC 6902) of it: an event costs what it changes. */
export interface StateWriter {
  /** A stream begins with the state, if there is one by then. */
  begin(tell: Tell): void
  apply(event: ClewEvent, tell: Tell): void
}

/** Shape of a channel's value, as far as a patch needs it. */
type Shape = 'list' | 'object' | 'other'

const shapeOf = (value: unknown): Shape =>
  Array.isArray(value) ? 'list' : isObject(value) ? 'object' : 'other'

export function createStateWriter(base?: Readonly<Record<string, unknown>>): StateWriter {
  const builder = createStateBuilder(
    base && { state: base, versions: {}, superstep: 0, next: [], createdAt: '', checkpointId: null },
  )
  let shapes: Map<string, Shape> | undefined
  /** Outputs of steps of this superstep, to which operations may refer. */
  const written = new Map<string, unknown>()

  function snapshot(tell: Tell): void {
    const state = builder.view()?.state ?? base
    if (state === undefined) return
    shapes = new Map(Object.entries(state).map(([channel, value]) => [channel, shapeOf(value)]))
    tell('STATE_SNAPSHOT', { snapshot: state as JsonValue })
  }

  function patch(operations: readonly StateOperation[], tell: Tell, told?: JsonValue): void {
    if (!shapes) return snapshot(tell)
    const delta: JsonValue[] = []
    for (const given of operations) {
      const operation = toLiteral(given, written)
      if (operation) delta.push(...toPatch(shapes, operation))
    }
    if (delta.length > 0) tell('STATE_DELTA', { delta: told ?? delta })
  }

  return {
    begin: snapshot,
    apply(event, tell) {
      const own = asErasable(event)
      if (own?.eventType === 'execution.step_completed' && own.payload.stepId !== undefined)
        written.set(own.payload.stepId, own.payload.output)
      const checkpoint = checkpointOf(event)
      const transition = own?.eventType === 'system.state_transitioned' ? own.payload : undefined
      builder.apply(event)
      if (!checkpoint && !transition) return
      const operations = checkpoint?.operations ?? transition?.operations ?? []
      const { delta, snapshot: isWhole } = event.payload
      if (checkpoint?.state || checkpoint?.from || isWhole === true) snapshot(tell)
      else patch(operations, tell, transition && Array.isArray(delta) ? (delta as JsonValue[]) : undefined)
      if (checkpoint) written.clear()
    },
  }
}

/** The operation with its value in place of `from`; undefined when that step wrote nothing to the channel. */
function toLiteral(
  operation: StateOperation,
  written: ReadonlyMap<string, unknown>,
): StateOperation | undefined {
  if (operation.op === 'remove' || operation.from === undefined) return operation
  const { channel, from, op } = operation
  const output = written.get(from)
  if (!isObject(output) || !Object.hasOwn(output, channel)) return undefined
  const value: JsonValue | undefined = output[channel]
  if (op === 'set') return { op, channel, value }
  if (op === 'append') return { op, channel, items: Array.isArray(value) ? value : [value] }
  return { op, channel, set: isObject(value) ? value : {}, remove: operation.remove }
}

const pointer = (...names: readonly string[]): string =>
  names.map((name) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')

/** One closed operation as a patch; `shapes` is brought up to date with it. */
function toPatch(shapes: Map<string, Shape>, operation: StateOperation): JsonValue[] {
  const { channel, op } = operation
  const before = shapes.get(channel)
  const whole = (value: unknown): JsonValue[] => {
    shapes.set(channel, shapeOf(value))
    return [{ op: 'add', path: pointer(channel), value: (value ?? null) as JsonValue }]
  }
  switch (op) {
    case 'set':
      return whole(operation.value)
    case 'append': {
      const items = (operation.items ?? []) as JsonValue[]
      if (before !== 'list') return whole(items)
      return items.map((value) => ({ op: 'add', path: `${pointer(channel)}/-`, value: value ?? null }))
    }
    case 'patch': {
      const { set = {}, remove = [] } = operation
      if (before !== 'object') return whole(set)
      // Whether a name is there to be removed is not known here; set to null first, it is.
      const removed = remove.flatMap((name) => [
        { op: 'add', path: pointer(channel, name), value: null },
        { op: 'remove', path: pointer(channel, name) },
      ])
      const added = Object.entries(set).map(([name, value]) => ({
        op: 'add',
        path: pointer(channel, name),
        value: (value ?? null) as JsonValue,
      }))
      return [...removed, ...added]
    }
    case 'remove':
      return shapes.delete(channel) ? [{ op: 'remove', path: pointer(channel) }] : []
  }
}

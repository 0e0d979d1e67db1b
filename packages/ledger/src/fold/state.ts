import { asErasable, type StateOperation } from '../catalogue/catalogue.ts'
import type { ClewEvent } from '../event/envelope.ts'
import { isObject, setKey } from '../json.ts'
import { type Checkpoint, checkpointOf } from './checkpoint.ts'

/** State of a run at a superstep, from which it can go on. What a ledger gives is frozen. */
export interface RunState {
  readonly state: Readonly<Record<string, unknown>>
  /** How often each channel was changed: 1 for the first time. */
  readonly versions: Readonly<Record<string, number>>
  readonly superstep: number
  readonly next: readonly string[]
  readonly createdAt: string
  readonly checkpointId: string | null
}

/**
 * Folds the state of a run one event after the other. An event costs what it changes, however large the state is:
 * lists and objects that were made here grow in place, until `view` hands them out; from then on the next change
 * copies them once.
 */
export interface StateBuilder {
  apply(event: ClewEvent): void
  /** The superstep that the state would have with this event applied. */
  superstepWith(event: ClewEvent): number
  /** Never changed afterwards; shares its values with the events they came from. Null before the first state. */
  view(): RunState | null
}

/** `base` is the state that a checkpoint's `from` speaks of; without it such a state begins empty. */
export function createStateBuilder(base: RunState | null = null): StateBuilder {
  let state: Record<string, unknown> = {}
  let versions: Record<string, number> = {}
  let initials: Readonly<Record<string, unknown>> = {}
  let place: Pick<RunState, 'superstep' | 'next' | 'createdAt' | 'checkpointId'> | null = null
  /** Channels whose list or object this builder made and has not handed out, so that it can change them in place. */
  const owned = new Set<string>()
  const written = new Map<string, unknown>()

  function begin(whole: RunState['state'], counts: RunState['versions']): void {
    state = { ...whole }
    versions = { ...counts }
    owned.clear()
  }

  function change(operation: StateOperation): void {
    const { channel } = operation
    const literal = toLiteral(operation, written)
    if (!literal) return
    applyInPlace(state, literal, owned.has(channel))
    if (literal.op === 'remove') addInitial(channel)
    if (literal.op === 'append' || literal.op === 'patch') owned.add(channel)
    else owned.delete(channel)
    setKey(versions, channel, (Object.hasOwn(versions, channel) ? (versions[channel] as number) : 0) + 1)
  }

  function addInitial(channel: string): void {
    if (Object.hasOwn(initials, channel) && !Object.hasOwn(state, channel))
      setKey(state, channel, initials[channel])
  }

  function pass(checkpoint: Checkpoint): void {
    if (checkpoint.state) begin(checkpoint.state, checkpoint.versions)
    else {
      if (checkpoint.from) begin(base?.state ?? {}, base?.versions ?? {})
      initials = { ...initials, ...checkpoint.initial }
      for (const channel of Object.keys(checkpoint.initial)) addInitial(channel)
      for (const operation of checkpoint.operations) change(operation)
    }
    written.clear()
    const { superstep = place?.superstep ?? 0, next, createdAt, id } = checkpoint
    place = { superstep, next, createdAt, checkpointId: id }
  }

  return {
    apply(event) {
      const own = asErasable(event)
      if (own?.eventType === 'system.state_transitioned') {
        const { operations = [], superstep = place?.superstep ?? 0 } = own.payload
        for (const operation of operations) change(operation)
        place = { next: [], checkpointId: null, ...place, superstep, createdAt: own.timestamp }
        return
      }
      if (own?.eventType === 'execution.step_completed' && own.payload.stepId !== undefined)
        written.set(own.payload.stepId, own.payload.output)
      const checkpoint = checkpointOf(event)
      if (checkpoint) pass(checkpoint)
    },
    superstepWith(event) {
      const own = asErasable(event)
      const given =
        own?.eventType === 'system.state_transitioned'
          ? own.payload.superstep
          : checkpointOf(event)?.superstep
      return given ?? place?.superstep ?? 0
    },
    view() {
      if (!place) return null
      owned.clear()
      const { superstep, next, createdAt, checkpointId } = place
      return { state: { ...state }, versions: { ...versions }, superstep, next, createdAt, checkpointId }
    },
  }
}

/** The operation with its value in place of `from`; undefined when that step wrote nothing to the channel. */
function toLiteral(
  operation: StateOperation,
  written: ReadonlyMap<string, unknown>,
): StateOperation | undefined {
  if (operation.op === 'remove' || operation.from === undefined) return operation
  const { channel, from } = operation
  const output = written.get(from)
  if (!isObject(output) || !Object.hasOwn(output, channel)) return undefined
  const value = output[channel]
  switch (operation.op) {
    case 'set':
      return { op: 'set', channel, value }
    case 'append':
      return { op: 'append', channel, items: Array.isArray(value) ? (value as unknown[]) : [value] }
    case 'patch':
      return { op: 'patch', channel, set: isObject(value) ? value : {}, remove: operation.remove }
  }
}

function applyInPlace(state: Record<string, unknown>, operation: StateOperation, isOwned: boolean): void {
  const { channel } = operation
  const before = Object.hasOwn(state, channel) ? state[channel] : undefined
  switch (operation.op) {
    case 'set':
      setKey(state, channel, operation.value)
      break
    case 'append': {
      const given: unknown[] = Array.isArray(before) ? before : []
      const list = isOwned ? given : [...given]
      for (const item of operation.items ?? []) list.push(item)
      if (list !== before) setKey(state, channel, list)
      break
    }
    case 'patch': {
      const given: Record<string, unknown> = isObject(before) ? before : {}
      const patched = isOwned ? given : { ...given }
      for (const key of operation.remove ?? []) delete patched[key]
      for (const [key, value] of Object.entries(operation.set ?? {})) setKey(patched, key, value)
      if (patched !== before) setKey(state, channel, patched)
      break
    }
    case 'remove':
      delete state[channel]
      break
  }
}

/** One closed operation with its value, applied to a state: no merge rule, hence no user code, is needed (L1). */
export function applyOperation(
  state: Readonly<Record<string, unknown>>,
  operation: StateOperation,
): Record<string, unknown> {
  const next = { ...state }
  applyInPlace(next, operation, false)
  return next
}

/** The state a run had built, up to and including `superstep`; null before its first state. */
export function foldState(
  events: Iterable<ClewEvent>,
  superstep = Number.POSITIVE_INFINITY,
  base: RunState | null = null,
): RunState | null {
  const builder = createStateBuilder(base)
  for (const event of events) {
    if (builder.superstepWith(event) > superstep) break
    builder.apply(event)
  }
  return builder.view()
}

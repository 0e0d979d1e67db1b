import { isDeepStrictEqual } from 'node:util'
import { ClewError, findPlaceholderPlaces, type StateOperation } from '@clew/ledger'
import type { Channel, Channels, Merged, Written, WriteContext } from './channel.ts'
import { isPlain, frozenCopy, setOwn } from './frozen-copy.ts'

export type State = Readonly<Record<string, unknown>>
export type Versions = Readonly<Record<string, number>>

/** Write of one step of a superstep. */
export interface StepWrite {
  readonly stepId: string
  /** Node, for errors; default: the step id. */
  readonly node?: string | undefined
  readonly write: Readonly<Record<string, unknown>>
  /** The write was returned by `prepareWrite` and is not prepared again. */
  readonly isPrepared?: boolean | undefined
}

export interface MergedState {
  /** A new object, or the very same one when nothing changed; channels that did not change keep their value. */
  readonly state: State
  readonly operations: readonly StateOperation[]
}

export interface WriteFrom extends Pick<WriteContext, 'nextId'> {
  /** Writer, for errors. */
  readonly node: string
  /** The write comes from outside, not from a node. */
  readonly isInput?: boolean | undefined
}

/**
 * A node's write as it is to be recorded: owned, checked, with ids on all messages. What was prepared is recorded as the
 * step's output and then merged; so operations can refer to it by `from`.
 */
export function prepareWrite(
  channels: Channels,
  write: unknown,
  { node, nextId, isInput = false }: WriteFrom,
): State {
  if (!isPlain(write)) throw noWrite(write, node, isInput)
  const prepared: Record<string, unknown> = {}
  let isSame = true
  for (const [name, value] of Object.entries(write)) {
    const channel = channelOf(channels, name, node, isInput)
    if (value === undefined) {
      isSame = false
      continue
    }
    const own = channel.prepare(value, { nextId, where: `${node}.${name}` })
    isSame &&= own === value
    setOwn(prepared, name, own)
  }
  // Also where all parts are owned, the object around them may still be the node's.
  return isSame && Object.isFrozen(write) ? write : Object.freeze(prepared)
}

/** Merges all writes of a superstep, given in order of node declaration, by the rules of their channels. */
export function mergeWrites(
  channels: Channels,
  state: State,
  writes: readonly StepWrite[],
  { nextId }: Pick<WriteContext, 'nextId'>,
): MergedState {
  const prepared: readonly PreparedStep[] = writes.map((each) =>
    each.isPrepared ? each : prepareStep(channels, each, nextId),
  )
  const operations: StateOperation[] = []
  const next: Record<string, unknown> = { ...state }
  for (const name of Object.keys(channels)) {
    const channel = channels[name] as Channel<unknown, unknown>
    const written: Written[] = []
    for (const { stepId, node = stepId, write, hasNewIds = false } of prepared)
      if (Object.hasOwn(write, name)) {
        // Ids that are handed out only here are not in the record of the step.
        const isRecorded = !hasNewIds || channel.kind !== 'messages'
        written.push({ stepId, node, value: write[name], isRecorded })
      }
    if (written.length === 0) continue
    const before = Object.hasOwn(state, name) ? state[name] : channel.initial
    const merged: Merged<unknown> = channel.merge(name, before, written)
    setOwn(next, name, merged.value)
    for (const operation of merged.operations) operations.push(operation)
  }
  return operations.length === 0 ? { state, operations } : { state: Object.freeze(next), operations }
}

interface PreparedStep extends StepWrite {
  readonly hasNewIds?: boolean | undefined
}

function prepareStep(
  channels: Channels,
  { stepId, node = stepId, write }: StepWrite,
  nextId: () => string,
): PreparedStep {
  let hasNewIds = false
  const giveId = (): string => {
    hasNewIds = true
    return nextId()
  }
  const prepared = prepareWrite(channels, write, { node, nextId: giveId })
  return { stepId, node, write: prepared, hasNewIds }
}

/** 1 for the first production of a channel, +1 for each operation on it. */
export function advanceVersions(versions: Versions, operations: readonly StateOperation[]): Versions {
  const next: Record<string, number> = { ...versions }
  for (const { channel } of operations)
    setOwn(next, channel, (Object.hasOwn(next, channel) ? (next[channel] as number) : 0) + 1)
  return Object.freeze(next)
}

/** The state before anything was written. */
export const initialState = (channels: Channels): State => restoreState(channels, {})

/**
 * The state that was folded from a record: a copy. A channel that the record lacks has its initial value. So has one that
 * nothing was written to, where the record has the same one, or has it redacted: merge rules know it by identity.
 */
export function restoreState(channels: Channels, folded: State, versions?: Versions): State {
  const state: Record<string, unknown> = {}
  for (const [name, { initial }] of Object.entries(channels)) {
    const value = folded[name]
    const isInitial =
      !Object.hasOwn(folded, name) ||
      (versions !== undefined &&
        !Object.hasOwn(versions, name) &&
        (isDeepStrictEqual(value, initial) || findPlaceholderPlaces(value).length > 0))
    setOwn(state, name, isInitial ? initial : frozenCopy(value, name))
  }
  return Object.freeze(state)
}

/** Initial values for the record: those of channels that the state does not have yet. */
export function initialsFor(channels: Channels, state: State): State | undefined {
  const missing = Object.entries(channels).filter(
    ([name, { initial }]) => initial !== undefined && !Object.hasOwn(state, name),
  )
  return missing.length > 0
    ? Object.fromEntries(missing.map(([name, { initial }]) => [name, initial]))
    : undefined
}

function noWrite(value: unknown, node: string, isInput: boolean): ClewError {
  const what = describe(value)
  return isInput
    ? new ClewError(
        'bad_write',
        `The ${node} is ${what} where an object was expected`,
        'Give an object of channels and what to write to them; nothing was changed.',
      )
    : new ClewError(
        'bad_write',
        `Node "${node}" returned ${what} where a write was expected`,
        'Return an object of channels and what to write to them, a command(…), or nothing.',
        { node },
      )
}

function channelOf(
  channels: Channels,
  name: string,
  node: string,
  isInput: boolean,
): Channel<unknown, unknown> {
  if (Object.hasOwn(channels, name)) return channels[name] as Channel<unknown, unknown>
  const known = Object.keys(channels).join(', ')
  throw new ClewError(
    'bad_write',
    `${isInput ? `The ${node} names` : `Node "${node}" wrote to`} "${name}", which is no channel of this graph`,
    `Its channels are: ${known}.`,
    { node, channel: name, known },
  )
}

function describe(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object' ? 'an instance of a class' : `a ${typeof value}`
}

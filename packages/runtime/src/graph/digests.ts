import { applyOperation, type StateOperation } from '@clew/ledger'
import type { Channel, Channels } from './channel.ts'
import type { State, StepWrite } from './merge-writes.ts'
import { isPlain, setOwn } from './frozen-copy.ts'

/** One digest per channel: together they stand for the state that a node was given. */
export type Digests = Readonly<Record<string, string>>
/** Hex text, equal for equal values. */
export type DigestOf = (value: unknown) => string

/**
 * A digest depends on the value alone, not on the way it came about, so a state that was folded from a checkpoint has
 * the digests of the run that wrote it. Yet a change costs what it changes: a list is a chain over its items, an object
 * under a merge rule the sum (xor) of its fields.
 */
export function digestsOf(channels: Channels, state: State, digestOf: DigestOf): Digests {
  const digests: Record<string, string> = {}
  for (const [name, channel] of Object.entries(channels))
    setOwn(
      digests,
      name,
      digestValue(channel, Object.hasOwn(state, name) ? state[name] : channel.initial, digestOf),
    )
  return Object.freeze(digests)
}

/** The digests after a superstep. `state` is the one before it, `writes` what the operations' `from` speaks of. */
export function advanceDigests(
  channels: Channels,
  digests: Digests,
  { state, operations, writes }: Superstep,
  digestOf: DigestOf,
): Digests {
  const next: Record<string, string> = { ...digests }
  let current = state
  for (const operation of resolveOperations(operations, writes)) {
    const { op, channel: name } = operation
    const channel = channels[name]
    if (!channel) continue
    const before = Object.hasOwn(current, name) ? current[name] : channel.initial
    const known = next[name]
    // The list of a chain is not needed again: it goes on from the digest.
    if (op === 'append' && isChained(channel, before) && known !== undefined) {
      next[name] = chain(known, operation.items ?? [], digestOf)
      continue
    }
    const after = applied(channel, before, operation)
    next[name] =
      op === 'patch' && isSummed(channel, before) && known !== undefined
        ? resum(known, before, operation, digestOf)
        : digestValue(channel, after, digestOf)
    // Only what several operations changed is looked at again.
    if (operations.length > 1) current = { ...current, [name]: after }
  }
  return Object.freeze(next)
}

export interface Superstep {
  readonly state: State
  readonly operations: readonly StateOperation[]
  readonly writes: readonly Pick<StepWrite, 'stepId' | 'write'>[]
}

/** Each operation with its value in place of `from`. */
export function resolveOperations(
  operations: readonly StateOperation[],
  writes: Superstep['writes'],
): readonly StateOperation[] {
  const writeOf = (from: string) => writes.findLast(({ stepId }) => stepId === from)?.write
  return operations.map((operation): StateOperation => {
    if (operation.op === 'remove' || operation.from === undefined) return operation
    const { op, channel, from } = operation
    const value = writeOf(from)?.[channel]
    if (op === 'set') return { op, channel, value }
    if (op === 'append') return { op, channel, items: Array.isArray(value) ? value : [value] }
    return { op, channel, set: value as Record<string, unknown>, remove: operation.remove }
  })
}

function applied(channel: Channel<unknown, unknown>, before: unknown, operation: StateOperation): unknown {
  if (operation.op === 'remove') return channel.initial
  if (operation.op === 'set') return operation.value
  return applyOperation({ [operation.channel]: before }, operation)[operation.channel]
}

// A `last` channel is always set as a whole: one digest for all of it is the cheapest.
const isChained = ({ kind }: Channel<unknown, unknown>, value: unknown): value is unknown[] =>
  kind !== 'last' && Array.isArray(value)
const isSummed = (
  { kind }: Channel<unknown, unknown>,
  value: unknown,
): value is Readonly<Record<string, unknown>> => kind === 'custom' && isPlain(value)

function digestValue(channel: Channel<unknown, unknown>, value: unknown, digestOf: DigestOf): string {
  if (value === undefined) return ''
  if (isChained(channel, value)) return chain('', value, digestOf)
  if (!isSummed(channel, value)) return digestOf(value)
  return Object.entries(value).reduce((sum, [key, item]) => xor(sum, digestOf([key, item])), '0')
}

function chain(from: string, items: readonly unknown[], digestOf: DigestOf): string {
  return items.reduce<string>((digest, item) => digestOf([digest, item]), from)
}

function resum(
  from: string,
  before: Readonly<Record<string, unknown>>,
  { set = {}, remove = [] }: Extract<StateOperation, { op: 'patch' }>,
  digestOf: DigestOf,
): string {
  let sum = from
  const fields: Record<string, unknown> = { ...set }
  for (const key of new Set([...Object.keys(set), ...remove]))
    if (Object.hasOwn(before, key)) sum = xor(sum, digestOf([key, before[key]]))
  for (const [key, item] of Object.entries(fields)) sum = xor(sum, digestOf([key, item]))
  return sum
}

const xor = (a: string, b: string): string => (BigInt(`0x${a}`) ^ BigInt(`0x${b}`)).toString(16)

import type { StateOperation } from '@clew/ledger'
import type { Written } from './channel.ts'
import { isPlain } from './frozen-copy.ts'

/**
 * The smallest closed operation that turns one owned value into another, undefined where nothing changed. Parts are compared by identity: what a merge
 * rule passed on is the same object. `before` is undefined where the record holds nothing of the channel.
 */
export function changeOf(
  channel: string,
  before: unknown,
  after: unknown,
  written: Written,
): StateOperation | undefined {
  const { value, isRecorded, stepId } = written
  if (Object.is(before, after) || (Array.isArray(before) && sameItems(before, after))) return undefined
  if (isRecorded && Object.is(after, value)) return { op: 'set', channel, from: stepId }
  if (Array.isArray(before) && Array.isArray(after)) {
    const items = itemsAdded(before, after)
    if (items) {
      const isWritten = isRecorded && (sameItems(items, value) || (items.length === 1 && items[0] === value))
      return isWritten ? { op: 'append', channel, from: stepId } : { op: 'append', channel, items }
    }
  }
  if (isPlain(before) && isPlain(after)) {
    const { set, remove } = keysChanged(before, after)
    const changed = Object.keys(set)
    if (changed.length + remove.length === 0) return undefined
    // Half of the keys or more: the whole value says the same in one piece.
    if ((changed.length + remove.length) * 2 < Object.keys(after).length + 1)
      return isRecorded && remove.length === 0 && isPlain(value) && sameKeys(set, value)
        ? { op: 'patch', channel, from: stepId }
        : { op: 'patch', channel, ...(changed.length > 0 && { set }), ...(remove.length > 0 && { remove }) }
  }
  return { op: 'set', channel, value: after }
}

function itemsAdded(before: readonly unknown[], after: readonly unknown[]): unknown[] | undefined {
  if (after.length <= before.length) return undefined
  for (let i = 0; i < before.length; i++) if (!Object.is(before[i], after[i])) return undefined
  return after.slice(before.length)
}

const sameItems = (items: readonly unknown[], value: unknown): boolean =>
  Array.isArray(value) && items.length === value.length && items.every((item, i) => Object.is(item, value[i]))

type Fields = Readonly<Record<string, unknown>>

function keysChanged(before: Fields, after: Fields): { set: Record<string, unknown>; remove: string[] } {
  const set = Object.keys(after).filter(
    (key) => !Object.hasOwn(before, key) || !Object.is(before[key], after[key]),
  )
  return {
    set: Object.fromEntries(set.map((key) => [key, after[key]])),
    remove: Object.keys(before).filter((key) => !Object.hasOwn(after, key)),
  }
}

function sameKeys(set: Fields, value: Fields): boolean {
  const keys = Object.keys(set)
  return (
    keys.length === Object.keys(value).length &&
    keys.every((key) => Object.hasOwn(value, key) && Object.is(set[key], value[key]))
  )
}

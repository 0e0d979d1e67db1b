import type { StateOperation } from '@clew/ledger'
import { isObject, isSame, sizeOf, toPayload } from './rich-values.ts'

/**
 * The value of one channel as it is stored. Lists share their items with the checkpoints before: each knows how many
 * are its own, so that a thousand checkpoints of a growing list take the room of one.
 */
export type Cell =
  | { readonly kind: 'list'; readonly items: unknown[]; readonly length: number }
  | { readonly kind: 'value'; readonly value: unknown }

export const toCell = (stored: unknown): Cell =>
  Array.isArray(stored)
    ? { kind: 'list', items: stored as unknown[], length: stored.length }
    : { kind: 'value', value: stored }

/** The list grows later, and the one in the payload, which may be a step's output too, must not. */
const toOwnCell = (stored: unknown): Cell =>
  toCell(Array.isArray(stored) ? [...(stored as unknown[])] : stored)

export const cellValue = (cell: Cell): unknown =>
  cell.kind === 'value'
    ? cell.value
    : cell.length === cell.items.length
      ? cell.items
      : cell.items.slice(0, cell.length)

/** Grows the shared list where this cell is its end and it may be written to. */
function appendTo(cell: Cell | undefined, more: readonly unknown[]): Cell {
  const list = cell?.kind === 'list' ? cell : { items: [], length: 0 }
  const isEnd = list.items.length === list.length && !Object.isFrozen(list.items)
  const items = isEnd ? list.items : list.items.slice(0, list.length)
  for (const item of more) items.push(item)
  return { kind: 'list', items, length: list.length + more.length }
}

export function applyTo(cell: Cell | undefined, operation: StateOperation): Cell | undefined {
  switch (operation.op) {
    case 'set':
      return toOwnCell(operation.value)
    case 'append':
      return appendTo(cell, operation.items ?? [])
    case 'patch': {
      const before = cell?.kind === 'value' && isObject(cell.value) ? cell.value : {}
      const patched: Record<string, unknown> = { ...before }
      for (const key of operation.remove ?? []) delete patched[key]
      return { kind: 'value', value: Object.assign(patched, operation.set) }
    }
    case 'remove':
      return undefined
  }
}

export interface Change {
  readonly operation: StateOperation
  readonly cell: Cell
  /** Characters that are new, and by how many the value has grown. */
  readonly added: number
  readonly grown: number
}

/** Change from the previous value to `live`; undefined if they are equal. */
export function findChange(channel: string, cell: Cell | undefined, live: unknown): Change | undefined {
  if (cell?.kind === 'list' && Array.isArray(live) && live.length >= cell.length && isPrefix(cell, live)) {
    if (live.length === cell.length) return undefined
    if (cell.length > 0) {
      const items: unknown[] = []
      for (let i = cell.length; i < live.length; i++) items.push(toPayload(live[i], `${channel}[${i}]`))
      const added = sizeOf(items)
      return { operation: { op: 'append', channel, items }, cell: appendTo(cell, items), added, grown: added }
    }
  } else if (cell?.kind === 'value' && isSame(live, cell.value)) return undefined
  const value = toPayload(live, channel)
  const added = sizeOf(value)
  const next = toOwnCell(value)
  return {
    operation: { op: 'set', channel, value },
    cell: next,
    added,
    grown: added - (cell ? cellSize(cell) : 0),
  }
}

function isPrefix(cell: Cell & { kind: 'list' }, live: readonly unknown[]): boolean {
  for (let i = 0; i < cell.length; i++) if (!isSame(live[i], cell.items[i])) return false
  return true
}

const cellSize = (cell: Cell): number => sizeOf(cellValue(cell))

import type { StateOperation } from '@clew/ledger'
import type { Channel, Merged, Written, WriteContext } from './channel.ts'
import { assertMessage, type KeptMessage, type Message, type MessageRemoval } from './message.ts'
import { frozenCopy, freezeOwned } from './frozen-copy.ts'

export type MessageWrite = Message | MessageRemoval
type MessageWrites = MessageWrite | readonly MessageWrite[]

/**
 * A channel of messages: a new id is appended, a known one replaced in its place, `Message.remove(id)` takes it out.
 */
export function messages(
  initial: readonly KeptMessage[] = [],
): Channel<readonly KeptMessage[], MessageWrites> {
  const first = frozenCopy(initial, 'initial')
  return freezeOwned({ kind: 'messages', initial: first, prepare, merge })

  function merge(
    channel: string,
    before: readonly KeptMessage[],
    writes: readonly Written<MessageWrites>[],
  ): Merged<readonly KeptMessage[]> {
    let value = before
    let ids = takeIds(before)
    // Collected, so that many writers do not copy the list many times.
    let added: KeptMessage[] = []
    const operations: StateOperation[] = []
    for (const { value: write, isRecorded, stepId } of writes) {
      const list = listOf(write) as readonly (KeptMessage | MessageRemoval)[]
      if (list.length === 0) continue
      const isUnrecorded = value === first && first.length > 0
      if (!isUnrecorded && allNew(ids, list)) {
        for (const message of list) {
          added.push(message)
          ids.add(message.id)
        }
        operations.push(
          isRecorded ? { op: 'append', channel, from: stepId } : { op: 'append', channel, items: [...list] },
        )
        continue
      }
      const current = added.length > 0 ? freezeOwned([...value, ...added]) : value
      const next = changeList(current, list)
      if (next === current) continue
      operations.push({ op: 'set', channel, value: next })
      value = next
      added = []
      ids = new Set(next.map(({ id }) => id))
    }
    if (added.length > 0) value = freezeOwned([...value, ...added])
    idsOf.set(value, ids)
    return { value, operations }
  }
}

/** Ids in the newest list of a line of lists; they move on with it, so that an append need not look through the list. */
const idsOf = new WeakMap<readonly KeptMessage[], Set<string>>()

function takeIds(list: readonly KeptMessage[]): Set<string> {
  const known = idsOf.get(list)
  idsOf.delete(list)
  return known ?? new Set(list.map(({ id }) => id))
}

function allNew(
  ids: ReadonlySet<string>,
  list: readonly (KeptMessage | MessageRemoval)[],
): list is readonly KeptMessage[] {
  const isNew = list.every(({ id, role }) => role !== 'remove' && !ids.has(id))
  return isNew && new Set(list.map(({ id }) => id)).size === list.length
}

const listOf = (value: MessageWrites): readonly MessageWrite[] =>
  Array.isArray(value) ? value : [value as MessageWrite]

function prepare(write: MessageWrites, { nextId, where }: WriteContext): unknown {
  const list = listOf(write)
  list.forEach((message, i) => assertMessage(message, Array.isArray(write) ? `${where}[${i}]` : where))
  if (list.every(({ id }) => id !== undefined)) return frozenCopy(write, where)
  return frozenCopy(
    list.map((message) => (message.id === undefined ? { id: nextId(), ...withoutId(message) } : message)),
    where,
  )
}

/** So that an explicit `id: undefined` does not cover the id that was handed out. */
function withoutId({ id: _none, ...rest }: MessageWrite): object {
  return rest
}

function changeList(
  before: readonly KeptMessage[],
  list: readonly (KeptMessage | MessageRemoval)[],
): readonly KeptMessage[] {
  const byId = new Map(before.map((message) => [message.id, message]))
  let isChanged = false
  for (const message of list) {
    isChanged ||= message.role === 'remove' ? byId.has(message.id) : byId.get(message.id) !== message
    if (message.role === 'remove') byId.delete(message.id)
    else byId.set(message.id, message)
  }
  return isChanged ? freezeOwned([...byId.values()]) : before
}

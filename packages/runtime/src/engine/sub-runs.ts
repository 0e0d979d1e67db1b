import type { SubGraph } from '../graph/definition.ts'
import type { Channels } from '../graph/channel.ts'
import { type KeptMessage, Message } from '../graph/message.ts'
import { overwrite } from '../graph/overwrite.ts'
import type { State } from '../graph/merge-writes.ts'
import type { Program } from '../machine/program.ts'

/** A compiled graph as seen by the one it is a node of. */
export interface RunnableGraph extends SubGraph {
  readonly program: Program
  readonly channels: Channels
}

/** The part of the outer state that the inner graph knows. */
export function inputOfSubGraph({ channels }: RunnableGraph, state: State): State {
  const known = Object.entries(state).filter(([name]) => Object.hasOwn(channels, name))
  return Object.fromEntries(
    known.map(([name, value]) => [name, channels[name]?.kind === 'custom' ? overwrite(value) : value]),
  )
}

/**
 * Changes of the inner graph as a write to the outer one. For a list that only grew, just the added items: the outer
 * channel has the rest and would append it twice.
 */
export function writeOfSubGraph(
  { channels: inner }: RunnableGraph,
  given: State,
  output: State,
  outer: Channels,
): State {
  const write: Record<string, unknown> = {}
  for (const [name, after] of Object.entries(output)) {
    const channel = outer[name]
    if (!channel || !Object.hasOwn(inner, name)) continue
    const before = given[name]
    if (JSON.stringify(before) === JSON.stringify(after)) continue
    if (channel.kind === 'append' && Array.isArray(after)) write[name] = after.slice(lengthOf(before))
    else if (channel.kind === 'messages' && Array.isArray(after)) write[name] = changedMessages(before, after)
    else write[name] = channel.kind === 'custom' ? overwrite(after) : after
  }
  return write
}

const lengthOf = (value: unknown): number => (Array.isArray(value) ? value.length : 0)

/** New and changed messages, and removals of deleted ones. */
function changedMessages(before: unknown, after: readonly unknown[]): unknown[] {
  const given = (Array.isArray(before) ? before : []) as readonly KeptMessage[]
  const known = new Set(given.map((message) => JSON.stringify(message)))
  const left = new Set((after as readonly KeptMessage[]).map(({ id }) => id))
  const removed = given.filter(({ id }) => !left.has(id)).map(({ id }) => Message.remove(id))
  return [...removed, ...after.filter((message) => !known.has(JSON.stringify(message)))]
}

import type { ErasableEvent, StateOperation } from '../catalogue/catalogue.ts'
import { isObject } from '../json.ts'
import { messageKey, type ParsedMessage, parseMessages } from '../messages/parse-message.ts'
import { checkpointOf } from './checkpoint.ts'
import { addParsedMessage } from './transcript-messages.ts'
import type { TranscriptState } from './transcript-state.ts'

/** A channel of a state that holds messages is a conversation: messages that a superstep adds to it are entries. */
export function addChannelMessages(state: TranscriptState, event: ErasableEvent): boolean {
  const { written } = state
  if (event.eventType === 'execution.step_completed' && event.payload.stepId !== undefined)
    written.set(event.payload.stepId, event)
  if (event.eventType === 'system.state_transitioned')
    return addAll(state, event, event.payload.operations ?? [])
  const checkpoint = checkpointOf(event)
  if (!checkpoint) return false
  const { operations, state: whole = {} } = checkpoint
  // A whole state repeats the operations beside it.
  const all: readonly StateOperation[] =
    operations.length > 0
      ? operations
      : Object.entries(whole).map(([channel, value]) => ({ op: 'set', channel, value }))
  const isAdded = addAll(state, event, all)
  written.clear()
  return isAdded
}

function addAll(
  state: TranscriptState,
  event: ErasableEvent,
  operations: readonly StateOperation[],
): boolean {
  let isAdded = false
  for (const operation of operations) {
    if (operation.op !== 'set' && operation.op !== 'append') continue
    const { channel, from } = operation
    const writer = from === undefined ? undefined : state.written.get(from)
    const messages = parseMessages(valueOf(operation, writer))
    if (!messages) continue
    isAdded = true
    const known = countsOf(state, channel)
    if (operation.op === 'append') {
      for (const message of messages) {
        known.set(identityOf(message), (known.get(identityOf(message)) ?? 0) + 1)
        addParsedMessage(state, writer ?? event, message, 'state')
      }
    } else replace(state, { channel, event, writer, messages, known })
  }
  return isAdded
}

function valueOf(
  operation: StateOperation,
  writer: ErasableEvent<'execution.step_completed'> | undefined,
): unknown {
  if (operation.op === 'append' && operation.from === undefined) return operation.items
  if (operation.op === 'set' && operation.from === undefined) return operation.value
  const output = writer?.payload.output
  return isObject(output) ? output[operation.channel] : undefined
}

const identityOf = (message: ParsedMessage): string => message.id ?? messageKey(message)

function countsOf({ conversation: { channels } }: TranscriptState, channel: string): Map<string, number> {
  const known = channels.get(channel) ?? new Map<string, number>()
  channels.set(channel, known)
  return known
}

interface Replacement {
  readonly channel: string
  readonly event: ErasableEvent
  readonly writer: ErasableEvent<'execution.step_completed'> | undefined
  readonly messages: readonly ParsedMessage[]
  readonly known: Map<string, number>
}

/** A new list for a channel: what is in it more often than before was said now, a known id with other words was edited. */
function replace(state: TranscriptState, { channel, event, writer, messages, known }: Replacement): void {
  const counts = new Map<string, number>()
  const wrote = idsWritten(state, channel)
  for (const message of messages) {
    const identity = identityOf(message)
    const count = (counts.get(identity) ?? 0) + 1
    counts.set(identity, count)
    if (count <= (known.get(identity) ?? 0)) edit(state, message)
    // Messages that were in the state before this run began were shown by the run that wrote them.
    else if (!wrote || message.id === null || wrote.has(message.id))
      addParsedMessage(state, writer ?? event, message, 'state')
  }
  for (const [identity, count] of counts) known.set(identity, Math.max(count, known.get(identity) ?? 0))
}

/** Ids of messages that the steps of this superstep wrote to the channel; undefined where none wrote any. */
function idsWritten({ written }: TranscriptState, channel: string): Set<string> | undefined {
  const ids = new Set<string>()
  for (const { payload } of written.values()) {
    const { output } = payload
    for (const { id } of (isObject(output) && parseMessages(output[channel])) || [])
      if (id !== null) ids.add(id)
  }
  return ids.size > 0 ? ids : undefined
}

function edit({ entries, messages }: TranscriptState, { id, content }: ParsedMessage): void {
  const slot = id === null ? undefined : messages.get(id)
  const before = slot === undefined ? undefined : entries[slot]
  if (slot === undefined || before?.kind !== 'message' || content === null) return
  const isSame = JSON.stringify(before.content) === JSON.stringify(content)
  if (!isSame) entries[slot] = { ...before, content, edited: true }
}

import type { ErasableEvent } from '../catalogue/catalogue.ts'
import type { ParsedMessage, ParsedToolCall, ParsedToolResult } from '../messages/parse-message.ts'
import { isObject } from '../json.ts'
import { parseArguments } from '../messages/content-parts.ts'
import { contentText, jsonText } from './content-text.ts'
import { isErased } from './fields.ts'
import { type Utterance, utterancesOf } from './conversation.ts'
import type { EntryOf, ToolOutcome } from './transcript-entry.ts'
import { entryOf, type Slot, type TranscriptState } from './transcript-state.ts'

/** Source of an entry: if one record repeats another, it is shown once. */
export type MessageSource = 'event' | 'state' | 'model'

export function addParsedMessage(
  state: TranscriptState,
  event: ErasableEvent,
  message: ParsedMessage,
  source: MessageSource,
): void {
  addUtterances(state, event, utterancesOf(message), source)
}

export function addUtterances(
  state: TranscriptState,
  event: ErasableEvent,
  said: readonly Utterance[],
  source: MessageSource,
): void {
  for (const each of said) {
    if (each.kind === 'result') addResult(state, event, each.result)
    else addOnce(state, event, each, source)
  }
}

function addOnce(
  state: TranscriptState,
  event: ErasableEvent,
  said: Exclude<Utterance, { kind: 'result' }>,
  source: MessageSource,
): void {
  const { conversation, messages } = state
  const known = conversation.claim(said.key, source)
  const id = said.kind === 'words' ? said.message.id : null
  if (known !== undefined) {
    if (id !== null) messages.set(id, known)
    return
  }
  const slot = said.kind === 'words' ? addWords(state, event, said.message) : addCall(state, event, said.call)
  if (id !== null) messages.set(id, slot)
  conversation.note(said.key, source, slot)
}

function addWords({ entries }: TranscriptState, event: ErasableEvent, message: ParsedMessage): Slot {
  const { role, name, content, reasoning, model, id } = message
  if (reasoning !== null) entries.push(entryOf(event, 'reasoning', { content: reasoning, about: null }))
  if (content !== null || reasoning === null)
    entries.push(
      entryOf(event, 'message', {
        role,
        name,
        content,
        model,
        messageId: id,
        edited: false,
        channel: 'agent',
      }),
    )
  return entries.length - 1
}

function addCall(state: TranscriptState, event: ErasableEvent, call: ParsedToolCall): Slot {
  const { entries, tools, openCalls } = state
  const slot = entries.length
  const early = call.id === null ? undefined : tools.ask({ id: call.id, event: null, place: '' }, slot)
  if (early) entries[early.slot] = undefined
  const { id: toolCallId, name, arguments: given } = call
  const fields = { toolCallId, name, arguments: given, called: true, performedBy: null }
  entries.push(entryOf(event, 'tool_call', { ...fields, outcome: early?.outcome ?? null }))
  if (!early) {
    const open = openCalls.get(plainName(call.name))
    if (open) open.push(slot)
    else openCalls.set(plainName(call.name), [slot])
  }
  return slot
}

/** A tool result as a model received it; the tool's own result was shown already if the tool was an effect. */
function addResult(state: TranscriptState, event: ErasableEvent, result: ParsedToolResult): void {
  const { entries, conversation, openCalls } = state
  const { toolCallId, name, content, isError } = result
  const slot =
    toolCallId === null
      ? openCalls.get(plainName(name ?? ''))?.shift()
      : conversation.find(`call ${toolCallId}`)
  const call = slot === undefined ? undefined : entries[slot]
  const error = isError ? { name: null, code: null, message: contentText(content) } : null
  const outcome: ToolOutcome = {
    seq: event.ledger.seq,
    at: event.timestamp,
    result: isError ? null : content,
    error,
    erased: isErased(event),
  }
  if (slot !== undefined && call?.kind === 'tool_call') {
    if (!call.outcome) entries[slot] = performedAlone(state, slot, call, outcome) ?? { ...call, outcome }
    return
  }
  const fields = { toolCallId, name, arguments: null, called: false, performedBy: null, outcome }
  if (toolCallId !== null) conversation.note(`call ${toolCallId}`, 'state', entries.length)
  entries.push(entryOf(event, 'tool_call', fields))
}

/**
 * An effect may perform the call of a model under another name. The pairing shows when the model receives the result:
 * an effect after the call had the same arguments and gave the same result. Arguments alone do not prove it: a check
 * before the tool has the same.
 */
function performedAlone(
  { entries }: TranscriptState,
  callSlot: Slot,
  call: EntryOf<'tool_call'>,
  told: ToolOutcome,
): EntryOf<'tool_call'> | undefined {
  if (!isObject(call.arguments) || Object.keys(call.arguments).length === 0) return undefined
  const wanted = contentText(call.arguments)
  for (let slot = callSlot + 1; slot < entries.length; slot++) {
    const effect = entries[slot]
    if (effect?.kind !== 'tool_call' || effect.toolCallId !== null || !effect.outcome) continue
    if (contentText(effect.arguments) !== wanted || !saysSame(effect.outcome, told)) continue
    entries[slot] = undefined
    return { ...call, performedBy: effect.stepId, outcome: effect.outcome }
  }
  return undefined
}

/** Whether a model received the result of a tool: unchanged, as JSON text, or of an error at least its message. */
function saysSame(given: ToolOutcome, told: ToolOutcome): boolean {
  const text = told.error?.message ?? contentText(told.result)
  if (given.error) return Boolean(given.error.message) && text.includes(given.error.message ?? '')
  if (given.result === null) return false
  return contentText(given.result) === text || jsonText(given.result) === jsonText(parseArguments(text))
}

/** The call of a model that an effect of this name performs: the one with these arguments, else the oldest that is open. */
export function takeOpenCall(
  { entries, openCalls }: TranscriptState,
  name: string,
  input: unknown,
): Slot | undefined {
  const open = (openCalls.get(plainName(name)) ?? []).filter((slot) => {
    const call = entries[slot]
    return call?.kind === 'tool_call' && call.outcome === null
  })
  const wanted = contentText(input)
  const exact = open.findIndex((slot) => {
    const call = entries[slot]
    return call?.kind === 'tool_call' && contentText(call.arguments) === wanted
  })
  const [slot] = open.splice(Math.max(0, exact), 1)
  openCalls.set(plainName(name), open)
  return slot
}

/** Models allow no spaces in the names of tools: an effect `count mice` performs the call `count_mice`. */
const plainName = (name: string): string => name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, ' ')

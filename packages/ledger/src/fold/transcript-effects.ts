import type { ErasableEvent } from '../catalogue/catalogue.ts'
import { isObject } from '../json.ts'
import type { ParsedMessage } from '../messages/parse-message.ts'
import { parseModelReply } from '../messages/parse-reply.ts'
import { kindOfStep } from './begins-step.ts'
import { isErased, stepOf, textOf } from './fields.ts'
import { toRunError } from './run-summary.ts'
import { addTapedBody, addTapedHead, addTapedRequest } from './transcript-tape.ts'
import type { ToolOutcome } from './transcript-entry.ts'
import { addParsedMessage, takeOpenCall } from './transcript-messages.ts'
import { entryOf, type TranscriptState } from './transcript-state.ts'

const SPOKEN: ReadonlySet<string> = new Set([
  'execution.message',
  'execution.reasoning',
  'execution.tool_call',
  'execution.tool_result',
  'execution.tool_error',
])

/** Marks the step of a spoken event: it is not shown again by input and output. */
export function noteSpoken({ spoken, effects, entries }: TranscriptState, event: ErasableEvent): void {
  if (!SPOKEN.has(event.eventType)) return
  const { stepId } = stepOf(event)
  if (stepId === null || spoken.has(stepId)) return
  spoken.add(stepId)
  const slot = effects.get(effectKey(event))
  if (slot !== undefined) entries[slot] = undefined
}

const effectKey = (event: ErasableEvent, attempt = stepOf(event).attempt): string =>
  `${attempt} ${stepOf(event).stepId}`

/** The kind of a step of a session says how it is shown (T6): thoughts as thoughts, all others as calls. */
const THOUGHTS: ReadonlySet<string> = new Set(['thinking', 'reconsidering'])
const CALLS: ReadonlySet<string> = new Set([
  'effect',
  ...THOUGHTS,
  'web_search',
  'visit_page',
  'workspace_search',
  'message_sent',
  'message_edited',
  'tool_call',
  'tool_error',
])

/** Whether a transcript shows a step of this kind by its input and output. */
export const showsInputOutput = (kind: string): boolean => CALLS.has(kind)

type EffectEvent = ErasableEvent<'execution.step_started' | 'execution.step_completed'>

/** An effect is shown as a call and its result; one that asked a model as the model's thoughts and messages. */
export function addEffect(state: TranscriptState, event: EffectEvent): boolean {
  const { payload } = event
  const { effects, entries, spoken } = state
  const key = effectKey(event)
  const { name, stepId = '' } = payload
  if (name !== undefined && showsInputOutput(kindOfStep(payload) ?? '') && !spoken.has(stepId)) {
    effects.set(key, slotOf(state, event, name))
    addTapedRequest(state, event)
  }
  const slot = effects.get(key)
  const call = slot === undefined ? undefined : entries[slot]
  if (slot === undefined || call?.kind !== 'tool_call') return false
  if (event.eventType === 'execution.step_started') return true
  const { output: result = null, model } = event.payload
  const erased = isErased(event)
  const outcome: ToolOutcome = { seq: event.ledger.seq, at: event.timestamp, result, error: null, erased }
  // The call of a model that this effect performed: whatever came back is its result.
  if (call.toolCallId !== null || erased) {
    entries[slot] = { ...call, outcome }
    return true
  }
  if (addTapedHead(state, event, slot) || addTapedBody(state, event, slot)) return true
  const thought = thoughtOf(call.name ?? '', result)
  const said = parseModelReply(result)
  if (!said && thought === undefined) {
    entries[slot] = { ...call, outcome }
    return true
  }
  entries[slot] = undefined
  if (said) addParsedMessage(state, event, { ...asSaid(said), model: textOf(model) ?? said.model }, 'model')
  else entries.push(entryOf(event, 'reasoning', { content: thought, about: null }))
  return true
}

/** Calls without an id are performed by effects that nothing ties to them: they are part of what was said. */
function asSaid(reply: ParsedMessage): ParsedMessage {
  const toolCalls = reply.toolCalls.filter(({ id }) => id !== null)
  const isSilent = reply.content === null && reply.reasoning === null && toolCalls.length === 0
  const parts = reply.toolCalls.map((call) => ({ type: 'tool_call', ...call }))
  return { ...reply, toolCalls, content: isSilent && parts.length > 0 ? parts : reply.content }
}

/** Finds the entry for the call of an effect: a model's call of that name, its earlier attempt, or a new entry. */
function slotOf(state: TranscriptState, event: EffectEvent, name: string): number {
  const { effects, entries } = state
  const { input = null, attempt = 1 } = event.payload
  const before = attempt > 1 ? effects.get(effectKey(event, attempt - 1)) : undefined
  const tried = before === undefined ? undefined : entries[before]
  if (before !== undefined && tried?.kind === 'tool_call' && tried.toolCallId !== null) {
    entries[before] = { ...tried, outcome: null }
    return before
  }
  const open = takeOpenCall(state, name, input)
  const call = open === undefined ? undefined : entries[open]
  if (open !== undefined && call?.kind === 'tool_call') {
    entries[open] = { ...call, performedBy: stepOf(event).stepId }
    return open
  }
  const fields = { toolCallId: null, name, arguments: input, called: true, performedBy: null, outcome: null }
  return entries.push(entryOf(event, 'tool_call', fields)) - 1
}

function thoughtOf(name: string, result: unknown): string | undefined {
  if (!THOUGHTS.has(name)) return undefined
  const content = isObject(result) ? result['content'] : result
  return typeof content === 'string' ? content : undefined
}

export function failEffect(
  { effects, entries }: TranscriptState,
  event: ErasableEvent<'execution.step_failed'>,
): void {
  const slot = effects.get(effectKey(event))
  const call = slot === undefined ? undefined : entries[slot]
  if (slot === undefined || call?.kind !== 'tool_call') return
  const { payload, ledger, timestamp } = event
  const outcome: ToolOutcome = {
    seq: ledger.seq,
    at: timestamp,
    result: null,
    error: toRunError(payload.error),
    erased: isErased(event),
  }
  entries[slot] = { ...call, outcome }
}

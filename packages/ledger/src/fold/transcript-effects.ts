import type { ErasableEvent } from '../catalogue/catalogue.ts'
import { isObject } from '../json.ts'
import { kindOfStep } from './begins-step.ts'
import { isErased, stepOf, textOf } from './fields.ts'
import { toRunError } from './run-summary.ts'
import { type ModelReply, parseModelReply } from './model-reply.ts'
import type { ToolOutcome } from './transcript-entry.ts'
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

const effectKey = (event: ErasableEvent): string => {
  const { stepId, attempt } = stepOf(event)
  return `${attempt} ${stepId}`
}

/** Steps of a session say by their kind what they are (T6): thoughts are told as thoughts, all others as calls. */
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

/** Whether a transcript tells a step of this kind by what went in and what came out. */
export const showsInputOutput = (kind: string): boolean => CALLS.has(kind)

/** An effect is a call and what came back; one that asked a model is told as what the model thought and said. */
export function addEffect(
  state: TranscriptState,
  event: ErasableEvent<'execution.step_started' | 'execution.step_completed'>,
): boolean {
  const { payload, ledger, timestamp } = event
  const { effects, entries, spoken } = state
  const key = effectKey(event)
  const { name, stepId = '', input = null } = payload
  if (name !== undefined && showsInputOutput(kindOfStep(payload) ?? '') && !spoken.has(stepId)) {
    effects.set(key, entries.length)
    const fields = {
      toolCallId: null,
      name,
      arguments: input,
      called: true,
      outcome: null,
    }
    entries.push(entryOf(event, 'tool_call', fields))
  }
  const slot = effects.get(key)
  const call = slot === undefined ? undefined : entries[slot]
  if (slot === undefined || call?.kind !== 'tool_call') return false
  if (event.eventType === 'execution.step_started') return true
  const { output: result = null, model } = event.payload
  const said = parseModelReply(result) ?? thoughtOf(call.name ?? '', result)
  if (!said || isErased(event)) {
    const outcome = { seq: ledger.seq, at: timestamp, result, error: null, erased: isErased(event) }
    entries[slot] = { ...call, outcome }
    return true
  }
  entries[slot] = undefined
  if (said.reasoning !== null)
    entries.push(entryOf(event, 'reasoning', { content: said.reasoning, about: null }))
  if (said.content !== null || said.reasoning === null)
    entries.push(
      entryOf(event, 'message', {
        role: 'assistant',
        name: null,
        content: said.content ?? said.calls.map((each) => ({ type: 'tool_call', ...each })),
        model: textOf(model),
        messageId: null,
        edited: false,
        channel: 'agent',
      }),
    )
  return true
}

function thoughtOf(name: string, result: unknown): ModelReply | undefined {
  if (!THOUGHTS.has(name)) return undefined
  const content = isObject(result) ? result['content'] : result
  return typeof content === 'string' ? { reasoning: content, content: null, calls: [] } : undefined
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

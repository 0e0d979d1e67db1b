import type { ErasableEvent } from '../catalogue/catalogue.ts'
import { isObject } from '../json.ts'
import { parseModelRequest, parseModelResponse } from '../messages/parse-model-call.ts'
import { parseStepId } from '../event/step-id.ts'
import { utterancesOf } from './conversation.ts'
import { addUtterances } from './transcript-messages.ts'
import type { TranscriptState } from './transcript-state.ts'

/** A taped model request is shown by its messages; messages that earlier requests sent already are left out. */
export function addTapedRequest(
  state: TranscriptState,
  event: ErasableEvent<'execution.step_started' | 'execution.step_completed'>,
): void {
  const { input, stepId = '' } = event.payload
  const key = requestKey(stepId, 'fetch')
  if (key === undefined || !isObject(input) || typeof input['url'] !== 'string') return
  const said = parseModelRequest(input['url'], input['body'])
  if (!said) return
  const { fresh, thread } = state.conversation.beyond(said.flatMap(utterancesOf))
  state.modelCalls.set(key, thread)
  addUtterances(state, event, fresh, 'model')
}

/** The head of an answer says nothing, unless the whole of it came with it or the server refused. */
export function addTapedHead(
  state: TranscriptState,
  event: ErasableEvent<'execution.step_completed'>,
  slot: number,
): boolean {
  const { output, stepId = '' } = event.payload
  const key = requestKey(stepId, 'fetch')
  if (key === undefined || !isObject(output) || !state.modelCalls.has(key)) return false
  if (Number(output['status'] ?? 200) >= 400) {
    state.modelCalls.delete(key)
    return false
  }
  if (output['body'] !== undefined) return addAnswer(state, event, key, slot, output['body'])
  state.entries[slot] = undefined
  return true
}

export function addTapedBody(
  state: TranscriptState,
  event: ErasableEvent<'execution.step_completed'>,
  slot: number,
): boolean {
  const { output, stepId = '' } = event.payload
  const key = requestKey(stepId, 'fetch body')
  return key !== undefined && state.modelCalls.has(key) && addAnswer(state, event, key, slot, output)
}

function addAnswer(
  state: TranscriptState,
  event: ErasableEvent<'execution.step_completed'>,
  key: string,
  slot: number,
  body: unknown,
): boolean {
  const reply = parseModelResponse(textOfBody(body))
  if (!reply) return false
  const { model } = event.payload
  const said = utterancesOf({ ...reply, model: typeof model === 'string' ? model : reply.model })
  state.entries[slot] = undefined
  state.modelCalls.get(key)?.push(...said.map((each) => each.key))
  addUtterances(state, event, said, 'model')
  return true
}

function textOfBody(body: unknown): string {
  const chunks = isObject(body) && body['encoding'] === undefined ? body['chunks'] : undefined
  if (!Array.isArray(chunks)) return ''
  return chunks.map((chunk: unknown) => (Array.isArray(chunk) ? String(chunk[1]) : '')).join('')
}

/** Key that pairs the two calls that the tape records for a request (D4): the n-th request of a scope. */
function requestKey(stepId: string, name: 'fetch' | 'fetch body'): string | undefined {
  const id = parseStepId(stepId)
  return id?.name === name ? `${id.parentStepId ?? ''}#${id.key ?? id.ordinal}` : undefined
}

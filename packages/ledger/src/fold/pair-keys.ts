import type { ErasableEvent } from '../catalogue/catalogue.ts'
import { textOf } from './fields.ts'
import type { PairKey } from './pairing.ts'

type ToolEvent = ErasableEvent<
  'execution.message' | 'execution.tool_call' | 'execution.tool_result' | 'execution.tool_error'
>
type CallEvent = ErasableEvent<'integration.call' | 'integration.response'>
type PauseEvent = ErasableEvent<'ui.input_requested' | 'ui.input_received'>

export const toolCallIdOf = ({ payload }: ToolEvent): string | null =>
  textOf(payload.toolCallId) ?? textOf(payload.tool_call_id)

/** The tie of a tool call, or of an outcome to its call. */
export function toolPairKey(event: ToolEvent, isCall: boolean): PairKey {
  const { payload, eventId, causationId } = event
  return {
    id: toolCallIdOf(event),
    event: isCall ? eventId : causationId,
    place: `${payload.stepId ?? ''}\n${textOf(payload.name) ?? ''}`,
  }
}

/** The same for calls of tools and of services; ids of the one say nothing about the other. */
export function callTie(event: ToolEvent | CallEvent, isCall: boolean): PairKey {
  if (event.eventType !== 'integration.call' && event.eventType !== 'integration.response')
    return toolPairKey(event, isCall)
  const { payload, eventId, causationId } = event
  const { callId, stepId = null, service = null } = payload
  return {
    id: callId === undefined ? null : `call ${callId}`,
    event: isCall ? eventId : causationId,
    place: `call ${stepId} ${service}`,
  }
}

export const pauseTie = ({ payload, eventId, causationId }: PauseEvent, isQuestion: boolean): PairKey => ({
  id: payload.pauseId ?? null,
  event: isQuestion ? eventId : causationId,
  place: payload.stepId ?? '',
})

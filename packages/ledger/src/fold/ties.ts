import type { ClewEvent } from '../envelope.ts'
import { textOf } from './fields.ts'
import type { Tie } from './pairing.ts'

export const toolCallIdOf = ({ payload }: ClewEvent): string | null =>
  textOf(payload['toolCallId']) ?? textOf(payload['tool_call_id'])

/** The tie of a tool call, or of an outcome to its call. */
export function toolTie(event: ClewEvent, isCall: boolean): Tie {
  const { payload, eventId, causationId } = event
  return {
    id: toolCallIdOf(event),
    event: isCall ? eventId : causationId,
    place: `${textOf(payload['stepId']) ?? ''}\n${textOf(payload['name']) ?? ''}`,
  }
}

/** The same for calls of tools and of services; ids of the one say nothing about the other. */
export function callTie(event: ClewEvent, isCall: boolean): Tie {
  const tie = toolTie(event, isCall)
  if (event.eventType.startsWith('execution.')) return tie
  const { callId, stepId, service } = event.payload
  const id = textOf(callId)
  return { ...tie, id: id && `call ${id}`, place: `call ${textOf(stepId)} ${textOf(service)}` }
}

export const pauseTie = ({ payload, eventId, causationId }: ClewEvent, isQuestion: boolean): Tie => ({
  id: textOf(payload['pauseId']),
  event: isQuestion ? eventId : causationId,
  place: textOf(payload['stepId']) ?? '',
})

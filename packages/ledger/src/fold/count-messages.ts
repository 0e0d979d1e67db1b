import type { ErasableEvent, StateOperation } from '../catalogue/catalogue.ts'
import { isObject } from '../json.ts'
import { type ParsedMessage, parseMessage, parseMessages } from '../messages/parse-message.ts'
import { parseStepId } from '../event/step-id.ts'

export interface MessageCounts {
  readonly messages: number
  readonly toolCalls: number
}

/** Messages that a graph's input or node put into its state, as far as this one event says. */
export function countMessages(
  event: ErasableEvent<'execution.checkpoint' | 'execution.step_completed'>,
): MessageCounts | undefined {
  if (event.eventType === 'execution.checkpoint') {
    const { operations = [], superstep, langgraph } = event.payload
    // A graph of LangGraph gives messages their ids after its node wrote them, so they stand here a second time.
    if (langgraph && langgraph.source === undefined) return undefined
    return countIn(operations.map((operation) => literalOf(operation, superstep === 0)))
  }
  const { output, kind, checkpoint, stepId = '' } = event.payload
  const isNode = kind === 'node' || checkpoint !== undefined || isNodeStep(stepId)
  return isNode && isObject(output) ? countIn(Object.values(output)) : undefined
}

/** A message that the code of a run said (R13) with tool calls or results in it; undefined for any other. */
export function saidWithCalls({
  source,
  payload,
}: ErasableEvent<'execution.message'>): ParsedMessage | undefined {
  if (source.origin !== 'agent' || source.runtime !== 'clew') return undefined
  const said = parseMessage(payload)
  return said && said.toolCalls.length + said.toolResults.length > 0 ? said : undefined
}

/** Values that a later superstep sets were already in the output of its node. */
function literalOf(operation: StateOperation, isInput: boolean): unknown {
  if (operation.op === 'append') return operation.items
  return isInput && operation.op === 'set' ? operation.value : undefined
}

/** For nodes with two events only the start has the superstep; their ids have it as their key. */
function isNodeStep(stepId: string): boolean {
  const id = parseStepId(stepId)
  return id?.parentStepId === null && id.key !== undefined && /^s\d+(?:\.i\d+)?$/.test(id.key)
}

function countIn(values: readonly unknown[]): MessageCounts | undefined {
  let messages = 0
  let toolCalls = 0
  for (const value of values) {
    if (typeof value !== 'object' || value === null) continue
    for (const message of parseMessages(value) ?? []) {
      messages++
      toolCalls += message.toolCalls.length
    }
  }
  return messages > 0 ? { messages, toolCalls } : undefined
}

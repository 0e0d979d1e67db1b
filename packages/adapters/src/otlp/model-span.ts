import { canonicalText, type JsonObject, type JsonValue } from '@clew/ledger'
import type { Conversation } from './conversation.ts'
import { toCallRecord, toRecord, type AskedCall, type ModelMessage } from './model-message.ts'
import { RANK, type RunSink, sha256 } from './sink.ts'

export interface Call {
  readonly sink: RunSink
  /** Id of the step, which is that of the span. */
  readonly stepId: string
  readonly start: bigint
  readonly end: bigint
  /** Model and provider, repeated on every answer. */
  readonly use: JsonObject
  /** Tool calls are read from messages, because no span covers a tool. */
  readonly hasToolsInMessages: boolean
}

const FROM_OUTSIDE: ReadonlySet<string> = new Set(['user', 'system', 'developer'])

/**
 * Adds what people and instructions say with this call. A history is sent again with every call, so only messages after the
 * last answer are added, and equal messages have equal ids: a message is in a run once, whichever call brought it.
 */
export function tellInput({ sink, start, hasToolsInMessages }: Call, input: readonly ModelMessage[]): void {
  const last = input.findLastIndex((said) => said.role === 'assistant')
  const seen = new Map<string, number>()
  for (const [at, said] of input.entries()) {
    const { role, content, name } = said
    if (hasToolsInMessages && at > last) tellResults(sink, start, input, said, at)
    if (!FROM_OUTSIDE.has(role) || content === null) continue
    const payload = { role, content, ...(name !== undefined && { name }) }
    const digest = digestOf(payload)
    const nth = seen.get(digest) ?? 0
    seen.set(digest, nth + 1)
    if (at < last && role === 'user') continue
    sink.add({
      type: 'execution.message',
      key: ['said', digest, nth],
      time: start,
      rank: RANK.said,
      order: at,
      origin: role === 'user' ? 'ui' : 'system',
      cause: null,
      payload,
    })
  }
}

const digestOf = (value: JsonValue): string => sha256(canonicalText(value)).slice(0, 32)

const callKey = (call: AskedCall): readonly string[] => ['asked', digestOf(toCallRecord(call))]

function tellResults(
  sink: RunSink,
  time: bigint,
  input: readonly ModelMessage[],
  said: ModelMessage,
  order: number,
): void {
  for (const { id, name, result } of said.results) {
    const asked = input.flatMap(({ calls }) => calls).findLast((call) => id !== undefined && call.id === id)
    const payload = {
      ...(id !== undefined && { toolCallId: id }),
      ...((name ?? asked?.name) !== undefined && { name: name ?? asked?.name }),
      result,
    }
    const cause = asked ? sink.derive(...callKey(asked)) : null
    sink.add({
      type: 'execution.tool_result',
      key: ['given', digestOf({ ...payload, cause } as JsonObject)],
      time,
      rank: RANK.said,
      order,
      origin: 'integration',
      cause,
      payload,
    })
  }
}

/** Adds what the model thought and said. */
export function tellOutput(call: Call, output: readonly ModelMessage[], keyed = 'message'): void {
  const { sink, stepId, end, use, hasToolsInMessages } = call
  let order = 0
  for (const [nth, said] of output.entries()) {
    const { role, content, name, reasoning, calls, finishReason } = said
    if (content === '' && calls.length + reasoning.length === 0) continue
    let cause = sink.stepEventId(stepId)
    for (const [at, thought] of reasoning.entries())
      cause = sink.add({
        type: 'execution.reasoning',
        key: [stepId, `${keyed}-reasoning`, nth, at],
        time: end,
        rank: RANK.answer,
        order: order++,
        origin: 'agent',
        cause,
        payload: { role: 'assistant', content: thought, stepId },
      })
    sink.add({
      type: 'execution.message',
      key: [stepId, keyed, nth],
      time: end,
      rank: RANK.answer,
      order: order++,
      origin: 'agent',
      cause,
      payload: {
        role,
        content,
        ...(name !== undefined && { name }),
        ...use,
        ...(calls.length > 0 && { toolCalls: calls.map(toCallRecord) }),
        ...(finishReason !== undefined && { finishReason }),
        stepId,
      },
    })
    if (!hasToolsInMessages) continue
    for (const asked of calls)
      sink.add({
        type: 'execution.tool_call',
        key: callKey(asked),
        time: end,
        rank: RANK.end,
        order: order++,
        origin: 'agent',
        cause: null,
        payload: {
          ...(asked.id !== undefined && { toolCallId: asked.id }),
          name: asked.name,
          ...(asked.arguments !== undefined && { arguments: asked.arguments }),
        },
      })
  }
}

/** Returns input, output and decision of the step. */
export function toStepValues({ input, output, given, returned }: Conversation, more: JsonObject): JsonObject {
  const asked = input.length > 0 ? { messages: input.map(toRecord), ...more } : given
  const [first] = output
  const names = output.flatMap(({ calls }) => calls.map((call) => call.name))
  return {
    ...(asked !== undefined && { input: asked }),
    ...(first ? { output: first.content } : returned !== undefined && { output: returned }),
    ...(names.length > 0 && { decision: names }),
  }
}

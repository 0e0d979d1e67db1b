import type { BaseMessage } from '@langchain/core/messages'
import type { LLMResult } from '@langchain/core/outputs'
import type { EventInput, Payload } from '@clew/ledger'
import { freshMessages, reasoningOf, roleOf, toolCallsOf } from './messages.ts'
import type { RecordedRun } from './recorded-run.ts'
import { toRecord } from './to-record.ts'
import { modelOf, usageOf } from './usage.ts'

type IdentifiedEvent = EventInput & { readonly eventId: string }

export interface ModelCall {
  readonly run: RecordedRun
  readonly lcRunId: string
  readonly stepId: string
  readonly cause: string | null
  readonly model: string | undefined
  readonly provider: string | undefined
}

/** Messages of users and instructions in this call, each recorded once per run. */
export function questionEvents(
  run: RecordedRun,
  lcRunId: string,
  said: { readonly messages: readonly BaseMessage[]; readonly prompts: readonly string[] },
  cause: string | null,
): IdentifiedEvent[] {
  const { messages, prompts } = said
  const events: IdentifiedEvent[] = []
  const tell = (role: string, payload: Payload, mark: unknown): void => {
    if (!run.tellsFirst(JSON.stringify(mark))) return
    events.push(
      run.draft({
        type: 'execution.message',
        key: [lcRunId, 'said', String(events.length)],
        cause: events.at(-1)?.eventId ?? cause,
        origin: role === 'user' ? 'ui' : role === 'assistant' ? 'agent' : 'system',
        payload,
      }),
    )
  }
  for (const message of freshMessages(messages)) {
    const { role, content, name } = toRecord(message) as Payload
    const mark = message.id ?? [messages.indexOf(message), role, content]
    tell(roleOf(message), { role, content, ...(name !== undefined && { name }) }, mark)
  }
  for (const prompt of prompts) tell('user', { role: 'user', content: prompt }, ['prompt', prompt])
  return events
}

export interface ModelAnswer {
  readonly events: readonly IdentifiedEvent[]
  readonly content: unknown
  readonly messageId: string | undefined
  readonly toolNames: readonly string[]
}

/** Messages and thoughts of the model. The first one carries the usage, which is that of the call (V7). */
export function answerEvents(call: ModelCall, result: LLMResult): ModelAnswer {
  const { run, lcRunId, stepId, cause, provider } = call
  const events: IdentifiedEvent[] = []
  const toolNames: string[] = []
  let content: unknown = null
  let messageId: string | undefined
  for (const [at, generation] of result.generations.flat().entries()) {
    const message = (generation as { readonly message?: BaseMessage }).message
    const key = [lcRunId, String(at)]
    const thought = message && reasoningOf(message)
    if (thought)
      events.push(
        run.draft({
          type: 'execution.reasoning',
          key,
          cause,
          payload: { role: 'assistant', content: thought, stepId },
        }),
      )
    const { role, content: said, id, ...rest } = (message ? toRecord(message) : {}) as Payload
    const usage = at === 0 ? usageOf(message, result) : undefined
    const model = modelOf(message, result, call.model)
    const event = run.draft({
      type: 'execution.message',
      key,
      cause: events.at(-1)?.eventId ?? cause,
      payload: {
        role: role ?? 'assistant',
        content: said ?? generation.text,
        ...rest,
        ...(typeof id === 'string' && { messageId: id }),
        ...(model !== undefined && { model }),
        ...(provider !== undefined && { provider }),
        ...(usage !== undefined && { usage: toRecord(usage) }),
        stepId,
      },
    })
    events.push(event)
    if (at === 0) {
      content = said ?? generation.text
      messageId = message?.id ?? event.eventId
    }
    for (const { id: toolCallId, name } of message ? toolCallsOf(message) : []) {
      toolNames.push(name)
      if (toolCallId !== undefined && !run.isJoined) run.asked.set(toolCallId, event.eventId)
    }
  }
  return { events, content, messageId, toolNames }
}

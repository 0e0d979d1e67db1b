import { type EventInput, formatStepId, type JsonObject, type JsonValue, type Payload } from '@clew/ledger'
import {
  isObject,
  plainText,
  readArguments,
  readTime,
  readUsage,
  refuse,
  rest,
  textOrNone,
} from '../foreign.ts'
import { createDraft, type MapOptions } from '../mapped-run.ts'
import { createOrdinals, createToolSteps } from '../tool-steps.ts'
import type { Chat } from './read-chat.ts'

const RUNTIME = 'openai-chat'

/** Told apart by what they become; all other fields of a message stay in its payload under their own names. */
const SPEECH = new Set([
  'role',
  'content',
  'tool_calls',
  'function_call',
  'usage',
  'reasoning_content',
  'refusal',
])
const SPEECH_WITH_MODEL = SPEECH.union(new Set(['model']))
const INSTRUCTIONS = new Set(['system', 'developer'])
const RESULT = new Set(['role', 'content', 'tool_call_id', 'name'])
const CALL = new Set(['id', 'function', 'custom', 'type'])

/**
 * One chat in the form of OpenAI's messages as the events of one run. Each answer of the assistant is a step of the
 * model, each tool call a step that its result ends. A message is caused by the one it answers, a call by the message
 * that asked for it, a result by its call.
 */
export function mapChat({ messages, field, metadata }: Chat, options: MapOptions): EventInput[] {
  const draft = createDraft(options, RUNTIME)
  const nextOrdinal = createOrdinals()
  const tools = createToolSteps(draft, options, nextOrdinal)
  draft.setTime(timeOf(metadata) ?? messages.map(timeOf).find((time) => time !== undefined))
  const model = plainText(metadata['model'])
  const agent =
    options.agent ?? plainText(metadata['agent']) ?? plainText(metadata['agent_name']) ?? 'assistant'
  const started = draft.add({
    type: 'system.workflow_started',
    key: ['start'],
    origin: 'system',
    cause: null,
    payload: startPayload(agent, metadata),
  })
  let last = started
  let metered = false

  function speak(message: JsonObject, role: string, at: number, where: string): void {
    const asked = readCalls(message, where)
    const assistant = role === 'assistant'
    const stepId = assistant
      ? formatStepId({ parentStepId: null, name: role, ordinal: nextOrdinal(role) })
      : ''
    const inStep = assistant ? { stepId } : {}
    let cause = last
    if (assistant)
      cause = draft.add({
        type: 'execution.step_started',
        key: [at, 'step'],
        origin: 'agent',
        cause: last,
        payload: { stepId, name: role, kind: 'model' },
      })
    // The model began when it was asked; the message has the time at which it was ready.
    draft.setTime(timeOf(message))
    const thought = plainText(message['reasoning_content'])
    if (thought !== undefined)
      draft.add({
        type: 'execution.reasoning',
        key: [at, 'reasoning'],
        origin: 'agent',
        cause,
        payload: { role, content: thought, ...inStep },
      })
    const usage = readUsage(message['usage'])
    metered ||= usage !== undefined
    const content = message['content'] ?? message['refusal'] ?? null
    const ownModel = plainText(message['model'])
    const itsModel = ownModel ?? (assistant ? model : undefined)
    const eventId = draft.add({
      type: 'execution.message',
      key: [at, 'message'],
      origin: assistant ? 'agent' : role === 'user' ? 'ui' : 'system',
      cause,
      payload: {
        role,
        content,
        ...rest(untimed(message), ownModel === undefined ? SPEECH : SPEECH_WITH_MODEL),
        ...(message['refusal'] !== undefined && { refusal: message['refusal'] }),
        ...(itsModel !== undefined && { model: itsModel }),
        ...(usage && { usage }),
        ...inStep,
      },
    })
    // Instructions at the top answer nothing and nothing answers them: what leads on is what a person says.
    if (last !== started || !INSTRUCTIONS.has(role)) last = eventId
    if (!assistant) return
    const names = asked.map((call) => call.name)
    draft.add({
      type: 'execution.step_completed',
      key: [at, 'done'],
      origin: 'agent',
      cause: last,
      payload: { stepId, output: content, decision: names.length > 0 ? names : null },
    })
    for (const [nth, { callId, name, payload }] of asked.entries())
      tools.call({ callId, name, key: [at, nth], cause: last, payload })
  }

  function answer(message: JsonObject, at: number, where: string): void {
    const callId = textOrNone(message['tool_call_id'], `${where}.tool_call_id`)
    const name = textOrNone(message['name'], `${where}.name`)
    const output = message['content'] ?? null
    const error = errorOf(message, output)
    const given: Payload = {
      ...(callId !== undefined && { toolCallId: callId }),
      ...(name !== undefined && { name }),
    }
    const outcome: Payload = error === undefined ? { result: output } : { error: { message: error } }
    if (error !== undefined && error !== output) outcome['result'] = output
    const payload = { ...given, ...outcome, ...rest(untimed(message), RESULT) }
    last = tools.result(tools.find(callId, name), { key: [at], error, payload, output }, last)
  }

  for (const [at, message] of messages.entries()) {
    const where = `${field}[${at}]`
    if (!isObject(message)) refuse(where, message, 'a message: an object with role and content')
    const role = message['role']
    if (typeof role !== 'string' || role === '')
      refuse(`${where}.role`, role, 'text such as user or assistant')
    if (role !== 'assistant') draft.setTime(timeOf(message))
    if (role === 'tool' || role === 'function') answer(message, at, where)
    else speak(message, role, at, where)
  }

  for (const call of tools.open) tools.interrupt(call, 'the chat has no result for this call')
  const unanswered = isObject(messages.at(-1)) && readCalls(messages.at(-1) as JsonObject, '').length > 0
  const usage = metered ? undefined : readUsage(metadata['usage'])
  draft.add({ key: ['end'], origin: 'system', cause: last, ...ending(metadata, unanswered, usage) })
  return draft.take()
}

function startPayload(agent: string, metadata: JsonObject): Payload {
  const thread = ['thread_id', 'threadId', 'conversation_id', 'session_id']
    .map((key) => metadata[key])
    .find(plainText)
  const input = Object.keys(metadata).length > 0 ? { metadata } : {}
  return { agent, ...(typeof thread === 'string' && { threadId: thread }), ...input }
}

function ending(
  metadata: JsonObject,
  unanswered: boolean,
  usage: JsonObject | undefined,
): { type: string; payload: Payload } {
  const metered = usage ? { usage } : {}
  const { error, status } = metadata
  if ((error !== undefined && error !== null && error !== '') || status === 'failed' || status === 'error') {
    const known = typeof error === 'string' ? { message: error } : isObject(error) ? readError(error) : {}
    return { type: 'system.workflow_failed', payload: { error: known, ...metered } }
  }
  if (unanswered)
    return {
      type: 'system.workflow_interrupted',
      payload: { reason: 'the chat ends with a call that nothing answers', ...metered },
    }
  return { type: 'system.workflow_completed', payload: metered }
}

function readError(error: JsonObject): JsonObject {
  const known: JsonObject = {}
  for (const [key, value] of Object.entries(error))
    known[key] = isNamed(key) && typeof value !== 'string' ? JSON.stringify(value) : value
  return known
}

const isNamed = (key: string): boolean => key === 'name' || key === 'code' || key === 'message'

interface Asked {
  readonly callId: string | undefined
  readonly name: string
  readonly payload: Payload & { arguments?: JsonValue }
}

function readCalls(message: JsonObject, where: string): Asked[] {
  const calls = message['tool_calls'] ?? []
  if (!Array.isArray(calls)) refuse(`${where}.tool_calls`, calls, 'a list')
  const asked = calls.map((call, nth): Asked => {
    const place = `${where}.tool_calls[${nth}]`
    if (!isObject(call)) refuse(place, call, 'an object with id and function')
    const kind = isObject(call['custom']) ? 'custom' : 'function'
    const callId = textOrNone(call['id'], `${place}.id`)
    return { callId, ...readFunction(call[kind], `${place}.${kind}`, rest(call, CALL)) }
  })
  const old = message['function_call']
  if (old !== undefined && old !== null)
    asked.push({ callId: undefined, ...readFunction(old, `${where}.function_call`, {}) })
  return asked
}

function readFunction(value: JsonValue | undefined, place: string, more: JsonObject): Omit<Asked, 'callId'> {
  if (!isObject(value)) refuse(place, value, 'an object with name and arguments')
  const name = value['name']
  if (typeof name !== 'string' || name === '') refuse(`${place}.name`, name, 'the name of the tool')
  return { name, payload: { ...readArguments(value['arguments'] ?? value['input']), ...more } }
}

/** The form has no place for failure, so programs say it in the text or beside it. */
function errorOf(message: JsonObject, output: JsonValue): string | undefined {
  const said = message['is_error'] === true || message['status'] === 'error'
  if (typeof output === 'string') return said || output.startsWith('Error:') ? output : undefined
  return said ? 'the tool failed' : undefined
}

/** Without the field that became the event's own time. */
function untimed(message: JsonObject): JsonObject {
  if (readTime(message['timestamp']) === undefined) return message
  const { timestamp: _, ...others } = message
  return others
}

const timeOf = (record: JsonValue): string | undefined => {
  if (!isObject(record)) return undefined
  return readTime(record['timestamp']) ?? readTime(record['created_at']) ?? readTime(record['created'])
}

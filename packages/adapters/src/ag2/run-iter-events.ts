import type { JsonObject, JsonValue, Payload } from '@clew/ledger'
import { isObject, plainText, readArguments, readUsage, refuse, textOrNone } from '../foreign.ts'
import { agentName, type MapperState, without } from './mapper-state.ts'

export interface Native {
  readonly scene: MapperState
  readonly content: JsonObject
  readonly key: readonly (string | number)[]
}

type Mapping = (native: Native) => void

/** Names of agents that stand for a person in most programs. The first speaker does too, since a run begins with its task. */
const PERSON = /^(?:user|human|admin)(?:[-_ ]?proxy)?(?:[-_ ]?agent)?$/i

/** The events that `run_iter()` gives, by their `type` (AG2 0.8 to 0.10). */
export const RUN_ITER: Readonly<Record<string, Mapping>> = {
  text: speak,
  tool_call: callTools,
  function_call: callFunction,
  tool_response: answerTools,
  function_response: answerFunction,
  executed_function: answerExecuted,
  input_request: ask,
  input_response: ({ scene, content, key }) =>
    receive(scene, key, content['value'] ?? content['content'] ?? null),
  group_chat_run_chat: handOff,
  termination({ scene, content, key }) {
    scene.stopReason = plainText(content['termination_reason'])
    scene.add({ type: 'system.ag2.termination', key, origin: 'system', payload: without(content) })
  },
  run_completion: complete,
  error({ scene, content, key }) {
    const { error } = content
    const said = isObject(error) ? error['message'] : error
    const message = typeof said === 'string' ? said : JSON.stringify(error ?? null)
    const payload = { error: { message }, ...without(content, 'error') }
    scene.add({ type: 'system.workflow_failed', key, origin: 'system', payload })
    scene.ended = true
  },
}

function speak({ scene, content, key }: Native): void {
  const sender = agentName(content['sender'])
  scene.firstSpeaker ??= sender ?? ''
  const role = sender === scene.firstSpeaker || (sender && PERSON.test(sender)) ? 'user' : 'assistant'
  const said = content['content'] ?? null
  // `run_iter` has no event for an answer: the next message of the person is the answer.
  const answered = scene.question && role === 'user' ? receive(scene, [...key, 'answer'], said) : undefined
  const eventId = scene.add({
    type: 'execution.message',
    key,
    origin: role === 'user' ? 'ui' : 'agent',
    cause: answered ?? scene.heardBy(sender),
    payload: {
      role,
      ...(sender !== undefined && { name: sender }),
      content: said,
      ...without(content, 'content'),
    },
  })
  scene.speaker = sender
  scene.tell(agentName(content['recipient']), eventId)
}

interface Found {
  readonly callId: string | undefined
  readonly name: string
  readonly arguments: JsonValue | undefined
}

function callTools(native: Native): void {
  const calls = native.content['tool_calls'] ?? []
  if (!Array.isArray(calls)) refuse('content.tool_calls', calls, 'a list')
  const found = calls.map((call, nth): Found => {
    const place = `content.tool_calls[${nth}]`
    if (!isObject(call)) refuse(place, call, 'an object with id and function')
    const { function: called } = call
    if (!isObject(called)) refuse(`${place}.function`, called, 'an object with name and arguments')
    return { callId: textOrNone(call['id'], `${place}.id`), ...readCalled(called, `${place}.function`) }
  })
  openCalls(native, found, without(native.content, 'tool_calls', 'content'))
}

function callFunction(native: Native): void {
  const { function_call: call } = native.content
  if (!isObject(call)) refuse('content.function_call', call, 'an object with name and arguments')
  const found = { callId: undefined, ...readCalled(call, 'content.function_call') }
  openCalls(native, [found], without(native.content, 'function_call', 'content'))
}

function readCalled(called: JsonObject, place: string): Omit<Found, 'callId'> {
  const name = plainText(called['name']) ?? refuse(`${place}.name`, called['name'], 'the name of the tool')
  return { name, arguments: called['arguments'] }
}

/** The agent's words, if it said any, then what it wants to be called: all of it caused by what the agent heard. */
function openCalls({ scene, content, key }: Native, found: readonly Found[], more: Payload): void {
  const sender = agentName(content['sender'])
  const message = scene.add({
    type: 'execution.message',
    key,
    origin: 'agent',
    cause: scene.heardBy(sender),
    payload: {
      role: 'assistant',
      ...(sender !== undefined && { name: sender }),
      content: content['content'] ?? null,
      ...more,
    },
  })
  scene.speaker = sender
  for (const [nth, { callId, name, arguments: given }] of found.entries())
    scene.tools.call({ callId, name, key: [...key, nth], cause: message, payload: readArguments(given) })
  scene.tell(agentName(content['recipient']), message)
}

function answerTools(native: Native): void {
  const { scene, content, key } = native
  const answers = content['tool_responses'] ?? []
  if (!Array.isArray(answers)) refuse('content.tool_responses', answers, 'a list')
  for (const [nth, answer] of answers.entries()) {
    const place = `content.tool_responses[${nth}]`
    if (!isObject(answer)) refuse(place, answer, 'an object with tool_call_id and content')
    const callId = textOrNone(answer['tool_call_id'], `${place}.tool_call_id`)
    give(
      native,
      callId,
      undefined,
      answer['content'] ?? null,
      [...key, nth],
      without(answer, 'content', 'tool_call_id'),
    )
  }
  if (scene.last !== null) scene.tell(agentName(content['recipient']), scene.last)
}

function answerFunction(native: Native): void {
  const { content, key } = native
  const more = without(content, 'content', 'name')
  give(native, undefined, textOrNone(content['name'], 'content.name'), content['content'] ?? null, key, more)
}

/** The executor reports a result before it is sent to the agent that asked: the first of the two is recorded. */
function answerExecuted(native: Native): void {
  const { content, key } = native
  const callId = textOrNone(content['call_id'], 'content.call_id')
  const name = textOrNone(content['func_name'], 'content.func_name')
  const output = content['content'] ?? null
  const more = without(content, 'content', 'call_id', 'func_name', 'arguments')
  give(native, callId, name, output, key, more, content['is_exec_success'] === false)
}

function give(
  { scene }: Native,
  callId: string | undefined,
  name: string | undefined,
  output: JsonValue,
  key: readonly (string | number)[],
  more: Payload,
  failed = false,
): void {
  const call = scene.tools.find(callId, name)
  const known = callId ?? call?.callId
  if (!call && known !== undefined && scene.answered.has(known)) {
    const payload = { toolCallId: known, content: output, ...more }
    scene.draft.add({ type: 'system.ag2.repeated_result', key, origin: 'system', cause: scene.last, payload })
    return
  }
  const said = typeof output === 'string' ? output : JSON.stringify(output)
  const error = failed || said.startsWith('Error:') ? said : undefined
  const payload: Payload = {
    ...(known !== undefined && { toolCallId: known }),
    ...(name !== undefined && { name }),
    ...(error === undefined ? { result: output } : { error: { message: error } }),
    ...more,
  }
  const eventId = scene.tools.result(call, { key, error, payload, output }, scene.last)
  if (known !== undefined) scene.answered.add(known)
  scene.tell(undefined, eventId)
}

function ask({ scene, content, key }: Native): void {
  const pauseId = plainText(content['uuid']) ?? key.join(':')
  const eventId = scene.add({
    type: 'ui.input_requested',
    key,
    origin: 'agent',
    payload: { pauseId, question: content['prompt'] ?? null, ...without(content, 'prompt') },
  })
  scene.question = { pauseId, eventId, hidden: content['password'] === true }
}

export function receive(scene: MapperState, key: readonly (string | number)[], answer: JsonValue): string {
  const { question } = scene
  const payload = { ...(question && { pauseId: question.pauseId }), answer: question?.hidden ? null : answer }
  scene.question = undefined
  return scene.add({
    type: 'ui.input_received',
    key,
    origin: 'ui',
    cause: question?.eventId ?? scene.last,
    payload: question?.hidden ? { ...payload, hidden: true } : payload,
  })
}

function handOff({ scene, content, key }: Native): void {
  const to = agentName(content['speaker'])
  const eventId = scene.add({
    type: 'execution.handoff',
    key,
    origin: 'agent',
    payload: {
      ...(scene.speaker !== undefined && { from: scene.speaker }),
      ...(to !== undefined && { to }),
      ...without(content, 'speaker'),
    },
  })
  scene.tell(to, eventId)
}

function complete({ scene, content, key }: Native): void {
  for (const call of scene.tools.open)
    scene.tools.interrupt(call, 'the run ended without a result for this call')
  for (const [model, usage] of Object.entries(usageByModel(content['cost'])))
    scene.draft.add({
      type: 'integration.response',
      key: [...key, 'usage', model],
      origin: 'integration',
      cause: scene.last,
      payload: { operation: 'chat', model, usage },
    })
  scene.add({
    type: 'system.workflow_completed',
    key,
    origin: 'system',
    payload: {
      output: content['summary'] ?? null,
      ...(scene.stopReason !== undefined && { reason: scene.stopReason }),
      ...without(content, 'summary'),
    },
  })
  scene.ended = true
}

/** AG2 counts tokens at the end and per model; what came from its own cache was not asked for again. */
function usageByModel(cost: JsonValue | undefined): Record<string, JsonObject> {
  const found: Record<string, JsonObject> = {}
  if (!isObject(cost)) return found
  const counted = cost['usage_excluding_cached_inference'] ?? cost['usage_including_cached_inference'] ?? cost
  if (!isObject(counted)) return found
  for (const [model, numbers] of Object.entries(counted)) {
    const usage = readUsage(numbers)
    if (usage) found[model] = usage
  }
  return found
}

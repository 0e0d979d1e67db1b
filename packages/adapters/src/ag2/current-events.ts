import type { JsonObject, JsonValue, Payload } from '@clew/ledger'
import { isObject, plainText, readArguments, readUsage, refuse, textOrNone } from '../foreign.ts'
import { type Native, receive } from './run-iter-events.ts'
import { without } from './mapper-state.ts'

type Mapping = (native: Native) => void

/** The events of the current `ag2` package, by the last part of `__event__`. */
export const CURRENT: Readonly<Record<string, Mapping>> = {
  ModelRequest({ scene, content, key }) {
    const role = plainText(content['role']) ?? 'user'
    const said = readParts(content['parts'])
    const payload = { role, content: said, ...own(content, 'role', 'parts') }
    scene.add({ type: 'execution.message', key, origin: role === 'user' ? 'ui' : 'system', payload })
  },
  ModelReasoning({ scene, content, key }) {
    const payload = { role: 'assistant', content: content['content'] ?? null, ...own(content, 'content') }
    scene.draft.add({ type: 'execution.reasoning', key, origin: 'agent', cause: scene.last, payload })
  },
  ModelResponse: respond,
  ToolCallEvent: call,
  ClientToolCallEvent: call,
  BuiltinToolCallEvent: call,
  ToolResultEvent: (native) => give(native, undefined),
  ToolErrorEvent: (native) => give(native, readError(native.content['error'])),
  ToolNotFoundEvent: (native) => give(native, readError(native.content['error'])),
  HumanInputRequest({ scene, content, key }) {
    const pauseId = plainText(content['id']) ?? key.join(':')
    const payload = { pauseId, question: content['content'] ?? null, ...own(content, 'id', 'content') }
    const eventId = scene.add({ type: 'ui.input_requested', key, origin: 'agent', payload })
    scene.question = { pauseId, eventId, hidden: false }
  },
  HumanMessage: ({ scene, content, key }) => {
    receive(scene, key, content['content'] ?? null)
  },
  TaskStarted: (native) => task(native, 'system.task_scheduled'),
  TaskCompleted: (native) => task(native, 'system.task_completed', 'completed'),
  TaskFailed: (native) => task(native, 'system.task_completed', 'failed'),
  TaskExpired: (native) => task(native, 'system.task_completed', 'expired'),
  TaskCancelled: (native) => task(native, 'system.task_completed', 'cancelled'),
  UsageEvent({ scene, content, key }) {
    const usage = readUsage(content['usage'])
    const payload = {
      operation: 'chat',
      ...modelOf(content),
      ...(usage && { usage }),
      ...own(content, 'usage', 'model'),
    }
    scene.draft.add({ type: 'integration.response', key, origin: 'integration', cause: scene.last, payload })
  },
}

const own = (content: JsonObject, ...taken: string[]): Payload =>
  without(content, '__event__', 'created_at', ...taken)

const modelOf = (content: JsonObject): Payload => {
  const model = plainText(content['model'])
  return model === undefined ? {} : { model }
}

/** One part of text alone is that text; anything richer stays a list. */
function readParts(parts: JsonValue | undefined): JsonValue {
  if (!Array.isArray(parts)) return parts ?? null
  const [only] = parts
  const text = parts.length === 1 && isObject(only) ? only['content'] : undefined
  return typeof text === 'string' ? text : parts
}

function respond(native: Native): void {
  const { scene, content, key } = native
  const said = isObject(content['message']) ? content['message']['content'] : content['message']
  const usage = readUsage(content['usage'])
  const message = scene.add({
    type: 'execution.message',
    key,
    origin: 'agent',
    payload: {
      role: 'assistant',
      content: said ?? null,
      ...modelOf(content),
      ...(usage && { usage }),
      ...own(content, 'message', 'tool_calls', 'usage', 'model'),
    },
  })
  const list = isObject(content['tool_calls']) ? content['tool_calls']['calls'] : content['tool_calls']
  if (list !== undefined && list !== null && !Array.isArray(list)) refuse('tool_calls.calls', list, 'a list')
  for (const [nth, each] of (list ?? []).entries()) {
    if (!isObject(each)) refuse(`tool_calls.calls[${nth}]`, each, 'an object with id, name and arguments')
    open(native, each, [...key, nth], message, `tool_calls.calls[${nth}]`)
  }
}

/** The response has announced this call already; an unannounced call is recorded here. */
function call(native: Native): void {
  const { scene, content, key } = native
  const callId = textOrNone(content['id'], 'id')
  if (callId !== undefined && (scene.tools.find(callId, undefined) || scene.answered.has(callId))) return
  open(native, content, key, scene.last ?? '', '')
}

function open(
  { scene }: Native,
  found: JsonObject,
  key: readonly (string | number)[],
  cause: string,
  place: string,
): void {
  const at = place === '' ? '' : `${place}.`
  const name = plainText(found['name']) ?? refuse(`${at}name`, found['name'], 'the name of the tool')
  const callId = textOrNone(found['id'], `${at}id`)
  const payload = { ...readArguments(found['arguments']), ...own(found, 'id', 'name', 'arguments') }
  scene.tools.call({ callId, name, key, cause, payload })
}

function give({ scene, content, key }: Native, error: string | undefined): void {
  const callId = textOrNone(content['parent_id'], 'parent_id')
  const name = textOrNone(content['name'], 'name')
  const result = isObject(content['result'])
    ? readParts(content['result']['parts'])
    : (content['result'] ?? null)
  const payload: Payload = {
    ...(callId !== undefined && { toolCallId: callId }),
    ...(name !== undefined && { name }),
    ...(error === undefined ? { result } : { error: { message: error } }),
    ...own(content, 'parent_id', 'name', 'result', 'error'),
  }
  const found = scene.tools.find(callId, name)
  scene.tell(undefined, scene.tools.result(found, { key, error, payload, output: result }, scene.last))
  if (callId !== undefined) scene.answered.add(callId)
}

/** Exceptions travel tagged: `{ "__exception__": "ValueError", "message": … }`. */
function readError(error: JsonValue | undefined): string {
  if (isObject(error))
    return plainText(error['message']) ?? plainText(error['__exception__']) ?? JSON.stringify(error)
  return plainText(error) ?? 'the tool failed'
}

function task({ scene, content, key }: Native, type: string, status?: string): void {
  const taskId = plainText(content['task_id'])
  const payload: Payload = {
    ...(taskId !== undefined && { taskId }),
    ...(status !== undefined && { status }),
    ...own(content, 'task_id', 'usage', 'name', 'dueAt'),
  }
  const usage = readUsage(content['usage'])
  if (usage) payload['usage'] = usage
  const cause = (taskId === undefined ? undefined : scene.tasks.get(taskId)) ?? scene.last
  const eventId = scene.draft.add({ type, key, origin: 'system', cause, payload })
  if (taskId !== undefined && status === undefined) scene.tasks.set(taskId, eventId)
}

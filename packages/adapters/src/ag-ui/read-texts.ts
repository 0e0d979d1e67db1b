import type { JsonObject, Payload } from '@clew/ledger'
import { isObject, plainText, readArguments, refuse } from '../foreign.ts'
import { type Native, needText, others, placeOf } from './native.ts'
import type { OpenText, MapperState } from './mapper-state.ts'

export function openText(native: Native, open: Map<string, OpenText>, given?: string): void {
  const { scene, event } = native
  const messageId = given ?? needText(event, 'messageId')
  const role = plainText(event['role']) ?? 'assistant'
  // A repeated start sends the text from the beginning, as after a reconnect.
  open.set(messageId, {
    parts: [],
    payload: {
      role: role === 'reasoning' ? 'assistant' : role,
      ...(messageId !== '' && { messageId }),
      ...others(event, 'messageId', 'role', 'delta'),
      ...placeOf({ scene, event }),
    },
  })
}

export function addDelta(
  { event }: Native,
  open: Map<string, OpenText>,
  field: string,
  given?: string,
): void {
  const id = given ?? needText(event, field)
  const delta = event['delta']
  if (typeof delta !== 'string') refuse('delta', delta, 'text')
  const found = open.get(id) ?? refuse(field, id, 'the id of something that was started before')
  found.parts.push(delta)
}

export function closeText(scene: MapperState, messageId: string, more: Payload = {}): void {
  const open = scene.texts.get(messageId)
  if (!open) return refuse('messageId', messageId, 'the id of a message that was started before')
  scene.texts.delete(messageId)
  const { role } = open.payload
  const eventId = scene.add({
    type: 'execution.message',
    key: ['message', messageId, scene.nth(`message ${messageId}`)],
    origin: role === 'user' ? 'ui' : role === 'assistant' ? 'agent' : 'system',
    payload: { ...open.payload, content: open.parts.join(''), ...more },
  })
  scene.messages.set(messageId, eventId)
}

export function closeThought(scene: MapperState, messageId: string, more: Payload = {}): void {
  const open = scene.thoughts.get(messageId)
  if (!open) return refuse('messageId', messageId, 'the id of reasoning that was started before')
  scene.thoughts.delete(messageId)
  scene.add({
    type: 'execution.reasoning',
    key: ['thought', messageId, scene.nth(`thought ${messageId}`)],
    origin: 'agent',
    payload: { ...open.payload, content: open.parts.join(''), ...more },
  })
}

export function openCall(native: Native): void {
  const { scene, event } = native
  scene.calls.set(needText(event, 'toolCallId'), {
    parts: [],
    payload: {
      name: needText(event, 'toolCallName'),
      ...others(event, 'toolCallId', 'toolCallName', 'delta'),
    },
  })
}

export function closeCall(scene: MapperState, toolCallId: string): void {
  const open = scene.calls.get(toolCallId)
  if (!open) return refuse('toolCallId', toolCallId, 'the id of a call that was started before')
  scene.calls.delete(toolCallId)
  const { name, ...more } = open.payload
  const text = open.parts.join('')
  const extras = more['agUi']
  const parent = isObject(extras) ? plainText(extras['parentMessageId']) : undefined
  const asked = scene.messages.get(parent ?? '')
  scene.last = scene.tools.call({
    callId: toolCallId,
    name: String(name),
    key: ['call', toolCallId, scene.nth(`call ${toolCallId}`)],
    cause: asked ?? scene.last,
    payload: { ...(text === '' ? {} : readArguments(text)), ...more },
  })
}

/** Chunks open what they name and close what was open before them. */
export function addChunk(native: Native, kind: 'text' | 'thought' | 'call'): void {
  const { scene, event } = native
  const id = plainText(event[kind === 'call' ? 'toolCallId' : 'messageId'])
  if (id !== undefined && (scene.chunk?.kind !== kind || scene.chunk.id !== id)) {
    closeChunk(scene)
    if (kind === 'call') openCall(native)
    else openText(native, kind === 'text' ? scene.texts : scene.thoughts)
    scene.chunk = { kind, id }
  }
  const open = scene.chunk
  if (open?.kind !== kind) return refuse('messageId', id, 'an id with the first chunk')
  const delta = event['delta']
  const list = kind === 'text' ? scene.texts : kind === 'thought' ? scene.thoughts : scene.calls
  if (typeof delta === 'string') list.get(open.id)?.parts.push(delta)
}

/** Any other event ends what chunks have opened. */
export function closeChunk(scene: MapperState): void {
  const { chunk } = scene
  scene.chunk = undefined
  if (chunk?.kind === 'text') closeText(scene, chunk.id)
  else if (chunk?.kind === 'thought') closeThought(scene, chunk.id)
  else if (chunk?.kind === 'call') closeCall(scene, chunk.id)
}

export function giveResult({ scene, event }: Native): void {
  const id = needText(event, 'toolCallId')
  tellResult(scene, event, id, ['result', id, scene.nth(`result ${id}`)])
}

export function tellResult(
  scene: MapperState,
  found: JsonObject,
  callId: string | undefined,
  key: readonly (string | number)[],
): void {
  const call = scene.tools.find(callId, undefined)
  const output = found['content'] ?? null
  const error = plainText(found['error'])
  const messageId = plainText(found['messageId'])
  const payload: Payload = {
    ...(callId !== undefined && { toolCallId: callId }),
    ...(error === undefined ? { result: output } : { error: { message: error } }),
    ...(messageId !== undefined && { messageId }),
    ...others(found, 'toolCallId', 'content', 'role', 'id', 'error', 'messageId'),
  }
  scene.last = scene.tools.result(call, { key, error, payload, output }, scene.last)
}

/** Records texts that are still streaming with the content received so far. */
export function closeTexts(scene: MapperState): void {
  closeChunk(scene)
  for (const id of scene.texts.keys()) closeText(scene, id, { partial: true })
  for (const id of scene.thoughts.keys()) closeThought(scene, id, { partial: true })
  for (const id of scene.calls.keys()) closeCall(scene, id)
}
